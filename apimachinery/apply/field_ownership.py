"""Field ownership and conflict detection: how updates and applies change the owners of fields.

Every manager owns a set of fields, expressed in the version the manager wrote in. To find what a
write changes for a manager of another version, the objects before and after the write are
converted to that version. Managers of versions that are no longer served are dropped.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from apimachinery.apply.apply_errors import MissingVersion
from apimachinery.apply.compare import Comparison, compare
from apimachinery.apply.conflicts import ApplyConflict, FieldConflict, ManagerIdentifier
from apimachinery.apply.fieldset import EMPTY, FieldSet, FieldsV1, union_all
from apimachinery.apply.merge import merge
from apimachinery.apply.path_elements import Path
from apimachinery.apply.remove import remove_items
from apimachinery.apply.reshape import ensure_named_fields_are_members, reconcile_with_shape
from apimachinery.apply.typed_values import field_set_of
from apimachinery.apply.value_shapes import JSON
from apimachinery.model.type_shape import Shape

Convert = Callable[[JSON, str], JSON]
"""Converts an object, possibly a partial one, to another version; may raise MissingVersion."""

Compare = Callable[[JSON, JSON, Shape], Comparison]
"""Compares an old and a new object of one shape."""


@dataclass(frozen=True, slots=True)
class OwnedFields:
    """The fields of one manager, in the version they were written in."""

    fields: FieldSet
    version: str
    time: str | None = None
    encoded: FieldsV1 | None = field(default=None, compare=False, repr=False)
    """The stored FieldsV1, if the fields have not changed since."""

    def with_fields(self, fields: FieldSet) -> "OwnedFields":
        return self if fields is self.fields else OwnedFields(fields, self.version, self.time)


Managers = Mapping[ManagerIdentifier, OwnedFields]


@dataclass(frozen=True, slots=True)
class Versioned:
    """An object and its version."""

    value: JSON
    version: str


@dataclass(frozen=True, slots=True)
class _Changes:
    """The fields that a write changes in one version, united once for all managers."""

    written: FieldSet
    """Added and modified fields."""
    changed: FieldSet
    """Written and removed fields."""

    @staticmethod
    def of(comparison: Comparison) -> "_Changes":
        return _Changes(comparison.modified | comparison.added, comparison.changed)


@dataclass(frozen=True, slots=True)
class FieldOwnership:
    """The ownership rules for objects of one kind, in all its versions.

    Callers pass validated objects. *ignored* maps each version to the fields that a write to this
    endpoint does not change; no manager owns them after it. For updates an object can be any value
    that *convert* and *compare* accept; an apply requires plain JSON documents.
    """

    shapes: Mapping[str, Shape]
    convert: Convert
    ignored: Mapping[str, FieldSet] = field(default_factory=dict)
    compare: Compare = compare
    _fitting: WeakValueDictionary[tuple[int, Shape], FieldSet] = field(
        default_factory=WeakValueDictionary, init=False, compare=False, repr=False
    )
    """Field sets already checked against a shape, by identity, for as long as they are alive."""

    def update(
        self, live: Versioned, new: Versioned, managers: Managers, manager: ManagerIdentifier
    ) -> dict[ManagerIdentifier, OwnedFields]:
        """Return the managers after *manager* changed *live* to *new*.

        The manager takes over the fields it changed; removed fields lose their owners.
        """
        after = self._reconcile(live, managers)
        comparison = self._compare(live, new, new.version)
        after = self._take_over(live, new, after, manager, comparison, force=True)
        before = after.pop(manager, None)
        fields = comparison.modified | comparison.added
        if before:
            remaining = before.fields - comparison.removed
            fields |= remaining.recursive_difference(self.ignored.get(new.version, EMPTY))
        if fields:
            after[manager] = OwnedFields(fields, new.version, before.time if before else None)
        return after

    def apply(
        self,
        live: Versioned,
        applied: Versioned,
        managers: Managers,
        manager: ManagerIdentifier,
        *,
        force: bool,
        fields: FieldSet | None = None,
    ) -> tuple[JSON, dict[ManagerIdentifier, OwnedFields]]:
        """Return the object after *manager* applied a configuration, and the new managers.

        *fields* are the fields of the configuration, if the caller has computed them already.

        The manager owns exactly the fields it applies. Fields that it applied before and left out
        now are removed unless other managers own them. Raises ApplyConflict if other managers own
        fields that would change, unless *force* is set: then *manager* takes them over.
        """
        after = self._reconcile(live, managers)
        shape = self.shapes[applied.version]
        merged = Versioned(merge(live.value, applied.value, shape), applied.version)
        fields = field_set_of(applied.value, shape) if fields is None else fields
        fields = fields.recursive_difference(self.ignored.get(applied.version, EMPTY))
        last = after.get(manager)
        after[manager] = OwnedFields(fields, applied.version, last.time if last else None)
        new = merged
        if last and last.fields:
            new = self._prune(merged, after, manager, last)
        comparison = self._compare(live, new, new.version)
        return new.value, self._take_over(live, new, after, manager, comparison, force=force)

    def in_version(self, source: Versioned, version: str) -> Versioned:
        """Convert the object to *version*; raise MissingVersion if it is not served."""
        if source.version == version:
            return source
        if version not in self.shapes:
            raise MissingVersion(f"version {version} has no shape: it is not served")
        return Versioned(self.convert(source.value, version), version)

    def fits(self, fields: FieldSet, version: str) -> bool:
        """Return whether a set has the shapes that the fields of a served version have."""
        return self._fit(fields, self.shapes[version]) is fields

    def ignores(self, path: Path, version: str) -> bool:
        """Return whether a write to this endpoint may ignore the field, or a part of it."""
        ignored = self.ignored.get(version, EMPTY)
        return path[0] in ignored.members or path[0] in ignored.children

    def _reconcile(
        self, live: Versioned, managers: Managers
    ) -> dict[ManagerIdentifier, OwnedFields]:
        """Drop managers of unserved versions and adjust the other sets to the current shapes."""
        versions = {owned.version for owned in managers.values()}
        served = {version for version in versions if self._is_served(live, version)}
        return {
            manager: owned.with_fields(self._fit(owned.fields, self.shapes[owned.version]))
            for manager, owned in managers.items()
            if owned.version in served
        }

    def _fit(self, fields: FieldSet, shape: Shape) -> FieldSet:
        """Adjust the set to the shape; cached, because sets are interned and most recur."""
        key = id(fields), shape
        if self._fitting.get(key) is fields:
            return fields
        fitting = reconcile_with_shape(fields, shape)
        if fitting is fields:
            self._fitting[key] = fields
        return fitting

    def _is_served(self, live: Versioned, version: str) -> bool:
        try:
            self.in_version(live, version)
        except MissingVersion:
            return False
        return True

    def _compare(self, live: Versioned, new: Versioned, version: str) -> Comparison:
        old, changed = self.in_version(live, version), self.in_version(new, version)
        comparison = self.compare(old.value, changed.value, self.shapes[version])
        return comparison.without(self.ignored.get(version, EMPTY))

    def _take_over(
        self,
        live: Versioned,
        new: Versioned,
        managers: Managers,
        manager: ManagerIdentifier,
        comparison: Comparison,
        *,
        force: bool,
    ) -> dict[ManagerIdentifier, OwnedFields]:
        """Take the fields that *manager* changed from all other managers.

        Raises ApplyConflict if another manager owns one, unless *force* is set.
        """
        changes_of = {new.version: _Changes.of(comparison)}
        remaining: dict[ManagerIdentifier, OwnedFields] = {}
        conflicts: list[FieldConflict] = []
        for other, owned in managers.items():
            if other == manager:
                remaining[other] = owned
                continue
            changes = changes_of.get(owned.version)
            if changes is None:
                changes = _Changes.of(self._compare(live, new, owned.version))
                changes_of[owned.version] = changes
            if not force:
                conflicting = owned.fields & changes.written
                conflicts.extend(FieldConflict(other, path, owned.time) for path in conflicting)
            remaining[other] = owned.with_fields(owned.fields - changes.changed)
        if conflicts:
            raise ApplyConflict(sorted(conflicts, key=lambda conflict: conflict.manager.identifier))
        return {other: owned for other, owned in remaining.items() if owned.fields}

    def _prune(
        self, merged: Versioned, managers: Managers, manager: ManagerIdentifier, last: OwnedFields
    ) -> Versioned:
        """Remove the fields that *manager* owned and no longer applies."""
        now = managers[manager]
        if last.version == now.version and not last.fields - now.fields:
            return merged
        try:
            before = self.in_version(merged, last.version)
        except MissingVersion:
            return merged
        pruned = self._remove(before, self._with_named_fields(last.fields, last.version))
        pruned = self._add_back_owned(before, pruned, managers)
        pruned = self._add_back_dangling(before, pruned, last)
        return self.in_version(pruned, now.version)

    def _add_back_owned(
        self, merged: Versioned, pruned: Versioned, managers: Managers
    ) -> Versioned:
        """Restore the fields that any manager owns, including the newly applied ones."""
        owned: dict[str, list[FieldSet]] = {pruned.version: []}
        for entry in managers.values():
            owned.setdefault(entry.version, []).append(entry.fields)
        # Start with the version of the pruned object: until its owned fields are restored, the
        # object may lack fields that a conversion requires.
        for version, sets in owned.items():
            fields = union_all(sets)
            if not fields:
                continue
            merged = self.in_version(merged, version)
            pruned = self._part_in_version(pruned, merged)
            remaining = self._fields(pruned) | self._with_named_fields(fields, version)
            pruned = self._remove(merged, self._fields(merged) - remaining)
        return pruned

    def _add_back_dangling(
        self, merged: Versioned, pruned: Versioned, last: OwnedFields
    ) -> Versioned:
        """Restore the fields without an owner that the manager had not owned either."""
        removed = self._fields(merged) - self._fields(self._part_in_version(pruned, merged))
        return self._remove(merged, removed & self._with_named_fields(last.fields, last.version))

    def _part_in_version(self, part: Versioned, whole: Versioned) -> Versioned:
        """Convert *part* to the version of the *whole* object that it was taken from.

        Conversion fills fields that the part lacks with defaults or zero values. Those are the
        fields whose values differ from the whole object, and they are removed again.
        """
        if part.version == whole.version:
            return part
        converted = self.in_version(part, whole.version)
        filled = compare(whole.value, converted.value, self.shapes[whole.version])
        return self._remove(converted, filled.modified | filled.added)

    def _fields(self, source: Versioned) -> FieldSet:
        fields = field_set_of(source.value, self.shapes[source.version], allow_duplicates=True)
        return self._with_named_fields(fields, source.version)

    def _with_named_fields(self, fields: FieldSet, version: str) -> FieldSet:
        return ensure_named_fields_are_members(fields, self.shapes[version])

    def _remove(self, source: Versioned, fields: FieldSet) -> Versioned:
        value = remove_items(source.value, fields, self.shapes[source.version])
        return Versioned(value, source.version)
