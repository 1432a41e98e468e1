"""Validation of PriorityClasses."""

from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    immutable,
    not_supported,
    required,
)
from apis.scheduling.system_classes import system_priority_classes
from apis.scheduling.v1 import PriorityClass
from apis.scheduling.v1.priority_class import (
    HIGHEST_USER_PRIORITY,
    PREEMPT_LOWER_PRIORITY,
    PREEMPT_NEVER,
    SYSTEM_PREFIX,
)

_POLICIES: Final = (PREEMPT_LOWER_PRIORITY, PREEMPT_NEVER)
_POLICY_PATH: Final = Path("preemptionPolicy")


def validate_priority_class(priority_class: PriorityClass) -> FieldErrors:
    if priority_class.metadata.name.startswith(SYSTEM_PREFIX):
        yield from _validate_system_class(priority_class)
    elif priority_class.value > HIGHEST_USER_PRIORITY:
        rule = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        yield forbidden(Path("value"), rule)
    policy = priority_class.preemption_policy
    if policy == "":
        yield required(_POLICY_PATH)
    elif policy is not None and policy not in _POLICIES:
        yield not_supported(_POLICY_PATH, policy, _POLICIES)


def validate_priority_class_update(new: PriorityClass, old: PriorityClass) -> FieldErrors:
    if new.value != old.value:
        yield forbidden(Path("value"), "may not be changed in an update.")
    if new.preemption_policy != old.preemption_policy:
        yield immutable(_POLICY_PATH, new.preemption_policy)


def _validate_system_class(priority_class: PriorityClass) -> FieldErrors:
    if mistake := _mistake(priority_class):
        rule = (
            f"priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only."
            f" error: {mistake}"
        )
        yield forbidden(Path("metadata", "name"), rule)


def _mistake(priority_class: PriorityClass) -> str:
    """Return how a class differs from the system class of its name; empty if it does not."""
    name = priority_class.metadata.name
    known = {known.metadata.name: known for known in system_priority_classes()}.get(name)
    if known is None:
        return f"{name} is not a known system priority class"
    if priority_class.value != known.value:
        return f"value of {name} PriorityClass must be {known.value}"
    if priority_class.global_default:
        return f"globalDefault of {name} PriorityClass must be false"
    return ""
