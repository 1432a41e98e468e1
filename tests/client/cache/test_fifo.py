"""FIFO: the queue that keeps the order."""

import asyncio

import pytest

from client.cache.delta_queue import MAX_PENDING, FIFOClosed
from client.cache.deltas import Bookmark, DeltaBatch, ObjectChange, ReplacedAll, SyncAll
from client.cache.fifo import MAX_BATCH
from client.informer import FIFO, DeletedObject, InvalidKey
from tests.client.informer.clock import settle
from tests.client.informer.conftest import Background
from tests.client.informer.server import Gadget, gadget


async def popped(fifo: FIFO[Gadget]) -> DeltaBatch[Gadget]:
    batches: list[DeltaBatch[Gadget]] = []
    await fifo.pop(batches.append)
    return batches[0]


def shown(batch: DeltaBatch[Gadget]) -> list[tuple[str, str]]:
    return [
        (delta.type, delta.key) if isinstance(delta, ObjectChange) else (type(delta).__name__, "")
        for delta in batch.deltas
    ]


async def test_every_change_comes_in_order_and_none_is_merged() -> None:
    """Strict arrival order over all keys, no deduplication, no suppression."""
    fifo: FIFO[Gadget] = FIFO()
    fifo.add(gadget("a", version=1))
    fifo.update(gadget("b", version=2))
    fifo.update(gadget("a", version=3))
    fifo.delete(gadget("unknown", version=4))
    fifo.delete(gadget("unknown", version=5))

    seen = [*shown(await popped(fifo)), *shown(await popped(fifo)), *shown(await popped(fifo))]

    assert seen == [
        ("Added", "default/a"),
        ("Updated", "default/b"),
        ("Updated", "default/a"),
        ("Deleted", "default/unknown"),
        ("Deleted", "default/unknown"),
    ]


async def test_a_list_a_resync_and_a_bookmark_are_one_element_each() -> None:
    fifo: FIFO[Gadget] = FIFO()
    fifo.replace([gadget("a"), gadget("b")], "7")
    fifo.resync()
    fifo.bookmark("9")

    assert len(fifo) == 3
    (replaced,) = (await popped(fifo)).deltas
    assert isinstance(replaced, ReplacedAll)
    assert (list(replaced.objects), replaced.resource_version) == (["default/a", "default/b"], "7")
    assert (await popped(fifo)).deltas == [SyncAll()]
    last = await popped(fifo)
    assert (last.deltas, last.resource_version) == ([Bookmark("9")], "9")


async def test_a_batch_ends_at_a_key_that_is_in_it_already() -> None:
    fifo: FIFO[Gadget] = FIFO()
    for name in "abac":
        fifo.add(gadget(name))

    assert shown(await popped(fifo)) == [("Added", "default/a"), ("Added", "default/b")]
    assert shown(await popped(fifo)) == [("Added", "default/a"), ("Added", "default/c")]


async def test_a_batch_ends_at_a_delta_about_all_objects() -> None:
    fifo: FIFO[Gadget] = FIFO()
    fifo.add(gadget("a", version=1))
    fifo.bookmark("2")
    fifo.add(gadget("b", version=3))

    batches = [await popped(fifo), await popped(fifo), await popped(fifo)]

    assert [shown(each)[0][0] for each in batches] == ["Added", "Bookmark", "Added"]
    assert [each.resource_version for each in batches] == ["1", "2", "3"]


async def test_a_batch_has_at_most_a_thousand_deltas() -> None:
    fifo: FIFO[Gadget] = FIFO()
    for number in range(MAX_BATCH + 1):
        fifo.add(gadget(f"g{number}"))

    assert len((await popped(fifo)).deltas) == MAX_BATCH
    assert len((await popped(fifo)).deltas) == 1


async def test_the_transform_runs_once_for_each_object_and_not_for_what_is_stored() -> None:
    """At the entrance, on changes and list items; a resync brings what went through it before."""
    seen: list[str] = []

    def transform(obj: Gadget) -> Gadget:
        seen.append(obj.metadata.name)
        return gadget(obj.metadata.name, size=1)

    fifo = FIFO(transform)
    fifo.replace([gadget("a"), gadget("b")], "1")
    fifo.add(gadget("c"))
    fifo.delete(gadget("d"))
    fifo.resync()

    assert seen == ["a", "b", "c", "d"]
    (replaced,) = (await popped(fifo)).deltas
    assert isinstance(replaced, ReplacedAll)
    assert [obj.spec.size for obj in replaced.objects.values()] == [1, 1]


async def test_what_the_transform_refuses_does_not_enter() -> None:
    def transform(obj: Gadget) -> Gadget:
        if obj.metadata.name == "bad":
            raise ValueError("bad")
        return obj

    fifo = FIFO(transform)

    with pytest.raises(ValueError, match="bad"):
        fifo.add(gadget("bad"))
    with pytest.raises(ValueError, match="bad"):
        fifo.replace([gadget("good"), gadget("bad")], "1")
    with pytest.raises(InvalidKey):
        fifo.add(gadget(""))
    assert len(fifo) == 0


async def test_it_is_synced_when_the_first_list_was_processed() -> None:
    """Counted after processing, also when the list is empty; later lists do not matter."""
    fifo: FIFO[Gadget] = FIFO()
    assert not fifo.has_synced
    fifo.replace([], "1")
    assert not fifo.has_synced
    during: list[bool] = []

    await fifo.pop(lambda batch: during.append(fifo.has_synced or not batch.is_in_initial_list))

    assert during == [False]
    assert fifo.has_synced
    fifo.replace([gadget("a")], "2")
    assert fifo.has_synced
    assert not (await popped(fifo)).is_in_initial_list


@pytest.mark.parametrize("method", ["add", "update", "delete"])
async def test_a_change_before_the_first_list_makes_it_synced_at_once(method: str) -> None:
    fifo: FIFO[Gadget] = FIFO()

    getattr(fifo, method)(gadget("a"))

    assert fifo.has_synced
    fifo.replace([gadget("a")], "2")
    assert fifo.has_synced
    assert not (await popped(fifo)).is_in_initial_list


@pytest.mark.parametrize("method", ["resync", "bookmark"])
def test_what_is_no_change_does_not_make_it_synced(method: str) -> None:
    fifo: FIFO[Gadget] = FIFO()

    fifo.resync() if method == "resync" else fifo.bookmark("7")

    assert not fifo.has_synced


async def test_the_first_list_is_a_batch_of_its_own() -> None:
    """What comes after it is no part of the first state, however soon it comes."""
    fifo: FIFO[Gadget] = FIFO()
    fifo.replace([gadget("a")], "1")
    fifo.add(gadget("b", version=2))

    first, second = await popped(fifo), await popped(fifo)

    assert (shown(first), first.is_in_initial_list) == ([("ReplacedAll", "")], True)
    assert (shown(second), second.is_in_initial_list) == ([("Added", "default/b")], False)


async def test_a_first_list_whose_processing_fails_counts_as_processed() -> None:
    """Who waits for it must not wait for ever; the failure itself reaches the caller of pop."""
    fifo: FIFO[Gadget] = FIFO()
    fifo.replace([], "1")

    def fail(batch: DeltaBatch[Gadget]) -> None:
        raise ValueError("cannot")

    with pytest.raises(ValueError, match="cannot"):
        await fifo.pop(fail)

    assert fifo.has_synced
    assert len(fifo) == 0


async def test_the_producer_is_held_up_when_two_batches_wait(background: Background) -> None:
    """The only back-pressure there is."""
    fifo: FIFO[Gadget] = FIFO()
    for number in range(MAX_PENDING):
        fifo.add(gadget(f"g{number}"))
    producer = background(fifo.wait_for_room())
    await settle()
    assert not producer.done()

    await popped(fifo)
    await settle()

    assert producer.done()
    await fifo.wait_for_room()
    for number in range(MAX_BATCH):
        fifo.add(gadget(f"more{number}"))
    again = background(fifo.wait_for_room())
    await settle()
    assert not again.done()


async def test_pop_waits_for_something(background: Background) -> None:
    fifo: FIFO[Gadget] = FIFO()
    batches: list[DeltaBatch[Gadget]] = []
    consumer = background(fifo.pop(batches.append))
    await settle()
    assert not consumer.done()

    fifo.add(gadget("a"))
    await settle()

    assert shown(batches[0]) == [("Added", "default/a")]
    again = background(fifo.pop(batches.append))
    await settle()
    assert not again.done()


async def test_a_pop_that_is_cancelled_loses_nothing() -> None:
    """Nothing is taken before it can be processed, and processing does not wait."""
    fifo: FIFO[Gadget] = FIFO()
    batches: list[DeltaBatch[Gadget]] = []
    consumer = asyncio.ensure_future(fifo.pop(batches.append))
    await settle()

    fifo.add(gadget("a"))
    consumer.cancel()
    await asyncio.gather(consumer, return_exceptions=True)

    assert (len(fifo), batches) == (1, [])
    assert shown(await popped(fifo)) == [("Added", "default/a")]


async def test_closing_lets_a_producer_go(background: Background) -> None:
    fifo: FIFO[Gadget] = FIFO()
    for number in range(MAX_PENDING):
        fifo.add(gadget(f"g{number}"))
    producer = background(fifo.wait_for_room())
    await settle()

    fifo.close()
    await settle()

    assert producer.done()


async def test_there_is_room_until_two_batches_wait() -> None:
    fifo: FIFO[Gadget] = FIFO()
    for number in range(2 * MAX_BATCH - 1):
        fifo.add(gadget(f"g{number}"))

    async with asyncio.timeout(5):
        await fifo.wait_for_room()


async def test_a_closed_queue_is_drained_and_then_says_so() -> None:
    fifo: FIFO[Gadget] = FIFO()
    fifo.add(gadget("a"))
    fifo.close()

    assert len((await popped(fifo)).deltas) == 1
    with pytest.raises(FIFOClosed):
        await popped(fifo)


async def test_closing_ends_a_waiting_pop() -> None:
    fifo: FIFO[Gadget] = FIFO()
    consumer = asyncio.ensure_future(popped(fifo))
    await settle()

    fifo.close()

    with pytest.raises(FIFOClosed):
        await consumer


def test_a_tombstone_splits_its_key() -> None:
    gone: DeletedObject[Gadget] = DeletedObject("x/a", None, final_state_unknown=True)

    assert (gone.namespace, gone.name) == ("x", "a")
