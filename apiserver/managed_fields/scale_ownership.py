"""ScaleOwnership: server-side apply to a Scale, with the owners of the object's replicas.

An apply to a Scale can conflict like an apply to an object. But a Scale is not stored: its owners
are those of the replicas field of the object, and after a write they are mapped back to that field.
A manager that loses the replicas of the Scale loses the field of the object.
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
from apimachinery.apply.field_ownership import Managers, OwnedFields
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
    """Applies configurations to the scales of one resource.

    *documents* converts an object to every served version. The path of the replicas in each version
    is found by changing them and comparing the documents.
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
        """Return the scale of *obj* after an apply, with its managers. Raises ApplyError."""
        live = orjson.loads(dump_json(scale_of(obj, self._subresource)))
        live["metadata"]["managedFields"] = managed_fields.encode(self._scale_managers(obj))
        return self._manager.apply(
            live, applied, manager=manager, time=time, force=force, subresource="scale"
        )

    def entries(self, obj: Object, scale: Document, version: str) -> list[ManagedFieldsEntry]:
        """Return the managedFields of *obj* after a write in *version* left those of *scale*."""
        after = managed_fields.decode(scale["metadata"].get("managedFields"))
        owners = {
            _identity(manager): owned
            for manager, owned in after.items()
            if _REPLICAS in owned.fields
        }
        paths_by_version = self._replica_paths(obj)
        managers: dict[ManagerIdentifier, OwnedFields] = {}
        for manager, owned in _managers(obj).items():
            path = paths_by_version.get(owned.version)
            if path is None:
                continue
            if path in owned.fields and owners.pop(_identity(manager), None) is None:
                fields = owned.fields - FieldSet.of(path)
                if fields:
                    managers[manager] = owned.with_fields(fields)
            else:
                managers[manager] = owned
        # The remaining owners of the scale did not own the replicas of the object before.
        for (name, operation, subresource), owned in owners.items():
            manager = ManagerIdentifier(
                name, operation, version if operation == "Update" else "", subresource
            )
            replicas = FieldSet.of(paths_by_version[version])
            managers[manager] = OwnedFields(replicas, version, owned.time)
        return _decode(managed_fields.encode(managed_fields.cap_managers(managers)))

    def _scale_managers(self, obj: Object) -> Managers:
        """Return the managers of the object's replicas as managers of its scale."""
        paths_by_version = self._replica_paths(obj)
        managers = {}
        for manager, owned in _managers(obj).items():
            path = paths_by_version.get(owned.version)
            if path is None or path not in owned.fields:
                continue
            version = KIND.api_version if manager.operation == "Update" else ""
            identifier = ManagerIdentifier(
                manager.name, manager.operation, version, manager.subresource
            )
            managers[identifier] = OwnedFields(FieldSet.of(_REPLICAS), KIND.api_version, owned.time)
        return managers

    def _replica_paths(self, obj: Object) -> Mapping[str, Path]:
        """Return the path of the replicas in each version."""
        if not self._replicas:
            variants = (with_replicas(obj, self._subresource, count) for count in (1, 2))
            first, second = map(self._documents, variants)
            differing = {version: _difference(first[version], second[version]) for version in first}
            self._replicas = {version: path for version, path in differing.items() if path}
        return self._replicas


def _identity(manager: ManagerIdentifier) -> tuple[str, Any, str]:
    """Return the identity of a manager, without the version of its fields."""
    return manager.name, manager.operation, manager.subresource


def _managers(obj: Object) -> Managers:
    entries = orjson.loads(dump_json(obj.metadata)).get("managedFields")
    try:
        return managed_fields.decode(entries)
    except InvalidManagedFields as error:
        raise InvalidManagedFields(f"failed to decode managed fields: {error}") from None


def _decode(entries: list[Document]) -> list[ManagedFieldsEntry]:
    data = orjson.dumps({"managedFields": entries})
    return decode_json(ObjectMeta, data, find_unknown=False).object.managed_fields


def _difference(first: Any, second: Any) -> Path:
    """Return the path of the first field in which two documents differ."""
    if isinstance(first, dict) and isinstance(second, dict):
        for name in first.keys() | second.keys():
            if first.get(name) != second.get(name):
                return paths.field(name), *_difference(first.get(name), second.get(name))
    return ()
