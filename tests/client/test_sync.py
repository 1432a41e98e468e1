"""The synchronous client: the same methods, also while an event loop is running."""

import asyncio
import gc
import inspect
import threading
import time
from collections.abc import Iterator

import pytest

from apimachinery.errors import NotFound
from apimachinery.meta.status import Status
from apimachinery.schema import GroupVersion, GroupVersionKind, GroupVersionResource
from apimachinery.scheme import Scheme
from apis.gadgets import v1
from client import AsyncClient, Client, Config, Listing, SyncResourceClient, interface, sync
from client.discovery import Discovery
from client.runtime.portal import Portal
from client.transport.request import Request
from tests.client.fakes import (
    GADGETS,
    FakeServer,
    answer,
    frame,
    gadget,
    gadget_list,
    serve_discovery,
    serving,
    status,
    stream,
)


def v1_kind(kind: str) -> GroupVersionKind:
    return GroupVersion("gadgets.example.io", "v1").with_kind(kind)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """Run the fake server in a thread of its own, as a real one runs in another process."""
    portal = Portal()
    context = serving()
    fake = portal.call(context.__aenter__())
    serve_discovery(fake)
    yield fake
    portal.call(context.__aexit__(None, None, None))
    portal.close()


@pytest.fixture
def client(server: FakeServer, scheme: Scheme) -> Iterator[Client]:
    with Client(Config(server.url, trust_env=False), scheme=scheme) as client:
        yield client


@pytest.fixture
def gadgets(client: Client) -> SyncResourceClient[v1.Gadget]:
    return client.of(v1.Gadget, namespace="default")


def test_objects_are_written_and_read(
    server: FakeServer, gadgets: SyncResourceClient[v1.Gadget]
) -> None:
    server.on("POST", GADGETS, answer(gadget("a"), 201))
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    server.on("PUT", f"{GADGETS}/a", answer(gadget("a")))
    server.on("PATCH", f"{GADGETS}/a", answer(gadget("a")))
    server.on("PATCH", f"{GADGETS}/a/status", answer(gadget("a")))
    server.on("DELETE", f"{GADGETS}/a", answer({**status(200, ""), "status": "Success"}))

    created = gadgets.create({"metadata": {"name": "a"}, "spec": {"model": "x"}})
    gadgets.update(created)
    gadgets.patch("a", {"spec": {"replicas": 2}})
    gadgets.apply({"metadata": {"name": "a"}}, field_manager="me")
    gadgets.status.patch("a", {"status": {"readyReplicas": 3}})
    deleted = gadgets.delete("a")

    assert gadgets.get("a") == created
    assert isinstance(deleted, Status)


def test_a_list_pages_by_itself(server: FakeServer, gadgets: SyncResourceClient[v1.Gadget]) -> None:
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(gadget("a"), **{"continue": "x"})),
        answer(gadget_list(gadget("b"))),
    )

    assert [g.metadata.name for g in gadgets.list(page_size=1)] == ["a", "b"]
    assert len(gadgets.list().all()) == 1
    assert len(gadgets.page()) == 1


def test_an_edit_is_a_block(server: FakeServer, gadgets: SyncResourceClient[v1.Gadget]) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    server.on("PUT", f"{GADGETS}/a", answer(gadget("a", "2")))

    with gadgets.edit("a") as g:
        g.spec.replicas += 1
    with pytest.raises(RuntimeError, match="no"), gadgets.edit("a") as g:
        g.spec.replicas += 1
        raise RuntimeError("no")

    assert [request.method for request in server.requests].count("PUT") == 1
    assert server.requests[-2].json["spec"]["replicas"] == 2


def test_a_watch_is_iterated(server: FakeServer, gadgets: SyncResourceClient[v1.Gadget]) -> None:
    release = asyncio.Event()
    server.on(
        "GET",
        GADGETS,
        stream(frame("ADDED", gadget("a", "8")), frame("DELETED", gadget("a", "9")), hold=release),
    )
    event_types = []

    with gadgets.watch(since="7") as watch:
        for event in watch:
            event_types.append(event.type)
            if len(event_types) == 2:
                break

    assert event_types == ["ADDED", "DELETED"]
    assert watch.resource_version == "9"
    assert list(watch) == []


def test_a_watch_can_be_stopped_from_another_thread(
    server: FakeServer, gadgets: SyncResourceClient[v1.Gadget]
) -> None:
    release = asyncio.Event()
    server.on("GET", GADGETS, stream(frame("ADDED", gadget("a", "8")), hold=release))
    watch = gadgets.watch(since="7")
    first = next(watch)
    stopping = threading.Thread(target=watch.stop)
    stopping.start()

    assert list(watch) == []

    stopping.join()
    assert first.object.metadata.name == "a"


def test_waiting_blocks_until_it_is_true(
    server: FakeServer, gadgets: SyncResourceClient[v1.Gadget]
) -> None:
    server.on("GET", GADGETS, answer(gadget_list(gadget("a", replicas=3))))

    assert gadgets.wait("a", lambda g: g.spec.replicas == 3, timeout=5).metadata.name == "a"


async def test_it_works_inside_a_running_loop(
    server: FakeServer, gadgets: SyncResourceClient[v1.Gadget]
) -> None:
    """As in a notebook, whose cells run in an event loop."""
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))

    assert gadgets.get("a").metadata.name == "a"


def test_errors_come_through(client: Client) -> None:
    with pytest.raises(NotFound):
        client.request(Request("get", "GET", "/nothing"))


def test_a_closed_client_says_so(client: Client, gadgets: SyncResourceClient[v1.Gadget]) -> None:
    client.close()
    client.close()

    with pytest.raises(RuntimeError, match="the client is closed"):
        gadgets.get("a")


def test_its_thread_ends_with_it(server: FakeServer, scheme: Scheme) -> None:
    before = threading.active_count()

    with Client(Config(server.url, trust_env=False), scheme=scheme) as client:
        client.resource("gadgets")
        with pytest.raises(NotFound):
            client.of(v1.Gadget).get("a")
        during = threading.active_count()

    assert during == before + 1
    assert threading.active_count() == before


def test_many_threads_share_one_client(
    server: FakeServer, gadgets: SyncResourceClient[v1.Gadget]
) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    names: list[str] = []
    threads = [
        threading.Thread(target=lambda: names.append(gadgets.get("a").metadata.name))
        for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert names == ["a"] * 8


def test_a_loop_that_is_left_lets_go_of_its_watch(
    server: FakeServer, gadgets: SyncResourceClient[v1.Gadget]
) -> None:
    server.on("GET", GADGETS, stream(frame("ADDED", gadget("a", "8")), hold=asyncio.Event()))
    gc.disable()
    try:
        for event in gadgets.watch(since="7"):
            assert event.object.metadata.name == "a"
            break

        deadline = time.monotonic() + 5
        while not server.left.is_set() and time.monotonic() < deadline:
            time.sleep(0.001)
    finally:
        gc.enable()
    assert server.left.is_set()


def test_discovery_is_asked_without_await(server: FakeServer, client: Client) -> None:
    server.on("GET", "/version", answer({"gitVersion": "v1.33.0"}))
    kind = v1_kind("Gadget")

    assert client.discovery.version()["gitVersion"] == "v1.33.0"
    assert [resource.plural for resource in client.discovery.resources()] == [
        "namespaces",
        "gadgets",
    ]
    assert client.discovery.mapping(kind).resource.resource == "gadgets"
    mapping = client.discovery.resource(GroupVersionResource("", "", "gd"))
    assert client.discovery.mapper().mapping(mapping.kind.group_kind).kind == kind
    assert client.discovery.find(lambda mapper: mapper.kind_for(mapping.resource)) == kind
    client.discovery.invalidate()
    client.discovery.resources()
    assert server.paths().count("GET /apis") == 2


def test_requests_can_be_observed(server: FakeServer, scheme: Scheme) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    observed: list[tuple[str, int]] = []
    config = Config(server.url, trust_env=False)

    with Client(config, scheme=scheme, observe=lambda r, c: observed.append((r.verb, c))) as client:
        client.of(v1.Gadget, resource="gadgets").get("a")

    assert observed == [("get", 200)]


@pytest.mark.parametrize(
    ("awaited", "blocking", "only_awaited"),
    [
        (AsyncClient, Client, {"aclose"}),
        (interface.ResourceClient, SyncResourceClient, {"list_watch"}),
        (interface.SubresourceClient, sync.SyncSubresourceClient, set()),
        (interface.Watch, sync.SyncWatch, {"aclose"}),
        (Listing, sync.SyncListing, set()),
        (Discovery, sync.SyncDiscovery, set()),
    ],
)
def test_both_clients_have_the_same_names_and_arguments(
    awaited: type, blocking: type, only_awaited: set[str]
) -> None:
    names = {name for name in vars(awaited) if not name.startswith("_")} - only_awaited

    assert names <= {name for name in dir(blocking) if not name.startswith("_")}
    for name in names:
        method, other = getattr(awaited, name), getattr(blocking, name)
        if inspect.isfunction(method):
            assert [*inspect.signature(method).parameters] == [*inspect.signature(other).parameters]
    signatures = [inspect.signature(cls.__init__).parameters for cls in (AsyncClient, Client)]
    assert [*signatures[0]] == [*signatures[1]]
