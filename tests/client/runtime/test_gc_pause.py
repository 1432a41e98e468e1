"""Garbage collection is paused during large decodes, and a full collection runs later."""

import gc
from collections.abc import Iterator

import pytest

from apimachinery.lenient import young_objects
from client.runtime.gc_pause import MIN_PAUSE_BYTES, GCPauser, gc_paused

OLDEST = 2
MANY = 2_000
"""More objects than Python allocates before it scans them."""


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    gc.collect()
    yield
    assert gc.isenabled()


def full_collections() -> int:
    return int(gc.get_stats()[OLDEST]["collections"])


def test_objects_allocated_in_a_pause_move_to_the_oldest_generation() -> None:
    with GCPauser().paused(MIN_PAUSE_BYTES):
        assert not gc.isenabled()
        allocated: list[list[int]] = [[] for _ in range(1000)]

    old = {id(obj) for obj in gc.get_objects(generation=OLDEST)}
    assert {id(part) for part in allocated} <= old


def test_small_decodes_do_not_pause_collection() -> None:
    with GCPauser().paused(MIN_PAUSE_BYTES - 1):
        assert gc.isenabled()


def test_a_nested_pause_does_not_end_the_outer_one() -> None:
    pauser = GCPauser()

    with pauser.paused(MIN_PAUSE_BYTES):
        with pauser.paused(MIN_PAUSE_BYTES):
            pass
        assert not gc.isenabled()


def test_collection_resumes_after_an_error_in_the_block() -> None:
    with pytest.raises(ValueError, match="odd"), GCPauser().paused(MIN_PAUSE_BYTES):
        raise ValueError("odd")

    assert gc.isenabled()


def test_a_full_collection_runs_once_the_byte_limit_is_exceeded() -> None:
    pauser = GCPauser(full_collection_bytes=3 * MIN_PAUSE_BYTES)
    before = full_collections()

    for _ in range(3):
        with pauser.paused(MIN_PAUSE_BYTES):
            pass
    assert full_collections() == before
    for _ in range(4):
        with pauser.paused(MIN_PAUSE_BYTES):
            pass

    assert full_collections() == before + 1


def test_objects_frozen_by_the_program_stay_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """That there are some is remembered, because counting them takes long."""
    monkeypatch.setattr(young_objects, "FROZEN_OBJECTS", young_objects.FrozenObjects())
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with GCPauser().paused(MIN_PAUSE_BYTES):
            pass
        # Some may be freed meanwhile, when other threads drop their last reference.
        assert gc.get_freeze_count() > 0.99 * frozen
    finally:
        gc.unfreeze()


def test_each_event_of_a_burst_moves_to_the_oldest_generation() -> None:
    pauser = GCPauser()

    assert pauser.prepare(MIN_PAUSE_BYTES)
    with gc_paused():
        first: list[list[int]] = [[] for _ in range(MANY)]
    assert gc.isenabled()
    with gc_paused():
        second: list[list[int]] = [[] for _ in range(MANY)]
    with gc_paused():
        small: list[int] = []

    old = {id(obj) for obj in gc.get_objects(generation=OLDEST)}
    assert {id(first), id(second)} <= old
    # So few objects would not have been scanned without a pause either.
    assert id(small) not in old
    assert not pauser.prepare(MIN_PAUSE_BYTES - 1)
