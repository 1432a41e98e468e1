"""No input takes more than linear time, and no call keeps other threads waiting for long."""

import gc
import time
from collections.abc import Iterator

import pytest

from tests.apimachinery.bad_input import large_documents, large_headers, large_writes
from tests.apimachinery.bad_input.large_documents import Call, Case
from tests.pauses import machine_factor, measures_time, thread_pauses

pytestmark = measures_time

CASES = (*large_documents.CASES, *large_writes.CASES, *large_headers.CASES)

LONGEST_PAUSE = 0.050
"""Seconds on the reference machine."""
NEGLIGIBLE = 0.100
"""Shorter times are not compared: caches would decide. Quadratic steps would take seconds."""
MAX_RATIO = 8.0
"""Between the times for all items and for a quarter of them: 4 if linear, 16 if quadratic."""
ATTEMPTS = 10
"""The least counts: other programs may hold up single attempts."""


@pytest.fixture(scope="module")
def factor() -> Iterator[float]:
    """Return the factor of this machine; garbage collection depends on the tests before."""
    gc.collect()
    gc.disable()
    yield machine_factor()
    gc.enable()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_worst_input_takes_linear_time_in_short_steps(case: Case, factor: float) -> None:
    quarter, whole = case.make(case.items // 4), case.make(case.items)
    quarter_seconds = seconds = pause = float("inf")
    for _ in range(ATTEMPTS):
        quarter_seconds = min(quarter_seconds, _measure(quarter)[0])
        elapsed, longest = _measure(whole)
        seconds, pause = min(seconds, elapsed), min(pause, longest)
        is_linear = seconds < NEGLIGIBLE * factor or seconds < MAX_RATIO * quarter_seconds
        if is_linear and pause < LONGEST_PAUSE * factor:
            return

    pytest.fail(
        f"{case.items} items: {seconds:.3f} s, a quarter {quarter_seconds:.3f} s; the longest"
        f" pause is {pause:.3f} s, on a machine {factor:.1f} times slower than the reference"
    )


def _measure(call: Call) -> tuple[float, float]:
    """Return the CPU time of a call, and the longest pause of other threads."""
    with thread_pauses() as pauses:
        started = time.thread_time()
        call()
        elapsed = time.thread_time() - started
    return elapsed, pauses.longest
