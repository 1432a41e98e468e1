"""DeltaFIFO: the queue that merges what happens to one object."""

import asyncio

import pytest

from client.cache.delta_queue import MAX_PENDING, FIFOClosed
from client.cache.deltas import Bookmark, DeltaBatch, ObjectChange
from client.informer import DeletedObject, DeltaFIFO, Store
from tests.client.informer.clock import settle
from tests.client.informer.conftest import Background
from tests.client.informer.server import Gadget, gadget


async def popped(fifo: DeltaFIFO[Gadget]) -> DeltaBatch[Gadget]:
    batches: list[DeltaBatch[Gadget]] = []
    await fifo.pop(batches.append)
    return batches[0]


def changes(batch: DeltaBatch[Gadget]) -> list[ObjectChange[Gadget]]:
    return [delta for delta in batch.deltas if isinstance(delta, ObjectChange)]


async def test_a_key_waits_once_with_all_that_happened_to_it() -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO()
    fifo.add(gadget("a", version=1))
    fifo.add(gadget("b", version=2))
    fifo.update(gadget("a", version=3))

    assert len(fifo) == 2
    first = changes(await popped(fifo))
    assert [(each.type, each.key) for each in first] == [
        ("Added", "default/a"),
        ("Updated", "default/a"),
    ]


async def test_of_two_deletions_the_one_that_knows_the_end_is_kept() -> None:
    """Adjacent deletions merge, whichever comes first."""
    store: Store[Gadget] = Store()
    store.add(gadget("a", version=1))
    for seen_first in (True, False):
        fifo = DeltaFIFO(store)
        final = gadget("a", version=5)
        if seen_first:
            fifo.delete(final)
            fifo.replace([], "9")
        else:
            fifo.replace([], "9")
            fifo.delete(final)

        (only,) = changes(await popped(fifo))

        assert only.object is final


async def test_of_two_deletions_that_were_seen_the_newer_is_kept() -> None:
    store: Store[Gadget] = Store()
    store.add(gadget("a", version=1))
    fifo = DeltaFIFO(store)
    fifo.delete(gadget("a", version=5))
    fifo.delete(gadget("a", version=6))

    (only,) = changes(await popped(fifo))

    assert only.last_known == gadget("a", version=6)


async def test_of_two_deletions_that_were_only_found_the_first_is_kept() -> None:
    """Nothing was learned of the object in between."""
    store: Store[Gadget] = Store()
    store.add(gadget("a", version=1))
    fifo = DeltaFIFO(store)
    fifo.replace([], "5")
    store.add(gadget("a", version=2))
    fifo.replace([], "6")

    (only,) = changes(await popped(fifo))

    assert only.object == DeletedObject("default/a", gadget("a", version=1), True)


async def test_deletions_that_are_not_adjacent_are_both_kept() -> None:
    store: Store[Gadget] = Store()
    store.add(gadget("a", version=1))
    fifo = DeltaFIFO(store)
    fifo.delete(gadget("a", version=2))
    fifo.add(gadget("a", version=3))
    fifo.delete(gadget("a", version=4))

    found = changes(await popped(fifo))

    assert [each.type for each in found] == ["Deleted", "Added", "Deleted"]


@pytest.mark.parametrize("known", [True, False])
async def test_a_deletion_of_what_waits_or_is_known_is_told(known: bool) -> None:
    store: Store[Gadget] = Store()
    fifo = DeltaFIFO(store)
    if known:
        store.add(gadget("a", version=1))
    else:
        fifo.add(gadget("a", version=1))

    fifo.delete(gadget("a", version=2))

    assert [each.type for each in changes(await popped(fifo))][-1] == "Deleted"


async def test_keys_are_taken_in_the_order_of_their_first_change() -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO()
    for name in "abcab":
        fifo.add(gadget(name))

    taken = [changes(await popped(fifo))[0].key for _ in range(3)]

    assert taken == ["default/a", "default/b", "default/c"]


async def test_deleting_what_nobody_knows_is_dropped() -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO(Store())

    fifo.delete(gadget("a", version=3))

    assert len(fifo) == 0
    assert (await popped(fifo)).deltas == [Bookmark("3")]


async def test_a_list_brings_its_objects_first_and_then_the_deletions() -> None:
    """The last state is that of the queue, else of the store, and old tombstones are unwrapped."""
    store: Store[Gadget] = Store()
    stored, waiting = gadget("stored", version=1), gadget("waiting", version=2)
    store.add(stored)
    fifo = DeltaFIFO(store)
    fifo.add(waiting)
    fifo.replace([gadget("new", version=3)], "4")
    fifo.replace([gadget("new", version=3)], "5")

    batches = [changes(await popped(fifo)) for _ in range(3)]

    assert [(c.type, c.key) for c in batches[0]] == [
        ("Added", "default/waiting"),
        ("Deleted", "default/waiting"),
    ]
    assert batches[0][1].object == DeletedObject("default/waiting", waiting, True)
    assert [c.type for c in batches[1]] == ["Replaced", "Replaced"]
    assert [c.object for c in batches[2]] == [DeletedObject("default/stored", stored, True)]


async def test_a_resync_skips_keys_that_wait() -> None:
    """What waits is newer than what is stored."""
    store: Store[Gadget] = Store()
    store.add(gadget("a", version=1))
    store.add(gadget("b", version=2))
    fifo = DeltaFIFO(store)
    fifo.update(gadget("a", version=3))

    fifo.resync()

    assert [c.type for c in changes(await popped(fifo))] == ["Updated"]
    assert [(c.type, c.key) for c in changes(await popped(fifo))] == [("Sync", "default/b")]


async def test_an_empty_first_list_is_synced_at_once() -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO(Store())

    fifo.replace([], "")

    assert fifo.has_synced
    await popped(fifo)


async def test_it_is_synced_when_the_first_list_was_taken() -> None:
    """Counted when taken, that is, before the last one was processed."""
    fifo: DeltaFIFO[Gadget] = DeltaFIFO(Store())
    fifo.replace([gadget("a"), gadget("b")], "2")
    during: list[tuple[bool, bool]] = []

    for _ in range(2):
        await fifo.pop(lambda batch: during.append((batch.is_in_initial_list, fifo.has_synced)))

    assert during == [(True, False), (True, True)]


@pytest.mark.parametrize("method", ["add", "update", "delete"])
async def test_a_change_before_the_first_list_makes_it_synced_at_once(method: str) -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO(Store())

    getattr(fifo, method)(gadget("a"))

    assert fifo.has_synced


async def test_deletions_that_the_first_list_finds_are_part_of_it() -> None:
    store: Store[Gadget] = Store()
    store.add(gadget("gone"))
    fifo = DeltaFIFO(store)
    fifo.replace([gadget("a")], "2")

    assert (await popped(fifo)).is_in_initial_list
    assert not fifo.has_synced
    assert (await popped(fifo)).is_in_initial_list
    assert fifo.has_synced


async def test_what_the_transform_refuses_does_not_enter() -> None:
    def transform(obj: Gadget) -> Gadget:
        if obj.metadata.name == "bad":
            raise ValueError("bad")
        return obj

    fifo = DeltaFIFO(Store(), transform)

    with pytest.raises(ValueError, match="bad"):
        fifo.add(gadget("bad"))
    with pytest.raises(ValueError, match="bad"):
        fifo.replace([gadget("good"), gadget("bad")], "1")

    assert len(fifo) == 0


async def test_the_state_of_the_store_is_told_only_when_nothing_waits() -> None:
    """Between objects the order is not kept, so a version in between would be a lie."""
    fifo: DeltaFIFO[Gadget] = DeltaFIFO()
    fifo.add(gadget("a", version=1))
    fifo.add(gadget("b", version=2))
    fifo.update(gadget("a", version=3))

    assert (await popped(fifo)).resource_version == ""
    assert (await popped(fifo)).resource_version == "3"


@pytest.mark.parametrize("method", ["add", "update", "delete"])
async def test_every_change_tells_the_state_that_it_leads_to(method: str) -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO()

    getattr(fifo, method)(gadget("a", version=7))

    assert (await popped(fifo)).resource_version == "7"


@pytest.mark.parametrize("brought", ["an empty list", "a bookmark"])
async def test_a_state_without_changes_is_told_to_who_waits(
    brought: str, background: Background
) -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO(Store())
    batches: list[DeltaBatch[Gadget]] = []
    background(fifo.pop(batches.append))
    await settle()

    fifo.bookmark("7") if brought == "a bookmark" else fifo.replace([], "7")
    await settle()

    assert [(batch.deltas, batch.resource_version) for batch in batches] == [([Bookmark("7")], "7")]


def test_a_resync_without_known_objects_tells_nothing() -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO()
    fifo.add(gadget("a"))

    fifo.resync()

    assert len(fifo) == 1


async def test_closing_ends_a_waiting_pop() -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO()
    consumer = asyncio.ensure_future(popped(fifo))
    await settle()

    fifo.close()

    with pytest.raises(FIFOClosed):
        await consumer


async def test_the_transform_does_not_see_tombstones_and_resyncs() -> None:
    seen: list[str] = []

    def transform(obj: Gadget) -> Gadget:
        seen.append(obj.metadata.name)
        return obj

    store: Store[Gadget] = Store()
    store.add(gadget("gone"))
    fifo = DeltaFIFO(store, transform)
    fifo.replace([gadget("a")], "1")
    fifo.resync()

    assert seen == ["a"]


async def test_pop_waits_for_something_each_time(background: Background) -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO()
    batches: list[DeltaBatch[Gadget]] = []
    for name in "ab":
        consumer = background(fifo.pop(batches.append))
        await settle()
        assert not consumer.done()

        fifo.add(gadget(name))
        await settle()

        assert changes(batches[-1])[0].key == f"default/{name}"


async def test_the_producer_is_held_up_and_closing_ends_all(background: Background) -> None:
    fifo: DeltaFIFO[Gadget] = DeltaFIFO()
    for number in range(MAX_PENDING):
        fifo.add(gadget(f"g{number}"))
    producer = background(fifo.wait_for_room())
    await settle()
    assert not producer.done()
    await popped(fifo)
    await settle()
    assert producer.done()
    fifo.add(gadget("another"))
    again = background(fifo.wait_for_room())
    await settle()
    assert not again.done()

    fifo.close()
    await settle()
    assert again.done()
    for _ in range(MAX_PENDING):
        await popped(fifo)

    with pytest.raises(FIFOClosed):
        await popped(fifo)
