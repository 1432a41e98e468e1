"""FieldManager: server-side apply and field tracking for whole objects, as plain JSON.

Write handlers enter the package here. On top of the ownership rules (`managers`), FieldManager
handles managedFields inside the object, timestamps, fields that no manager can own, objects older
than managedFields, and a limit on the number of managers.
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
from apimachinery.apply.field_ownership import (
    Convert,
    FieldOwnership,
    Managers,
    OwnedFields,
    Versioned,
)
from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.last_applied import KUBECTL, allowed_conflicts
from apimachinery.apply.typed_values import check_scalars, field_set_of, validate
from apimachinery.apply.value_shapes import equal, same_serialization
from apimachinery.model.type_shape import Shape

Object = dict[str, Any]

BEFORE_FIRST_APPLY: Final = "before-first-apply"
UNKNOWN_MANAGER: Final = "unknown"
# Decoded Update entries always have a version, so none can have this identity.
_CURRENT_OPERATION: Final = ManagerIdentifier("current-operation", "Update")
_METADATA: Final = paths.field("metadata")
OWNERLESS: Final = FieldSet.of(
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
    """Serve as `convert` for a kind with a single version: always raise MissingVersion."""
    raise MissingVersion(f"no conversion to version {version}")


class FieldManager:
    """Tracks field ownership for the objects of one kind, served in one version.

    Methods take objects in *version*, or in any version that *convert* can convert to it, and
    return them in *version*. Objects are never changed in place, but results share parts with
    them. *reset_fields* maps each version to the fields that a write to this endpoint does not
    change. *empty* is the object that a create starts from: no manager comes to own its fields.
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
        """Return *new* with managedFields that record what *manager* changed in *live*.

        Nothing else in the object changes. A stored object without managedFields (because a
        client cleared them) stays without, until it is first applied to.
        """
        sent, stored = (_metadata(obj or {}).get("managedFields") for obj in (new, live))
        managers = managers_before_write(sent, stored, subresource)
        if not managers and live is not None and _metadata(live).get("uid"):
            return _with_entries(new, [])
        before = self._live_object(live, new)
        after = self._in_served_version(_with_entries(new, []))
        writer = updating_manager(manager, self.version, subresource)
        managers = managers_after_write(self._ownership, before, after, managers, writer, time)
        return _with_entries(new, managed_fields.encode(managed_fields.cap_managers(managers)))

    def update_or_keep(
        self, live: Object | None, new: Object, *, manager: str, time: str, subresource: str = ""
    ) -> Object:
        """Update like `update`, but keep the managedFields of *live* instead of failing."""
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
        """Return *live* (None if the object does not exist) merged with *applied*.

        Applying the same configuration again returns an equal object. Raises ApplyConflict if
        other managers own fields that would change, and other ApplyErrors if the configuration
        is invalid.
        """
        self._check_patch(applied)
        before = self._live_object(live, applied)
        fields = self._validate(applied, before)
        try:
            managers = managed_fields.decode(_metadata(live or {}).get("managedFields"))
        except InvalidManagedFields as error:
            raise InvalidManagedFields(f"failed to decode managed fields: {error}") from None
        if not managers:
            managers = self._managers_before_apply(before, applied, time, subresource)
        applier = ManagerIdentifier(manager or UNKNOWN_MANAGER, "Apply", "", subresource)
        patch = Versioned(applied, self.version)
        value, after = self._apply(before, patch, fields, managers, applier, force=force)
        changed = not equal(value, before.value)
        after = _with_applier_entry(after, applier, managers.get(applier), time, changed=changed)
        return _with_entries(value if changed else before.value, managed_fields.encode(after))

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
            # kubectl may take over the fields that it applied client-side (see last_applied).
            if manager.name != KUBECTL:
                raise
            shape = self._ownership.shapes[self.version]
            allowed = allowed_conflicts(live.value, shape, self.version)
            remaining = [entry for entry in conflict.conflicts if entry.path not in allowed]
            if remaining:
                raise ApplyConflict(remaining) from None
        return apply(force=True)

    def _managers_before_apply(
        self, live: Versioned, applied: Object, time: str, subresource: str
    ) -> dict[ManagerIdentifier, OwnedFields]:
        """Give all existing fields to `before-first-apply`, for an object never tracked before."""
        owner = ManagerIdentifier(BEFORE_FIRST_APPLY, "Update", self.version, subresource)
        empty = self._live_object(None, applied)
        return managers_after_write(self._ownership, empty, live, {}, owner, time)

    def _live_object(self, live: Object | None, new: Object) -> Versioned:
        if live is not None:
            return self._in_served_version(_with_entries(live, []))
        kind = {name: new[name] for name in ("apiVersion", "kind") if name in new}
        return Versioned(kind | dict(self._empty), self.version)

    def _in_served_version(self, obj: Object) -> Versioned:
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
        """Validate the configuration and the live object; return the configuration's fields."""
        shape = self._ownership.shapes[self.version]
        context = f"failed to create typed patch object ({describe_object(applied)})"
        fields = field_set_of(applied, shape, context=context)
        context = f"failed to create typed live object ({describe_object(live.value)})"
        validate(live.value, shape, allow_duplicates=True, context=context)
        return fields


def updating_manager(manager: str, version: str, subresource: str) -> ManagerIdentifier:
    """Return the identifier of a manager that writes by update (any write but an apply)."""
    return ManagerIdentifier(manager or UNKNOWN_MANAGER, "Update", version, subresource)


def managers_before_write(
    sent: Any, stored: Any, subresource: str
) -> dict[ManagerIdentifier, OwnedFields]:
    """Return the managers that a write starts from: those the client sent, else the stored ones.

    A client that ignores managedFields must not lose them, and writes to a subresource must not
    change them.
    """
    # Most clients send back the managedFields they have read: skip decoding them.
    if not subresource and sent is not stored and not same_serialization(sent, stored):
        if managed_fields.is_reset(sent):
            return {}
        try:
            managers = managed_fields.decode(sent, stored=False)
        except InvalidManagedFields:
            managers = {}
        if managers:
            return managers
    try:
        return managed_fields.decode(stored)
    except InvalidManagedFields:
        return {}


def managers_after_write(
    ownership: FieldOwnership,
    live: Versioned,
    new: Versioned,
    managers: Managers,
    manager: ManagerIdentifier,
    time: str,
) -> dict[ManagerIdentifier, OwnedFields]:
    """Return the managers after *manager* changed *live* to *new*.

    The entry of *manager* gets the new *time* only if the write changed a field.
    """
    # Update as a separate manager first, which then owns exactly what this write changed.
    after = ownership.update(live, new, managers, _CURRENT_OPERATION)
    change = after.pop(_CURRENT_OPERATION, None)
    fields = change.fields - OWNERLESS if change else None
    if fields:
        existing = after.get(manager)
        owned = OwnedFields(fields | existing.fields if existing else fields, new.version, time)
        after[manager] = _reuse_encoding(owned, managers.get(manager))
    return after


def _reuse_encoding(owned: OwnedFields, before: OwnedFields | None) -> OwnedFields:
    """Keep the stored encoding if the manager owned exactly these fields before."""
    if before is None or before.fields != owned.fields:
        return owned
    return OwnedFields(before.fields, owned.version, owned.time, before.encoded)


def _with_applier_entry(
    managers: Managers,
    manager: ManagerIdentifier,
    before: OwnedFields | None,
    time: str,
    *,
    changed: bool,
) -> dict[ManagerIdentifier, OwnedFields]:
    """Return *managers* with the applier's entry cleaned and, if the object changed, dated *time*.

    As in Kubernetes, the entry of a new applier that changes nothing has no time.
    """
    updated = dict(managers)
    owned = updated.pop(manager, None)
    fields = owned.fields - OWNERLESS if owned else None
    if owned and fields:
        owned = owned.with_fields(fields)
        unchanged = before if owned == before and not changed else None
        updated[manager] = unchanged or (replace(owned, time=time) if changed else owned)
    return updated


def _metadata(obj: Object) -> Object:
    metadata = obj.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _with_entries(obj: Object, entries: Any) -> Object:
    """Return a copy of *obj* with these managedFields, or without any if *entries* is empty."""
    metadata = dict(_metadata(obj))
    if entries:
        metadata["managedFields"] = entries
    else:
        metadata.pop("managedFields", None)
    if metadata or isinstance(obj.get("metadata"), dict):
        return {**obj, "metadata": metadata}
    return obj


def check_applied_scalars(applied: Object, shape: Shape) -> None:
    """Raise InvalidValue for a configuration whose scalars have other types than declared."""
    context = f"failed to create typed patch object ({describe_object(applied)})"
    check_scalars(applied, shape, context=context)


def describe_object(obj: Object) -> str:
    """Return name and kind of an object as the errors of server-side apply show them."""
    metadata = _metadata(obj)
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    names = [metadata.get("namespace"), metadata.get("name")]
    name = "/".join(part if isinstance(part, str) else "" for part in names)
    return f"{name}; {group}/{version}, Kind={obj.get('kind', '')}"
