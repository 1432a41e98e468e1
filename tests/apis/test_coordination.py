"""Leases: what is wrong with one, and that none is overwritten unseen."""

from typing import Any

import pytest

from apis.coordination.install import COORDINATION
from apis.coordination.strategy import LeaseStrategy
from apis.coordination.v1 import Lease, LeaseSpec
from tests.apis.validating import messages

STRATEGY = LeaseStrategy()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"lease_duration_seconds": 15, "lease_transitions": 0, "holder_identity": "a"}, []),
        (
            {"lease_duration_seconds": 0, "lease_transitions": -1},
            [
                "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
                "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
            ],
        ),
        (
            {"strategy": "Odd"},
            [
                'spec.strategy.strategy: Unsupported value: "Odd": '
                'supported values: "OldestEmulationVersion"'
            ],
        ),
        ({"strategy": "OldestEmulationVersion", "preferred_holder": "a"}, []),
        ({"strategy": "example.io/mine"}, []),
        (
            {"preferred_holder": "a"},
            ["spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"],
        ),
    ],
)
def test_leases(spec: dict[str, Any], expected: list[str]) -> None:
    lease = Lease(spec=LeaseSpec(**spec))

    assert messages(STRATEGY.validate(lease)) == expected
    assert messages(STRATEGY.validate_update(lease, Lease())) == expected


def test_a_qualified_strategy_must_be_one() -> None:
    (found,) = messages(STRATEGY.validate(Lease(spec=LeaseSpec(strategy="a b/c"))))

    assert found.startswith('spec.strategy.strategy: Invalid value: "a b/c": prefix part')


def test_a_lease_is_taken_with_one_put_but_never_blindly() -> None:
    assert STRATEGY.allow_create_on_update
    assert not STRATEGY.allow_unconditional_update


def test_the_table_shows_the_holder() -> None:
    (leases,) = COORDINATION.resources
    (column,) = leases.columns

    assert column.name == "Holder"
    assert column.cell(Lease(spec=LeaseSpec(holder_identity="a"))) == "a"
    assert column.cell(Lease()) == ""
