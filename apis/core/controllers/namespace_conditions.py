"""What the namespace controller says about a namespace that is being emptied.

There are five conditions, in Kubernetes' words. Each is always there: False while all is well.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from apimachinery.schema import GroupVersionResource
from apis.core.v1.namespace import NamespaceCondition, NamespaceStatus

DISCOVERY_FAILURE: Final = "NamespaceDeletionDiscoveryFailure"
GROUP_VERSION_FAILURE: Final = "NamespaceDeletionGroupVersionParsingFailure"
CONTENT_FAILURE: Final = "NamespaceDeletionContentFailure"
CONTENT_REMAINING: Final = "NamespaceContentRemaining"
FINALIZERS_REMAINING: Final = "NamespaceFinalizersRemaining"

_WELL: Final[Mapping[str, tuple[str, str]]] = {
    DISCOVERY_FAILURE: ("ResourcesDiscovered", "All resources successfully discovered"),
    GROUP_VERSION_FAILURE: ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    CONTENT_FAILURE: (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    CONTENT_REMAINING: ("ContentRemoved", "All content successfully removed"),
    FINALIZERS_REMAINING: ("ContentRemoved", "All content successfully removed"),
}


@dataclass(slots=True)
class Findings:
    """What was found when a namespace was to be emptied."""

    discovery_error: str = ""
    errors: list[str] = field(default_factory=list)
    remaining: Counter[GroupVersionResource] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)

    @property
    def empty(self) -> bool:
        """Whether everything was looked at and nothing is left."""
        return not (self.discovery_error or self.errors or self.remaining)

    def add(self, resource: GroupVersionResource, finalizers: Sequence[Sequence[str]]) -> None:
        """Remember objects of a resource that are still there, by the finalizers of each."""
        if finalizers:
            self.remaining[resource] += len(finalizers)
        for names in finalizers:
            self.finalizers.update(names)


def set_conditions(status: NamespaceStatus, findings: Findings, now: datetime) -> bool:
    """Bring the conditions up to date; tell whether anything changed."""
    problems = _problems(findings)
    changed = False
    for kind, well in _WELL.items():
        reason, message = problems.get(kind, well)
        changed |= _set(status, kind, "True" if kind in problems else "False", reason, message, now)
    return changed


def _problems(findings: Findings) -> dict[str, tuple[str, str]]:
    """Type of a condition that is True -> its reason and message."""
    found: dict[str, tuple[str, str]] = {}
    if findings.discovery_error:
        found[DISCOVERY_FAILURE] = ("DiscoveryFailed", findings.discovery_error)
    if findings.errors:
        listed = ", ".join(sorted(findings.errors))
        found[CONTENT_FAILURE] = (
            "ContentDeletionFailed",
            f"Failed to delete all resource types, {len(findings.errors)} remaining: {listed}",
        )
    if findings.remaining:
        listed = ", ".join(
            sorted(
                f"{resource.resource}.{resource.group} has {count} resource instances"
                for resource, count in findings.remaining.items()
            )
        )
        found[CONTENT_REMAINING] = (
            "SomeResourcesRemain",
            f"Some resources are remaining: {listed}",
        )
    if findings.finalizers:
        listed = ", ".join(
            sorted(
                f"{name} in {count} resource instances"
                for name, count in findings.finalizers.items()
            )
        )
        found[FINALIZERS_REMAINING] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {listed}",
        )
    return found


def _set(
    status: NamespaceStatus, kind: str, value: str, reason: str, message: str, now: datetime
) -> bool:
    for known in status.conditions:
        if known.type == kind:
            return _update(known, value, reason, message, now)
    status.conditions.append(
        NamespaceCondition(
            type=kind, status=value, reason=reason, message=message, last_transition_time=now
        )
    )
    return True


def _update(
    known: NamespaceCondition, value: str, reason: str, message: str, now: datetime
) -> bool:
    if (known.status, known.reason, known.message) == (value, reason, message):
        return False
    if known.status != value:
        known.last_transition_time = now
    known.status, known.reason, known.message = value, reason, message
    return True
