"""FieldTracking: who owns which field, for the objects of one resource in all its versions.

The rules of ownership work on plain documents; this is the bridge to objects. A write is tracked in
the version it was made in, so that a manager's fields have the names its author knows.
"""

from datetime import datetime
from typing import Any, Final

import orjson

from apimachinery.codec import Codec, dump_json
from apimachinery.meta.decode import DecodeError, decode_json
from apimachinery.meta.fields import shape_of
from apimachinery.meta.partial import completed
from apimachinery.meta.shape import StructShape
from apimachinery.meta.time import format_time, now
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.patch.apply import FieldManager, FieldSet, MissingVersion, paths
from apimachinery.schema import GroupVersion, GroupVersionKind
from apiserver.context import Context
from apiserver.group import Group, Resource

Document = dict[str, Any]

_STATUS: Final = FieldSet.of((paths.field("status"),))
_ALL_BUT_STATUS: Final = FieldSet.of(
    (paths.field("spec"),), (paths.field("metadata"), paths.field("labels"))
)


class FieldTracking:
    """Implements `Ownership`, and applies configurations."""

    def __init__(self, codec: Codec, group: Group, resource: Resource) -> None:
        self._codec = codec
        self._has_status = resource.has_status
        self._kinds: dict[str, GroupVersionKind] = {}
        self._shapes: dict[str, StructShape] = {}
        self._managers: dict[tuple[str, str], FieldManager] = {}
        self.include(group, resource)

    def include(self, group: Group, resource: Resource) -> None:
        """Know the versions of a group in which the objects are written."""
        for version in group.versions:
            kind = GroupVersion(group.name, version).with_kind(resource.kind)
            if self._codec.scheme.recognises(kind):
                self._kinds[kind.api_version] = kind
                self._shapes[kind.api_version] = shape_of(self._codec.scheme.class_of(kind))
        self._managers.clear()

    def track(self, context: Context, old: Object | None, new: Object) -> None:
        """Set the managedFields of *new*, which is about to replace *old* or to be created."""
        version = context.resource.group_version
        tracked = self._manager(version, context.subresource).update_or_keep(
            self.document(old, version) if old is not None else None,
            self.document(new, version),
            manager=context.field_manager,
            time=_written(now()),
            subresource=context.subresource,
        )
        new.metadata.managed_fields = _entries(tracked)

    def apply(
        self, context: Context, live: Object | None, applied: Document, *, force: bool
    ) -> Document:
        """The document of the object after an apply; raises ApplyError."""
        version = context.resource.group_version
        return self._manager(version, context.subresource).apply(
            self.document(live, version) if live is not None else None,
            applied,
            manager=context.field_manager,
            time=_written(now()),
            force=force,
            subresource=context.subresource,
        )

    def document(self, obj: Object, version: GroupVersion) -> Document:
        """An internal object as a document of a version."""
        document: Document = orjson.loads(dump_json(self._codec.in_version(obj, version)))
        return document

    def _manager(self, version: GroupVersion, subresource: str) -> FieldManager:
        key = str(version), subresource
        found = self._managers.get(key)
        if found is None:
            found = self._managers[key] = FieldManager(
                self._shapes, self._convert, str(version), reset_fields=self._reset(subresource)
            )
        return found

    def _reset(self, subresource: str) -> dict[str, FieldSet]:
        """What a write to this door leaves as it was, so that nobody comes to own it by one."""
        if subresource == "status":
            return dict.fromkeys(self._kinds, _ALL_BUT_STATUS)
        return dict.fromkeys(self._kinds, _STATUS) if self._has_status else {}

    def _convert(self, document: Document, version: str) -> Document:
        source, target = self._kinds.get(document.get("apiVersion", "")), self._kinds.get(version)
        if source is None or target is None:
            raise MissingVersion(f"no conversion to version {version}")
        cls = self._codec.scheme.class_of(source)
        data = orjson.dumps(completed(document, cls))
        try:
            obj = decode_json(cls, data, find_unknown=False).object
        except DecodeError as error:
            raise MissingVersion(f"no conversion to version {version}: {error}") from None
        converted = self._codec.scheme.convert_to_version(obj, target.group_version)
        made: Document = orjson.loads(dump_json(converted))
        return made


def _written(moment: datetime) -> str:
    return format_time(moment)


def _entries(document: Document) -> list[Any]:
    managed = document.get("metadata", {}).get("managedFields")
    if not managed:
        return []
    data = orjson.dumps({"managedFields": managed})
    return decode_json(ObjectMeta, data, find_unknown=False).object.managed_fields
