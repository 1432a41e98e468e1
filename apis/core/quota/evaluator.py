"""Evaluator: how the objects of one resource count for quotas.

By default every object counts as one, under the name `count/<resource>.<group>` and perhaps an
older one. Resources that count otherwise have an evaluator of their own.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from apimachinery.schema import GroupResource
from apis.core import GROUP
from apis.core.quota.amounts import ONE
from apis.core.quota.measure import Measure
from apiserver.admission.chain import Operation
from apiserver.registry.store import ResourceStore

COUNT: Final = "count/"
FindStore = Callable[[GroupResource], ResourceStore[Any]]
"""Returns the store of a served resource; raises KeyError if there is none."""

_OLD_NAMES: Final = frozenset({"configmaps", "resourcequotas", "replicationcontrollers", "secrets"})
"""Resources of the core group whose plain name counts them, too."""


class Evaluator:
    """Counts the objects of a resource."""

    counts_only = True
    """Whether all objects use the same, so that their number suffices."""

    def __init__(self, resource: GroupResource) -> None:
        self.resource = resource
        self.count_name = f"{COUNT}{resource}"
        has_old_name = resource.group == GROUP and resource.resource in _OLD_NAMES
        names = (self.count_name, *((resource.resource,) if has_old_name else ()))
        self._names = frozenset(names)
        self._measure = Measure(dict.fromkeys(names, ONE))

    @property
    def version(self) -> object:
        """A value that differs if all objects must be measured again."""
        return None

    def handles(self, operation: Operation, subresource: str, new: Any, old: Any) -> bool:
        """Return whether a write may use more."""
        return not subresource and operation is Operation.CREATE

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names, out of those in a quota, of which these objects use something."""
        return self._names.intersection(names)

    def missing(self, names: Collection[str], obj: Any) -> str:
        """Return what an object must specify for a quota of *names*, empty if it does."""
        return ""

    def measure(self, obj: Any) -> Measure:
        """Return what an object uses."""
        return self._measure


def counted_resource(name: str) -> GroupResource | None:
    """Return the resource whose objects a name in a quota counts, None for other names."""
    if name.startswith(COUNT):
        resource, _, group = name.removeprefix(COUNT).partition(".")
        return GroupResource(group, resource)
    return GroupResource(GROUP, name) if name in _OLD_NAMES else None
