"""The client against our own server in one process, over the ASGI transport."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from apimachinery.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound
from apimachinery.meta.status import Status
from apimachinery.scheme import Scheme
from apis.gadgets import v1, v1beta1
from apis.gadgets.install import GADGETS
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.storage.backends import open_backend
from client import ASGITransport, AsyncClient, Client, Config, ResourceClient, ServerWarning
from client.auth.auth_info import AuthInfo
from client.cache.resource_versions import compare
from tests.roles import standard_authorizer

ADMIN = Config("https://apiserver", auth=AuthInfo(token="admin"), user_agent="tests/1", timeout=10)


def app() -> App:
    return App(
        (GADGETS,),
        lambda: open_backend("sqlite://:memory:"),
        authentication=Authentication(
            (TokenAuthenticator({"admin": User("admin", groups=(MASTERS,))}),)
        ),
        authorizer=standard_authorizer(),
    )


@pytest.fixture
async def transport() -> AsyncIterator[ASGITransport]:
    async with ASGITransport(app()) as transport:
        yield transport


@pytest.fixture
async def client(transport: ASGITransport, scheme: Scheme) -> AsyncClient:
    return AsyncClient(ADMIN, scheme=scheme, transport=transport)


@pytest.fixture
def gadgets(client: AsyncClient) -> ResourceClient[v1.Gadget]:
    return client.of(v1.Gadget, namespace="default")


def body(name: str, replicas: int = 1, **labels: str) -> dict[str, object]:
    return {
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
        "spec": {"model": "a1", "replicas": replicas},
    }


async def test_an_object_lives_and_dies(gadgets: ResourceClient[v1.Gadget]) -> None:
    created = await gadgets.create(body("a", 2))
    created.spec.replicas = 3
    updated = await gadgets.update(created)
    patched = await gadgets.patch("a", {"spec": {"replicas": 4}})
    by_operations = await gadgets.patch(
        "a", [{"op": "replace", "path": "/spec/replicas", "value": 5}]
    )
    deleted = await gadgets.delete("a", uid=created.metadata.uid)

    assert [g.spec.replicas for g in (updated, patched, by_operations)] == [3, 4, 5]
    assert isinstance(deleted, Status)
    with pytest.raises(NotFound, match=r'gadgets.gadgets.example.io "a" not found'):
        await gadgets.get("a")


async def test_the_servers_refusals_are_its_errors(gadgets: ResourceClient[v1.Gadget]) -> None:
    created = await gadgets.create(body("a"))
    stale = created.deep_copy()
    await gadgets.patch("a", {"spec": {"replicas": 2}})

    with pytest.raises(AlreadyExists):
        await gadgets.create(body("a"))
    with pytest.raises(Conflict):
        await gadgets.update(stale)
    with pytest.raises(Invalid) as caught:
        await gadgets.create({"metadata": {"name": "B!"}, "spec": {"model": "x"}})
    assert caught.value.causes[0].field == "metadata.name"


async def test_a_list_pages_and_selects(gadgets: ResourceClient[v1.Gadget]) -> None:
    for number in range(7):
        await gadgets.create(body(f"g{number}", app="even" if number % 2 == 0 else "odd"))

    everything = [g.metadata.name async for g in gadgets.list(page_size=3)]
    even = [g.metadata.name async for g in gadgets.list(labels={"app": "even"}, page_size=2)]
    named = await gadgets.page(fields="metadata.name=g3")

    assert everything == [f"g{number}" for number in range(7)]
    assert even == ["g0", "g2", "g4", "g6"]
    assert [g.metadata.name for g in named] == ["g3"]


async def test_a_watch_shows_what_exists_and_what_happens(
    gadgets: ResourceClient[v1.Gadget],
) -> None:
    await gadgets.create(body("a"))
    events = []

    async with asyncio.timeout(10), gadgets.watch() as watch:
        async for event in watch:
            events.append((str(event.type), event.object.spec.replicas))
            if len(events) == 1:
                await gadgets.patch("a", {"spec": {"replicas": 2}})
            if len(events) == 2:
                await gadgets.delete("a")
            if len(events) == 3:
                break

    assert events == [("ADDED", 1), ("MODIFIED", 2), ("DELETED", 2)]


async def test_waiting_sees_the_status_come(gadgets: ResourceClient[v1.Gadget]) -> None:
    await gadgets.create(body("a"))
    waiting = asyncio.create_task(
        gadgets.wait("a", lambda g: g.status.ready_replicas == 3, timeout=10)
    )

    await gadgets.status.patch("a", {"status": {"readyReplicas": 3}})

    assert (await waiting).status.ready_replicas == 3


async def test_edits_at_once_lose_nothing(gadgets: ResourceClient[v1.Gadget]) -> None:
    await gadgets.create(body("a", 0))

    def count_up(g: v1.Gadget) -> None:
        g.spec.replicas += 1

    async def label(name: str) -> None:
        async with gadgets.edit("a") as g:
            g.metadata.labels[name] = "x"

    await asyncio.gather(*(gadgets.modify("a", count_up) for _ in range(4)), label("b"), label("c"))

    fetched = await gadgets.get("a")
    assert fetched.spec.replicas == 4
    assert fetched.metadata.labels == {"b": "x", "c": "x"}


async def test_apply_owns_what_it_wants(gadgets: ResourceClient[v1.Gadget]) -> None:
    await gadgets.apply(body("a", 3), field_manager="one")

    with pytest.raises(Conflict, match=r'conflict with "one": \.spec\.replicas'):
        await gadgets.apply(body("a", 5), field_manager="two")
    forced = await gadgets.as_manager("two").apply(body("a", 5), force=True)

    assert forced.spec.replicas == 5


async def test_a_dry_run_stores_nothing(gadgets: ResourceClient[v1.Gadget]) -> None:
    tried = await gadgets.dry_run().create(body("a"))

    assert tried.metadata.uid
    with pytest.raises(NotFound):
        await gadgets.get("a")


async def test_scale_status_table_and_metadata(gadgets: ResourceClient[v1.Gadget]) -> None:
    await gadgets.create(body("a", 2))

    scale = await gadgets.scale.get("a")
    scale.spec.replicas = 6
    await gadgets.scale.update(scale)
    table = await gadgets.table()
    partial = await gadgets.metadata.get("a")

    assert (await gadgets.get("a")).spec.replicas == 6
    assert [row.cells[0] for row in table.rows] == ["a"]
    assert partial.kind == "PartialObjectMetadata"


async def test_a_collection_is_deleted_by_selection(gadgets: ResourceClient[v1.Gadget]) -> None:
    await gadgets.create(body("a", app="x"))
    await gadgets.create(body("b"))

    deleted = await gadgets.delete_collection(labels="app=x")

    assert [g.metadata.name for g in deleted] == ["a"]
    assert [g.metadata.name async for g in gadgets.list()] == ["b"]


async def test_a_collection_is_deleted_page_by_page(gadgets: ResourceClient[v1.Gadget]) -> None:
    for name in "abc":
        await gadgets.create(body(name))

    first = await gadgets.delete_collection(limit=2)
    second = await gadgets.delete_collection(limit=2, continue_=first.continue_)

    assert [[g.metadata.name for g in page] for page in (first, second)] == [["a", "b"], ["c"]]
    assert not second.continue_
    assert not [g async for g in gadgets.list()]


async def test_untyped_access_finds_the_resource_by_its_short_name(client: AsyncClient) -> None:
    await client.of(v1.Gadget).create(body("a"))

    fetched = await client.resource("gd").get("a")

    assert fetched["spec"]["model"] == "a1"
    assert fetched.kind == "Gadget"


async def test_a_deprecated_version_is_warned_of(transport: ASGITransport, scheme: Scheme) -> None:
    warnings: list[ServerWarning] = []
    client = AsyncClient(ADMIN, scheme=scheme, transport=transport, warn=warnings.append)
    await client.of(v1.Gadget).create(body("a"))

    await client.of(v1beta1.Gadget).get("a")

    assert any(
        "is deprecated; use gadgets.example.io/v1 Gadget" in warning.text for warning in warnings
    )


async def test_somebody_else_is_refused(transport: ASGITransport, scheme: Scheme) -> None:
    nobody = AsyncClient(Config("https://apiserver"), scheme=scheme, transport=transport)

    with pytest.raises(Forbidden):
        await nobody.of(v1.Gadget, resource="gadgets").get("a")


def test_the_synchronous_client_needs_no_socket_either(scheme: Scheme) -> None:
    with Client(ADMIN, scheme=scheme, transport=ASGITransport(app(), lifespan=True)) as client:
        gadgets = client.of(v1.Gadget)
        gadgets.create(body("a"))

        assert [g.metadata.name for g in gadgets.list()] == ["a"]


async def test_versions_of_our_server_can_be_compared(gadgets: ResourceClient[v1.Gadget]) -> None:
    """The resourceVersions of objects and lists are increasing decimal numbers."""
    created = await gadgets.create(body("a"))
    listed = await gadgets.page()
    patched = await gadgets.patch("a", {"spec": {"replicas": 4}})

    first, newest = created.metadata.resource_version, patched.metadata.resource_version
    assert compare(first, newest) < 0
    assert compare(first, listed.resource_version) <= 0
