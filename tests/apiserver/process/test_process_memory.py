"""Garbage collections stay short however many objects there are, and memory is returned."""

import gc
import platform
import resource
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.process.process_memory import (
    FIRST_SWEEP_SECONDS,
    MANY_CONNECTIONS,
    SWEEP_LATEST_SECONDS,
    SWEEP_SECONDS,
    TRIM_DELAYS,
    ProcessMemory,
)


class Cell:
    """An object that the collector tracks."""

    def __init__(self) -> None:
        self.other: Any = None


class Fixture:
    """Process memory on a fake clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.trims = 0
        self.options: dict[int, int] = {}
        self.memory = ProcessMemory(
            lambda: self.now, self._trim, set_option=self.options.__setitem__
        )

    def _trim(self, pad: int) -> None:
        self.trims += 1


@pytest.fixture
def fixture() -> Iterator[Fixture]:
    before = gc.get_threshold()
    made = Fixture()
    made.memory.start()
    yield made
    made.memory.stop()
    gc.set_threshold(*before)
    gc.unfreeze()


def pass_first_sweep(fixture: Fixture) -> None:
    fixture.now = FIRST_SWEEP_SECONDS
    fixture.memory.check(0)
    fixture.trims = 0


def test_collections_do_not_grow_with_the_number_of_objects(fixture: Fixture) -> None:
    """What survived a full collection is not visited again."""
    kept: list[Cell] = []
    durations: list[float] = []
    began = 0.0

    def on_phase(phase: str, info: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.thread_time()
        else:
            durations.append(time.thread_time() - began)

    gc.callbacks.append(on_phase)
    kept.extend(Cell() for _ in range(400_000))
    gc.callbacks.remove(on_phase)
    fixture.memory.stop()
    gc.unfreeze()
    started = time.thread_time()
    gc.collect()
    everything = time.thread_time() - started

    assert len(durations) > 10
    assert max(durations) < everything / 3


def test_the_garbage_of_a_start_is_found_in_the_first_quiet_second_after_it() -> None:
    before = gc.get_threshold()
    first, second = Cell(), Cell()
    first.other, second.other = second, first
    found = weakref.ref(first)
    del first, second
    started = Fixture()
    started.memory.start()
    assert found() is not None

    started.now = FIRST_SWEEP_SECONDS
    started.memory.check(0)
    started.memory.stop()
    gc.set_threshold(*before)
    gc.unfreeze()

    assert found() is None
    assert started.trims == 1


def test_cycles_among_frozen_objects_are_found_by_a_sweep(fixture: Fixture) -> None:
    pass_first_sweep(fixture)
    first, second = Cell(), Cell()
    first.other, second.other = second, first
    found = weakref.ref(first)
    gc.collect()
    del first, second
    gc.collect()
    assert found() is not None

    fixture.now = FIRST_SWEEP_SECONDS + SWEEP_SECONDS - 1
    fixture.memory.check(0)
    assert found() is not None
    fixture.now = FIRST_SWEEP_SECONDS + SWEEP_LATEST_SECONDS
    fixture.memory.check(0)

    assert found() is None


def test_memory_is_returned_after_many_connections_have_ended(fixture: Fixture) -> None:
    pass_first_sweep(fixture)
    trims = []
    for connections in (0, MANY_CONNECTIONS, MANY_CONNECTIONS // 2, 10, 10, 0, 50, 0):
        fixture.memory.check(connections)
        trims.append(fixture.trims)
        fixture.now += max(TRIM_DELAYS)

    assert trims == [0, 0, 0, 0, 1, 2, 2, 2]


def test_memory_is_returned_in_a_quiet_second_only(fixture: Fixture) -> None:
    pass_first_sweep(fixture)
    fixture.memory.check(MANY_CONNECTIONS)
    fixture.memory.check(0)
    fixture.now += max(TRIM_DELAYS)
    fixture.memory.check(0)
    assert fixture.trims == 1

    fixture.now += 1e-9  # in which this test computes more than it lasts
    fixture.memory.check(0)

    assert fixture.trims == 1


FAULTS = """
import resource
from apiserver.process.process_memory import ProcessMemory

if {start}:
    ProcessMemory().start()
parts = [b"x" * 1000] * 200

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

before = faults()
for _ in range(100):
    response = [b"".join(parts) for _ in range(4)]
    del response
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="an option of glibc")
def test_the_parts_of_a_list_are_not_taken_from_the_system_anew() -> None:
    """Each page of such a block would be cleared by the system when it is first written."""
    pages = 400 * 200_000 // resource.getpagesize()

    def faults(start: bool) -> int:
        command = [sys.executable, "-c", FAULTS.format(start=start)]
        return int(subprocess.run(command, capture_output=True, check=True).stdout)

    assert faults(start=True) < pages / 4
