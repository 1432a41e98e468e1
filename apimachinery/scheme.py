"""Scheme: which class is which kind, and how to get from one version to another.

A scheme is an object, never a global: a program may have several, and importing a module registers
nothing. A group fills one in its `add_to_scheme(scheme)`.

Every versioned class has one *hub*, the internal class of its kind; conversions exist between a
version and its hub, and every other way leads through it. A class that is registered both under a
version and as internal is its own hub.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from apimachinery.conversion.class_conversion import (
    SAME,
    Deriver,
    Difference,
    UnknownConversion,
    function_types,
)
from apimachinery.conversion.defaults import Defaulter, SetDefaults
from apimachinery.conversion.kept_fields import ConversionError
from apimachinery.fieldpath import quote
from apimachinery.meta.types import Object, ObjectList, TypeMeta
from apimachinery.model.model import Model, new_model
from apimachinery.schema import INTERNAL, GroupKind, GroupVersion, GroupVersionKind
from apimachinery.version import sort_versions

ModelT = TypeVar("ModelT", bound=Model)
FieldLabel = Callable[[str, str], tuple[str, str]]


class RegistrationError(TypeError):
    """A registration that contradicts an earlier one or itself."""


class NotRegistered(LookupError):
    """A kind, version or class that the scheme does not know."""


class Scheme:
    """A registry of kinds, defaults and conversions."""

    def __init__(self, name: str = "apimachinery") -> None:
        self.name = name
        self._classes: dict[GroupVersionKind, type[TypeMeta]] = {}
        self._kinds: dict[type[TypeMeta], list[GroupVersionKind]] = {}
        self._unversioned: set[type[TypeMeta]] = set()
        self._hubs: dict[type[TypeMeta], type[TypeMeta]] = {}
        self._versions: dict[str, list[str]] = {}
        self._priorities: dict[str, list[str]] = {}
        self._field_labels: dict[GroupVersionKind, FieldLabel] = {}
        self._deriver = Deriver()
        self._dropped: dict[type[Any], frozenset[str]] = {}
        self._ways: dict[tuple[type, type], Callable[[Any], Any]] = {}
        self._defaulter = Defaulter()

    # Registering

    def add(
        self,
        version: GroupVersion,
        *classes: type[TypeMeta],
        kind: str = "",
        internal: bool = False,
    ) -> None:
        """Register classes as kinds of a version, each with its list.

        *kind* overrides the class's own name for itself, so that one class can be several kinds.
        With *internal* the class is also its own internal form.
        """
        if not version.version:
            raise RegistrationError(f"{version!r} has no version to register kinds under")
        if kind and len(classes) != 1:
            raise RegistrationError(f"kind={kind!r} needs exactly one class, not {len(classes)}")
        for cls in classes:
            name = kind or kind_name(cls)
            self._add(version.with_kind(name), cls)
            if issubclass(cls, Object):
                self._add(version.with_kind(name + "List"), list_class(cls))
        if internal:
            self.add(GroupVersion(version.group, INTERNAL), *classes, kind=kind)

    def add_unversioned(self, version: GroupVersion, *classes: type[TypeMeta]) -> None:
        """Register classes that are written under *version* wherever they go (Status, APIGroup)."""
        for cls in classes:
            self._add(version.with_kind(kind_name(cls)), cls)
            self._unversioned.add(cls)

    def add_same(self, versioned: type[Model], internal: type[Model]) -> None:
        """Derive the conversion of two classes of equal shape, both ways; refuse unequal ones."""
        self._derive(versioned, internal, SAME)

    def add_similar(
        self,
        versioned: type[Model],
        internal: type[Model],
        *,
        renames: Mapping[str, str] | None = None,
        dropped: Iterable[str] = (),
        kept: Mapping[str, str] | None = None,
    ) -> None:
        """Derive the conversion of two classes that differ only in what is declared here.

        Paths are dotted Python names, through lists and maps: `renames={"spec.size":
        "spec.capacity"}` leads from the version to the internal form, *dropped* are lost on
        purpose, *kept* maps a field that one side lacks to the annotation that keeps it there.
        """
        self._derive(versioned, internal, Difference(renames or {}, frozenset(dropped), kept or {}))

    def add_conversion(self, *functions: Callable[[Any], Any]) -> None:
        """Register conversion functions; their annotations say between which classes.

        Both directions of a pair must be given, in one call. Functions between nested types are
        used by the conversions derived afterwards.
        """
        pairs = {function_types(function): function for function in functions}
        if len(pairs) != len(functions):
            raise ConversionError("two of the functions convert between the same classes")
        for source, target in pairs:
            if (target, source) not in pairs:
                raise ConversionError(
                    f"{source.__qualname__} -> {target.__qualname__} has no way back: give the"
                    " function of the other direction in the same call"
                )
        for source, target in pairs:
            self._set_hub(source, target)
        for (source, target), function in pairs.items():
            self._deriver.add_function(source, target, function)
        self._ways.clear()

    def add_defaults(self, *functions: SetDefaults) -> None:
        """Register defaulting functions; their annotations say for which versioned types."""
        for function in functions:
            self._defaulter.add(function)

    def add_field_labels(self, kind: GroupVersionKind, labels: Iterable[str] | FieldLabel) -> None:
        """Allow field selectors of a kind beyond metadata.name and metadata.namespace.

        *labels* is the names that are the same internally, or a function from a label and value
        of the version to the internal ones, which raises ValueError for what it does not know.
        """
        if kind in self._field_labels:
            raise RegistrationError(f"field labels of {kind} are registered already")
        if callable(labels):
            self._field_labels[kind] = labels
            return
        known = (*METADATA_LABELS, *labels)
        self._field_labels[kind] = lambda label, value: (_known_label(label, known), value)

    def set_version_priority(self, *versions: GroupVersion) -> None:
        """Say which versions of one group are preferred, the most preferred first."""
        groups = {version.group for version in versions}
        if len(groups) != 1:
            raise RegistrationError(
                f"version priority is set for one group at a time, not {sorted(groups)}"
            )
        for version in versions:
            if version.version not in self._versions.get(version.group, ()):
                raise NotRegistered(
                    f"no kinds are registered for version {str(version)!r} in scheme {self.name!r}"
                )
        self._priorities[groups.pop()] = [version.version for version in versions]

    # Asking

    def class_of(self, kind: GroupVersionKind) -> type[TypeMeta]:
        try:
            return self._classes[kind]
        except KeyError:
            raise self._unknown_kind(kind) from None

    def new(self, kind: GroupVersionKind) -> TypeMeta:
        """An empty object of a kind; required fields are unset, so that it can be filled in."""
        return self.class_of(kind).model_construct()

    def kinds_of(self, obj: TypeMeta | type[TypeMeta]) -> tuple[GroupVersionKind, ...]:
        """Every kind that the class of *obj* is registered as, in the order of registration."""
        cls = obj if isinstance(obj, type) else type(obj)
        kinds = self._kinds.get(cls)
        if not kinds:
            raise NotRegistered(
                f"no kind is registered for the type {cls.__module__}.{cls.__qualname__} in scheme"
                f" {self.name!r}"
            )
        return tuple(kinds)

    def kind_of(self, obj: TypeMeta | type[TypeMeta]) -> GroupVersionKind:
        """The first served kind of the class of *obj*, or its internal one if it has no other."""
        kinds = self.kinds_of(obj)
        return next((kind for kind in kinds if kind.version != INTERNAL), kinds[0])

    def recognises(self, kind: GroupVersionKind) -> bool:
        return kind in self._classes

    def is_unversioned(self, obj: TypeMeta | type[TypeMeta]) -> bool:
        return (obj if isinstance(obj, type) else type(obj)) in self._unversioned

    def all_kinds(self) -> Mapping[GroupVersionKind, type[TypeMeta]]:
        return dict(self._classes)

    def kinds_of_version(self, version: GroupVersion) -> Mapping[str, type[TypeMeta]]:
        """Kind name -> class."""
        return {
            kind.kind: cls for kind, cls in self._classes.items() if kind.group_version == version
        }

    def hub_of(self, cls: type[TypeMeta]) -> type[TypeMeta]:
        """The internal class that a versioned class is converted through."""
        if any(kind.version == INTERNAL for kind in self.kinds_of(cls)):
            return cls
        try:
            return self._hubs[cls]
        except KeyError:
            kind = self.kind_of(cls)
            internal = GroupVersionKind(kind.group, INTERNAL, kind.kind)
            raise UnknownConversion(_described(cls, kind), f"{internal}") from None

    def dropped(self, versioned: type[TypeMeta]) -> frozenset[str]:
        """The paths, of either side, that converting between a version and its hub loses."""
        return self._dropped.get(versioned, frozenset())

    def groups(self) -> tuple[str, ...]:
        return tuple(self._versions)

    def is_group_registered(self, group: str) -> bool:
        return group in self._versions

    def is_version_registered(self, version: GroupVersion) -> bool:
        return version.version in self._versions.get(version.group, ())

    def prioritised_versions(self, group: str) -> tuple[GroupVersion, ...]:
        """The served versions of a group: the declared order, then the order of registration."""
        declared = self._priorities.get(group, [])
        rest = [version for version in self._versions.get(group, ()) if version not in declared]
        return tuple(GroupVersion(group, version) for version in [*declared, *rest])

    def preferred_version(self, group: str) -> GroupVersion:
        versions = self.prioritised_versions(group)
        if not versions:
            raise NotRegistered(
                f"no version of group {group!r} is registered in scheme {self.name!r}; it knows"
                f" {_listed(self._versions)}"
            )
        return versions[0]

    def versions_of(self, kind: GroupKind) -> tuple[GroupVersion, ...]:
        """The served versions that have this kind, the most preferred first."""
        return tuple(
            version
            for version in self.prioritised_versions(kind.group)
            if version.with_kind(kind.kind) in self._classes
        )

    # Doing

    def default(self, obj: Model) -> None:
        """Apply the defaults of the version *obj* is in, in place."""
        self._defaulter.apply(obj)

    def convert(self, obj: TypeMeta, target: type[ModelT]) -> ModelT:
        """*obj* as an object of *target*, through the hub if need be.

        The result is a new object with no kind and apiVersion set; nested parts may be shared.
        """
        source = type(obj)
        way = self._ways.get((source, target))
        if way is None:
            way = self._ways[source, target] = self._find_way(source, target)
        made = way(obj)
        values = made.__dict__
        if "api_version" in values:
            values["kind"] = values["api_version"] = ""
        return cast(ModelT, made)

    def to_internal(self, obj: TypeMeta) -> TypeMeta:
        """*obj* as its internal class."""
        return self.convert(obj, self._hub_of_any(type(obj)))

    def convert_to_version(self, obj: TypeMeta, version: GroupVersion) -> TypeMeta:
        """*obj* in *version*, with kind and apiVersion set; the internal version has none."""
        kind = self._kind_in(obj, version)
        made = self.convert(obj, self._classes[kind])
        if kind.version != INTERNAL:
            made.__dict__["kind"] = kind.kind
            made.__dict__["api_version"] = kind.api_version
        return made

    def convert_field_label(
        self, kind: GroupVersionKind, label: str, value: str
    ) -> tuple[str, str]:
        """A field selector's label and value as the internal object has them, or ValueError."""
        function = self._field_labels.get(kind)
        if function is None:
            return _known_label(label, METADATA_LABELS), value
        return function(label, value)

    def check(self) -> None:
        """Make sure that every served kind can be converted to its hub and back."""
        for kind, cls in self._classes.items():
            if (
                kind.version != INTERNAL
                and cls not in self._unversioned
                and issubclass(cls, Object)
            ):
                self._find_way(cls, self.hub_of(cls))
                self._find_way(self.hub_of(cls), cls)

    # How it is kept

    def _add(self, kind: GroupVersionKind, cls: type[TypeMeta]) -> None:
        known = self._classes.get(kind)
        if known is cls:
            raise RegistrationError(f"{kind} is registered already as {cls.__qualname__}")
        if known is not None:
            raise RegistrationError(
                f"{kind} is registered as {known.__module__}.{known.__qualname__} and cannot also"
                f" be {cls.__module__}.{cls.__qualname__}"
            )
        self._classes[kind] = cls
        self._kinds.setdefault(cls, []).append(kind)
        if kind.version != INTERNAL:
            versions = self._versions.setdefault(kind.group, [])
            if kind.version not in versions:
                versions.append(kind.version)

    def _derive(
        self, versioned: type[Model], internal: type[Model], difference: Difference
    ) -> None:
        self._set_hub(versioned, internal)
        self._deriver.derive(versioned, internal, difference)
        self._deriver.derive(internal, versioned, difference.reversed())
        self._dropped[versioned] = difference.dropped
        self._ways.clear()

    def _set_hub(self, one: type[Any], other: type[Any]) -> None:
        """Remember the internal class of a pair of kinds; pairs of nested types have none."""
        for versioned, internal in ((one, other), (other, one)):
            if self._is_internal(internal) and not self._is_internal(versioned):
                if versioned not in self._kinds:
                    continue
                known = self._hubs.setdefault(versioned, internal)
                if known is not internal:
                    raise RegistrationError(
                        f"{versioned.__qualname__} has the hub {known.__qualname__} already"
                    )

    def _is_internal(self, cls: type[Any]) -> bool:
        return any(kind.version == INTERNAL for kind in self._kinds.get(cls, ()))

    def _hub_of_any(self, cls: type[TypeMeta]) -> type[TypeMeta]:
        if issubclass(cls, ObjectList):
            return list_class(cast(type[Object], self.hub_of(item_class(cls))))
        return self.hub_of(cls)

    def _find_way(self, source: type[Any], target: type[Any]) -> Callable[[Any], Any]:
        if source is target:
            return _shallow_copy
        direct = self._deriver.find(source, target)
        if direct is not None:
            return direct
        if issubclass(source, ObjectList) and issubclass(target, ObjectList):
            return self._list_way(source, target)
        hub = self._hubs.get(source)
        there = self._hubs.get(target)
        if hub is not None and there is hub:
            first, second = self._find_way(source, hub), self._find_way(hub, target)
            return lambda obj: second(first(obj))
        raise UnknownConversion(self._describe(source), self._describe(target))

    def _list_way(self, source: type[Any], target: type[Any]) -> Callable[[Any], Any]:
        item = self._find_way(item_class(source), item_class(target))
        return lambda found: target.model_construct(
            metadata=found.metadata, items=[item(obj) for obj in found.items]
        )

    def _kind_in(self, obj: TypeMeta, version: GroupVersion) -> GroupVersionKind:
        kinds = self.kinds_of(obj)
        if type(obj) in self._unversioned:
            return kinds[0]
        for kind in kinds:
            if kind.group_version == version:
                return kind
        for kind in kinds:
            wanted = version.with_kind(kind.kind)
            if wanted in self._classes:
                return wanted
        raise self._unknown_kind(version.with_kind(kinds[0].kind))

    def _unknown_kind(self, kind: GroupVersionKind) -> NotRegistered:
        version = kind.group_version
        text = (
            f"no kind {quote(kind.kind)} is registered for version {quote(str(version))} in scheme"
            f" {quote(self.name)}"
        )
        if not self.is_version_registered(version) and version.version != INTERNAL:
            known = [str(v) for group in self._versions for v in self.prioritised_versions(group)]
            return NotRegistered(f"{text}; it knows the versions {_listed(known)}")
        return NotRegistered(f"{text}; there it knows {_listed(self.kinds_of_version(version))}")

    def _describe(self, cls: type[Any]) -> str:
        kinds = self._kinds.get(cls)
        return _described(cls, kinds[0] if kinds else None)


METADATA_LABELS = ("metadata.name", "metadata.namespace")


def kind_name(cls: type[TypeMeta]) -> str:
    """What a class is called as a kind when nothing else is said."""
    return cls.__kind__ if issubclass(cls, Object) else cls.__name__


# As a text: pydantic would compile `ObjectList[Any]` as soon as anybody loads this module.
def list_class(cls: type[Object]) -> "type[ObjectList[Any]]":
    """The class of lists of *cls*; always the same one."""
    return ObjectList[cls]  # type: ignore[valid-type]


def item_class(cls: type[Any]) -> type[Object]:
    """The class of the items of a list class."""
    return cast(type[Object], cls.__pydantic_generic_metadata__["args"][0])


def _known_label(label: str, known: Iterable[str]) -> str:
    names = tuple(known)
    if label not in names:
        allowed = ", ".join(f'"{name}"' for name in names)
        raise ValueError(f'"{label}" is not a known field selector: only {allowed}')
    return label


def _shallow_copy(obj: Model) -> Model:
    made = new_model(type(obj), obj.__dict__.copy())
    if obj.__keeps_unknown__ and obj.__pydantic_extra__ is not None:
        object.__setattr__(made, "__pydantic_extra__", obj.__pydantic_extra__.copy())
    return made


def _described(cls: type[Any], kind: GroupVersionKind | None) -> str:
    name = f"{cls.__module__}.{cls.__qualname__}"
    return f"{name} of {kind}" if kind else name


def _listed(names: Iterable[str]) -> str:
    ordered = sort_versions(sorted(names))
    return ", ".join(ordered) if ordered else "none"
