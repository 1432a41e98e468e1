"""Quantities and semantic versions."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import total_ordering
from typing import Any, ClassVar, Final

from apimachinery.cel.interpreter.overloads import Overload, overload, reading
from apimachinery.cel.interpreter.values import CELError, Opaque
from apimachinery.scalars.quantity import InvalidQuantity, Quantity, parse_quantity


@total_ordering
class QuantityValue(Opaque):
    type_name: ClassVar = "kubernetes.Quantity"

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuantityValue) and self.quantity == other.quantity

    def __lt__(self, other: "QuantityValue") -> bool:
        return self.quantity < other.quantity

    def __hash__(self) -> int:
        return hash(self.quantity)


@total_ordering
class Version(Opaque):
    """A semantic version."""

    type_name: ClassVar = "kubernetes.Semver"

    def __init__(self, numbers: tuple[int, int, int], before: tuple[str, ...]) -> None:
        self.numbers = numbers
        self.before = before
        """The identifiers of a prerelease."""

    @property
    def _key(self) -> Any:
        identifiers = [
            (0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.before
        ]
        return self.numbers, not self.before, identifiers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key == other._key

    def __lt__(self, other: "Version") -> bool:
        return bool(self._key < other._key)

    def __hash__(self) -> int:
        return hash((self.numbers, self.before))


def overloads() -> Iterator[Overload]:
    """Yield the functions of quantities and versions."""
    kind = QuantityValue.type_name
    yield overload("quantity", "string", _parse, reading())
    yield overload("isQuantity", "string", lambda text: _is_valid(_parse, text), reading())
    yield overload("sign", kind, lambda value: value.quantity.sign)
    yield overload("isInteger", kind, lambda value: _is_integer(value.quantity))
    yield overload("asInteger", kind, _as_integer)
    yield overload("asApproximateFloat", kind, lambda value: float(value.quantity.as_decimal()))
    yield from _comparisons(kind)
    for name, call in (("add", Quantity.__add__), ("sub", Quantity.__sub__)):
        yield overload(
            name,
            f"{kind} {kind}",
            lambda a, b, call=call: QuantityValue(call(a.quantity, b.quantity)),
        )
        yield overload(
            name,
            f"{kind} int",
            lambda a, b, call=call: QuantityValue(call(a.quantity, Quantity(b))),
        )
    yield from _versions()


def _comparisons(kind: str) -> Iterator[Overload]:
    yield overload("isLessThan", f"{kind} {kind}", lambda a, b: a < b)
    yield overload("isGreaterThan", f"{kind} {kind}", lambda a, b: a > b)
    yield overload("compareTo", f"{kind} {kind}", lambda a, b: (a > b) - (a < b))


def _parse(text: str) -> QuantityValue:
    try:
        return QuantityValue(parse_quantity(text))
    except InvalidQuantity as error:
        raise CELError(error.rule) from None


def _is_integer(quantity: Quantity) -> bool:
    """Return whether a quantity is an integer of 64 bits."""
    number = quantity.as_decimal()
    return number == number.to_integral_value() and -(2**63) <= number < 2**63


def _as_integer(value: QuantityValue) -> int:
    if not _is_integer(value.quantity):
        raise CELError("cannot convert value to integer")
    return int(value.quantity.as_decimal())


def _is_valid(parse: Callable[..., object], *arguments: Any) -> bool:
    try:
        parse(*arguments)
    except CELError:
        return False
    return True


def _versions() -> Iterator[Overload]:
    kind = Version.type_name
    yield overload("semver", "string", parse_version, reading())
    yield overload("semver", "string bool", parse_version, reading())
    yield overload("isSemver", "string", lambda text: _is_valid(parse_version, text), reading())
    yield overload(
        "isSemver",
        "string bool",
        lambda text, normalize: _is_valid(parse_version, text, normalize),
        reading(),
    )
    yield from _comparisons(kind)
    for position, name in enumerate(("major", "minor", "patch")):
        yield overload(name, kind, lambda value, at=position: value.numbers[at])


_IDENTIFIERS: Final = re.compile(r"[0-9A-Za-z-]+")
_NUMBER: Final = re.compile(r"[0-9]+")


def parse_version(text: str, normalize: bool = False) -> Version:
    """Return a semantic version; raise CELError if a text is not one."""
    if normalize:
        text = _normalized(text)
    if not text:
        raise CELError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise CELError("No Major.Minor.Patch elements found")
    rest, plus, build = parts[2].partition("+")
    patch, dash, before = rest.partition("-")
    numbers = (
        _number(parts[0], "major"),
        _number(parts[1], "minor"),
        _number(patch, "patch"),
    )
    identifiers = tuple(before.split(".")) if dash else ()
    _check_prerelease(identifiers)
    _check_build(build.split(".") if plus else ())
    return Version(numbers, identifiers)


def _check_prerelease(identifiers: Sequence[str]) -> None:
    for identifier in identifiers:
        if not identifier:
            raise CELError("Prerelease is empty")
        if not _IDENTIFIERS.fullmatch(identifier):
            raise CELError(f'Invalid character(s) found in prerelease "{identifier}"')
        if identifier.isdigit() and len(identifier) > 1 and identifier[0] == "0":
            raise CELError(
                f'Numeric PreRelease version must not contain leading zeroes "{identifier}"'
            )


def _check_build(identifiers: Sequence[str]) -> None:
    for identifier in identifiers:
        if not identifier:
            raise CELError("Build meta data is empty")
        if not _IDENTIFIERS.fullmatch(identifier):
            raise CELError(f'Invalid character(s) found in build meta data "{identifier}"')


def _number(text: str, name: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise CELError(f'Invalid character(s) found in {name} number "{text}"')
    if len(text) > 1 and text[0] == "0":
        raise CELError(f'{name.capitalize()} number must not contain leading zeroes "{text}"')
    if len(text) > 20 or int(text) >= 2**64:
        raise CELError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for position, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            if not stripped or not stripped[0].isdigit():
                stripped = f"0{stripped}"
            parts[position] = stripped
    if len(parts) < 3 and any(mark in parts[-1] for mark in "+-"):
        raise CELError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, *["0"] * (3 - len(parts))])
