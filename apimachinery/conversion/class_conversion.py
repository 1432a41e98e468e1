"""Converting between two classes: what can be derived is derived, and nothing is lost unnoticed.

Between a version and its internal form most fields are the same. For those no code is written: a
derived conversion copies the fields of one class to those of the other, shares every nested part
whose class is the same on both sides, and follows registered functions for nested types that have
one. Declared differences (`Difference`) cover the rest.

Deriving happens once, when a pair is registered, and it is then that every field of either side
must be accounted for; `LostFields` names the ones that are not.

Because parts are shared, the source of a conversion must not be changed afterwards by somebody
who does not own the result too. A decoded request or a stored object read for one answer is given
up by its conversion, which is what makes sharing safe there.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from apimachinery.conversion.kept_fields import ConversionError, Convert, keep
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apimachinery.model.model import Model, deep_copy, new_model


class LostFields(ConversionError):
    """Fields that a derived conversion would lose, as paths from the converted class."""

    def __init__(self, source: type, target: type, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            f"deriving {source.__qualname__} -> {target.__qualname__}: "
            + "; ".join(self.problems)
            + ". Declare each in renames, kept or dropped, or register a function for the type"
            " that holds it, before this pair"
        )


class UnknownConversion(LookupError):
    """Nothing is registered that leads from one class to the other."""

    def __init__(self, source: str, target: str) -> None:
        super().__init__(f"converting ({source}) to ({target}): unknown conversion")


@dataclass(frozen=True)
class Difference:
    """How two classes differ; paths are dotted field names from the class, through lists and maps.

    *renames* leads from the versioned class to the internal one, within one nested type.
    *dropped* are fields of either side that are lost on purpose.
    *kept* are fields of either side that the other keeps in an annotation of the object.
    """

    renames: Mapping[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    kept: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for old, new in self.renames.items():
            if old.rpartition(".")[0] != new.rpartition(".")[0]:
                raise ConversionError(
                    f"rename {old!r} -> {new!r} moves between types: only the last name may differ;"
                    " write a function for the type that holds both"
                )

    def reversed(self) -> "Difference":
        return Difference({new: old for old, new in self.renames.items()}, self.dropped, self.kept)

    def below(self, name: str) -> "Difference":
        """The part of the difference inside the field *name*."""
        start = name + "."
        return Difference(
            {
                a[len(start) :]: b[len(start) :]
                for a, b in self.renames.items()
                if a.startswith(start)
            },
            frozenset(path[len(start) :] for path in self.dropped if path.startswith(start)),
            {path[len(start) :]: key for path, key in self.kept.items() if path.startswith(start)},
        )

    def paths(self) -> set[str]:
        return {*self.renames, *self.renames.values(), *self.dropped, *self.kept}

    def __bool__(self) -> bool:
        return bool(self.renames or self.dropped or self.kept)


SAME = Difference()


def function_types(function: Callable[..., Any]) -> tuple[type, type]:
    """The classes a conversion function leads from and to, read from its annotations."""
    name = getattr(function, "__qualname__", repr(function))
    try:
        hints = get_type_hints(function)
    except NameError as error:
        raise ConversionError(f"{name}: its annotations cannot be resolved: {error}") from error
    target = hints.pop("return", None)
    sources = list(hints.values())
    if len(sources) != 1 or not _is_model(sources[0]) or not _is_model(target):
        raise ConversionError(
            f"{name}: a conversion takes one object and returns another, and its annotations say"
            " which: def gadget_to_internal(gadget: v1.Gadget) -> internal.Gadget"
        )
    return sources[0], target


def _is_model(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, Model)


class Deriver:
    """Makes converters for pairs of classes, given the functions registered so far."""

    def __init__(self) -> None:
        self._functions: dict[tuple[type, type], Convert] = {}
        self._derived: dict[tuple[type, type], Convert] = {}

    def add_function(self, source: type, target: type, function: Convert) -> None:
        self._refuse_second(source, target)
        self._functions[source, target] = function

    def find(self, source: type, target: type) -> Convert | None:
        """The registered or derived converter of exactly this pair."""
        return self._functions.get((source, target)) or self._derived.get((source, target))

    def derive(self, source: type[Model], target: type[Model], difference: Difference) -> None:
        """Derive, check and remember the converter of a pair; raise LostFields."""
        self._refuse_second(source, target)
        attempt = _Attempt(self._functions, dict(self._derived))
        converter = attempt.model(source, target, difference, "")
        if attempt.problems:
            raise LostFields(source, target, attempt.problems)
        self._derived = attempt.derived
        self._derived[source, target] = keep(source, target, difference.kept, converter)

    def _refuse_second(self, source: type, target: type) -> None:
        if self.find(source, target) is not None:
            raise ConversionError(
                f"{source.__qualname__} -> {target.__qualname__} is registered already, or was"
                " derived for a pair that holds it: register nested types first"
            )


class _Derived:
    """Copies the fields of one class into another.

    Filled after it is made, because types may contain themselves.
    """

    def __init__(self, target: type[Model]) -> None:
        self.target = target
        self.in_order = False
        """Both classes have the same names in the same order: copy the dictionary as it is."""
        self.moves: tuple[tuple[str, str], ...] = ()
        """(name in the target, name in the source), in the order of the target."""
        self.missing: tuple[ModelField, ...] = ()
        """Fields of the target that the source does not have."""
        self.nested: tuple[tuple[str, Convert], ...] = ()

    def __call__(self, source: Model) -> Model:
        found = source.__dict__
        if self.in_order:
            values = found.copy()
        else:
            values = {new: found[old] for new, old in self.moves}
            for absent in self.missing:
                values[absent.name] = deep_copy(absent.default)
            if self.missing:
                values = {name: values[name] for name in self.target.__pydantic_fields__}
        for name, convert in self.nested:
            value = values[name]
            if value is not None:
                values[name] = convert(value)
        return new_model(self.target, values)


class _Attempt:
    """One derivation: a tree of pairs, and every problem met on the way."""

    def __init__(
        self,
        functions: Mapping[tuple[type, type], Convert],
        derived: dict[tuple[type, type], Convert],
    ) -> None:
        self.functions = functions
        self.derived = derived
        self.problems: list[str] = []

    def model(
        self, source: type[Model], target: type[Model], difference: Difference, path: str
    ) -> _Derived:
        converter = _Derived(target)
        if not difference:
            self.derived[source, target] = converter
        have = {found.name: found for found in fields_of(source)}
        want = {found.name: found for found in fields_of(target)}
        moves = self._moves(have, want, difference, path)
        converter.moves = tuple(moves.items())
        converter.in_order = list(have) == list(want) and all(a == b for a, b in moves.items())
        converter.missing = tuple(found for name, found in want.items() if name not in moves)
        converter.nested = tuple(
            (new, convert)
            for new, old in moves.items()
            if (convert := self._field(have[old], want[new], difference, path)) is not None
        )
        self._refuse_unknown_paths(have, want, difference, path)
        return converter

    def _moves(
        self,
        have: Mapping[str, ModelField],
        want: Mapping[str, ModelField],
        difference: Difference,
        path: str,
    ) -> dict[str, str]:
        """Name in the target -> name in the source; what has no partner must be declared."""
        renamed = {new: old for old, new in difference.renames.items() if "." not in new}
        accounted = {*difference.dropped, *difference.kept}
        moves = {}
        for name in want:
            old = renamed.get(name, name)
            if old in have and name not in accounted and (old == name or name in renamed):
                moves[name] = old
            elif name not in accounted:
                self.problems.append(f"{path}{name} of the target has no source")
        for name in have:
            if name not in moves.values() and name not in accounted:
                self.problems.append(f"{path}{name} of the source has no target")
        return moves

    def _field(
        self, old: ModelField, new: ModelField, difference: Difference, path: str
    ) -> Convert | None:
        below = difference.below(old.name)
        return self._type(old.type, new.type, below, f"{path}{old.name}")

    def _type(
        self, old: TypeInfo, new: TypeInfo, difference: Difference, path: str
    ) -> Convert | None:
        """A converter for values of one type, or None when they can be shared."""
        if old.optional and not new.optional:
            self.problems.append(f"{path} may be unset in the source and not in the target")
            return None
        if old.category != new.category:
            self.problems.append(f"{path} is a {old.category} here and a {new.category} there")
            return None
        if old.category == "model":
            return self._nested_model(old.python, new.python, difference, path)
        if old.item is not None and new.item is not None:
            return self._collection(old, new, difference, path)
        if old.python != new.python:
            self.problems.append(f"{path} is {_named(old.python)} here, {_named(new.python)} there")
        return None

    def _nested_model(
        self, old: type[Model], new: type[Model], difference: Difference, path: str
    ) -> Convert | None:
        if old is new:
            return None
        if not difference:
            known = self.functions.get((old, new)) or self.derived.get((old, new))
            if known is not None:
                return known
        return self.model(old, new, difference, path + ".")

    def _collection(
        self, old: TypeInfo, new: TypeInfo, difference: Difference, path: str
    ) -> Convert | None:
        if old.item is None or new.item is None:
            return None
        convert = self._type(old.item, new.item, difference, path)
        if convert is None:
            return None
        return _each_in_list(convert) if old.category == "list" else _each_in_map(convert)

    def _refuse_unknown_paths(
        self,
        have: Mapping[str, ModelField],
        want: Mapping[str, ModelField],
        difference: Difference,
        path: str,
    ) -> None:
        """A declared path that names no field would silently cover nothing."""
        for declared in sorted(difference.paths()):
            if declared.partition(".")[0] not in have and declared.partition(".")[0] not in want:
                self.problems.append(f"{path}{declared} is declared and is a field of neither side")


def _each_in_list(convert: Convert) -> Convert:
    return lambda values: [convert(value) for value in values]


def _each_in_map(convert: Convert) -> Convert:
    return lambda values: {key: convert(value) for key, value in values.items()}


def _named(python: Any) -> str:
    return getattr(python, "__name__", str(python))
