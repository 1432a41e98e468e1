"""Objects that cannot be decoded completely are served with what decodes, and can be deleted."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from apimachinery.schema import GroupResource
from apis.core.install import CORE
from apis.gadgets.install import GADGETS as GADGET_GROUP
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.registry.store import ResourceStore
from apiserver.storage.interface import Backend
from apiserver.storage.sqlite.backend import open_sqlite
from client.testing.app_server import InMemoryServer
from tests.apiserver.http.conftest import USERS
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import BETA, GADGETS, gadget
from tests.roles import standard_authorizer

OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"
PREFIX = "/registry/gadgets.example.io/gadgets/default/"
OLD, BROKEN = f"{PREFIX}old", f"{PREFIX}broken"
META = "as={};v=v1;g=meta.k8s.io"
TABLE = f"application/json;{META.format('Table')}"
PARTIAL = f"application/json;{META.format('PartialObjectMetadata')}"
PARTIAL_LIST = f"application/json;{META.format('PartialObjectMetadataList')}"


@pytest.fixture
async def backend() -> Backend:
    return await open_sqlite("sqlite://:memory:")


@pytest.fixture
async def app(backend: Backend) -> AsyncIterator[App]:
    async def opened() -> Backend:
        return backend

    made = App(
        (CORE, GADGET_GROUP),
        opened,
        authentication=Authentication([TokenAuthenticator(USERS)]),
        authorizer=standard_authorizer(),
    )
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def store(app: App) -> ResourceStore[Any]:
    return app.groups.store(GroupResource("gadgets.example.io", "gadgets"))


async def damage(backend: Backend, key: str) -> bytes:
    """Give a stored gadget a spec that is no longer of its type; return the bytes of the spec."""
    record = await backend.get(key)
    assert record is not None
    damaged = re.sub(rb'"spec":{.*?}', b'"spec":{"model":"m9","replicas":"many"}', record.value)
    assert damaged != record.value
    await backend.update(key, damaged, revision=record.revision)
    return b'"spec":{"model":"m9","replicas":"many"}'


@pytest.fixture
async def old(client: Driver, backend: Backend) -> bytes:
    """`old` has metadata and half a spec, `broken` is garbage, `good` is good."""
    await client.post(GADGETS, gadget("good", labels={"app": "x"}))
    await client.post(GADGETS, gadget("old", labels={"app": "x"}))
    spec = await damage(backend, OLD)
    await backend.create(BROKEN, b"{garbage")
    return spec


def warned(answer: Any, name: str) -> bool:
    headers = answer.headers
    texts = [value for header, value in headers if header == "warning"]
    return any(f'object \\"default/{name}\\" cannot be decoded completely' in t for t in texts)


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("url", [GADGETS, BETA])
async def test_get_serves_metadata_and_what_decodes(client: Driver, url: str) -> None:
    answer = await client.get(f"{url}/old")

    assert answer.code == 200
    assert answer.json["kind"] == "Gadget"
    assert answer.json["apiVersion"] == url.removeprefix("/apis/").split("/namespaces")[0]
    metadata = answer.json["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("old", "default")
    assert metadata["labels"] == {"app": "x"}
    assert metadata["uid"]
    assert metadata["resourceVersion"]
    assert answer.json["spec"]["model"] == "m9"
    assert warned(answer, "old")


@pytest.mark.usefixtures("old")
async def test_get_of_garbage_serves_its_name(client: Driver) -> None:
    answer = await client.get(f"{GADGETS}/broken")

    assert answer.code == 200
    metadata = answer.json["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("broken", "default")
    assert warned(answer, "broken")


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("name", ["old", "broken"])
@pytest.mark.parametrize("accept", [TABLE, PARTIAL, "application/yaml"])
async def test_every_form_can_be_served(client: Driver, name: str, accept: str) -> None:
    answer = await client.get(f"{GADGETS}/{name}", accept=accept)

    assert answer.code == 200
    assert name.encode() in answer.body
    # The metadata alone may be complete.
    assert warned(answer, name) or (accept, name) == (PARTIAL, "old")


async def test_protobuf_can_be_served(client: Driver, backend: Backend) -> None:
    accept = "application/vnd.kubernetes.protobuf"
    document = {
        "kind": "ConfigMap",
        "apiVersion": "__internal",
        "metadata": {"name": "old", "namespace": "default", "uid": "u"},
        "data": 7,
    }
    await backend.create("/registry/core/configmaps/default/old", orjson.dumps(document))

    one = await client.get("/api/v1/namespaces/default/configmaps/old", accept=accept)
    listed = await client.get("/api/v1/namespaces/default/configmaps", accept=accept)

    for answer in (one, listed):
        assert answer.code == 200
        assert answer.header("content-type") == accept
        assert b"old" in answer.body
        assert warned(answer, "old")


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("url", [GADGETS, BETA, "/apis/gadgets.example.io/v1/gadgets"])
async def test_a_list_has_all_objects(client: Driver, url: str) -> None:
    answer = await client.get(url)

    assert answer.code == 200
    items = {item["metadata"]["name"]: item for item in answer.json["items"]}
    assert list(items) == ["broken", "good", "old"]
    assert items["good"]["spec"]["model"] == "a1"
    assert warned(answer, "old")
    assert warned(answer, "broken")
    assert not warned(answer, "good")


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("accept", [TABLE, PARTIAL_LIST])
async def test_a_list_in_another_form_has_all_objects(client: Driver, accept: str) -> None:
    answer = await client.get(GADGETS, accept=accept)

    assert answer.code == 200
    items = answer.json["rows" if accept == TABLE else "items"]
    names = [item.get("object", item)["metadata"]["name"] for item in items]
    assert names == ["broken", "good", "old"]


@pytest.mark.usefixtures("old")
async def test_labels_still_select_it(client: Driver) -> None:
    answer = await client.get(f"{GADGETS}?labelSelector=app%3Dx")

    assert [item["metadata"]["name"] for item in answer.json["items"]] == ["good", "old"]


@pytest.mark.usefixtures("old")
async def test_a_watch_has_it_from_its_creation_to_its_deletion(
    client: Driver, backend: Backend
) -> None:
    await client.get(GADGETS)
    async with client.stream(f"{GADGETS}?watch=1") as stream:
        initial = await stream.events(3)
        await backend.create(f"{PREFIX}worse", b"[]")
        added = await stream.event()
        await client.delete(f"{GADGETS}/broken?{OPTION}=true")
        deleted = await stream.event()
        await client.post(GADGETS, gadget("next"))
        following = await stream.event()

    assert warned(stream, "old")
    events = [(e["type"], e["object"]["metadata"]["name"]) for e in initial]
    assert events == [("ADDED", "broken"), ("ADDED", "good"), ("ADDED", "old")]
    assert (added["type"], added["object"]["metadata"]["name"]) == ("ADDED", "worse")
    assert (deleted["type"], deleted["object"]["metadata"]["name"]) == ("DELETED", "broken")
    assert (following["type"], following["object"]["metadata"]["name"]) == ("ADDED", "next")


@pytest.mark.usefixtures("old")
async def test_it_can_be_deleted(client: Driver, backend: Backend) -> None:
    answer = await client.delete(f"{GADGETS}/old")

    assert answer.code == 200
    assert answer.json["status"] == "Success"
    assert await backend.get(OLD) is None
    assert (await client.get(f"{GADGETS}/old")).code == 404


async def test_a_finalizer_holds_it_until_it_is_removed(client: Driver, backend: Backend) -> None:
    made = gadget("old")
    made["metadata"]["finalizers"] = ["example.com/x"]
    await client.post(GADGETS, made)
    spec = await damage(backend, OLD)

    marked = await client.delete(f"{GADGETS}/old")
    stored = await backend.get(OLD)
    released = await client.patch(f"{GADGETS}/old", {"metadata": {"finalizers": None}})

    assert marked.code == 200
    assert marked.json["metadata"]["deletionTimestamp"]
    assert stored is not None
    assert spec in stored.value
    assert released.code == 200
    assert await backend.get(OLD) is None


async def test_labels_can_change_and_the_rest_stays_verbatim(
    client: Driver, backend: Backend, old: bytes
) -> None:
    answer = await client.patch(f"{GADGETS}/old", {"metadata": {"labels": {"app": "y"}}})

    assert answer.code == 200
    assert answer.json["metadata"]["labels"] == {"app": "y"}
    stored = await backend.get(OLD)
    assert stored is not None
    assert old in stored.value
    assert orjson.loads(stored.value)["metadata"]["labels"] == {"app": "y"}


async def test_a_collection_with_it_can_be_deleted(client: Driver, backend: Backend) -> None:
    await client.post(GADGETS, gadget("good"))
    await client.post(GADGETS, gadget("old"))
    await damage(backend, OLD)

    answer = await client.delete(GADGETS)

    assert answer.code == 200
    assert (await backend.range(PREFIX)).records == []


async def metric(client: Driver, name: str) -> float:
    text = (await client.get("/metrics")).body.decode()
    found = re.search(rf'^{name}{{[^}}]*resource="gadgets"}} (.*)$', text, re.MULTILINE)
    return float(found[1]) if found else 0.0


@pytest.mark.usefixtures("old")
async def test_metrics_follow_it(
    client: Driver, backend: Backend, store: ResourceStore[Any]
) -> None:
    await client.get(GADGETS)
    assert set(store.view.problems) == {OLD, BROKEN}
    assert await metric(client, "apiserver_storage_undecodable_objects") == 2
    assert await metric(client, "apiserver_storage_decode_errors_total") == 2

    good = await backend.get(f"{PREFIX}good")
    record = await backend.get(OLD)
    assert good is not None
    assert record is not None
    repaired = good.value.replace(b'"name":"good"', b'"name":"old"')
    await backend.update(OLD, repaired, revision=record.revision)
    await client.delete(f"{GADGETS}/broken?{OPTION}=true")

    answer = await client.get(GADGETS)
    assert [item["metadata"]["name"] for item in answer.json["items"]] == ["good", "old"]
    assert answer.all("warning") == []
    assert list(store.view.problems) == []
    assert await metric(client, "apiserver_storage_undecodable_objects") == 0


async def test_a_namespace_with_it_can_be_deleted(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.sqlite"
    server = InMemoryServer((GADGET_GROUP,), storage=url)
    await server.app.start()
    backend = await open_sqlite(url)
    client = Driver(server.app, authorization=f"Bearer {server.token}")
    gadgets = GADGETS.replace("default", "shop")
    try:
        await client.post("/api/v1/namespaces", {"metadata": {"name": "shop"}})
        await client.post(gadgets, gadget("old"))
        await damage(backend, OLD.replace("default", "shop"))

        assert (await client.delete("/api/v1/namespaces/shop")).code == 200
        async with asyncio.timeout(10):
            while (await client.get("/api/v1/namespaces/shop")).code != 404:
                await asyncio.sleep(0.01)

        assert await backend.get(OLD.replace("default", "shop")) is None
    finally:
        await backend.close()
        await server.app.stop()
