"""PodDisruptionBudgets: what is wrong with one, what may change, and how one is shown."""

from typing import Any

import pytest

from apimachinery.meta.types import LabelSelector
from apis.policy.install import POLICY
from apis.policy.printers import POD_DISRUPTION_BUDGET_COLUMNS
from apis.policy.strategy import PodDisruptionBudgetStrategy
from apis.policy.v1 import Eviction, PodDisruptionBudget
from tests.apis.validating import decoded, messages

STRATEGY = PodDisruptionBudgetStrategy()
KEY = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or"
    " '93%', regex used for validation is '[0-9]+%')"
)


def read(
    spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
) -> PodDisruptionBudget:
    document = {"metadata": {"name": "web"}, "spec": spec or {}, "status": status or {}}
    return decoded(PodDisruptionBudget, document)


def created(spec: dict[str, Any]) -> PodDisruptionBudget:
    budget = read(spec)
    STRATEGY.prepare_for_create(budget)
    return budget


def test_a_minimal_budget_has_no_defaults() -> None:
    assert read().model_dump(by_alias=True, mode="json") == {
        "metadata": {"name": "web"},
        "spec": {},
        "status": {
            "disruptionsAllowed": 0,
            "currentHealthy": 0,
            "desiredHealthy": 0,
            "expectedPods": 0,
        },
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"minAvailable": 0, "selector": {}}, []),
        ({"maxUnavailable": "100%"}, []),
        (
            {"minAvailable": 1, "maxUnavailable": "50%", "selector": {"matchLabels": {"a": "b"}}},
            [
                'spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"a":"b"}},'
                '"MaxUnavailable":"50%","UnhealthyPodEvictionPolicy":null}:'
                " minAvailable and maxUnavailable cannot be both set"
            ],
        ),
        (
            {"minAvailable": -1},
            ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            {"maxUnavailable": -1},
            ["spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"],
        ),
        ({"minAvailable": "five"}, [f'spec.minAvailable: Invalid value: "five": {PERCENT}']),
        ({"maxUnavailable": "-1%"}, [f'spec.maxUnavailable: Invalid value: "-1%": {PERCENT}']),
        (
            {"maxUnavailable": "101%"},
            ['spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
        ),
        (
            {"minAvailable": "99999999999999999999%"},
            [
                'spec.minAvailable: Invalid value: "99999999999999999999%":'
                " must not be greater than 100%"
            ],
        ),
        (
            {"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
            [
                "spec.selector.matchExpressions[0].values: Required value:"
                " must be specified when `operator` is 'In' or 'NotIn'"
            ],
        ),
        (
            {"selector": {"matchExpressions": [{"key": "a", "operator": "Is", "values": ["b"]}]}},
            [
                'spec.selector.matchExpressions[0].operator: Invalid value: "Is":'
                " not a valid selector operator"
            ],
        ),
        (
            {"unhealthyPodEvictionPolicy": "Never"},
            [
                'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never":'
                ' supported values: "AlwaysAllow", "IfHealthyBudget"'
            ],
        ),
    ],
)
def test_rules(spec: dict[str, Any], expected: list[str]) -> None:
    budget = created(spec)

    assert messages(STRATEGY.validate(budget)) == expected
    assert messages(STRATEGY.validate_update(budget, read())) == expected


def test_counts_of_a_status_are_not_negative() -> None:
    status = {
        "disruptionsAllowed": -1,
        "currentHealthy": -2,
        "desiredHealthy": -3,
        "expectedPods": -4,
    }

    errors = messages(STRATEGY.validate_status_update(read({}, status), read()))

    assert errors == [
        f"status.{name}: Invalid value: {count}: must be greater than or equal to 0"
        for name, count in status.items()
    ]


def test_conditions_of_a_status_are_complete() -> None:
    condition = {
        "type": "DisruptionAllowed",
        "status": "True",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "reason": "",
        "message": "",
    }

    errors = STRATEGY.validate_status_update(read({}, {"conditions": [condition]}), read())

    assert messages(errors) == ["status.conditions[0].reason: Required value"]


def test_updates_need_a_resource_version() -> None:
    assert not STRATEGY.allow_unconditional_update


def test_names_need_not_be_those_of_hosts() -> None:
    assert STRATEGY.name_errors("Web") == []
    assert STRATEGY.name_errors("a/b") == ["may not contain '/'"]


def expression(operator: str) -> dict[str, Any]:
    return {"key": KEY, "operator": operator}


@pytest.mark.parametrize(
    ("selector", "kept"),
    [
        ({"matchExpressions": [expression("Exists")]}, 1),
        ({"matchExpressions": [expression("DoesNotExist")]}, 1),
        ({"matchExpressions": [expression("Exists")], "matchLabels": {"a": "b"}}, 0),
        ({"matchExpressions": [expression("Exists"), {"key": "a", "operator": "Exists"}]}, 1),
    ],
)
def test_the_key_of_v1beta1_is_not_combined_with_others(
    selector: dict[str, Any], kept: int
) -> None:
    made = created({"selector": selector}).spec.selector

    assert isinstance(made, LabelSelector)
    assert len(made.match_expressions) == kept


def test_an_unchanged_selector_is_kept() -> None:
    spec = {"selector": {"matchExpressions": [expression("Exists")], "matchLabels": {"a": "b"}}}
    new, old = read(spec), read(spec)

    STRATEGY.prepare_for_update(new, old)

    assert new == old


@pytest.mark.parametrize(
    ("spec", "cells"),
    [
        ({"minAvailable": 2}, ["2", "N/A", 3]),
        ({"maxUnavailable": "20%"}, ["N/A", "20%", 3]),
    ],
)
def test_columns(spec: dict[str, Any], cells: list[object]) -> None:
    budget = read(spec, {"disruptionsAllowed": 3})

    assert [column.cell(budget) for column in POD_DISRUPTION_BUDGET_COLUMNS] == cells
    assert [column.name for column in POD_DISRUPTION_BUDGET_COLUMNS] == [
        "Min Available",
        "Max Unavailable",
        "Allowed Disruptions",
    ]


def test_names_are_those_of_kubernetes() -> None:
    (resource,) = POLICY.resources

    assert (resource.name, resource.short_names, resource.categories) == (
        "poddisruptionbudgets",
        ("pdb",),
        (),
    )


def test_an_eviction_has_the_options_of_a_deletion() -> None:
    document = {"metadata": {"name": "web"}, "deleteOptions": {"gracePeriodSeconds": 0}}

    eviction = decoded(Eviction, document)

    assert eviction.delete_options is not None
    assert eviction.delete_options.grace_period_seconds == 0
