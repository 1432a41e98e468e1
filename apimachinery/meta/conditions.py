"""Conditions: set, find and remove the conditions of an object, a list keyed by type.

The transition time of a condition changes only with its *status*, so conditions are set with
`set_condition` and not by assignment. The caller passes the current time.
"""

from datetime import UTC, datetime
from typing import Final

from apimachinery.meta.types import Condition

TRUE: Final = "True"
FALSE: Final = "False"
UNKNOWN: Final = "Unknown"

UNSET_TIME: Final = datetime.min.replace(tzinfo=UTC)
"""The transition time of a new condition until `set_condition` sets it; it is never stored."""


def condition(
    type: str,  # noqa: A002  # the name of the field
    status: bool | str | None,
    reason: str,
    message: str = "",
    *,
    observed_generation: int = 0,
    since: datetime = UNSET_TIME,
) -> Condition:
    """Return a condition; a status of None is Unknown, and `set_condition` sets *since*."""
    return Condition(
        type=type,
        status=_status(status),
        reason=reason,
        message=message,
        observed_generation=observed_generation,
        last_transition_time=since,
    )


def set_condition(conditions: list[Condition], new: Condition, now: datetime) -> bool:
    """Add *new* or update the condition of its type; return whether anything changed.

    The transition time changes only with the status: it becomes that of *new*, or *now* if *new*
    has none. *new* is copied, not changed.
    """
    existing = find_condition(conditions, new.type)
    if existing is None:
        added = new.deep_copy()
        added.last_transition_time = _transition_time(new, now)
        conditions.append(added)
        return True
    before = existing.deep_copy()
    if existing.status != new.status:
        existing.status = new.status
        existing.last_transition_time = _transition_time(new, now)
    existing.reason = new.reason
    existing.message = new.message
    existing.observed_generation = new.observed_generation
    return existing != before


def find_condition(conditions: list[Condition], type: str) -> Condition | None:  # noqa: A002
    """Return the condition of a type, not a copy of it; None if there is none."""
    return next((condition for condition in conditions if condition.type == type), None)


def remove_condition(conditions: list[Condition], type: str) -> bool:  # noqa: A002
    """Remove the condition of a type; return whether there was one."""
    remaining = [condition for condition in conditions if condition.type != type]
    removed = len(remaining) < len(conditions)
    conditions[:] = remaining
    return removed


def is_condition_true(conditions: list[Condition], type: str) -> bool:  # noqa: A002
    return is_condition_present_and_equal(conditions, type, TRUE)


def is_condition_false(conditions: list[Condition], type: str) -> bool:  # noqa: A002
    return is_condition_present_and_equal(conditions, type, FALSE)


def is_condition_present_and_equal(
    conditions: list[Condition],
    type: str,  # noqa: A002
    status: bool | str | None,
) -> bool:
    """Return whether a condition of a type exists and has this status."""
    existing = find_condition(conditions, type)
    return existing is not None and existing.status == _status(status)


def _status(status: bool | str | None) -> str:
    if status is None:
        return UNKNOWN
    return status if isinstance(status, str) else (TRUE if status else FALSE)


def _transition_time(new: Condition, now: datetime) -> datetime:
    if new.last_transition_time != UNSET_TIME:
        return new.last_transition_time
    return now.astimezone(UTC).replace(microsecond=0)
