"""Who owns which fields: the place in a write where managedFields are kept up to date.

What tracking means is server-side apply's affair; a write only knows when it is due: after the
object is prepared, so that nobody comes to own what the server did not take from them, and before
it is validated.
"""

from typing import Any, Protocol

from apimachinery.meta.types import ManagedFieldsEntry, Object
from apiserver.context import RequestContext


class Ownership(Protocol):
    """Tracks the managers of the fields of a resource's objects."""

    def track(self, context: RequestContext, old: Object | None, new: Object) -> None:
        """Set the managedFields of *new*, which is about to replace *old* or to be created."""

    def include(self, group: Any, resource: Any) -> None:
        """Know the versions of another group, too, in which the same objects are written."""


class Untracked:
    """Leaves managedFields as the client sent them."""

    def track(self, context: RequestContext, old: Object | None, new: Object) -> None:
        """Nothing is tracked."""

    def include(self, group: Any, resource: Any) -> None:
        """Nothing has to be known."""


def forget_new_times(new: Object, old: Object) -> None:
    """Let a write that changes nothing but the times in managedFields change nothing at all."""
    ours, theirs = new.metadata.managed_fields, old.metadata.managed_fields
    if ours == theirs or len(ours) != len(theirs):
        return
    if not all(map(_same_but_time, ours, theirs)):
        return
    new.metadata.managed_fields = theirs
    if new != old:
        new.metadata.managed_fields = ours


def _same_but_time(one: ManagedFieldsEntry, other: ManagedFieldsEntry) -> bool:
    return {**one.__dict__, "time": None} == {**other.__dict__, "time": None}
