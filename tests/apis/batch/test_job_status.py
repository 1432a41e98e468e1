"""The status of a job: a finished job stays finished, counters grow, times are consistent."""

from typing import Any

import pytest

from apis.batch.strategy import JobStrategy
from tests.apis.batch.jobs import created
from tests.apis.validating import messages

STRATEGY = JobStrategy()
START, END = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"
INDEXED: dict[str, Any] = {
    "completionMode": "Indexed",
    "completions": 5,
    "parallelism": 2,
    "backoffLimitPerIndex": 1,
}


def conditions(*true: str) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": "True"} for kind in true]}


COMPLETE = {
    **conditions("SuccessCriteriaMet", "Complete"),
    "startTime": START,
    "completionTime": END,
    "succeeded": 1,
}


def errors(
    new: dict[str, Any], old: dict[str, Any] | None = None, spec: dict[str, Any] | None = None
) -> list[str]:
    found = STRATEGY.validate_status_update(created(spec, new), created(spec, old))
    return [error.removeprefix("status.") for error in messages(found)]


def test_a_job_can_complete() -> None:
    assert errors(COMPLETE, {"startTime": START, "active": 1}) == []


def test_a_job_can_fail() -> None:
    failed = {**conditions("FailureTarget", "Failed"), "startTime": START, "failed": 7}

    assert errors(failed, {"startTime": START}) == []


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (
            {"active": -1, "succeeded": -2, "failed": -3},
            [
                f"{name}: Invalid value: {value}: must be greater than or equal to 0"
                for name, value in (("active", -1), ("succeeded", -2), ("failed", -3))
            ]
            + [
                "failed: Invalid value: -3: cannot decrease the failed counter",
                "succeeded: Invalid value: -2: cannot decrease the succeeded counter",
            ],
        ),
        (
            {"uncountedTerminatedPods": {"succeeded": ["a", ""], "failed": ["a"]}},
            [
                'uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
                'uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
            ],
        ),
        (
            {"active": 1, "ready": 2},
            ["ready: Invalid value: 2: cannot set more ready pods than active"],
        ),
        (
            {"startTime": START, "completionTime": END},
            [
                f'completionTime: Invalid value: "{END}":'
                " cannot set completionTime when there is no Complete=True condition"
            ],
        ),
        (
            conditions("Complete"),
            [
                "completionTime: Required value: completionTime is required for Complete jobs",
                "conditions: Invalid value: cannot set Complete=True condition without the"
                " SuccessCriteriaMet=true condition",
                "startTime: Required value: startTime is required for finished job",
            ],
        ),
        (
            {**COMPLETE, "startTime": END, "completionTime": START},
            [f'completionTime: Invalid value: "{START}": must be equal to or after `startTime`'],
        ),
        (
            {**conditions("Failed"), "startTime": START},
            [
                "conditions: Invalid value: cannot set Failed=True condition without the"
                " FailureTarget=true condition"
            ],
        ),
        (
            {**COMPLETE, **conditions("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet")},
            [
                f"conditions: Invalid value: cannot set {first}=True and {second}=true conditions"
                for first, second in (
                    ("Complete", "Failed"),
                    ("Complete", "FailureTarget"),
                    ("SuccessCriteriaMet", "Failed"),
                    ("SuccessCriteriaMet", "FailureTarget"),
                )
            ],
        ),
        (
            {**COMPLETE, "active": 1, "terminating": 1},
            [
                "active: Invalid value: 1: active>0 is invalid for finished job",
                "terminating: Invalid value: 1: terminating>0 is invalid for finished job",
            ],
        ),
        (
            {**COMPLETE, "uncountedTerminatedPods": {"failed": ["a"]}},
            [
                'uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}:'
                " must be empty for finished job"
            ],
        ),
        (
            {"completedIndexes": "0", "failedIndexes": "1"},
            [
                'completedIndexes: Invalid value: "0":'
                " cannot set non-empty completedIndexes when non-indexed completion mode",
                'failedIndexes: Invalid value: "1":'
                " cannot set non-null failedIndexes when backoffLimitPerIndex is null",
            ],
        ),
    ],
)
def test_rules(status: dict[str, Any], expected: list[str]) -> None:
    found = errors(status)

    assert [error for error in found if "too large index" not in error] == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"completedIndexes": "0-2", "failedIndexes": "3"}, []),
        (
            {"completedIndexes": "2,1"},
            [
                'completedIndexes: Invalid value: "2,1": error parsing completedIndexes:'
                " non-increasing order, previous: 2, current: 1"
            ],
        ),
        (
            {"failedIndexes": "9"},
            [
                'failedIndexes: Invalid value: "9": error parsing failedIndexes:'
                ' too large index: "9"'
            ],
        ),
        (
            {"completedIndexes": "0,2-4", "failedIndexes": "1,3"},
            [
                'failedIndexes: Invalid value: "1,3":'
                " failedIndexes and completedIndexes overlap at index: 3"
            ],
        ),
    ],
)
def test_indexes(status: dict[str, Any], expected: list[str]) -> None:
    assert errors(status, spec=INDEXED) == expected


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (
            {},
            COMPLETE,
            [
                "conditions: Invalid value: cannot disable the terminal Complete=True condition",
                "succeeded: Invalid value: 0: cannot decrease the succeeded counter",
                "startTime: Invalid value: null: field is immutable for unsuspended job once set",
                "conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition",
            ],
        ),
        (
            {"failed": 1},
            {"failed": 2},
            ["failed: Invalid value: 1: cannot decrease the failed counter"],
        ),
        (
            {**COMPLETE, "completionTime": "2026-01-01T02:00:00Z"},
            COMPLETE,
            ['completionTime: Invalid value: "2026-01-01T02:00:00Z": field is immutable'],
        ),
        (
            {"startTime": END},
            {"startTime": START},
            [f'startTime: Invalid value: "{END}": field is immutable for unsuspended job once set'],
        ),
    ],
)
def test_what_a_status_may_not_become(
    new: dict[str, Any], old: dict[str, Any], expected: list[str]
) -> None:
    assert errors(new, old) == expected


def test_a_job_that_resumes_gets_another_start_time() -> None:
    resumed = {"startTime": END, "conditions": [{"type": "Suspended", "status": "False"}]}

    assert errors(resumed, {**conditions("Suspended"), "startTime": START}) == []


def test_an_elastic_job_may_lose_successes() -> None:
    elastic = {"completionMode": "Indexed", "completions": 3, "parallelism": 3}

    assert errors({"succeeded": 1}, {"succeeded": 2}, elastic) == []


def test_a_success_policy_needs_its_condition() -> None:
    policy = {**INDEXED, "successPolicy": {"rules": [{"succeededCount": 1}]}}
    complete = {**COMPLETE, **conditions("Complete")}

    assert errors(complete, complete, policy) == [
        "conditions: Invalid value: cannot set Complete=True for Job with SuccessPolicy unless"
        " SuccessCriteriaMet=True"
    ]


def test_a_broken_status_can_be_updated_otherwise() -> None:
    broken = {**conditions("Complete"), "completedIndexes": "x"}

    assert errors({**broken, "terminating": 0}, broken) == []
