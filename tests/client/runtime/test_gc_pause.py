"""Python's garbage collector rests while much is decoded, and catches up."""

import gc
from collections.abc import Iterator

import pytest

from client.runtime.gc_pause import LARGE, Collector, resting

OLDEST = 2


@pytest.fixture(autouse=True)
def _calm() -> Iterator[None]:
    gc.collect()
    yield
    assert gc.isenabled()


def full_collections() -> int:
    return int(gc.get_stats()[OLDEST]["collections"])


def test_what_was_made_in_a_pause_counts_as_old() -> None:
    with Collector().paused(LARGE):
        assert not gc.isenabled()
        made: list[list[int]] = [[] for _ in range(1000)]

    old = {id(obj) for obj in gc.get_objects(generation=OLDEST)}
    assert {id(part) for part in made} <= old


def test_little_is_made_without_a_pause() -> None:
    with Collector().paused(LARGE - 1):
        assert gc.isenabled()


def test_a_pause_in_a_pause_does_not_end_it() -> None:
    collector = Collector()

    with collector.paused(LARGE):
        with collector.paused(LARGE):
            pass
        assert not gc.isenabled()


def test_the_collector_goes_on_after_a_failure() -> None:
    with pytest.raises(ValueError, match="odd"), Collector().paused(LARGE):
        raise ValueError("odd")

    assert gc.isenabled()


def test_everything_is_searched_after_much_was_made() -> None:
    collector = Collector(much=3 * LARGE)
    before = full_collections()

    for _ in range(3):
        with collector.paused(LARGE):
            pass
    assert full_collections() == before
    for _ in range(4):
        with collector.paused(LARGE):
            pass

    assert full_collections() == before + 1


def test_what_a_program_has_frozen_stays_so() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with Collector().paused(LARGE):
            pass
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()


def test_events_that_come_many_at_once_count_as_old_one_by_one() -> None:
    collector = Collector()

    assert collector.expect(LARGE)
    with resting():
        first: list[int] = []
    assert gc.isenabled()
    with resting():
        second: list[int] = []

    old = {id(obj) for obj in gc.get_objects(generation=OLDEST)}
    assert {id(first), id(second)} <= old
    assert not collector.expect(LARGE - 1)
