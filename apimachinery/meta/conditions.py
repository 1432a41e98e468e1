"""Conditions: the observed state of an object, one aspect each, in a list keyed by type.

A condition remembers when its *status* last changed, and nothing else may move that time; so
conditions are set through here and not by assignment. Whoever sets one brings the time along.
"""

from datetime import UTC, datetime
from typing import Final

from apimachinery.meta.types import Condition

TRUE: Final = "True"
FALSE: Final = "False"
UNKNOWN: Final = "Unknown"

UNSET_TIME: Final = datetime.min.replace(tzinfo=UTC)
"""The time of a condition that was made and not set yet; no stored condition may have it."""


def condition(
    type: str,  # noqa: A002  # the wire's own word
    status: bool | str | None,
    reason: str,
    message: str = "",
    *,
    observed_generation: int = 0,
    since: datetime = UNSET_TIME,
) -> Condition:
    """Make a condition; a status of None is Unknown, and *since* is left to `set_condition`."""
    return Condition(
        type=type,
        status=_status(status),
        reason=reason,
        message=message,
        observed_generation=observed_generation,
        last_transition_time=since,
    )


def set_condition(conditions: list[Condition], new: Condition, now: datetime) -> bool:
    """Add *new* or bring the condition of its type up to date; tell whether anything changed.

    The time of the last transition is that of *new*, or *now* if it has none, and only when the
    status changed. *new* itself is not touched and not kept.
    """
    found = find_condition(conditions, new.type)
    if found is None:
        added = new.deep_copy()
        added.last_transition_time = _time(new, now)
        conditions.append(added)
        return True
    before = found.deep_copy()
    if found.status != new.status:
        found.status = new.status
        found.last_transition_time = _time(new, now)
    found.reason = new.reason
    found.message = new.message
    found.observed_generation = new.observed_generation
    return found != before


def find_condition(conditions: list[Condition], type: str) -> Condition | None:  # noqa: A002
    """The condition of a type, to read or to change in place."""
    return next((found for found in conditions if found.type == type), None)


def remove_condition(conditions: list[Condition], type: str) -> bool:  # noqa: A002
    """Take out the condition of a type; tell whether there was one."""
    kept = [found for found in conditions if found.type != type]
    removed = len(kept) < len(conditions)
    conditions[:] = kept
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
    """Tell whether there is a condition of a type and it has this status."""
    found = find_condition(conditions, type)
    return found is not None and found.status == _status(status)


def _status(status: bool | str | None) -> str:
    if status is None:
        return UNKNOWN
    return status if isinstance(status, str) else (TRUE if status else FALSE)


def _time(new: Condition, now: datetime) -> datetime:
    if new.last_transition_time != UNSET_TIME:
        return new.last_transition_time
    return now.astimezone(UTC).replace(microsecond=0)
