"""What handlers are told of, and in which order."""

import asyncio

import pytest

from client.informer import DeletedObject, FilteringHandler, HandlerFunctions, object_key
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.informers import Notes, informer_of, short
from tests.client.informer.server import Gadget, Server, gadget


@pytest.mark.parametrize("in_order", [True, False])
async def test_handlers_hear_of_every_change(
    in_order: bool, server: Server, clock: FakeClock, background: Background
) -> None:
    """Stored: update; not stored: add; deleted: the last state, with the deletion's version."""
    server.put("a")
    informer = informer_of(server, clock, in_order=in_order)
    notes = Notes()
    informer.add_handler(notes)
    background(informer.run())
    await settle()

    server.put("b")
    await settle()
    server.put("a")
    await settle()
    server.delete("b")
    await settle()

    assert notes.told == [
        "+ add a@101",
        "add b@102",
        "update a@101 to a@103",
        "delete default/b b@104",
    ]
    assert informer.store.keys() == ["default/a"]


async def test_a_new_list_deletes_first_and_then_updates_and_adds(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """What a list does not have was deleted unseen; the store is ahead of those who hear of it."""
    for name in "ab":
        server.put(name)
    informer = informer_of(server, clock)
    notes = Notes()
    stored: list[list[str]] = []
    informer.add_handler(notes)
    informer.add_handler(HandlerFunctions(delete=lambda _: stored.append(informer.store.keys())))
    background(informer.run())
    await settle()

    server.end_streams()
    server.delete("a")
    server.put("b")
    server.put("c")
    server.compact()
    await clock.advance(2)

    assert notes.told == [
        "+ add a@101",
        "+ add b@102",
        "delete default/a a@101 unseen",
        "update b@102 to b@104",
        "add c@105",
    ]
    assert stored == [["default/b", "default/c"]]


async def test_deleting_what_was_never_seen_is_told(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    notes = Notes()
    informer.add_handler(notes)
    background(informer.run())
    await settle()

    server.open[0].events.clear()
    server.objects["default/x"] = gadget("x")
    server.delete("x")
    await settle()

    assert notes.told == ["delete default/x x@101"]


async def test_an_object_deleted_and_created_again_may_be_one_update(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The uid is no part of the key."""
    server.put("a")
    informer = informer_of(server, clock)
    notes = Notes()
    informer.add_handler(notes)
    background(informer.run())
    await settle()

    server.end_streams()
    server.delete("a")
    server.put("a")
    server.compact()
    await clock.advance(2)

    assert notes.told == ["+ add a@101", "update a@101 to a@103"]


async def test_a_notification_follows_its_change_of_the_cache(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    found: list[bool] = []
    informer.on_add(lambda obj: found.append(informer.store.get(object_key(obj)) is obj))
    background(informer.run())
    await settle()

    server.put("a")
    server.put("b")
    await settle()

    assert found == [True, True]


async def test_single_functions_can_be_handlers(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    told: list[str] = []

    @informer.on_add
    async def added(obj: Gadget) -> None:
        await asyncio.sleep(0)
        told.append(f"added {short(obj)}")

    @informer.on_update
    def changed(old: Gadget, new: Gadget) -> None:
        told.append(f"changed {short(new)}")

    @informer.on_delete
    def gone(deleted: DeletedObject[Gadget]) -> None:
        told.append(f"gone {deleted.key}")

    background(informer.run())
    for change in (server.put, server.put, server.delete):
        await settle()
        change("a")
    await settle()

    assert told == ["added a@101", "changed a@102", "gone default/a"]


async def test_a_filter_turns_changes_into_additions_and_deletions(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Starts to pass: add. Stops: delete of the old one. A last state nobody knows: passed on."""
    informer = informer_of(server, clock)
    notes = Notes()
    large = FilteringHandler(lambda obj: obj.spec.size > 5, notes)
    informer.add_handler(large)
    background(informer.run())
    await settle()

    for size in (1, 9, 8, 2):
        server.put("a", size=size)
        await settle()
    server.put("b", size=7)
    await settle()
    server.delete("a")
    server.delete("b")
    await settle()
    large.on_delete(DeletedObject("default/c", None, final_state_unknown=True))

    assert notes.told == [
        "add a@102",
        "update a@102 to a@103",
        "delete default/a a@103",
        "add b@105",
        "delete default/b b@107",
        "delete default/c ? unseen",
    ]


async def test_a_handler_is_told_one_thing_at_a_time_and_in_order(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The cache may be newer by the time it hears of a change."""
    informer = informer_of(server, clock)
    gate = asyncio.Event()
    told: list[str] = []
    running = 0

    async def slow(old: Gadget, new: Gadget) -> None:
        nonlocal running
        running += 1
        assert running == 1
        await gate.wait()
        cached = informer.store.get(object_key(new))
        assert cached is not None
        told.append(f"{old.spec.size} to {new.spec.size}, cached {cached.spec.size}")
        running -= 1

    informer.on_update(slow)
    background(informer.run())
    await settle()
    for size in range(4):
        server.put("a", size=size)
        await settle()
    gate.set()
    await settle()

    assert told == ["0 to 1, cached 3", "1 to 2, cached 3", "2 to 3, cached 3"]
