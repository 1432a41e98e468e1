"""The history of `make bench` can be compared: every run has every cost, in order of time."""

import json
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from tests.apiserver import test_request_costs as costs
from tests.benchmarks.verbs import HISTORY

ENTRIES: list[dict[str, Any]] = [json.loads(line) for line in HISTORY.read_text().splitlines()]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["commit"]))
def test_a_run_has_the_costs_of_every_operation(entry: dict[str, Any]) -> None:
    assert entry["floors"].keys() == ENTRIES[0]["floors"].keys()
    assert all(cost > 0 for cost in entry["floors"].values())
    assert entry["floor_us"] > 0
    assert not entry["commit"].endswith("-dirty"), "measure what is committed"


def test_the_runs_are_in_order() -> None:
    times = [datetime.fromisoformat(entry["time"]) for entry in ENTRIES]

    assert times
    assert all(first < second for first, second in pairwise(times))


def test_the_committed_counts_are_not_above_those_of_the_last_run() -> None:
    """A change that costs more needs a run that shows what it costs in time."""
    recorded = [entry["calls"] for entry in ENTRIES if "calls" in entry]
    if not recorded:
        pytest.skip("no run has recorded its counts")
    committed = json.loads(costs.FIGURES.read_text())

    for python, counts in recorded[-1].items():
        for step, calls in counts.items():
            assert committed[python][step] <= calls * (1 + costs.TOLERANCE), (python, step)
