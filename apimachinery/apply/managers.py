"""Who owns which field, and how that changes when an object is updated or applied to.

Every manager owns a set of fields, told in the version the manager wrote in. To see what a write
changes for a manager of another version, the object before and after is converted to that version.
A manager whose version cannot be converted to any more is forgotten.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from apimachinery.apply.apply_errors import MissingVersion
from apimachinery.apply.compare import Comparison, compare
from apimachinery.apply.conflicts import ApplyConflict, FieldConflict, ManagerIdentifier
from apimachinery.apply.fieldset import EMPTY, FieldSet, FieldsV1
from apimachinery.apply.merge import merge
from apimachinery.apply.remove import remove_items
from apimachinery.apply.reshape import reconcile, with_named_fields
from apimachinery.apply.typed_values import set_of
from apimachinery.apply.value_shapes import JSON
from apimachinery.model.type_shape import Shape

Convert = Callable[[JSON, str], JSON]
"""The object in another version, or MissingVersion. It may be a part of an object."""

Compare = Callable[[JSON, JSON, Shape], Comparison]
"""What the second object, of that shape, changes in the first."""


@dataclass(frozen=True, slots=True)
class OwnedFields:
    """The fields of one manager, in the version they were written in."""

    fields: FieldSet
    version: str
    time: str | None = None
    encoded: FieldsV1 | None = field(default=None, compare=False, repr=False)
    """The fields as they are stored, if they have not changed since."""

    def with_fields(self, fields: FieldSet) -> "OwnedFields":
        return self if fields is self.fields else OwnedFields(fields, self.version, self.time)


Managers = Mapping[ManagerIdentifier, OwnedFields]


@dataclass(frozen=True, slots=True)
class Versioned:
    """An object, and the version it is in."""

    value: JSON
    version: str


@dataclass(frozen=True, slots=True)
class FieldOwnership:
    """The rules of ownership for objects of one kind, in all its versions.

    Objects have been validated. *ignored* are fields a write to this endpoint does not change,
    by version; nobody comes to own them by it. For updates alone an object can be anything that
    *convert* and *compare* understand; an apply needs documents.
    """

    shapes: Mapping[str, Shape]
    convert: Convert
    ignored: Mapping[str, FieldSet] = field(default_factory=dict)
    compare: Compare = compare
    _fitting: WeakValueDictionary[tuple[int, Shape], FieldSet] = field(
        default_factory=WeakValueDictionary, init=False, compare=False, repr=False
    )
    """Sets that are known to fit a shape, by their identity, for as long as they are there."""

    def update(
        self, live: Versioned, new: Versioned, managers: Managers, manager: ManagerIdentifier
    ) -> dict[ManagerIdentifier, OwnedFields]:
        """Who owns what after *manager* has changed *live* to *new*.

        The manager owns what it changed, others do not any more; what is gone nobody owns.
        """
        found = self._reconciled(live, managers)
        comparison = self._comparison(live, new, new.version)
        found = self._taken(live, new, found, manager, comparison, force=True)
        before = found.pop(manager, None)
        fields = comparison.modified | comparison.added
        if before:
            kept = before.fields - comparison.removed
            fields |= kept.recursive_difference(self.ignored.get(new.version, EMPTY))
        if fields:
            found[manager] = OwnedFields(fields, new.version, before.time if before else None)
        return found

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
        """The object after *manager* has applied a configuration, and who then owns what.

        *fields* are those of the configuration, if they are known already.

        The manager owns what it applies, and nothing else. What it applied before and not now is
        removed, unless others own it. Raises ApplyConflict if others own what would change,
        unless *force* takes it from them.
        """
        found = self._reconciled(live, managers)
        shape = self.shapes[applied.version]
        merged = Versioned(merge(live.value, applied.value, shape), applied.version)
        fields = set_of(applied.value, shape) if fields is None else fields
        fields = fields.recursive_difference(self.ignored.get(applied.version, EMPTY))
        last = found.get(manager)
        found[manager] = OwnedFields(fields, applied.version, last.time if last else None)
        new = merged
        if last and last.fields:
            new = self._pruned(merged, found, manager, last)
        comparison = self._comparison(live, new, new.version)
        return new.value, self._taken(live, new, found, manager, comparison, force=force)

    def in_version(self, source: Versioned, version: str) -> Versioned:
        """The object in *version*, or MissingVersion."""
        if source.version == version:
            return source
        if version not in self.shapes:
            raise MissingVersion(f"no shape is known for version {version}")
        return Versioned(self.convert(source.value, version), version)

    def _reconciled(
        self, live: Versioned, managers: Managers
    ) -> dict[ManagerIdentifier, OwnedFields]:
        """The managers of versions that still exist, with sets that fit today's shapes."""
        versions = {owned.version for owned in managers.values()}
        served = {version for version in versions if self._converts(live, version)}
        found = {}
        for manager, owned in managers.items():
            if owned.version not in served:
                continue
            found[manager] = owned.with_fields(self._fit(owned.fields, self.shapes[owned.version]))
        return found

    def _fit(self, fields: FieldSet, shape: Shape) -> FieldSet:
        """The set as it fits the shape. Sets are interned, and most have been seen before."""
        key = id(fields), shape
        if self._fitting.get(key) is fields:
            return fields
        fitting = reconcile(fields, shape)
        if fitting is fields:
            self._fitting[key] = fields
        return fitting

    def _converts(self, live: Versioned, version: str) -> bool:
        try:
            self.in_version(live, version)
        except MissingVersion:
            return False
        return True

    def _comparison(self, live: Versioned, new: Versioned, version: str) -> Comparison:
        old, changed = self.in_version(live, version), self.in_version(new, version)
        found = self.compare(old.value, changed.value, self.shapes[version])
        return found.without(self.ignored.get(version, EMPTY))

    def _taken(
        self,
        live: Versioned,
        new: Versioned,
        managers: Managers,
        manager: ManagerIdentifier,
        comparison: Comparison,
        *,
        force: bool,
    ) -> dict[ManagerIdentifier, OwnedFields]:
        """What is left to each manager after one of them has changed *live* to *new*."""
        comparisons = {new.version: comparison}
        left: dict[ManagerIdentifier, OwnedFields] = {}
        conflicts: list[FieldConflict] = []
        for other, owned in managers.items():
            if other == manager:
                left[other] = owned
                continue
            seen = comparisons.get(owned.version)
            if seen is None:
                seen = comparisons[owned.version] = self._comparison(live, new, owned.version)
            if not force:
                taken = owned.fields & (seen.modified | seen.added)
                conflicts.extend(FieldConflict(other, path, owned.time) for path in taken)
            left[other] = owned.with_fields(owned.fields - seen.changed)
        if conflicts:
            raise ApplyConflict(sorted(conflicts, key=lambda found: found.manager.identifier))
        return {other: owned for other, owned in left.items() if owned.fields}

    def _pruned(
        self, merged: Versioned, managers: Managers, manager: ManagerIdentifier, last: OwnedFields
    ) -> Versioned:
        """The object without what *manager* owned and does not apply any more."""
        now = managers[manager]
        if last.version == now.version and not last.fields - now.fields:
            return merged
        try:
            before = self.in_version(merged, last.version)
        except MissingVersion:
            return merged
        pruned = self._without(before, self._named(last.fields, last.version))
        pruned = self._with_owned(before, pruned, managers)
        pruned = self._with_dangling(before, pruned, last)
        return self.in_version(pruned, now.version)

    def _with_owned(self, merged: Versioned, pruned: Versioned, managers: Managers) -> Versioned:
        """Put back what anybody owns, the manager's new configuration included."""
        owned: dict[str, FieldSet] = {pruned.version: EMPTY}
        for other in managers.values():
            owned[other.version] = owned.get(other.version, EMPTY) | other.fields
        # The version of the pruned object comes first: what a conversion cannot do without may
        # be missing from the object until then.
        for version, fields in owned.items():
            if not fields:
                continue
            merged = self.in_version(merged, version)
            pruned = self._part_in_version(pruned, merged)
            kept = self._fields(pruned) | self._named(fields, version)
            pruned = self._without(merged, self._fields(merged) - kept)
        return pruned

    def _with_dangling(self, merged: Versioned, pruned: Versioned, last: OwnedFields) -> Versioned:
        """Put back what the manager never owned, and nobody else does."""
        gone = self._fields(merged) - self._fields(self._part_in_version(pruned, merged))
        return self._without(merged, gone & self._named(last.fields, last.version))

    def _part_in_version(self, part: Versioned, whole: Versioned) -> Versioned:
        """The *part* in the version of the *whole* object that it was taken from.

        A conversion puts a default or a zero where the part has nothing. Such a field is not of
        the part, and is known by its value: the whole object has another one.
        """
        if part.version == whole.version:
            return part
        made = self.in_version(part, whole.version)
        filled = compare(whole.value, made.value, self.shapes[whole.version])
        return self._without(made, filled.modified | filled.added)

    def _fields(self, source: Versioned) -> FieldSet:
        fields = set_of(source.value, self.shapes[source.version], allow_duplicates=True)
        return self._named(fields, source.version)

    def _named(self, fields: FieldSet, version: str) -> FieldSet:
        return with_named_fields(fields, self.shapes[version])

    def _without(self, source: Versioned, fields: FieldSet) -> Versioned:
        value = remove_items(source.value, fields, self.shapes[source.version])
        return Versioned(value, source.version)
