"""Pauses: how long other threads, or the other tasks of an event loop, had to wait.

A call into C keeps the interpreter's lock until it returns, and a step without `await` keeps the
event loop. Both are measured by a pulse that beats a thousand times a second: the longest time
between two of its beats is how long it was held up.

Limits are given in seconds of a reference machine; `machine_factor` scales them.
"""

import asyncio
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

measures_time = pytest.mark.flaky(reruns=3, only_rerun=["AssertionError", "Failed"])
"""For tests that assert a time, even one of the CPU: the best of four attempts counts.

Other programs on the machine take its caches, its memory and its interrupts; they make no test
faster. Code that is too slow fails every time.
"""

BEAT = 0.001
SWITCH_INTERVAL = 0.0005
REFERENCE_SECONDS = 0.006
"""The time that the calibration takes on the reference machine."""


class Pauses:
    """The longest pause so far, in seconds."""

    def __init__(self) -> None:
        self.longest = 0.0

    def add(self, seconds: float) -> None:
        self.longest = max(self.longest, seconds)


@contextmanager
def thread_pauses() -> Iterator[Pauses]:
    """Measure how long the current thread keeps the interpreter's lock.

    The CPU time of the current thread counts, not the time of day: a busy machine that lets
    neither thread run makes no pause.
    """
    pauses, stop, started = Pauses(), threading.Event(), threading.Event()
    clock = time.pthread_getcpuclockid(threading.get_ident())

    def beat() -> None:
        last = time.clock_gettime(clock)
        started.set()
        while not stop.is_set():
            time.sleep(BEAT / 2)
            now = time.clock_gettime(clock)
            pauses.add(now - last)
            last = now

    pulse = threading.Thread(target=beat, name="pulse", daemon=True)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    pulse.start()
    started.wait()
    try:
        yield pauses
    finally:
        stop.set()
        pulse.join()
        sys.setswitchinterval(interval)


@asynccontextmanager
async def loop_pauses(clock: Callable[[], float] = time.perf_counter) -> AsyncIterator[Pauses]:
    """Measure how long the running event loop is held up.

    By the time of day it may be held up by another thread, or by a busy machine. By
    `time.thread_time` only what its own thread computes counts.
    """
    pauses = Pauses()
    slept = BEAT if clock is time.perf_counter else 0.0

    async def beat() -> None:
        last = clock()
        while True:
            await asyncio.sleep(BEAT)
            now = clock()
            pauses.add(now - last - slept)
            last = now

    pulse = asyncio.create_task(beat(), name="pulse")
    await asyncio.sleep(0)
    try:
        yield pauses
        # The next beat sees a pause in the last step.
        await asyncio.sleep(2 * BEAT)
    finally:
        pulse.cancel()


def longest_pause(function: Callable[..., Any], *arguments: Any, limit: float = 0.0) -> float:
    """Return the longest pause of a call, the shortest of three attempts unless *limit* is met."""
    longest = float("inf")
    for _ in range(3):
        with thread_pauses() as pauses:
            function(*arguments)
        longest = min(longest, pauses.longest)
        if longest < limit:
            break
    return longest


def cpu_seconds(function: Callable[..., Any], *arguments: Any) -> float:
    """Return the CPU time of a call."""
    started = time.thread_time()
    function(*arguments)
    return time.thread_time() - started


def machine_factor() -> float:
    """Return how much slower this machine is than the reference machine; at least 1."""
    text = json.dumps({f"k{position}": [position] * 10 for position in range(8_000)})
    fastest = min(cpu_seconds(json.loads, text) for _ in range(5))
    return max(1.0, fastest / REFERENCE_SECONDS)
