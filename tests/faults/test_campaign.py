"""No request, however bad, is answered with a 5xx, logs a traceback or leaves memory behind."""

import asyncio
import json
import os
import sys
import time
from typing import Any

import pytest

from tests.faults.campaign import run
from tests.faults.figures import record_figures

SHORT = 3_000
FULL = int(os.environ.get("FUZZ_REQUESTS", "1_000_000"))
PROCESSES = 4
"""More than most machines have processors for a test: each waits for its store half of the time."""
SECONDS = 3_600
GROWTH = 1.5
"""How much more memory a process may have at its end than after a third of its requests.

Requests at the limits leave holes of some ten megabytes in its heap.
"""
LEAK = 1.05
"""How many more objects it may have."""


def first_seed() -> int:
    """`FUZZ_SEED`, to run a campaign again, or one that nobody has run before."""
    return int(os.environ.get("FUZZ_SEED") or time.time())


async def test_no_request_of_a_short_campaign_is_a_bug() -> None:
    outcome = await run(seed=first_seed() if "FUZZ_SEED" in os.environ else 12, requests=SHORT)

    assert not outcome.failures, "\n\n".join(outcome.failures)
    assert outcome.requests == SHORT
    # It gets far enough to matter: much of it is accepted, and it fails in every way there is.
    assert outcome.codes.keys() >= {200, 201, 400, 401, 403, 404, 405, 406, 409, 415, 422}
    assert outcome.codes[200] + outcome.codes[201] > SHORT / 10


@pytest.mark.torture
async def test_no_request_of_a_long_campaign_is_a_bug() -> None:
    seeds = [first_seed() + number for number in range(PROCESSES)]
    print(f"\nfuzz campaign: FUZZ_SEED={seeds[0]}, seeds {seeds}", flush=True)

    outcomes = await asyncio.gather(*(one_process(seed) for seed in seeds))

    for outcome in outcomes:
        report(outcome)
    assert not [failure for outcome in outcomes for failure in outcome["failures"]]
    assert sum(outcome["requests"] for outcome in outcomes) >= FULL
    assert all(o["memory_end"] < o["memory_warm"] * GROWTH for o in outcomes)
    assert all(o["objects_end"] < o["objects_warm"] * LEAK for o in outcomes)


def report(outcome: Any) -> None:
    """Print how it went, and keep it for the documentation."""
    print(json.dumps({key: value for key, value in outcome.items() if key != "failures"}, indent=1))
    codes = {int(code): count for code, count in outcome["codes"].items()}
    record_figures(
        "fuzz campaign",
        str(outcome["seed"]),
        requests=outcome["requests"],
        accepted=sum(count for code, count in codes.items() if code < 400),
        refused=sum(count for code, count in codes.items() if 400 <= code < 500),
        bugs=len(outcome["failures"]),
        rate=outcome["requests"] / outcome["seconds"],
        memory_warm=outcome["memory_warm"] / 2**20,
        memory_end=outcome["memory_end"] / 2**20,
    )


async def one_process(seed: int) -> Any:
    """The outcome of its share of the campaign, in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.campaign"),
        *("--seed", str(seed), "--requests", str(-(-FULL // PROCESSES))),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
    return json.loads(output)
