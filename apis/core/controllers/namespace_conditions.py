"""Conditions of a terminating namespace, in Kubernetes' words.

There are five. Each is always present, and False while there is no problem.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from apimachinery.schema import GroupResource
from apis.core.v1.namespace import NamespaceCondition, NamespaceStatus

DISCOVERY_FAILURE: Final = "NamespaceDeletionDiscoveryFailure"
GROUP_VERSION_FAILURE: Final = "NamespaceDeletionGroupVersionParsingFailure"
CONTENT_FAILURE: Final = "NamespaceDeletionContentFailure"
CONTENT_REMAINING: Final = "NamespaceContentRemaining"
FINALIZERS_REMAINING: Final = "NamespaceFinalizersRemaining"

_NORMAL: Final[Mapping[str, tuple[str, str]]] = {
    DISCOVERY_FAILURE: ("ResourcesDiscovered", "All resources successfully discovered"),
    GROUP_VERSION_FAILURE: ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    CONTENT_FAILURE: (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    CONTENT_REMAINING: ("ContentRemoved", "All content successfully removed"),
    FINALIZERS_REMAINING: ("ContentRemoved", "All content successfully removed"),
}


@dataclass(frozen=True, slots=True)
class Remaining:
    """The objects of one resource that are left in a namespace."""

    resource: GroupResource
    finalizers: Sequence[Sequence[str]]
    """The finalizers of each object that was read."""
    unserved: bool = False
    """Whether no running server serves the resource, so that nobody will delete the objects."""
    unread: int = 0
    """The number of further objects."""

    @property
    def count(self) -> int:
        return len(self.finalizers) + self.unread


@dataclass(slots=True)
class Findings:
    """The result of an attempt to empty a namespace."""

    discovery_error: str = ""
    errors: list[str] = field(default_factory=list)
    remaining: Sequence[Remaining] = ()

    @property
    def empty(self) -> bool:
        """Whether every resource was examined and nothing is left."""
        return not (self.discovery_error or self.errors or self.remaining)

    @property
    def finalizers(self) -> Counter[str]:
        """How many of the objects that were read have each finalizer."""
        return Counter(
            name
            for remaining in self.remaining
            for finalizers in remaining.finalizers
            for name in finalizers
        )


def set_conditions(status: NamespaceStatus, findings: Findings, now: datetime) -> bool:
    """Update the conditions; return whether anything changed."""
    problems = _problems(findings)
    changed = False
    for kind, normal in _NORMAL.items():
        reason, message = problems.get(kind, normal)
        changed |= _set(status, kind, "True" if kind in problems else "False", reason, message, now)
    return changed


def _problems(findings: Findings) -> dict[str, tuple[str, str]]:
    """Return the reason and the message of each condition that is True, by its type."""
    problems: dict[str, tuple[str, str]] = {}
    if findings.discovery_error:
        problems[DISCOVERY_FAILURE] = ("DiscoveryFailed", findings.discovery_error)
    if findings.errors:
        listed = ", ".join(sorted(findings.errors))
        problems[CONTENT_FAILURE] = (
            "ContentDeletionFailed",
            f"Failed to delete all resource types, {len(findings.errors)} remaining: {listed}",
        )
    if findings.remaining:
        problems[CONTENT_REMAINING] = ("SomeResourcesRemain", _remaining(findings.remaining))
    if findings.finalizers:
        listed = ", ".join(
            sorted(
                f"{name} in {count} resource instances"
                for name, count in findings.finalizers.items()
            )
        )
        problems[FINALIZERS_REMAINING] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {listed}",
        )
    return problems


def _remaining(remaining: Sequence[Remaining]) -> str:
    listed = ", ".join(
        sorted(
            f"{left.resource.resource}.{left.resource.group} has {left.count} resource instances"
            for left in remaining
        )
    )
    unserved = ", ".join(sorted(str(left.resource) for left in remaining if left.unserved))
    note = f"; no running server serves {unserved}" if unserved else ""
    return f"Some resources are remaining: {listed}{note}"


def _set(
    status: NamespaceStatus, kind: str, value: str, reason: str, message: str, now: datetime
) -> bool:
    for condition in status.conditions:
        if condition.type == kind:
            return _update(condition, value, reason, message, now)
    status.conditions.append(
        NamespaceCondition(
            type=kind, status=value, reason=reason, message=message, last_transition_time=now
        )
    )
    return True


def _update(
    condition: NamespaceCondition, value: str, reason: str, message: str, now: datetime
) -> bool:
    if (condition.status, condition.reason, condition.message) == (value, reason, message):
        return False
    if condition.status != value:
        condition.last_transition_time = now
    condition.status, condition.reason, condition.message = value, reason, message
    return True
