"""Resource lookup: both forms of discovery, names as for kubectl, classes."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from apimachinery.errors import ServiceUnavailable
from apimachinery.mapper import NoMatch
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.resources import MalformedDiscovery
from apimachinery.scheme import NotRegistered
from apimachinery.serialization.manifests import load_all
from apis.gadgets import types, v1
from apis.gadgets.register import add_to_scheme
from client import AsyncClient, Config, ConfigError, InvalidRequest
from tests.client.fakes import (
    GADGETS,
    GROUPS,
    Answer,
    FakeServer,
    answer,
    gadget,
    status,
)

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def aggregated(group: str, *resources: dict[str, Any]) -> Answer:
    document = {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [
            {
                "metadata": {"name": group},
                "versions": [{"version": "v1", "resources": list(resources)}],
            }
        ],
    }
    return answer(document, content_type=AGGREGATED)


GADGET = {
    "resource": "gadgets",
    "responseKind": {"group": "gadgets.example.io", "version": "v1", "kind": "Gadget"},
    "scope": "Namespaced",
    "singularResource": "gadget",
    "verbs": ["get"],
    "shortNames": ["gd"],
}


@pytest.mark.parametrize(
    "name",
    [
        "gadgets",
        "gadget",
        "gd",
        "gadgets.gadgets.example.io",
        "gadgets.v1.gadgets.example.io",
        "Gadget",
        "Gadget.v1.gadgets.example.io",
        "Gadget.gadgets.example.io",
    ],
)
async def test_a_resource_is_found_by_any_name_one_would_type(
    name: str, server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))

    fetched = await client.resource(name).get("a")

    assert isinstance(fetched, Unstructured)
    assert fetched["spec"] == {"model": "a1", "replicas": 1}


async def test_one_document_is_enough_where_the_server_has_it(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", "/api", aggregated(""))
    server.on("GET", "/apis", aggregated("gadgets.example.io", GADGET))
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))

    await client.of(v1.Gadget).get("a")

    assert sorted(server.paths()) == ["GET /api", "GET /apis", f"GET {GADGETS}/a"]
    assert server.requests[0].header("accept").startswith(AGGREGATED)


async def test_what_was_found_is_remembered(server: FakeServer, client: AsyncClient) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))

    await client.of(v1.Gadget).get("a")
    await client.of(v1.Gadget).get("a")
    await client.resource("gd").get("a")

    assert server.paths().count("GET /apis") == 1


async def test_what_is_not_known_is_asked_for_again(
    server: FakeServer, client: AsyncClient
) -> None:
    """A resource may have been added since the last discovery."""
    server.on("GET", "/apis", answer({**GROUPS, "groups": []}), answer(GROUPS))
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    await client.discovery.resources()

    fetched = await client.of(v1.Gadget).get("a")

    assert fetched.metadata.name == "a"


async def test_what_is_not_served_is_no_match(client: AsyncClient) -> None:
    with pytest.raises(NoMatch, match="no matches for"):
        await client.resource("widgets.v1.example.io").get("a")
    with pytest.raises(NoMatch, match='no matches for kind "Widget" in version "x/v1"'):
        await client.kind("Widget", "x/v1").get("a")


async def test_a_group_whose_server_is_down_hides_no_other(
    server: FakeServer, client: AsyncClient
) -> None:
    down = {
        "name": "metrics.k8s.io",
        "versions": [{"groupVersion": "metrics.k8s.io/v1", "version": "v1"}],
    }
    server.on("GET", "/apis", answer({**GROUPS, "groups": [down, *GROUPS["groups"]]}))
    unavailable = Answer(503, b"service unavailable", content_type="text/plain")
    server.on("GET", "/apis/metrics.k8s.io/v1", unavailable)

    fetched = await client.discovery.resources()

    assert [resource.plural for resource in fetched] == ["namespaces", "gadgets"]


async def test_a_server_that_is_down_is_its_own_error_and_not_a_group_of_them(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", "/apis", answer(status(503, "ServiceUnavailable"), 503))

    with pytest.raises(ServiceUnavailable):
        await client.discovery.resources()


@pytest.mark.parametrize("body", [b"[]", b"<html>", b'{"versions":5,"groups":[{"versions":[5]}]}'])
async def test_a_discovery_document_of_another_shape_is_malformed(
    body: bytes, server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", "/api", Answer(body=body))
    server.on("GET", "/apis", Answer(body=body))

    with pytest.raises(MalformedDiscovery):
        await client.discovery.resources()


async def test_cluster_scoped_objects_have_no_namespace_in_their_path(
    server: FakeServer, client: AsyncClient
) -> None:
    namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "a"}}
    server.on("GET", "/api/v1/namespaces/a", answer(namespace))

    fetched = await client.resource("ns", namespace="ignored").get("a")

    assert fetched.metadata.name == "a"


async def test_a_documents_own_kind_leads_to_its_resource(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("PATCH", f"{GADGETS}/a", answer(gadget("a")))
    document = gadget("a")

    await client.of_document(document).apply(document, field_manager="me")

    assert server.requests[-1].json["kind"] == "Gadget"
    with pytest.raises(InvalidRequest, match="must have a kind and an apiVersion"):
        client.of_document({"kind": "Gadget"})


async def test_the_objects_of_a_manifest_can_be_applied(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("PATCH", f"{GADGETS}/a", answer(gadget("a")))
    text = orjson.dumps(gadget("a"))

    (typed,) = load_all(text, client.scheme)
    (untyped,) = load_all(text)
    applied = await client.of_document(typed).apply(typed, field_manager="me")
    other = await client.of_document(untyped).apply(untyped, field_manager="me")

    assert (type(applied), type(other)) == (v1.Gadget, Unstructured)
    assert [request.json["spec"]["model"] for request in server.requests[-2:]] == ["a1", "a1"]
    with pytest.raises(InvalidRequest, match="must have a kind and an apiVersion"):
        client.of_document(Object())


async def test_a_class_that_names_everything_needs_neither_scheme_nor_discovery(
    server: FakeServer,
) -> None:
    class Whole(Object, kind="Gadget"):
        api_version: str = "gadgets.example.io/v1"

    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    async with AsyncClient(Config(server.url, trust_env=False)) as client:
        await client.of(Whole, resource="gadgets").get("a")

    assert server.paths() == [f"GET {GADGETS}/a"]


def test_a_class_nobody_registered_says_what_to_do(client: AsyncClient) -> None:
    class Stranger(Object):
        pass

    with pytest.raises(NotRegistered, match="pass the add_to_scheme of its group to from_env"):
        client.of(Stranger)


async def test_a_client_learns_its_kinds_from_the_groups(
    server: FakeServer, tmp_path: Path
) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    kubeconfig = tmp_path / "config"
    cluster = {"name": "c", "cluster": {"server": server.url}}
    context = {"name": "c", "context": {"cluster": "c"}}
    document = {"clusters": [cluster], "contexts": [context], "current-context": "c"}
    kubeconfig.write_bytes(orjson.dumps(document))

    async with AsyncClient.from_env(add_to_scheme, kubeconfig=kubeconfig) as client:
        fetched = await client.of(v1.Gadget).get("a")

    assert (type(fetched), fetched.spec.model) == (v1.Gadget, "a1")


def test_the_internal_form_of_a_kind_is_not_asked_for(client: AsyncClient) -> None:
    with pytest.raises(InvalidRequest, match=r"Gadget is the internal version of Gadget.gadgets\."):
        client.of(types.Gadget)


@pytest.mark.parametrize("api_version", ["a/b/c", "/"])
def test_an_api_version_that_is_none_is_refused(api_version: str, client: AsyncClient) -> None:
    with pytest.raises(InvalidRequest):
        client.kind("Gadget", api_version)


async def test_the_servers_version_can_be_asked_for(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", "/version", answer({"gitVersion": "v1.33.0"}))

    assert (await client.discovery.version())["gitVersion"] == "v1.33.0"


def test_a_client_of_no_server_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs a config or a transport"):
        AsyncClient()
