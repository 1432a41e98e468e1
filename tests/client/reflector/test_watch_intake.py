"""Intake: what is taken from a stream, what is skipped, and how far it has come."""

import pytest

from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import Status
from apimachinery.meta.table import Table
from apimachinery.meta.types import ObjectMeta, PartialObjectMetadata, TypeMeta
from apimachinery.meta.unstructured import Unstructured
from apimachinery.schema import GroupVersion
from apimachinery.watch import EventType, ObjectEvent
from client.cache.delta_queue import MAX_PENDING
from client.informer import FIFO, Reflector, Store
from client.reflector.watch_intake import Intake
from client.runtime.clock import Clock
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.server import Gadget, Server, gadget
from tests.client.reflector.reflectors import Setup


async def test_an_event_of_something_else_is_skipped(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    """Wrong type, no metadata, a Table: logged, and the stream goes on."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()

    stream = server.open[0]
    other = PartialObjectMetadata(metadata=ObjectMeta(name="x", resource_version="999"))
    stream.send(EventType.ADDED, other)  # type: ignore[arg-type]
    stream.send(EventType.ADDED, Table())  # type: ignore[arg-type]
    server.put("a")
    await settle()

    assert setup.names() == ["a"]
    assert caplog.text.count("event skipped") == 2
    assert setup.reflector.last_sync_resource_version == "101"


def test_an_object_of_another_kind_is_skipped_where_there_is_no_class(clock: Clock) -> None:
    kind = GroupVersion("example.io", "v1").with_kind("Gadget")
    intake = Intake("test", clock, expected=Unstructured, kind=kind)
    right = Unstructured(kind="Gadget", api_version="example.io/v1")
    wrong = Unstructured(kind="Gadget", api_version="example.io/v2")

    assert intake.object_of(ObjectEvent(EventType.ADDED, right)) is right
    assert intake.object_of(ObjectEvent(EventType.ADDED, wrong)) is None


def test_an_object_of_a_subclass_is_one_of_the_class(clock: Clock) -> None:
    class Special(Gadget):
        pass

    intake: Intake[Gadget] = Intake("test", clock, expected=Gadget)
    special = Special(metadata=ObjectMeta(name="a"))

    assert intake.object_of(ObjectEvent(EventType.ADDED, special)) is special


async def test_an_object_without_a_version_advances_nothing(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """It is stored, and a watch that ends goes on from before it."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()

    server.open[0].send(EventType.ADDED, gadget("a"))
    await settle()

    assert setup.names() == ["a"]
    assert setup.reflector.last_sync_resource_version == "100"


@pytest.mark.parametrize("thing", [Table(), Status(), TypeMeta(kind="X")], ids=repr)
def test_what_has_no_metadata_of_an_object_is_skipped(
    thing: TypeMeta, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Also by those who expect no class: a list has metadata of its own, and no object has it."""
    intake: Intake[Gadget] = Intake("test", clock)

    assert intake.object_of(ObjectEvent(EventType.ADDED, thing)) is None
    assert "no metadata" in caplog.text


async def test_what_is_skipped_is_not_counted(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """A stream of nothing but such things is an empty one, and does not advance."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()

    other = PartialObjectMetadata(metadata=ObjectMeta(name="x", resource_version="999"))
    server.open[0].send(EventType.ADDED, other)  # type: ignore[arg-type]
    server.open[0].end()
    await clock.advance(0.8)

    assert len(server.lists) == 2, "a very short watch"
    assert server.lists[-1].resource_version == "100"


async def test_every_change_advances_the_version(
    server: Server, clock: FakeClock, background: Background
) -> None:
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()

    for change in (server.put, server.put, server.delete):
        change("a")
        await settle()

        assert setup.reflector.last_sync_resource_version == str(server.revision)


async def test_the_version_follows_events_and_bookmarks(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Bookmarks are passed on to a store that wants to know."""
    setup = Setup(server, clock)
    background(setup.reflector.run())
    await settle()
    server.put("a")
    await settle()
    assert setup.reflector.last_sync_resource_version == "101"

    server.revision = 150
    server.bookmark()
    await settle()

    assert setup.reflector.last_sync_resource_version == "150"
    assert setup.store.calls[-1] == "bookmark 150"


@pytest.mark.parametrize("version", ["", "0"])
async def test_what_exists_says_nothing_about_the_version_of_a_stream_from_anywhere(
    version: str, server: Server, clock: FakeClock
) -> None:
    """Such added events are not ordered; the first other event is where the order begins."""
    stream = await server.watch(ListOptions(resource_version=version))
    stream.events.clear()
    for kind, obj in (
        (EventType.ADDED, gadget("a", version=9)),
        (EventType.ADDED, gadget("b", version=7)),
        (EventType.MODIFIED, gadget("a", version=10)),
        (EventType.ADDED, gadget("c", version=11)),
    ):
        stream.send(kind, obj)
    stream.end()
    advanced: list[str] = []
    intake: Intake[Gadget] = Intake("test", clock, expected=Gadget)

    await intake.read(stream, Store(), start=0, resource_version=version, advance=advanced.append)

    assert advanced == ["10", "11"]


async def test_a_full_queue_holds_up_the_stream(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """When two batches wait, nothing more is read until one of them was processed."""
    fifo: FIFO[Gadget] = FIFO()
    reflector = Reflector(server, fifo, use_watch_list=False, clock=clock)
    background(reflector.run())
    await settle()
    for number in range(MAX_PENDING + 500):
        server.put(f"g{number}")
    await settle()
    unread = len(server.open[0].events)
    assert (len(fifo), unread) == (MAX_PENDING, 501)

    for _ in range(2):
        await fifo.pop(lambda batch: None)
    await settle()

    assert len(server.open[0].events) == 0
    assert reflector.last_sync_resource_version == str(server.revision)
