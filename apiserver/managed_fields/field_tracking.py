"""FieldTracking: track the owners of fields for the objects of one resource, in all versions.

`apimachinery.apply` works on plain documents; this module connects it to objects. A write is
tracked in the version of its request, so that the paths in managedFields are those that the client
used. Only the parts in which two objects differ are dumped to documents; objects without declared
fields, such as custom resources, are dumped and compared whole.
"""

from collections.abc import Iterable
from typing import Any, Final, cast

import orjson

from apimachinery.apply import (
    ApplyError,
    Comparison,
    FieldManager,
    FieldSet,
    ManagerIdentifier,
    MissingVersion,
    compare,
    managed_fields,
)
from apimachinery.apply import FieldOwnership as Owners
from apimachinery.apply import path_elements as paths
from apimachinery.apply.field_manager import (
    managers_after_write,
    managers_before_write,
    updating_manager,
)
from apimachinery.apply.field_ownership import Managers, Versioned
from apimachinery.apply.fieldset import FieldsV1
from apimachinery.apply.managed_fields import Entry
from apimachinery.codec import Codec, dump_json
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.types import ManagedFieldsEntry, Object
from apimachinery.model.class_fields import shape_of
from apimachinery.model.decoding import DecodeError
from apimachinery.model.document_diff import (
    changed_parts,
    empty_document,
    has_only_declared_fields,
    whole_document,
)
from apimachinery.model.document_structure import UntypedValues, structure_of
from apimachinery.model.model import new_model
from apimachinery.model.type_shape import Shape
from apimachinery.scalars.time import format_time, now, parse_time
from apimachinery.schema import GroupVersion, GroupVersionKind
from apiserver.context import RequestContext
from apiserver.group import Group, Resource
from apiserver.managed_fields.created_fields import CreatedFields
from apiserver.managed_fields.kept_owners import kept_entries, new_entry
from apiserver.managed_fields.value_changes import OtherFields, changed_values

Document = dict[str, Any]

_STATUS: Final = FieldSet.of((paths.field("status"),))
_SPEC: Final = FieldSet.of((paths.field("spec"),))
_ALL_BUT_STATUS: Final = FieldSet.of((paths.field("spec"),), (paths.field("metadata"),))
_HANDLED_HERE: Final = ("", "scale")
_SYSTEM_FIELDS: Final = {"metadata": {"managed_fields": True}}
"""Fields that are never compared; other fields without owners are removed later."""


class FieldTracking:
    """Implements `Ownership`."""

    supports_apply = True

    def __init__(self, codec: Codec, group: Group, resource: Resource) -> None:
        self._codec = codec
        self._has_status = resource.has_status
        self._strategy_reset = resource.strategy.reset_fields
        self._status_updates_metadata = resource.strategy.status_updates_metadata
        self._kinds: dict[str, GroupVersionKind] = {}
        self._classes: dict[str, type[Any]] = {}
        self._shapes: dict[str, Shape] = {}
        self._by_object = True
        self._managers: dict[tuple[str, str], FieldManager] = {}
        self._owners: dict[str, Owners] = {}
        self._created = CreatedFields()
        self.include(group, resource)

    def include(self, group: Group, resource: Resource) -> None:
        """Track writes in the versions of *group*."""
        for version in group.versions:
            kind = GroupVersion(group.name, version).with_kind(resource.kind)
            if self._codec.scheme.recognizes(kind):
                cls = self._codec.scheme.class_of(kind)
                self._kinds[kind.api_version] = kind
                self._classes[kind.api_version] = cls
                self._shapes[kind.api_version] = shape_of(cls)
                self._by_object = self._by_object and has_only_declared_fields(cls)
        self._managers.clear()
        self._owners.clear()
        self._created.clear()

    def track(self, context: RequestContext, old: Object | None, new: Object) -> None:
        """Set the managedFields of *new*, which is about to replace *old* or to be created."""
        if not self._by_object:
            new.metadata.managed_fields = _models(self._track_documents(context, old, new))
            return
        try:
            new.metadata.managed_fields = self._track_objects(context, old, new)
        except ApplyError:
            new.metadata.managed_fields = old.metadata.managed_fields if old is not None else []

    def _track_objects(
        self, context: RequestContext, old: Object | None, new: Object
    ) -> list[ManagedFieldsEntry]:
        version, subresource = str(context.resource.group_version), context.subresource
        before, after = self._convert_object(old, version), self._convert_object(new, version)
        assert after is not None
        writer = updating_manager(context.field_manager, version, subresource)
        if old is None or before is None:
            if not new.metadata.managed_fields:
                return self._track_created(after, writer)
            return self._after_write(None, after, None, owner_entries(new), writer)
        stored, sent = old.metadata.managed_fields, new.metadata.managed_fields
        sends_others = sent != stored
        if not sends_others or not sent or subresource:
            kept = self._kept_owners(before, after, stored, writer)
            if kept is not None:
                return kept
        entries = owner_entries(old)
        return self._after_write(
            before, after, entries, owner_entries(new) if sends_others else entries, writer
        )

    def _track_created(self, obj: Object, writer: ManagerIdentifier) -> list[ManagedFieldsEntry]:
        """Return the entry of a new object: its writer owns all of its fields."""

        def compute() -> FieldsV1:
            (entry,) = self._after_write(None, obj, None, None, writer) or (None,)
            return cast(FieldsV1, entry.fields_v1) if entry is not None else {}

        try:
            structure = structure_of(obj)
        except UntypedValues:
            fields = compute()
        else:
            fields = self._created.of((writer.version, writer.subresource, structure), compute)
        return [new_entry(writer, fields, now())] if fields else []

    def _kept_owners(
        self,
        before: Object,
        after: Object,
        stored: list[ManagedFieldsEntry],
        writer: ManagerIdentifier,
    ) -> list[ManagedFieldsEntry] | None:
        """Return the entries if the write changes only values of its manager's own fields."""
        try:
            changes = changed_values(before, after)
        except OtherFields:
            return None
        return kept_entries(self._rules(writer.subresource), stored, changes, writer, now())

    def _after_write(
        self,
        before: Object | None,
        after: Object,
        stored: list[Entry] | None,
        sent: list[Entry] | None,
        writer: ManagerIdentifier,
    ) -> list[ManagedFieldsEntry]:
        """Return the entries by the rules of ownership; the objects are in the writer's version."""
        owners: Managers = managers_before_write(sent, stored, writer.subresource)
        if not owners and before is not None and before.metadata.uid:
            return []
        owners = managers_after_write(
            self._rules(writer.subresource),
            Versioned(before, writer.version),
            Versioned(after, writer.version),
            owners,
            writer,
            format_time(now()),
        )
        return _models(managed_fields.encode(managed_fields.cap_managers(owners)))

    def _track_documents(self, context: RequestContext, old: Object | None, new: Object) -> Any:
        version = context.resource.group_version
        document = self._manager(version, context.subresource).update_or_keep(
            self.document(old, version) if old is not None else None,
            self.document(new, version),
            manager=context.field_manager,
            time=format_time(now()),
            subresource=context.subresource,
        )
        return document.get("metadata", {}).get("managedFields")

    def apply(
        self, context: RequestContext, live: Object | None, applied: Document, *, force: bool
    ) -> Document:
        version = context.resource.group_version
        return self._manager(version, context.subresource).apply(
            self.document(live, version) if live is not None else None,
            applied,
            manager=context.field_manager,
            time=format_time(now()),
            force=force,
            subresource=context.subresource,
        )

    def document(self, obj: Object, version: GroupVersion) -> Document:
        """Convert an internal object to a document of a version."""
        document: Document = orjson.loads(dump_json(self._codec.in_version(obj, version)))
        return document

    def _manager(self, version: GroupVersion, subresource: str) -> FieldManager:
        key = str(version), subresource
        manager = self._managers.get(key)
        if manager is None:
            manager = self._managers[key] = FieldManager(
                self._shapes,
                self._convert,
                str(version),
                reset_fields=self._reset(subresource),
                empty=self._empty(str(version)),
            )
        return manager

    def _empty(self, version: str) -> Document:
        """Return what a creation starts from: nothing for kinds without declared fields."""
        cls = self._classes[version]
        return empty_document(cls) if has_only_declared_fields(cls) else {}

    def _reset(self, subresource: str) -> dict[str, FieldSet]:
        """Return the fields by version that writes to a subresource ignore, and so never own."""
        own = self._strategy_reset.get(subresource)
        if own is not None:
            return dict.fromkeys(self._kinds, _field_set(own))
        if subresource == "status":
            ignored = _SPEC if self._status_updates_metadata else _ALL_BUT_STATUS
            return dict.fromkeys(self._kinds, ignored)
        if subresource in _HANDLED_HERE:
            return dict.fromkeys(self._kinds, _STATUS) if self._has_status else {}
        return {}  # the handler of the subresource decides what it changes

    def _rules(self, subresource: str) -> Owners:
        rules = self._owners.get(subresource)
        if rules is None:
            rules = self._owners[subresource] = Owners(
                self._shapes, self._convert_object, self._reset(subresource), _compare
            )
        return rules

    def _convert_object(self, obj: Object | None, version: str) -> Object | None:
        target = self._kinds.get(version)
        if target is None:
            raise MissingVersion(f"no conversion to version {version}")
        # An object of the version's class needs no conversion.
        if obj is None or type(obj) is self._classes[version]:
            return obj
        return cast(Object, self._codec.scheme.convert_to_version(obj, target.group_version))

    def _convert(self, document: Document, version: str) -> Document:
        source, target = self._kinds.get(document.get("apiVersion", "")), self._kinds.get(version)
        if source is None or target is None:
            raise MissingVersion(f"no conversion to version {version}")
        cls = self._codec.scheme.class_of(source)
        try:
            # The document lacks the fields of other managers, and may have invalid values, which
            # are refused only later if they are new: conversions expect values within bounds.
            obj = decode_leniently(cls, orjson.dumps(document))
            versioned = self._codec.scheme.convert_to_version(obj, target.group_version)
        except (DecodeError, ValueError, ArithmeticError) as error:
            raise MissingVersion(f"no conversion to version {version}: {error}") from None
        converted: Document = orjson.loads(dump_json(versioned))
        return converted


def _field_set(dotted: Iterable[str]) -> FieldSet:
    return FieldSet.of(*(tuple(map(paths.field, path.split("."))) for path in dotted))


def _compare(old: Object | None, new: Object, shape: Shape) -> Comparison:
    """Compare two objects of the same version; *old* is None for a creation."""
    if old is None:
        document = whole_document(new, leave_out=_SYSTEM_FIELDS)
        return compare(empty_document(type(new)), document, shape)
    return compare(*changed_parts(old, new, leave_out=_SYSTEM_FIELDS), shape)


def owner_entries(obj: Object) -> list[Entry] | None:
    """Return the managedFields as documents, None if there are none."""
    return [_entry(model) for model in obj.metadata.managed_fields] or None


def _entry(model: ManagedFieldsEntry) -> Entry:
    entry = {
        "manager": model.manager,
        "operation": model.operation,
        "apiVersion": model.api_version,
        "time": format_time(model.time) if model.time else None,
        "fieldsType": model.fields_type,
        "fieldsV1": model.fields_v1,
        "subresource": model.subresource,
    }
    return {name: value for name, value in entry.items() if value not in ("", None)}


def _models(entries: list[Entry] | None) -> list[ManagedFieldsEntry]:
    return [_model(entry) for entry in entries or ()]


def _model(entry: Entry) -> ManagedFieldsEntry:
    time = entry.get("time")
    values = {
        "manager": entry.get("manager", ""),
        "operation": entry.get("operation", ""),
        "api_version": entry.get("apiVersion", ""),
        "time": parse_time(time) if time else None,
        "fields_type": entry.get("fieldsType", ""),
        "fields_v1": entry.get("fieldsV1"),
        "subresource": entry.get("subresource", ""),
    }
    return new_model(ManagedFieldsEntry, values)
