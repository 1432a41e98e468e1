"""Scheme: maps kinds to classes, and converts and defaults their objects.

A scheme is an object, never a global: a program may have several, and importing a module registers
nothing. Each group registers its kinds in its function `add_to_scheme(scheme)`.

Every versioned class has one *hub*, the internal class of its kind. Conversions are registered
between a version and its hub; a conversion between two versions goes through the hub. A class that
is registered both under a version and as internal is its own hub.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, Unpack, cast

from apimachinery.conversion.class_conversion import (
    SAME,
    Deriver,
    Difference,
    UnknownConversion,
    function_types,
)
from apimachinery.conversion.defaults import Defaulter, SetDefaults
from apimachinery.conversion.field_paths import path_in_version
from apimachinery.conversion.kept_fields import ConversionError
from apimachinery.evolution.upgrade_registry import UpgradeOptions, UpgradeRegistry
from apimachinery.evolution.upgrade_steps import UpgradeStep
from apimachinery.field_labels import METADATA_LABELS as METADATA_LABELS
from apimachinery.field_labels import FieldLabel as FieldLabel
from apimachinery.field_labels import FieldLabels
from apimachinery.fieldpath import quote
from apimachinery.meta.kind_classes import is_list as is_list
from apimachinery.meta.kind_classes import item_class as item_class
from apimachinery.meta.kind_classes import kind_name as kind_name
from apimachinery.meta.kind_classes import list_class as list_class
from apimachinery.meta.types import Object, ObjectList, TypeMeta
from apimachinery.model.kind_checks import misplaced
from apimachinery.model.model import Model, new_model
from apimachinery.schema import INTERNAL, GroupVersion, GroupVersionKind
from apimachinery.version import sort_versions

ModelT = TypeVar("ModelT", bound=Model)


class RegistrationError(TypeError):
    """A registration that contradicts an earlier one or itself."""


class NotRegistered(LookupError):
    """A kind, version or class that is not registered in the scheme."""

    def __init__(self, problem: str, registered: str = "") -> None:
        super().__init__(f"{problem}; {registered}" if registered else problem)
        self.problem = problem
        """The message without what is registered: for clients, as Kubernetes words it."""


class Scheme:
    """A registry of kinds, defaults and conversions."""

    def __init__(self, name: str = "apimachinery") -> None:
        self.name = name
        self._classes: dict[GroupVersionKind, type[TypeMeta]] = {}
        """Kinds of lists have `ObjectList` here until their class is used: few are in a server."""
        self._kinds: dict[type[TypeMeta], list[GroupVersionKind]] = {}
        """Of classes that are no lists."""
        self._items: dict[GroupVersionKind, type[Object]] = {}
        """The classes of the items of lists."""
        self._list_kinds: dict[type[TypeMeta], list[GroupVersionKind]] = {}
        """The kinds of lists by the class of their items."""
        self._hubs: dict[type[TypeMeta], type[TypeMeta]] = {}
        self._versions: dict[GroupVersion, None] = {}
        """The registered versions except the internal ones, in order of registration."""
        self._field_labels = FieldLabels()
        self._deriver = Deriver()
        self._differences: dict[tuple[type[Any], type[Any]], Difference] = {}
        """The declared differences of (versioned, internal) pairs, nested ones included."""
        self._converters: dict[tuple[type, type], Callable[[Any], Any]] = {}
        self._internal: set[type] = set()
        """Cached converters, direct or through the hub."""
        self._defaulter = Defaulter()
        self._upgrades = UpgradeRegistry()

    # Registration

    def add(
        self,
        version: GroupVersion,
        *classes: type[TypeMeta],
        kind: str = "",
        internal: bool = False,
    ) -> None:
        """Register classes as kinds of a version, each Object together with its list kind.

        *kind* overrides the name that the class declares, so that one class can be several kinds.
        With *internal* the class is also registered as its own internal class.
        """
        if not version.version:
            raise RegistrationError(f"{version!r} has no version to register kinds under")
        if kind and len(classes) != 1:
            raise RegistrationError(f"kind={kind!r} needs exactly one class, not {len(classes)}")
        for cls in classes:
            name = kind or kind_name(cls)
            self._add(version.with_kind(name), cls)
            if issubclass(cls, Object):
                self._add_list(version.with_kind(name + "List"), cls)
        if internal:
            self.add(GroupVersion(version.group, INTERNAL), *classes, kind=kind)

    def add_same(self, versioned: type[Model], internal: type[Model]) -> None:
        """Derive the conversion between two classes with the same fields, in both directions.

        Raises LostFields if the fields differ.
        """
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
        """Derive the conversion between two classes with the declared differences.

        Paths are dotted Python names, through lists and maps. *renames* map from the version to
        the internal class (`{"spec.size": "spec.capacity"}`), *dropped* fields are lost on
        purpose, and *kept* maps each field that one class lacks to the annotation that preserves
        its value there. Inside a type with a conversion function, only *kept* does something: the
        others describe what the function does. Raises LostFields if a difference is not declared.
        """
        self._derive(versioned, internal, Difference(renames or {}, frozenset(dropped), kept or {}))

    def add_conversion(self, *functions: Callable[[Any], Any]) -> None:
        """Register conversion functions for the classes in their annotations.

        Both directions of a pair must be registered in one call. Conversions derived afterwards
        use the functions for nested types. Raises ConversionError.
        """
        pairs = {function_types(function): function for function in functions}
        if len(pairs) != len(functions):
            raise ConversionError("two of the functions convert between the same classes")
        for source, target in pairs:
            if (target, source) not in pairs:
                raise ConversionError(
                    f"{source.__qualname__} -> {target.__qualname__} has no reverse conversion:"
                    " register the function of the other direction in the same call"
                )
        for source, target in pairs:
            self._set_hub(source, target)
        for (source, target), function in pairs.items():
            self._deriver.add_function(source, target, function)
        self._converters.clear()

    def add_defaults(self, *functions: SetDefaults) -> None:
        """Register defaulting functions for the versioned types in their annotations."""
        for function in functions:
            self._defaulter.add(function)

    def add_upgrade(self, cls: type[TypeMeta], **options: Unpack[UpgradeOptions]) -> None:
        """Declare how stored documents of an older shape of *cls* become documents of today.

        *cls* is the stored class: the internal one, or that of the storage version. Calls form a
        chain, in the order of the changes. See UpgradeOptions. Raises UpgradeError.
        """
        self.kinds_of(cls)
        self._upgrades.add(cls, options)

    def add_field_labels(self, kind: GroupVersionKind, labels: Iterable[str] | FieldLabel) -> None:
        """Register the field labels that field selectors of a kind may use.

        Needed only where they differ from the labels of the resource. `metadata.name` and
        `metadata.namespace` are always allowed. *labels* is a list of labels that the internal
        class has too, or a function that converts a label and a value of the version to the
        internal ones and raises ValueError for an unknown label.
        """
        if kind in self._field_labels:
            raise RegistrationError(f"the field labels of {kind} are registered already")
        self._field_labels.add(kind, labels)

    # Lookup

    def class_of(self, kind: GroupVersionKind) -> type[TypeMeta]:
        """Return the class of a kind; raises NotRegistered."""
        try:
            cls = self._classes[kind]
        except KeyError:
            raise self._unknown_kind(kind) from None
        if cls is ObjectList:
            cls = self._classes[kind] = list_class(self._items[kind])
        return cls

    def new(self, kind: GroupVersionKind) -> TypeMeta:
        """Return an empty object of a kind, without values for its required fields."""
        return self.class_of(kind).model_construct()

    def kinds_of(self, obj: TypeMeta | type[TypeMeta]) -> tuple[GroupVersionKind, ...]:
        """Return the kinds that the class of *obj* is registered as, in order of registration."""
        cls = obj if isinstance(obj, type) else type(obj)
        kinds = self._list_kinds.get(item_class(cls)) if is_list(cls) else self._kinds.get(cls)
        if not kinds:
            raise NotRegistered(
                f"no kind is registered for the type {cls.__module__}.{cls.__qualname__} in scheme"
                f" {self.name!r}"
            )
        return tuple(kinds)

    def kind_of(self, obj: TypeMeta | type[TypeMeta]) -> GroupVersionKind:
        """Return the first versioned kind of the class of *obj*, or else its internal kind."""
        kinds = self.kinds_of(obj)
        return next((kind for kind in kinds if kind.version != INTERNAL), kinds[0])

    def recognizes(self, kind: GroupVersionKind) -> bool:
        return kind in self._classes

    def all_kinds(self) -> Mapping[GroupVersionKind, type[TypeMeta]]:
        """Return all kinds with their classes, in order of registration."""
        return {kind: self.class_of(kind) for kind in self._classes}

    def object_kinds(self) -> Mapping[GroupVersionKind, type[TypeMeta]]:
        """Return all kinds but those of lists."""
        return {kind: cls for kind, cls in self._classes.items() if kind not in self._items}

    def hub_of(self, cls: type[TypeMeta]) -> type[TypeMeta]:
        """Return the internal class that a versioned class is converted through."""
        if self.is_internal(cls):
            return cls
        try:
            return self._hubs[cls]
        except KeyError:
            kind = self.kind_of(cls)
            internal = GroupVersionKind(kind.group, INTERNAL, kind.kind)
            raise UnknownConversion(self._describe(cls), f"{internal}") from None

    def dropped(self, versioned: type[TypeMeta]) -> frozenset[str]:
        """Return the field paths, of either class, that a conversion to or from the hub drops."""
        hub = self._hubs.get(versioned)
        return self._differences.get((versioned, hub), SAME).dropped if hub else frozenset()

    def field_path(self, versioned: type[TypeMeta], path: str) -> str:
        """Return the path of a field of the internal class as a version calls it.

        *path* and the result have wire names, as in a FieldError. A field that the version lacks,
        and one that only a conversion function renames, keeps its internal name.
        """
        hub = self._hubs.get(versioned)
        return path if hub is None else path_in_version(path, versioned, hub, self._differences)

    def upgrades(self, cls: type[TypeMeta]) -> tuple[UpgradeStep, ...]:
        """Return the steps by which stored documents of *cls* are upgraded, in order."""
        return self._upgrades.steps(cls)

    def has_defaults(self, cls: type[Model]) -> bool:
        """Return whether a defaulting function is registered for *cls* or a type nested in it."""
        return self._defaulter.has_functions(cls)

    # Defaulting and conversion

    def default(self, obj: Model) -> None:
        """Apply the defaults of the version of *obj*, in place."""
        self._defaulter.apply(obj)

    def convert(self, obj: TypeMeta, target: type[ModelT]) -> ModelT:
        """Convert *obj* to the class *target*, through the hub if necessary.

        The result is a new object without kind and apiVersion; nested parts may be shared with
        *obj*. Raises UnknownConversion.
        """
        source = type(obj)
        converter = self._converters.get((source, target))
        if converter is None:
            converter = self._converters[source, target] = self._find_converter(source, target)
        converted = converter(obj)
        values = converted.__dict__
        if "api_version" in values:
            values["kind"] = values["api_version"] = ""
        return cast(ModelT, converted)

    def to_internal(self, obj: TypeMeta) -> TypeMeta:
        """Convert *obj*, an object or a list, to its internal class."""
        return self.convert(obj, self._internal_class(type(obj)))

    def is_internal(self, cls: type[TypeMeta]) -> bool:
        """Return whether a class is internal; it may be the class of a version as well."""
        return (item_class(cls) if is_list(cls) else cls) in self._internal

    def convert_to_version(self, obj: TypeMeta, version: GroupVersion) -> TypeMeta:
        """Convert *obj* to *version* and set kind and apiVersion.

        In the internal version both stay empty. Raises NotRegistered, UnknownConversion.
        """
        kind = self._kind_in(obj, version)
        converted = self.convert(obj, self.class_of(kind))
        if kind.version != INTERNAL:
            converted.__dict__["kind"] = kind.kind
            converted.__dict__["api_version"] = kind.api_version
        return converted

    def convert_field_label(
        self,
        kind: GroupVersionKind,
        label: str,
        value: str,
        *,
        unregistered: Iterable[str] = (),
    ) -> tuple[str, str]:
        """Convert a field selector's label and value to the internal ones.

        *unregistered* are the labels, beside those of metadata, of a kind without registered ones.
        Raises ValueError if the label is unknown.
        """
        return self._field_labels.convert(kind, label, value, unregistered=unregistered)

    def check(self) -> None:
        """Check that every versioned object can be converted to its hub and back.

        Raises UnknownConversion; a program calls it once all groups are registered.
        """
        for error in self.conversion_errors().values():
            raise error

    def conversion_errors(self) -> dict[GroupVersionKind, UnknownConversion]:
        """Return the versioned objects that cannot be converted to their hub and back."""
        errors = {}
        for kind, cls in self.object_kinds().items():
            if kind.version != INTERNAL and issubclass(cls, Object):
                try:
                    self._find_converter(cls, self.hub_of(cls))
                    self._find_converter(self.hub_of(cls), cls)
                except UnknownConversion as error:
                    errors[kind] = error
        return errors

    def _add(self, kind: GroupVersionKind, cls: type[TypeMeta]) -> None:
        self._check_unregistered(kind, cls)
        problems = misplaced(cls, on_wire=kind.version != INTERNAL)
        if problems:
            name = f"{cls.__module__}.{cls.__qualname__}"
            raise RegistrationError(f"{kind} cannot be {name}: {'; '.join(problems)}")
        self._classes[kind] = cls
        self._kinds.setdefault(cls, []).append(kind)
        if kind.version == INTERNAL:
            self._internal.add(cls)
        else:
            self._versions[kind.group_version] = None

    def _add_list(self, kind: GroupVersionKind, item: type[Object]) -> None:
        """Register the lists of a kind; the items have been registered as a kind of their own."""
        if kind in self._classes:
            self._check_unregistered(kind, list_class(item))
        self._classes[kind] = ObjectList
        self._items[kind] = item
        self._list_kinds.setdefault(item, []).append(kind)

    def _check_unregistered(self, kind: GroupVersionKind, cls: type[TypeMeta]) -> None:
        if kind not in self._classes:
            return
        registered = self.class_of(kind)
        if registered is cls:
            raise RegistrationError(f"{kind} is registered already as {cls.__qualname__}")
        raise RegistrationError(
            f"{kind} is registered as {registered.__module__}.{registered.__qualname__} and"
            f" cannot also be {cls.__module__}.{cls.__qualname__}"
        )

    def _derive(
        self, versioned: type[Model], internal: type[Model], difference: Difference
    ) -> None:
        self._set_hub(versioned, internal)
        self._deriver.derive(versioned, internal, difference)
        self._deriver.derive(internal, versioned, difference.reversed())
        self._differences[versioned, internal] = difference
        self._converters.clear()

    def _set_hub(self, left: type[Any], right: type[Any]) -> None:
        """Record the internal class of a pair as the hub of the versioned one.

        Pairs of nested types, which are no kinds, have no hub.
        """
        for versioned, internal in ((left, right), (right, left)):
            if self.is_internal(internal) and not self.is_internal(versioned):
                if versioned not in self._kinds:
                    continue
                hub = self._hubs.setdefault(versioned, internal)
                if hub is not internal:
                    raise RegistrationError(
                        f"{versioned.__qualname__} already has the hub {hub.__qualname__}"
                    )

    def _internal_class(self, cls: type[TypeMeta]) -> type[TypeMeta]:
        if is_list(cls):
            return list_class(cast(type[Object], self.hub_of(item_class(cls))))
        return self.hub_of(cls)

    def _find_converter(self, source: type[Any], target: type[Any]) -> Callable[[Any], Any]:
        if source is target:
            return _shallow_copy
        direct = self._deriver.find(source, target)
        if direct is not None:
            return direct
        if is_list(source) and is_list(target):
            return self._list_converter(source, target)
        hub = self._hubs.get(source)
        if hub is not None and self._hubs.get(target) is hub:
            to_hub = self._find_converter(source, hub)
            from_hub = self._find_converter(hub, target)
            return lambda obj: from_hub(to_hub(obj))
        raise UnknownConversion(self._describe(source), self._describe(target))

    def _list_converter(self, source: type[Any], target: type[Any]) -> Callable[[Any], Any]:
        convert_item = self._find_converter(item_class(source), item_class(target))
        return lambda source_list: target.model_construct(
            metadata=source_list.metadata,
            items=[convert_item(item) for item in source_list.items],
        )

    def _kind_in(self, obj: TypeMeta, version: GroupVersion) -> GroupVersionKind:
        """Return the kind in *version* of the class of *obj*, or of another class of its kind."""
        kinds = self.kinds_of(obj)
        for kind in kinds:
            if kind.group_version == version:
                return kind
        for kind in kinds:
            target = version.with_kind(kind.kind)
            if target in self._classes:
                return target
        raise self._unknown_kind(version.with_kind(kinds[0].kind))

    def _unknown_kind(self, kind: GroupVersionKind) -> NotRegistered:
        version = kind.group_version
        text = (
            f"no kind {quote(kind.kind)} is registered for version {quote(str(version))} in scheme"
            f" {quote(self.name)}"
        )
        if version not in self._versions and version.version != INTERNAL:
            return NotRegistered(text, f"registered versions: {_join(map(str, self._versions))}")
        kinds = [entry.kind for entry in self._classes if entry.group_version == version]
        return NotRegistered(text, f"registered kinds: {_join(kinds)}")

    def _describe(self, cls: type[Any]) -> str:
        kinds = self._list_kinds.get(item_class(cls)) if is_list(cls) else self._kinds.get(cls)
        name = f"{cls.__module__}.{cls.__qualname__}"
        return f"{name} of {kinds[0]}" if kinds else name


def _shallow_copy(obj: Model) -> Model:
    copy = new_model(type(obj), obj.__dict__.copy())
    if obj.__keeps_unknown__ and obj.__pydantic_extra__ is not None:
        object.__setattr__(copy, "__pydantic_extra__", obj.__pydantic_extra__.copy())
    return copy


def _join(names: Iterable[str]) -> str:
    return ", ".join(sort_versions(sorted(names))) or "none"
