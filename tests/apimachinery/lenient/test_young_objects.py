"""Young objects: reading a large list rarely scans it for garbage, and still finds garbage."""

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import orjson
import pytest

from apimachinery.lenient.lazy_decoding import lazy_decode_json
from apimachinery.lenient.young_objects import YoungObjects
from tests.benchmarks.pods import PodV1, pod_document


class Cycle:
    def __init__(self) -> None:
        self.me = self


@contextmanager
def collections() -> Iterator[list[int]]:
    """Collect the generations that are scanned in a block."""
    found: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            found.append(info["generation"])

    gc.collect()
    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


def allocate_until_nearly() -> list[list[int]]:
    """Return as many containers as are young just before Python scans them."""
    kept: list[list[int]] = []
    while gc.get_count()[0] < gc.get_threshold()[0] * 0.9:
        kept.append([])
    return kept


def test_reading_many_objects_scans_only_the_young_ones() -> None:
    data = orjson.dumps(pod_document())
    pods = [lazy_decode_json(PodV1, data) for _ in range(3000)]
    with collections() as scanned:
        for pod in pods:
            assert pod.spec.containers[0].image
            assert pod.status.conditions[0].type

    assert set(scanned) == {0}


def test_garbage_among_young_objects_is_collected() -> None:
    young, cycle = YoungObjects(), Cycle()
    gone = weakref.ref(cycle)
    del cycle
    kept = allocate_until_nearly()
    assert gone() is not None

    young.settle()

    assert gone() is None
    assert kept


@pytest.mark.parametrize("threshold", [700, 7000])
def test_a_full_collection_runs_after_a_number_of_objects(threshold: int) -> None:
    """However many of them a program lets become young, which it may have configured."""
    young, kept = YoungObjects(full_collection=21_000), []
    before = gc.get_threshold()
    gc.set_threshold(threshold)
    try:
        with collections() as scanned:
            while 2 not in scanned:
                kept.append(allocate_until_nearly())
                young.settle()
    finally:
        gc.set_threshold(*before)

    assert set(scanned[:-1]) == {0}
    assert 20_000 <= sum(map(len, kept)) <= 21_000 + threshold


@pytest.mark.parametrize("threshold", [0, 700])
def test_a_program_that_disabled_collection_is_left_alone(threshold: int) -> None:
    before = gc.get_threshold()
    kept = allocate_until_nearly()
    with collections() as scanned:
        kept += allocate_until_nearly()
        gc.disable()
        gc.set_threshold(threshold)
        try:
            YoungObjects().settle()
        finally:
            gc.set_threshold(*before)
            gc.enable()

    assert scanned == []
    assert kept
