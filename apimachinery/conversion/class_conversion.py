"""Conversion between two classes: derive converters, and reject those that would lose a field.

Most fields of a version and its internal class are the same and need no code: a derived converter
copies the fields of one class to the other, shares every nested value whose class is the same in
both, and calls the registered function for nested types that have one. Other differences are
declared (`Difference`). Inside a type with a function, *kept* fields are preserved around the
function; *renames* and *dropped* describe the function, for error paths and round-trip checks.

A converter is derived once, when a pair is registered; every field of both classes must then be
accounted for, and `LostFields` names the ones that are not.

Because nested values are shared, the source of a conversion must not be changed afterwards, except
by the owner of the result. The server discards a decoded request or a stored object once it is
converted, so sharing is safe there.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from apimachinery.conversion.converted_values import tolerating_old_values
from apimachinery.conversion.kept_fields import ConversionError, Convert, with_kept_fields
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apimachinery.model.model import Model, deep_copy, is_model, new_model


class LostFields(ConversionError):
    """A derived conversion that would lose fields; *problems* names their paths."""

    def __init__(self, source: type, target: type, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            f"deriving {source.__qualname__} -> {target.__qualname__}: "
            + "; ".join(self.problems)
            + ". Declare each one in renames, kept or dropped, or register a conversion function"
            " for the type that contains it before this pair"
        )


class UnknownConversion(LookupError):
    """A conversion that is not registered, neither directly nor through a hub."""

    def __init__(self, source: str, target: str) -> None:
        super().__init__(f"converting ({source}) to ({target}): unknown conversion")


@dataclass(frozen=True)
class Difference:
    """The declared differences of two classes; paths are dotted, through lists and maps.

    *renames* maps fields of the versioned class to fields of the internal one, in the same type.
    *dropped* are fields of either class that are lost on purpose.
    *kept* are fields of either class that the other preserves in an annotation of the object.
    """

    renames: Mapping[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    kept: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for old, new in self.renames.items():
            if old.rpartition(".")[0] != new.rpartition(".")[0]:
                raise ConversionError(
                    f"rename {old!r} -> {new!r} moves a field between types: only the last name may"
                    " differ; register a conversion function for the type that contains both"
                )

    def reversed(self) -> "Difference":
        return Difference({new: old for old, new in self.renames.items()}, self.dropped, self.kept)

    def within(self, name: str) -> "Difference":
        """Return the differences inside the field *name*, with paths relative to it."""
        prefix = name + "."
        size = len(prefix)
        return Difference(
            {old[size:]: new[size:] for old, new in self.renames.items() if old.startswith(prefix)},
            frozenset(path[size:] for path in self.dropped if path.startswith(prefix)),
            {path[size:]: key for path, key in self.kept.items() if path.startswith(prefix)},
        )

    def paths(self) -> set[str]:
        return {*self.renames, *self.renames.values(), *self.dropped, *self.kept}

    def __bool__(self) -> bool:
        return bool(self.renames or self.dropped or self.kept)


SAME = Difference()


def function_types(function: Callable[..., Any]) -> tuple[type, type]:
    """Return the source and target class of a conversion function, from its annotations."""
    name = getattr(function, "__qualname__", repr(function))
    try:
        hints = get_type_hints(function)
    except NameError as error:
        raise ConversionError(f"{name}: cannot resolve the annotations: {error}") from error
    target = hints.pop("return", None)
    sources = list(hints.values())
    if len(sources) != 1 or not is_model(sources[0]) or not is_model(target):
        raise ConversionError(
            f"{name}: a conversion function takes one object and returns another, with their"
            " classes as annotations: def gadget_to_internal(gadget: v1.Gadget) -> internal.Gadget"
        )
    return sources[0], target


class Deriver:
    """Derives and stores converters between pairs of classes."""

    def __init__(self) -> None:
        self._functions: dict[tuple[type, type], Convert] = {}
        self._derived: dict[tuple[type, type], Convert] = {}

    def add_function(self, source: type, target: type, function: Convert) -> None:
        self._check_unregistered(source, target)
        self._functions[source, target] = tolerating_old_values(function)

    def find(self, source: type, target: type) -> Convert | None:
        """Return the registered or derived converter of exactly this pair."""
        return self._functions.get((source, target)) or self._derived.get((source, target))

    def derive(self, source: type[Model], target: type[Model], difference: Difference) -> None:
        """Derive and store the converter of a pair; raises LostFields, ConversionError."""
        self._check_unregistered(source, target)
        derivation = _Derivation(self._functions, dict(self._derived))
        converter = derivation.derive_model(source, target, difference, "")
        if derivation.problems:
            raise LostFields(source, target, derivation.problems)
        converters = derivation.derived
        converters[source, target] = with_kept_fields(source, target, difference.kept, converter)
        self._derived = converters

    def _check_unregistered(self, source: type, target: type) -> None:
        if self.find(source, target) is not None:
            raise ConversionError(
                f"{source.__qualname__} -> {target.__qualname__} is registered already, or was"
                " derived for a pair that contains it: register nested types first"
            )


class _ModelConverter:
    """Copies the fields of one class to another.

    Its attributes are set after it is created, because types may be recursive.
    """

    def __init__(self, target: type[Model]) -> None:
        self.target = target
        self.has_same_fields = False
        """Both classes have the same fields in the same order: copy the dictionary as it is."""
        self.moves: tuple[tuple[str, str], ...] = ()
        """(name in the target, name in the source), in the order of the target."""
        self.missing: tuple[ModelField, ...] = ()
        """Fields of the target that the source does not have."""
        self.nested: tuple[tuple[str, Convert], ...] = ()
        """(name in the target, converter) of the fields whose values are converted."""

    def __call__(self, source: Model) -> Model:
        source_values = source.__dict__
        if self.has_same_fields:
            values = source_values.copy()
        else:
            values = {new: source_values[old] for new, old in self.moves}
            for field in self.missing:
                values[field.name] = deep_copy(field.default)
            if self.missing:
                # Encoding follows the order of the values.
                values = {name: values[name] for name in self.target.__pydantic_fields__}
        for name, convert in self.nested:
            value = values[name]
            if value is not None:
                values[name] = convert(value)
        return new_model(self.target, values)


class _Derivation:
    """Derives the converters of a pair and its nested pairs, and collects all problems."""

    def __init__(
        self,
        functions: Mapping[tuple[type, type], Convert],
        derived: dict[tuple[type, type], Convert],
    ) -> None:
        self.functions = functions
        self.derived = derived
        self.problems: list[str] = []

    def derive_model(
        self, source: type[Model], target: type[Model], difference: Difference, path: str
    ) -> _ModelConverter:
        converter = _ModelConverter(target)
        # The pair that is being registered is the one its own recursive fields use.
        if not difference or not path:
            self.derived[source, target] = converter
        source_fields = {field.name: field for field in fields_of(source)}
        target_fields = {field.name: field for field in fields_of(target)}
        moves = self._moves(source_fields, target_fields, difference, path)
        converter.moves = tuple(moves.items())
        converter.has_same_fields = list(source_fields) == list(target_fields) and all(
            new == old for new, old in moves.items()
        )
        converter.missing = tuple(
            field for name, field in target_fields.items() if name not in moves
        )
        converter.nested = tuple(
            (new, convert)
            for new, old in moves.items()
            if (
                convert := self._derive_field(
                    source_fields[old], target_fields[new], difference, path
                )
            )
            is not None
        )
        self._check_declared_paths(source_fields, target_fields, difference, path)
        return converter

    def _moves(
        self,
        source_fields: Mapping[str, ModelField],
        target_fields: Mapping[str, ModelField],
        difference: Difference,
        path: str,
    ) -> dict[str, str]:
        """Return target name -> source name; a field without a counterpart must be declared."""
        renamed = {new: old for old, new in difference.renames.items() if "." not in new}
        declared = {*difference.dropped, *difference.kept}
        moves = {}
        for name in target_fields:
            old = renamed.get(name, name)
            if old in source_fields and name not in declared and (old == name or name in renamed):
                moves[name] = old
            elif name not in declared:
                self.problems.append(f"{path}{name} of the target has no source")
        for name in source_fields:
            if name not in moves.values() and name not in declared:
                self.problems.append(f"{path}{name} of the source has no target")
        return moves

    def _derive_field(
        self, old: ModelField, new: ModelField, difference: Difference, path: str
    ) -> Convert | None:
        nested = difference.within(old.name)
        return self._derive_type(old.type, new.type, nested, f"{path}{old.name}")

    def _derive_type(
        self, old: TypeInfo, new: TypeInfo, difference: Difference, path: str
    ) -> Convert | None:
        """Return a converter for values of a type, or None if the values can be shared."""
        if old.optional and not new.optional:
            self.problems.append(f"{path} may be unset in the source and not in the target")
            return None
        if old.category != new.category:
            self.problems.append(
                f"{path} is a {old.category} in the source and a {new.category} in the target"
            )
            return None
        if old.category == "model":
            return self._derive_nested_model(old.python, new.python, difference, path)
        if old.item is not None and new.item is not None:
            return self._derive_collection(old, new, difference, path)
        if old.python != new.python:
            old_name, new_name = _type_name(old.python), _type_name(new.python)
            self.problems.append(f"{path} is {old_name} in the source, {new_name} in the target")
        return None

    def _derive_nested_model(
        self, old: type[Model], new: type[Model], difference: Difference, path: str
    ) -> Convert | None:
        if old is new:
            return None
        function = self.functions.get((old, new))
        if function is not None:
            self._check_described(old, new, difference, path + ".")
            return function
        if not difference and (old, new) in self.derived:
            return self.derived[old, new]
        return self.derive_model(old, new, difference, path + ".")

    def _check_described(
        self, old: type[Model], new: type[Model], difference: Difference, path: str
    ) -> None:
        """Report paths that describe a function and name no field of the classes it converts."""
        for name, cls in (
            *((name, old) for name in difference.renames),
            *((name, new) for name in difference.renames.values()),
        ):
            if not _has_field(cls, name):
                self.problems.append(f"{path}{name} is renamed but {cls.__qualname__} lacks it")
        for name in sorted({*difference.dropped, *difference.kept}):
            if not _has_field(old, name) and not _has_field(new, name):
                self.problems.append(f"{path}{name} is declared but is a field of neither class")

    def _derive_collection(
        self, old: TypeInfo, new: TypeInfo, difference: Difference, path: str
    ) -> Convert | None:
        if old.item is None or new.item is None:
            return None
        convert = self._derive_type(old.item, new.item, difference, path)
        if convert is None:
            return None
        return _convert_list(convert) if old.category == "list" else _convert_map(convert)

    def _check_declared_paths(
        self,
        source_fields: Mapping[str, ModelField],
        target_fields: Mapping[str, ModelField],
        difference: Difference,
        path: str,
    ) -> None:
        """Report declared paths that name no field: a typo must not hide a lost field."""
        for declared in sorted(difference.paths()):
            first = declared.partition(".")[0]
            if first not in source_fields and first not in target_fields:
                self.problems.append(
                    f"{path}{declared} is declared but is a field of neither class"
                )


def _has_field(cls: type[Model], path: str) -> bool:
    """Return whether a class has the field of a dotted path, through lists and maps."""
    name, _, rest = path.partition(".")
    found = next((field for field in fields_of(cls) if field.name == name), None)
    if found is None or not rest:
        return found is not None
    return found.type.model is not None and _has_field(found.type.model, rest)


def _convert_list(convert: Convert) -> Convert:
    return lambda values: [convert(value) for value in values]


def _convert_map(convert: Convert) -> Convert:
    return lambda values: {key: convert(value) for key, value in values.items()}


def _type_name(python: Any) -> str:
    return getattr(python, "__name__", str(python))
