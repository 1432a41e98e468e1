"""`metadata.managedFields`: the managers of an object and the fields they own, in wire form.

Decodes and encodes the entries, sorts them, and limits their number.
"""

from dataclasses import replace
from typing import Any, Final

from apimachinery.apply.apply_errors import InvalidFieldSet, InvalidManagedFields
from apimachinery.apply.conflicts import ManagerIdentifier, Operation
from apimachinery.apply.field_ownership import Managers, OwnedFields
from apimachinery.apply.fieldset import EMPTY, FieldSet, union_all
from apimachinery.fieldpath import quote
from apimachinery.scalars.time import InvalidTime, format_time, parse_time

MAX_UPDATE_MANAGERS: Final = 10
ANCIENT_CHANGES: Final = "ancient-changes"

Entry = dict[str, Any]


def decode(entries: Any, *, stored: bool = True) -> dict[ManagerIdentifier, OwnedFields]:
    """Decode a list of entries (or None); raise InvalidManagedFields if one is malformed.

    *stored* entries were encoded by `encode`: their FieldsV1 is kept and written back as it is
    unless the fields change.
    """
    managers: dict[ManagerIdentifier, OwnedFields] = {}
    if entries is None:
        return managers
    if not isinstance(entries, list):
        raise InvalidManagedFields(f"managedFields: expected a list, got {_type_name(entries)}")
    for position, entry in enumerate(entries):
        manager, owned = _decode_entry(entry, position)
        managers[manager] = owned if stored else replace(owned, encoded=None)
    return managers


def encode(managers: Managers) -> list[Entry]:
    """Encode the entries: appliers first, then by time, name, version and subresource."""
    return [_encode_entry(manager, managers[manager]) for manager in sorted_managers(managers)]


def sorted_managers(managers: Managers) -> list[ManagerIdentifier]:
    """Return the managers in the order of their entries."""

    def sort_key(manager: ManagerIdentifier) -> tuple[str, str, str, str, str]:
        owned = managers[manager]
        time = owned.time or ""
        return (manager.operation, time, manager.name, owned.version, manager.subresource)

    return sorted(managers, key=sort_key)


def is_reset(entries: Any) -> bool:
    """Return whether the client clears all ownership by sending `[]` or `[{}]`."""
    return isinstance(entries, list) and entries in ([], [{}])


def cap_managers(
    managers: Managers, limit: int = MAX_UPDATE_MANAGERS
) -> dict[ManagerIdentifier, OwnedFields]:
    """Merge the oldest Update managers into buckets, so that at most *limit* remain.

    There is one bucket per version, and it merges at least two managers. If every version has a
    single old manager, more than *limit* remain.
    """
    capped = dict(managers)
    updaters = [manager for manager in managers if manager.operation == "Update"]
    excess = len(updaters) - limit
    if excess <= 0:
        return capped
    updaters.sort(key=lambda manager: (managers[manager].time or "", manager.identifier))
    oldest: dict[str, ManagerIdentifier] = {}
    merged: dict[ManagerIdentifier, list[FieldSet]] = {}
    for manager in updaters:
        if excess <= 0:
            break
        version = managers[manager].version
        if version not in oldest:
            oldest[version] = manager
            continue
        _merge_into_bucket(capped, merged, oldest[version], manager)
        excess -= 1
    for bucket, sets in merged.items():
        capped[bucket] = replace(capped[bucket], fields=union_all(sets))
    return capped


def _decode_entry(entry: Any, position: int) -> tuple[ManagerIdentifier, OwnedFields]:
    if not isinstance(entry, dict):
        raise InvalidManagedFields(
            f"managed fields entry {position}: expected an object, got {_type_name(entry)}"
        )
    operation = _operation(entry)
    version = _text(entry, "apiVersion", position)
    if not version:
        raise InvalidManagedFields("apiVersion must not be empty")
    fields_type = _text(entry, "fieldsType", position)
    if not fields_type:
        raise InvalidManagedFields(f"missing fieldsType in managed fields entry {position}")
    if fields_type != "FieldsV1":
        raise InvalidManagedFields(
            f"invalid fieldsType {quote(fields_type)} in managed fields entry {position}"
        )
    manager = ManagerIdentifier(
        _text(entry, "manager", position),
        operation,
        version if operation == "Update" else "",
        _text(entry, "subresource", position),
    )
    fields, time = _fields(entry, position), _time(entry, position)
    return manager, OwnedFields(fields, version, time, encoded=entry.get("fieldsV1"))


def _operation(entry: Entry) -> Operation:
    operation = entry.get("operation")
    if operation == "Apply":
        return "Apply"
    if operation == "Update":
        return "Update"
    raise InvalidManagedFields("operation must be `Apply` or `Update`")


def _text(entry: Entry, name: str, position: int) -> str:
    text = entry.get(name)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise InvalidManagedFields(
            f"managed fields entry {position}: {name}: expected a string, got {_type_name(text)}"
        )
    return text


def _fields(entry: Entry, position: int) -> FieldSet:
    try:
        return FieldSet.interned(entry.get("fieldsV1"))
    except InvalidFieldSet as error:
        raise InvalidManagedFields(
            f"error decoding set of managed fields entry {position}: {error}"
        ) from None


def _time(entry: Entry, position: int) -> str | None:
    text = _text(entry, "time", position)
    if not text:
        return None
    try:
        return format_time(parse_time(text))
    except InvalidTime as error:
        raise InvalidManagedFields(f"managed fields entry {position}: time: {error}") from None


def _encode_entry(manager: ManagerIdentifier, owned: OwnedFields) -> Entry:
    entry: Entry = {"manager": manager.name} if manager.name else {}
    entry["operation"] = manager.operation
    entry["apiVersion"] = owned.version
    if owned.time:
        entry["time"] = owned.time
    entry["fieldsType"] = "FieldsV1"
    unchanged = owned.encoded is not None
    entry["fieldsV1"] = owned.encoded if unchanged else owned.fields.to_fields_v1()
    if manager.subresource:
        entry["subresource"] = manager.subresource
    return entry


def _merge_into_bucket(
    managers: dict[ManagerIdentifier, OwnedFields],
    merged_sets: dict[ManagerIdentifier, list[FieldSet]],
    oldest: ManagerIdentifier,
    manager: ManagerIdentifier,
) -> None:
    newest = managers[manager]
    bucket = ManagerIdentifier(ANCIENT_CHANGES, "Update", newest.version)
    merged = manager if bucket in managers and bucket != manager else oldest
    sets = merged_sets.setdefault(bucket, [])
    sets += (newest.fields, managers.get(bucket, newest).fields, managers.pop(merged).fields)
    if merged == oldest:
        managers.pop(manager)
    # The fields are united when all managers have been merged.
    managers[bucket] = OwnedFields(EMPTY, newest.version, newest.time)


def _type_name(value: Any) -> str:
    return type(value).__name__
