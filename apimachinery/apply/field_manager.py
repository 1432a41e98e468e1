"""FieldManager: server-side apply and field tracking of whole objects, as plain JSON.

This is the door to the package for whoever writes objects. It adds to the rules of ownership what
Kubernetes adds: managed fields inside the object, times, fields nobody can own, objects from
before there were managed fields, and a limit to the number of managers.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from apimachinery.apply import managed_fields
from apimachinery.apply import path_elements as paths
from apimachinery.apply.apply_errors import (
    ApplyError,
    InvalidManagedFields,
    InvalidPatch,
    MissingVersion,
)
from apimachinery.apply.conflicts import ApplyConflict, ManagerIdentifier
from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.last_applied import KUBECTL, allowed_conflicts
from apimachinery.apply.managers import Convert, FieldOwnership, Managers, OwnedFields, Versioned
from apimachinery.apply.typed_values import set_of, validate
from apimachinery.apply.value_shapes import equal, same_json
from apimachinery.model.type_shape import Shape

Object = dict[str, Any]

BEFORE_FIRST_APPLY: Final = "before-first-apply"
UNKNOWN_MANAGER: Final = "unknown"
# Its version is empty, so no entry can have the same identity.
_CURRENT_OPERATION: Final = ManagerIdentifier("current-operation", "Update")
_METADATA: Final = paths.field("metadata")
_OWNERLESS: Final = FieldSet.of(
    (paths.field("apiVersion"),),
    (paths.field("kind"),),
    (_METADATA,),
    *(
        (_METADATA, paths.field(name))
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
        )
    ),
)
"""Fields of every object that no manager owns."""


def no_other_version(value: Any, version: str) -> Any:
    """The `convert` of a kind that has one version only."""
    raise MissingVersion(f"no conversion to version {version}")


class FieldManager:
    """Tracks who owns the fields of the objects of one kind, served in one version.

    Objects go in and come out in *version* (or any other that *convert* can take there); they are
    never changed in place, but results share parts with them. *reset_fields* are those that a
    write to this endpoint does not change, by version. *empty* is the object a create starts
    from: what it has already, nobody adds.
    """

    def __init__(
        self,
        shapes: Mapping[str, Shape],
        convert: Convert,
        version: str,
        *,
        reset_fields: Mapping[str, FieldSet] | None = None,
        empty: Mapping[str, Any] | None = None,
    ) -> None:
        self.version = version
        self._empty = empty or {}
        self._ownership = FieldOwnership(shapes, convert, reset_fields or {})

    def update(
        self, live: Object | None, new: Object, *, manager: str, time: str, subresource: str = ""
    ) -> Object:
        """The *new* object with managed fields that tell what *manager* changed in *live*.

        The object is otherwise as it was given. An object that exists without managed fields
        (because a client asked for it) goes on without, until it is first applied to.
        """
        sent, stored = (_metadata(obj or {}).get("managedFields") for obj in (new, live))
        managers = owners_before(sent, stored, subresource)
        if not managers and live is not None and _metadata(live).get("uid"):
            return _with_entries(new, [])
        before = self._live(live, new)
        after = self._versioned(_with_entries(new, []))
        who = updater(manager, self.version, subresource)
        managers = owners_after(self._ownership, before, after, managers, who, time)
        return _with_entries(new, managed_fields.encode(managed_fields.cap(managers)))

    def update_or_keep(
        self, live: Object | None, new: Object, *, manager: str, time: str, subresource: str = ""
    ) -> Object:
        """Like update, but never fails: the managed fields of *live* stay if they must."""
        try:
            return self.update(live, new, manager=manager, time=time, subresource=subresource)
        except ApplyError:
            return _with_entries(new, _metadata(live or {}).get("managedFields"))

    def apply(
        self,
        live: Object | None,
        applied: Object,
        *,
        manager: str,
        time: str,
        force: bool = False,
        subresource: str = "",
    ) -> Object:
        """The *live* object (None: there is none yet) with the *applied* configuration.

        Raises ApplyConflict if others own what would change, and other ApplyErrors if the
        configuration is not valid. Applying the same again gives an equal object.
        """
        self._check_patch(applied)
        before = self._live(live, applied)
        fields = self._validate(applied, before)
        try:
            managers = managed_fields.decode(_metadata(live or {}).get("managedFields"))
        except InvalidManagedFields as error:
            raise InvalidManagedFields(f"failed to decode managed fields: {error}") from None
        if not managers:
            managers = self._managed_before_apply(before, applied, time, subresource)
        who = ManagerIdentifier(manager or UNKNOWN_MANAGER, "Apply", "", subresource)
        patch = Versioned(applied, self.version)
        value, owners = self._apply(before, patch, fields, managers, who, force=force)
        changed = not equal(value, before.value)
        owners = _with_own_entry(owners, who, managers.get(who), time, changed=changed)
        return _with_entries(value if changed else before.value, managed_fields.encode(owners))

    def _apply(
        self,
        live: Versioned,
        applied: Versioned,
        fields: FieldSet,
        managers: Managers,
        manager: ManagerIdentifier,
        *,
        force: bool,
    ) -> tuple[Any, dict[ManagerIdentifier, OwnedFields]]:
        apply = partial(self._ownership.apply, live, applied, managers, manager, fields=fields)
        try:
            return apply(force=force)
        except ApplyConflict as conflict:
            if manager.name != KUBECTL:
                raise
            shape = self._ownership.shapes[self.version]
            allowed = allowed_conflicts(live.value, shape, self.version)
            left = [found for found in conflict.conflicts if found.path not in allowed]
            if left:
                raise ApplyConflict(left) from None
        return apply(force=True)

    def _managed_before_apply(
        self, live: Versioned, applied: Object, time: str, subresource: str
    ) -> dict[ManagerIdentifier, OwnedFields]:
        """What an object has when it is first applied to gets an owner of its own."""
        who = ManagerIdentifier(BEFORE_FIRST_APPLY, "Update", self.version, subresource)
        return owners_after(self._ownership, self._live(None, applied), live, {}, who, time)

    def _live(self, live: Object | None, other: Object) -> Versioned:
        if live is not None:
            return self._versioned(_with_entries(live, []))
        kind = {name: other[name] for name in ("apiVersion", "kind") if name in other}
        return Versioned(kind | dict(self._empty), self.version)

    def _versioned(self, obj: Object) -> Versioned:
        version = obj.get("apiVersion")
        source = Versioned(obj, version if version and isinstance(version, str) else self.version)
        return self._ownership.in_version(source, self.version)

    def _check_patch(self, applied: Object) -> None:
        version = applied.get("apiVersion") or ""
        if version != self.version:
            raise InvalidPatch(
                "Incorrect version specified in apply patch. "
                f"Specified patch version: {version}, expected: {self.version}"
            )
        if _metadata(applied).get("managedFields") is not None:
            raise InvalidPatch("metadata.managedFields must be nil")

    def _validate(self, applied: Object, live: Versioned) -> FieldSet:
        """The fields of the configuration, once it and the live object are found to be valid."""
        shape = self._ownership.shapes[self.version]
        context = f"failed to create typed patch object ({_described(applied)})"
        fields = set_of(applied, shape, context=context)
        context = f"failed to create typed live object ({_described(live.value)})"
        validate(live.value, shape, allow_duplicates=True, context=context)
        return fields


def updater(manager: str, version: str, subresource: str) -> ManagerIdentifier:
    """Who writes without applying."""
    return ManagerIdentifier(manager or UNKNOWN_MANAGER, "Update", version, subresource)


def owners_before(sent: Any, stored: Any, subresource: str) -> dict[ManagerIdentifier, OwnedFields]:
    """The managers a write begins with: those the client sent, else those that are stored.

    Clients that know nothing of managed fields must not lose them, nor may writes to a
    subresource change them.
    """
    # Most clients send back what they have read.
    if not subresource and sent is not stored and not same_json(sent, stored):
        if managed_fields.is_reset(sent):
            return {}
        try:
            found = managed_fields.decode(sent, stored=False)
        except InvalidManagedFields:
            found = {}
        if found:
            return found
    try:
        return managed_fields.decode(stored)
    except InvalidManagedFields:
        return {}


def owners_after(
    ownership: FieldOwnership,
    live: Versioned,
    new: Versioned,
    managers: Managers,
    manager: ManagerIdentifier,
    time: str,
) -> dict[ManagerIdentifier, OwnedFields]:
    """The managers after a write; the time of this one's entry tells if it changed anything."""
    found = ownership.update(live, new, managers, _CURRENT_OPERATION)
    change = found.pop(_CURRENT_OPERATION, None)
    fields = change.fields - _OWNERLESS if change else None
    if fields:
        left = found.get(manager)
        mine = OwnedFields(fields | left.fields if left else fields, new.version, time)
        found[manager] = _as_encoded(mine, managers.get(manager))
    return found


def _as_encoded(owned: OwnedFields, before: OwnedFields | None) -> OwnedFields:
    """Let fields that somebody owned already, and sets again, not be encoded again."""
    if before is None or before.fields != owned.fields:
        return owned
    return OwnedFields(before.fields, owned.version, owned.time, before.encoded)


def _with_own_entry(
    managers: Managers,
    manager: ManagerIdentifier,
    before: OwnedFields | None,
    time: str,
    *,
    changed: bool,
) -> dict[ManagerIdentifier, OwnedFields]:
    found = dict(managers)
    mine = found.pop(manager, None)
    fields = mine.fields - _OWNERLESS if mine else None
    if mine and fields:
        mine = mine.with_fields(fields)
        unchanged = before if mine == before and not changed else None
        found[manager] = unchanged or replace(mine, time=time)
    return found


def _metadata(obj: Object) -> Object:
    metadata = obj.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _with_entries(obj: Object, entries: Any) -> Object:
    """A copy of *obj* that has these managed fields, or none at all."""
    metadata = dict(_metadata(obj))
    if entries:
        metadata["managedFields"] = entries
    else:
        metadata.pop("managedFields", None)
    if metadata or isinstance(obj.get("metadata"), dict):
        return {**obj, "metadata": metadata}
    return obj


def _described(obj: Object) -> str:
    metadata = _metadata(obj)
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    name = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
    return f"{name}; {group}/{version}, Kind={obj.get('kind', '')}"
