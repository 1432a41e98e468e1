"""Conditions and when they change."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.meta.conditions import (
    UNSET_TIME,
    condition,
    find_condition,
    is_condition_false,
    is_condition_present_and_equal,
    is_condition_true,
    remove_condition,
    set_condition,
)
from apimachinery.meta.types import Condition

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


@pytest.mark.parametrize(
    ("status", "written"),
    [(True, "True"), (False, "False"), (None, "Unknown"), ("Unknown", "Unknown")],
)
def test_a_status_can_be_written_as_python_has_it(status: bool | str | None, written: str) -> None:
    assert condition("Ready", status, "Started").status == written


def test_a_new_condition_is_added_with_the_time() -> None:
    conditions: list[Condition] = []

    changed = set_condition(conditions, condition("Ready", True, "Started"), NOON)

    assert changed
    assert [found.type for found in conditions] == ["Ready"]
    assert conditions[0].last_transition_time == NOON


def test_a_condition_that_brings_its_time_keeps_it() -> None:
    conditions: list[Condition] = []

    set_condition(conditions, condition("Ready", True, "Started", since=NOON), LATER)

    assert conditions[0].last_transition_time == NOON


def test_what_was_given_is_neither_changed_nor_kept() -> None:
    given_condition = condition("Ready", True, "Started")
    conditions: list[Condition] = []

    set_condition(conditions, given_condition, NOON)
    conditions[0].reason = "Changed"

    assert given_condition == condition("Ready", True, "Started")


def test_another_status_moves_the_time() -> None:
    conditions = [condition("Ready", False, "Starting", since=NOON)]

    assert set_condition(conditions, condition("Ready", True, "Started"), LATER)

    assert conditions == [condition("Ready", True, "Started", since=LATER)]


def test_another_status_can_bring_its_own_time() -> None:
    conditions = [condition("Ready", False, "Starting", since=NOON)]

    set_condition(conditions, condition("Ready", True, "Started", since=NOON), LATER)

    assert conditions[0].last_transition_time == NOON


@pytest.mark.parametrize(
    "new",
    [
        condition("Ready", True, "Other"),
        condition("Ready", True, "Started", "more"),
        condition("Ready", True, "Started", observed_generation=2),
    ],
)
def test_anything_else_changes_without_moving_the_time(new: Condition) -> None:
    conditions = [condition("Ready", True, "Started", since=NOON)]

    assert set_condition(conditions, new, LATER)

    new.last_transition_time = NOON
    assert conditions == [new]


def test_the_same_again_is_no_change() -> None:
    conditions = [condition("Ready", True, "Started", since=NOON)]

    assert not set_condition(conditions, condition("Ready", True, "Started", since=LATER), LATER)

    assert conditions[0].last_transition_time == NOON


def test_times_are_kept_as_the_wire_has_them() -> None:
    conditions: list[Condition] = []
    east = timezone(timedelta(hours=2))

    set_condition(
        conditions, condition("A", True, "R"), datetime(2024, 5, 1, 14, 0, 0, 999, tzinfo=east)
    )

    assert conditions[0].last_transition_time == NOON
    assert conditions[0].model_dump(mode="json")["lastTransitionTime"] == "2024-05-01T12:00:00Z"


def test_a_condition_is_found_and_can_be_removed() -> None:
    conditions = [condition("A", True, "R"), condition("B", False, "R")]

    assert find_condition(conditions, "B") is conditions[1]
    assert find_condition(conditions, "C") is None
    assert remove_condition(conditions, "A")
    assert not remove_condition(conditions, "A")
    assert [found.type for found in conditions] == ["B"]


def test_an_absent_condition_is_neither_true_nor_false() -> None:
    conditions = [condition("A", True, "R"), condition("B", False, "R"), condition("C", None, "R")]

    assert [is_condition_true(conditions, name) for name in "ABCD"] == [True, False, False, False]
    assert [is_condition_false(conditions, name) for name in "ABCD"] == [False, True, False, False]
    assert is_condition_present_and_equal(conditions, "C", "Unknown")
    assert is_condition_present_and_equal(conditions, "C", None)
    assert not is_condition_present_and_equal(conditions, "D", None)


steps = st.lists(
    st.builds(
        condition,
        st.sampled_from("AB"),
        st.sampled_from([True, False, None]),
        st.sampled_from(["R", "S"]),
    ),
    max_size=10,
)


@given(steps)
def test_the_time_is_that_of_the_last_change_of_status(given_steps: list[Condition]) -> None:
    conditions: list[Condition] = []
    expected: dict[str, tuple[str, datetime]] = {}

    for minute, new in enumerate(given_steps):
        now = NOON + timedelta(minutes=minute)
        set_condition(conditions, new, now)
        status, since = expected.get(new.type, ("", UNSET_TIME))
        expected[new.type] = (new.status, since if status == new.status else now)

    found = {one.type: (one.status, one.last_transition_time) for one in conditions}
    assert found == expected
    assert len(conditions) == len(expected)
