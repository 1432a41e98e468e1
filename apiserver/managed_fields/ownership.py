"""Ownership: how writes keep managedFields up to date, and what server-side apply calls.

A write tracks ownership before admission and before the object is prepared: its manager owns what
it has sent, and not what webhooks or the server add to it.
"""

from typing import Any, Protocol

from apimachinery.meta.types import ManagedFieldsEntry, Object
from apiserver.context import RequestContext
from apiserver.group import Group, Resource

Document = dict[str, Any]


class Ownership(Protocol):
    """Tracks which manager owns which field, for the objects of one resource."""

    @property
    def supports_apply(self) -> bool:
        """Whether server-side apply is supported; it requires tracked owners."""

    def track(self, context: RequestContext, old: Object | None, new: Object) -> None:
        """Set the managedFields of *new*, which is about to replace *old* or to be created."""

    def apply(
        self, context: RequestContext, live: Object | None, applied: Document, *, force: bool
    ) -> Document:
        """Return the document of *live* after *applied* is applied to it; None creates one.

        Raises ApplyError.
        """

    def include(self, group: Group, resource: Resource) -> None:
        """Track writes in the versions of another group that serves the same objects."""


class Untracked:
    """Leaves managedFields as the client sent them."""

    supports_apply = False

    def track(self, context: RequestContext, old: Object | None, new: Object) -> None:
        """Do nothing."""

    def apply(
        self, context: RequestContext, live: Object | None, applied: Document, *, force: bool
    ) -> Document:
        raise TypeError("server-side apply needs ownership to be tracked")

    def include(self, group: Group, resource: Resource) -> None:
        """Do nothing."""


def forget_new_times(new: Object, old: Object) -> None:
    """Restore managedFields if a write changes only their times, so that it becomes a no-op."""
    entries, stored = new.metadata.managed_fields, old.metadata.managed_fields
    if entries == stored or len(entries) != len(stored):
        return
    # Entries are ordered by time, so those of managers that wrote again have moved.
    before = {_owner(entry): entry for entry in stored}
    if not all(_equal_but_time(entry, before.get(_owner(entry))) for entry in entries):
        return
    new.metadata.managed_fields = stored
    if new != old:
        new.metadata.managed_fields = entries


def _owner(entry: ManagedFieldsEntry) -> tuple[str, ...]:
    return entry.manager, entry.operation, entry.api_version, entry.subresource


def _equal_but_time(entry: ManagedFieldsEntry, other: ManagedFieldsEntry | None) -> bool:
    if other is None:
        return False
    return {**entry.__dict__, "time": None} == {**other.__dict__, "time": None}
