"""InformerFactory: one informer for each collection, and the life of all of them."""

import asyncio
from contextlib import nullcontext
from typing import cast

import pytest

from apimachinery.errors import Forbidden, NotFound
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.gadgets import v1
from apis.gadgets.register import add_to_scheme
from client import AsyncClient, Config
from client.informer import (
    CacheMutated,
    IndexFailed,
    InformerFactory,
    InformerOptions,
    SyncTimeout,
)
from client.informer.factory import InformerClient
from client.interface import Fields, Labels
from client.watches.stream_watcher import ListWatch
from tests.client.fakes import frame, gadget, serve_discovery, serving, stream
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.server import Gadget, Server


class FakeResource:
    """One collection of the fake client."""

    def __init__(self, client: "FakeClient", asked: str) -> None:
        self._client = client
        self._asked = asked

    def list_watch(self, labels: Labels = "", fields: Fields = "") -> ListWatch[Gadget]:
        self._client.asked.append(f"{self._asked} {labels} {fields}".strip())
        return ListWatch(self._client.server.list, self._client.server.watch)  # type: ignore[arg-type]

    @property
    def metadata(self) -> "FakeResource":
        return FakeResource(self._client, f"{self._asked} metadata")


class FakeClient:
    """A client whose every collection is the one of a scripted server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.asked: list[str] = []
        self.scheme = Scheme()
        self.scheme.add(GroupVersion("example.io", "v1"), Gadget)

    def of(self, cls: type, *, namespace: str | None = None) -> FakeResource:
        return FakeResource(self, f"{cls.__name__} in {namespace}")

    def kind(self, kind: str, api_version: str, *, namespace: str | None = None) -> FakeResource:
        return FakeResource(self, f"{api_version} {kind} in {namespace}")


def factory_of(client: FakeClient, clock: FakeClock, **options: float) -> InformerFactory:
    made = InformerOptions(**options)  # type: ignore[arg-type]
    return InformerFactory(cast(InformerClient, client), options=made, clock=clock)


async def test_a_collection_has_one_informer_and_another_selection_another(
    server: Server, clock: FakeClock
) -> None:
    client = FakeClient(server)
    async with factory_of(client, clock) as informers:
        first = informers.of(Gadget)

        assert informers.of(Gadget) is first
        assert informers.of(Gadget, labels={"app": "web"}) is not first
        assert informers.of(Gadget, labels="app=web") is informers.of(Gadget, labels={"app": "web"})
        assert informers.of(Gadget, namespace="x") is not first
        informers.kind("Widget", "example.io/v2")
        informers.metadata_of(Gadget)

    assert client.asked == [
        "Gadget in *",
        "Gadget in * app=web",
        "Gadget in x",
        "example.io/v2 Widget in *",
        "Gadget in * metadata",
    ]


async def test_a_shared_informer_has_one_transform(server: Server, clock: FakeClock) -> None:
    def same(obj: Gadget) -> Gadget:
        return obj

    async with factory_of(FakeClient(server), clock) as informers:
        first = informers.of(Gadget, transform=same)

        assert informers.of(Gadget) is first
        assert informers.of(Gadget, transform=same) is first
        with pytest.raises(ValueError, match="another transform"):
            informers.of(Gadget, transform=lambda obj: obj)


async def test_only_new_informers_are_started(
    server: Server, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    server.put("a")
    async with factory_of(FakeClient(server), clock) as informers:
        first = informers.of(Gadget)
        await settle()
        assert server.watches == []

        await informers.wait_synced(timeout=30)
        assert first.has_synced
        assert len(server.watches) == 1

        informers.of(Gadget, namespace="x")
        informers.start()
        informers.start()
        await settle()
        assert len(server.watches) == 2
    assert "started already" not in caplog.text


async def test_waiting_for_sync_names_those_that_are_not(server: Server, clock: FakeClock) -> None:
    server.list_errors.extend(Forbidden("no") for _ in range(100))
    async with factory_of(FakeClient(server), clock, use_watch_list=False) as informers:
        informers.of(Gadget)
        waiting = asyncio.ensure_future(informers.wait_synced(timeout=30))
        await clock.advance(30)

        with pytest.raises(SyncTimeout, match="not synced within 30s: informer of gadgets"):
            await waiting


async def test_shutdown_returns_when_all_have_stopped(server: Server, clock: FakeClock) -> None:
    async with factory_of(FakeClient(server), clock) as informers:
        one, other = informers.of(Gadget), informers.of(Gadget, namespace="x")
        await informers.wait_synced()

        await informers.shutdown()

        assert one.stopped
        assert other.stopped
        assert server.open == []


async def test_the_end_of_the_block_ends_the_informers(server: Server, clock: FakeClock) -> None:
    async with factory_of(FakeClient(server), clock) as informers:
        informer = informers.of(Gadget)
        await informers.wait_synced()

    assert informer.stopped
    with pytest.raises(RuntimeError, match="inside its `async with` block"):
        informers.start()


async def test_what_the_block_raises_is_raised_as_it_is(server: Server, clock: FakeClock) -> None:
    with pytest.raises(NotFound, match=r'gadgets\.example\.io "a" not found'):
        async with factory_of(FakeClient(server), clock) as informers:
            gadgets = informers.of(Gadget)
            await informers.wait_synced()
            gadgets.lister.namespace("default").get("a")
    assert gadgets.stopped


async def test_an_informer_that_fails_ends_the_block(server: Server, clock: FakeClock) -> None:
    server.put("a")
    with pytest.raises(IndexFailed):
        async with factory_of(FakeClient(server), clock) as informers:
            informers.of(Gadget).add_index("bad", lambda obj: [str(1 // obj.spec.size)])
            informers.start()
            await asyncio.Event().wait()


@pytest.mark.parametrize(("value", "found"), [("true", True), ("1", True), ("false", False)])
async def test_the_environment_can_have_every_cache_watched_for_changes(
    value: str, found: bool, server: Server, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBE_CACHE_MUTATION_DETECTOR", value)
    server.put("a")
    expected = pytest.raises(CacheMutated, match=r"Gadget default/a: spec\.size") if found else None
    with expected or nullcontext():
        async with factory_of(FakeClient(server), clock) as informers:
            gadgets = informers.of(Gadget)
            await informers.wait_synced()
            gadgets.lister.namespace("default").get("a").spec.size = 7
            await clock.advance(2)


async def test_a_real_client_fills_the_cache_over_http() -> None:
    """The parts fit: the client's ListWatch is a ListerWatcher, its objects are of the class."""
    scheme = Scheme()
    add_to_scheme(scheme)
    hold = asyncio.Event()
    initial = {"k8s.io/initial-events-end": "true"}
    async with serving() as http:
        serve_discovery(http)
        http.on(
            "GET",
            "/apis/gadgets.example.io/v1/gadgets",
            stream(
                frame("ADDED", gadget("a", "5")),
                frame("BOOKMARK", gadget("", "7", annotations=initial)),
                frame("MODIFIED", gadget("a", "8", replicas=3)),
                hold=hold,
            ),
        )
        config = Config(http.url, user_agent="test/1", trust_env=False)
        async with (
            AsyncClient(config, scheme=scheme) as client,
            InformerFactory(client) as informers,
        ):
            gadgets = informers.of(v1.Gadget)
            updated = asyncio.Event()
            gadgets.on_update(lambda old, new: updated.set())
            informers.start()
            await gadgets.wait_version("8", timeout=10)
            await asyncio.wait_for(updated.wait(), 10)

            found = gadgets.lister.namespace("default").get("a")
            assert (type(found), found.spec.replicas) == (v1.Gadget, 3)
            hold.set()
