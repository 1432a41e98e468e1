"""Who owns a scale: the same managers that own the object's replicas, under another name.

A scale is applied to like an object of its own: it has managers, and they can conflict. But it is
not stored. Its owners are those of the field of the object that it shows, and after a write they
go back there: who lost the scale has lost the field.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from apimachinery.apply import (
    FieldManager,
    FieldSet,
    InvalidManagedFields,
    managed_fields,
    no_other_version,
)
from apimachinery.apply import path_elements as paths
from apimachinery.apply.conflicts import ManagerIdentifier
from apimachinery.apply.managers import Managers, OwnedFields
from apimachinery.apply.path_elements import Path
from apimachinery.codec import dump_json
from apimachinery.meta.types import ManagedFieldsEntry, Object, ObjectMeta
from apimachinery.model.class_fields import shape_of
from apimachinery.model.decoding import decode_json
from apimachinery.scale import Scale
from apiserver.group import Subresource
from apiserver.views.scale_mapping import KIND, scale_of, with_replicas

Document = dict[str, Any]

_REPLICAS: Path = paths.field("spec"), paths.field("replicas")


class ScaleOwnership:
    """Applies to the scales of one resource.

    *documents* are the object as it is in each served version, by version: where the replicas are
    is found by changing them.
    """

    def __init__(
        self, subresource: Subresource, documents: Callable[[Object], Mapping[str, Document]]
    ) -> None:
        self._subresource = subresource
        self._documents = documents
        self._replicas: dict[str, Path] = {}
        shapes = {KIND.api_version: shape_of(Scale)}
        self._manager = FieldManager(shapes, no_other_version, KIND.api_version)

    def apply(
        self, obj: Object, applied: Document, *, manager: str, time: str, force: bool
    ) -> Document:
        """The scale of *obj* after an apply, with its managers; raises ApplyError."""
        live = orjson.loads(dump_json(scale_of(obj, self._subresource)))
        live["metadata"]["managedFields"] = managed_fields.encode(self._of_scale(obj))
        return self._manager.apply(
            live, applied, manager=manager, time=time, force=force, subresource="scale"
        )

    def entries(self, obj: Object, scale: Document, version: str) -> list[ManagedFieldsEntry]:
        """The managedFields of *obj* when its scale has those of *scale*, written in *version*."""
        wanted = managed_fields.decode(scale["metadata"].get("managedFields"))
        left = {_identity(who): owned for who, owned in wanted.items() if _REPLICAS in owned.fields}
        places = self._places(obj)
        found: dict[ManagerIdentifier, OwnedFields] = {}
        for who, owned in _managers(obj).items():
            place = places.get(owned.version)
            if place is None:
                continue
            if place in owned.fields and left.pop(_identity(who), None) is None:
                fields = owned.fields - FieldSet.of(place)
                if fields:
                    found[who] = owned.with_fields(fields)
            else:
                found[who] = owned
        for (name, operation, subresource), owned in left.items():
            who = ManagerIdentifier(
                name, operation, version if operation == "Update" else "", subresource
            )
            found[who] = OwnedFields(FieldSet.of(places[version]), version, owned.time)
        return _decoded(managed_fields.encode(managed_fields.cap_managers(found)))

    def _of_scale(self, obj: Object) -> Managers:
        places = self._places(obj)
        found = {}
        for who, owned in _managers(obj).items():
            place = places.get(owned.version)
            if place is None or place not in owned.fields:
                continue
            version = KIND.api_version if who.operation == "Update" else ""
            scaler = ManagerIdentifier(who.name, who.operation, version, who.subresource)
            found[scaler] = OwnedFields(FieldSet.of(_REPLICAS), KIND.api_version, owned.time)
        return found

    def _places(self, obj: Object) -> Mapping[str, Path]:
        """The path of the replicas in each version."""
        if not self._replicas:
            changed = (with_replicas(obj, self._subresource, count) for count in (1, 2))
            one, two = map(self._documents, changed)
            found = {version: _difference(one[version], two[version]) for version in one}
            self._replicas = {version: path for version, path in found.items() if path}
        return self._replicas


def _identity(manager: ManagerIdentifier) -> tuple[str, Any, str]:
    """Who a manager is, whichever version its fields are told in."""
    return manager.name, manager.operation, manager.subresource


def _managers(obj: Object) -> Managers:
    entries = orjson.loads(dump_json(obj.metadata)).get("managedFields")
    try:
        return managed_fields.decode(entries)
    except InvalidManagedFields as error:
        raise InvalidManagedFields(f"failed to decode managed fields: {error}") from None


def _decoded(entries: list[Document]) -> list[ManagedFieldsEntry]:
    data = orjson.dumps({"managedFields": entries})
    return decode_json(ObjectMeta, data, find_unknown=False).object.managed_fields


def _difference(one: Any, two: Any) -> Path:
    """The path of the first field in which two documents differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        for name in one.keys() | two.keys():
            mine, other = one.get(name), two.get(name)
            if mine != other:
                return paths.field(name), *_difference(mine, other)
    return ()
