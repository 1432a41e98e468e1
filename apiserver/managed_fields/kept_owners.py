"""Kept owners: a write that changes only values of its manager's own fields.

No field gets or loses an owner then: the stored entries stay as they are, but for the time of the
writer's. All other writes are left to the rules of ownership (`apimachinery.apply`), which come to
the same entries for these.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from apimachinery.apply import FieldOwnership, FieldSet, InvalidFieldSet, ManagerIdentifier
from apimachinery.apply.conflicts import Operation
from apimachinery.apply.field_manager import OWNERLESS
from apimachinery.apply.managed_fields import MAX_UPDATE_MANAGERS
from apimachinery.apply.path_elements import Path
from apimachinery.meta.types import ManagedFieldsEntry
from apimachinery.model.model import new_model
from apimachinery.scalars.time import format_time


def kept_entries(
    rules: FieldOwnership,
    stored: Sequence[ManagedFieldsEntry],
    changes: Sequence[Path],
    writer: ManagerIdentifier,
    now: datetime,
) -> list[ManagedFieldsEntry] | None:
    """Return the entries after *writer* has changed the values of the leaves in *changes*.

    Return None if a field gets or loses an owner, or if an entry is not as the server writes it.
    """
    managers = _managers(rules, stored, writer.version)
    if managers is None or writer not in managers:
        return None
    owned = [path for path in changes if path not in OWNERLESS]
    for path in changes:
        if rules.ignores(path, writer.version):
            return None
        for manager, fields in managers.items():
            if (path in fields) != (manager == writer and path not in OWNERLESS):
                return None
    entries = (
        new_entry(writer, entry.fields_v1 or {}, now) if owned and manager == writer else entry
        for manager, entry in zip(managers, stored, strict=True)
    )
    return sorted(entries, key=_order) if len(stored) > 1 else list(entries)


def new_entry(
    manager: ManagerIdentifier, fields: Mapping[str, Any], time: datetime
) -> ManagedFieldsEntry:
    """Return the entry of a manager that has updated an object at *time*."""
    values = {
        "manager": manager.name,
        "operation": manager.operation,
        "api_version": manager.version,
        "time": time,
        "fields_type": "FieldsV1",
        "fields_v1": fields,
        "subresource": manager.subresource,
    }
    return new_model(ManagedFieldsEntry, values)


def _managers(
    rules: FieldOwnership, entries: Sequence[ManagedFieldsEntry], version: str
) -> dict[ManagerIdentifier, FieldSet] | None:
    """Return the fields of each manager, None if an entry would not be written as it is."""
    managers: dict[ManagerIdentifier, FieldSet] = {}
    for entry in entries:
        if entry.api_version != version or entry.fields_type != "FieldsV1":
            return None
        operation: Operation = "Apply" if entry.operation == "Apply" else "Update"
        if entry.operation != operation:
            return None
        try:
            fields = FieldSet.interned(entry.fields_v1)
        except InvalidFieldSet:
            return None
        if not fields or not rules.fits(fields, version):
            return None
        of_version = version if operation == "Update" else ""
        manager = ManagerIdentifier(entry.manager, operation, of_version, entry.subresource)
        managers[manager] = fields
    updating = sum(manager.operation == "Update" for manager in managers)
    if len(managers) < len(entries) or updating > MAX_UPDATE_MANAGERS:
        return None
    return managers


def _order(entry: ManagedFieldsEntry) -> tuple[str, str, str, str, str]:
    """Return the sort key of an entry: appliers first, then by time, as all entries are sorted."""
    time = format_time(entry.time) if entry.time else ""
    return entry.operation, time, entry.manager, entry.api_version, entry.subresource
