"""What the server says it serves: discovery, OpenAPI, version, health."""

import gzip
import time
from typing import Any

import orjson
import pytest
from prometheus_client import Counter

from apimachinery.errors import NotFound
from apimachinery.openapi.gnostic import GnosticEncoder
from apimachinery.openapi.gnostic_v3 import V3
from apis.gadgets.install import GADGETS as GROUP
from apiserver.app import App
from apiserver.install import InstallError
from apiserver.pages.health import Check, Health, Unhealthy
from apiserver.pages.openapi import OpenAPI
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import GADGETS, gadget
from tests.pauses import loop_pauses, machine_factor, measures_time

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = V2.replace("v=v2", "v=v2beta1")
DOCUMENT = "/openapi/v3/apis/gadgets.example.io/v1"


async def test_the_core_group_has_no_api_version(client: Driver) -> None:
    answer = await client.get("/api")

    assert answer.json == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "test"}],
    }


@pytest.mark.parametrize("slash", ["", "/"])
async def test_groups_and_their_versions(client: Driver, slash: str) -> None:
    groups = (await client.get("/apis" + slash)).json
    group = (await client.get("/apis/gadgets.example.io" + slash)).json

    assert (groups["kind"], groups["apiVersion"]) == ("APIGroupList", "v1")
    (listed,) = groups["groups"]
    assert {**listed, "kind": "APIGroup", "apiVersion": "v1"} == group
    assert [version["version"] for version in group["versions"]] == ["v1", "v1beta1"]
    assert group["preferredVersion"]["groupVersion"] == "gadgets.example.io/v1"


async def test_resources_and_their_subresources(client: Driver) -> None:
    listed = (await client.get("/apis/gadgets.example.io/v1")).json

    assert (listed["kind"], listed["groupVersion"]) == ("APIResourceList", "gadgets.example.io/v1")
    main, scale, status = listed["resources"]
    assert (main["name"], main["singularName"], main["shortNames"]) == ("gadgets", "gadget", ["gd"])
    assert main["verbs"] == sorted(main["verbs"])
    assert main["namespaced"] is True
    assert (scale["name"], scale["group"], scale["version"], scale["kind"]) == (
        "gadgets/scale",
        "autoscaling",
        "v1",
        "Scale",
    )
    assert (status["name"], status["kind"], "group" in status) == (
        "gadgets/status",
        "Gadget",
        False,
    )


@pytest.mark.parametrize("accept", [f"{V2},{V2BETA1},application/json", V2BETA1])
async def test_aggregated_discovery(client: Driver, accept: str) -> None:
    answer = await client.get("/apis", accept=accept)

    assert answer.header("content-type") == accept.split(",")[0]
    assert answer.json["apiVersion"].startswith("apidiscovery.k8s.io/v2")
    (group,) = answer.json["items"]
    (resource,) = group["versions"][0]["resources"]
    assert group["metadata"]["name"] == "gadgets.example.io"
    assert (resource["resource"], resource["scope"]) == ("gadgets", "Namespaced")
    assert [sub["subresource"] for sub in resource["subresources"]] == ["scale", "status"]
    assert answer.header("vary") == "Accept"


async def test_aggregated_discovery_need_not_be_sent_twice(client: Driver) -> None:
    first = await client.get("/apis", accept=V2)
    second = await client.get("/apis", accept=V2, if_none_match=first.header("etag") or "")

    assert (second.code, second.body) == (304, b"")


async def test_plain_json_is_the_older_form(client: Driver) -> None:
    answer = await client.get("/apis", accept="application/json")

    assert answer.header("content-type") == "application/json"
    assert answer.json["kind"] == "APIGroupList"


async def test_a_group_can_come_and_go(app: App, client: Driver) -> None:
    await client.post(GADGETS, gadget())
    before = (await client.get("/openapi/v3")).json["paths"]

    app.groups.remove(GROUP.name)
    gone = [await client.get(path) for path in ("/apis/gadgets.example.io", GADGETS)]
    without = (await client.get("/openapi/v3")).json["paths"]
    app.groups.install(GROUP)
    back = await client.get(f"{GADGETS}/lamp")

    assert [answer.code for answer in gone] == [404, 404]
    assert set(before) - set(without) == {
        "apis/gadgets.example.io",
        "apis/gadgets.example.io/v1",
        "apis/gadgets.example.io/v1beta1",
    }
    assert back.code == 200
    with pytest.raises(InstallError, match="installed already"):
        app.groups.install(GROUP)


async def test_removing_a_group_ends_its_watches(app: App, client: Driver) -> None:
    async with client.stream(f"{GADGETS}?watch=1") as stream:
        app.groups.remove(GROUP.name)

        last = await stream.event()
        assert last is None or last["type"] == "ERROR"


# OpenAPI


async def test_the_index_leads_to_documents_that_may_be_kept(client: Driver) -> None:
    index = await client.get("/openapi/v3")
    url = index.json["paths"]["apis/gadgets.example.io/v1"]["serverRelativeURL"]

    document = await client.get(url)

    assert index.header("content-type") == "text/plain; charset=utf-8"
    assert document.header("cache-control") == "public, immutable"
    assert document.header("expires")
    assert document.json["openapi"] == "3.0.0"
    assert GADGETS.replace("default", "{namespace}") in document.json["paths"]


async def test_a_wrong_hash_leads_to_the_right_one(client: Driver) -> None:
    wrong = await client.get(f"{DOCUMENT}?hash=ABC")
    right = await client.get(wrong.header("location") or "")
    plain = await client.get(DOCUMENT)

    assert (wrong.code, right.code) == (301, 200)
    assert plain.body == right.body
    assert plain.header("cache-control") == "no-cache, private"


async def test_a_document_need_not_be_sent_twice(client: Driver) -> None:
    first = await client.get(DOCUMENT)
    second = await client.get(DOCUMENT, if_none_match=first.header("etag") or "")

    assert (second.code, second.body) == (304, b"")


async def test_version_2_is_json_or_protobuf(client: Driver) -> None:
    asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    as_json = await client.get("/openapi/v2", accept_encoding="gzip")
    as_protobuf = await client.get("/openapi/v2", accept=asked)
    neither = await client.get("/openapi/v2", accept="text/html")

    assert orjson.loads(gzip.decompress(as_json.body))["swagger"] == "2.0"
    assert as_protobuf.header("content-type") == asked.replace("@", ".")
    message: Any = GnosticEncoder().message_class.FromString(as_protobuf.body)
    assert message.swagger == "2.0"
    assert neither.code == 406


# Version and health


async def test_the_version_is_one_that_kubectl_understands(client: Driver) -> None:
    version = (await client.get("/version")).json

    assert version["gitVersion"].startswith(f"v{version['major']}.{version['minor']}.0+")
    assert set(version) >= {"gitCommit", "gitTreeState", "buildDate", "goVersion", "platform"}
    assert [version["emulationMajor"], version["emulationMinor"]] == ["1", version["minor"]]
    assert [version["minCompatibilityMajor"], version["minCompatibilityMinor"]] == ["1", "36"]


async def test_health(client: Driver) -> None:
    plain = await client.get("/healthz")
    verbose = await client.get("/readyz?verbose")
    one = await client.get("/livez/ping")

    assert (plain.code, plain.body, plain.header("content-type")) == (
        200,
        b"ok",
        "text/plain; charset=utf-8",
    )
    assert verbose.body == (
        b"[+]ping ok\n[+]storage ok\n[+]storage-integrity ok\n[+]cache-sync ok\n[+]shutdown ok\n"
        b"readyz check passed\n"
    )
    assert one.body == b"ok"


async def test_checks_can_be_excluded(client: Driver) -> None:
    answer = await client.get("/livez?verbose&exclude=storage&exclude=nothing")

    assert answer.body == (
        b"[+]ping ok\n[+]storage excluded: ok\n"
        b'warn: some health checks cannot be excluded: no matches for "nothing"\n'
        b"livez check passed\n"
    )


async def test_what_is_wrong_is_not_told(app: App, client: Driver) -> None:
    async def broken() -> None:
        raise Unhealthy("the disk is full")

    health = Health("sickz", [Check("disk", broken)])
    app.router.add_path("/sickz", get=health.on_get)
    app.router.add_path("/sickz/disk", get=health.on_get_check)

    whole = await client.get("/sickz")
    one = await client.get("/sickz/disk")

    assert (whole.code, whole.body) == (
        500,
        b"[-]disk failed: reason withheld\nsickz check failed\n",
    )
    assert (one.code, one.body) == (500, b"internal server error: reason withheld\n")


async def test_the_root_lists_paths(client: Driver) -> None:
    paths = (await client.get("/")).json["paths"]

    assert {"/api", "/apis/gadgets.example.io/v1", "/livez/ping", "/version"} <= set(paths)


async def test_metrics_count_requests(client: Driver) -> None:
    await client.get(GADGETS)
    await client.get("/apis/nowhere/v1/secret-name")

    metrics = (await client.get("/metrics")).body.decode()

    assert (
        'apiserver_request_total{code="200",group="gadgets.example.io",resource="gadgets",'
        'scope="namespace",subresource="",verb="LIST",version="v1"} 1.0'
    ) in metrics
    assert "apiserver_request_duration_seconds_bucket" in metrics
    assert 'apiserver_current_inflight_requests{request_kind="readOnly"} 1.0' in metrics
    assert "secret-name" not in metrics


@pytest.mark.parametrize("spelling", ["spec.v3@v1.0", "spec.v3.v1.0"])
async def test_openapi_v3_is_protobuf_for_who_asks(client: Driver, spelling: str) -> None:
    asked = f"application/com.github.proto-openapi.{spelling}+protobuf"
    told = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"

    answer = await client.get(DOCUMENT, accept=f"{asked}, application/json;q=0.5")
    again = await client.get(DOCUMENT, accept=asked, if_none_match=answer.header("etag") or "")
    document = (await client.get(DOCUMENT)).json

    read: Any = GnosticEncoder(V3).message_class()
    read.ParseFromString(answer.body)
    assert (answer.code, answer.header("content-type")) == (200, told)
    assert [pair.name for pair in read.paths.path] == list(document["paths"])
    assert (again.code, again.body) == (304, b"")


@pytest.mark.parametrize("path", [DOCUMENT, "/openapi/v2"])
async def test_openapi_is_nothing_else(client: Driver, path: str) -> None:
    other = "application/com.github.proto-openapi.spec.v1@v1.0+protobuf"

    assert (await client.get(path, accept="text/html")).code == 406
    assert (await client.get(path, accept=other)).code == 406
    assert (await client.get(path, accept="text/html, */*")).code == 200


async def test_openapi_of_a_group_that_is_removed_meanwhile_is_not_found(app: App) -> None:
    page: Any = OpenAPI(lambda: app.groups)

    with pytest.raises(NotFound):
        await page.on_v3(None, None, "apis/removed.example.io/v1")


@measures_time
async def test_many_metrics_do_not_hold_the_event_loop(app: App, client: Driver) -> None:
    many = Counter("many", "Many.", ["number"], registry=app.metrics.registry)
    for number in range(20_000):
        many.labels(str(number)).inc()

    longest = []
    for _ in range(5):  # the least counts: a garbage collection may fall into one of them
        async with loop_pauses(time.thread_time) as pauses:
            answer = await client.get("/metrics")
        longest.append(pauses.longest)

    assert answer.body.count(b"many_total{") == 20_000
    assert min(longest) < 0.05 * machine_factor()
