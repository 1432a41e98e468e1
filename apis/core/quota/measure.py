"""Measure: what one object uses of each resource, and which scopes of quotas it is in."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from apis.core.quota.amounts import Amounts
from apis.core.v1.resource_quota import (
    ResourceQuotaSpec,
    ScopedResourceSelectorRequirement,
)


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """The use of one object, in one of its versions; equal measures may be shared by objects."""

    usage: Amounts
    scopes: frozenset[str] = frozenset()
    """The scopes that the object is in as a whole."""
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Scope -> the classes of the object by which quotas select it, for scopes with values."""
    ends: datetime | None = None
    """When the object stops using more than *remains*, although it still exists."""
    remains: Amounts = field(default_factory=dict)
    volatile: bool = False
    """Whether it depends on other objects, so that it may change while the object does not."""

    def at(self, now: datetime) -> Amounts:
        """Return what the object uses at a time."""
        return self.remains if self.ends is not None and now > self.ends else self.usage

    @property
    def content(self) -> Hashable:
        """A value that equal measures have in common."""
        return (
            frozenset(self.usage.items()),
            self.scopes,
            tuple(self.classes.items()),
            self.ends,
            self.volatile,
        )

    def is_in(self, spec: ResourceQuotaSpec) -> bool:
        """Return whether the object is in every scope of a quota."""
        return all(self.matches(requirement) for requirement in requirements(spec))

    def matches(self, requirement: ScopedResourceSelectorRequirement) -> bool:
        """Return whether the object meets one requirement on its scopes."""
        scope = requirement.scope_name
        values = self.classes.get(scope)
        if values is None:
            return scope in self.scopes
        match requirement.operator:
            case "Exists":
                return bool(values)
            case "DoesNotExist":
                return not values
            case "In":
                return any(value in requirement.values for value in values)
            case "NotIn":
                return not values or any(value not in requirement.values for value in values)
        return False


def requirements(spec: ResourceQuotaSpec) -> list[ScopedResourceSelectorRequirement]:
    """Return the requirements of a quota on the scopes of objects."""
    selector = spec.scope_selector
    return [
        *(
            ScopedResourceSelectorRequirement(scope_name=scope, operator="Exists")
            for scope in spec.scopes
        ),
        *(selector.match_expressions if selector is not None else ()),
    ]
