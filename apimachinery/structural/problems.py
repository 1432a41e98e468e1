"""Problem: something wrong with a value, whose place is filled in on the way out.

Most values are right, so nothing is spent on paths while one is looked at: a check that finds
something returns it, and each place above adds the step that leads there.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from apimachinery.fieldpath import (
    ErrorType,
    FieldError,
    Path,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
)

Problems = list["Problem"]
Make = Callable[[str, Any], FieldError]
"""From a path and the wrong value to the error of the wire."""


class Problem:
    """One wrong value; the steps to it are in reverse order."""

    __slots__ = ("_make", "_steps", "_value")

    def __init__(self, make: Make, value: Any, *steps: str) -> None:
        self._make = make
        self._value = value
        self._steps = list(steps)

    def below(self, step: str) -> "Problem":
        """The same problem as seen from one place above."""
        self._steps.append(step)
        return self

    def error(self, place: Path | None = None) -> FieldError:
        """The error with its whole path, below *place* if the value is a part of something."""
        text = "".join(reversed(self._steps)).removeprefix(".")
        made = self._make(text, self._value)
        if place is None or (made.field == _NOWHERE and text):
            return made
        return replace(made, field=str(place.child(text) if text else place))


_NOWHERE = str(Path())


def member(name: str) -> str:
    """The step to a member of an object."""
    return f".{name}"


def item(position: int) -> str:
    """The step to an item of a list."""
    return f"[{position}]"


def breaks(rule: str) -> Make:
    """A value that breaks a rule: `spec.n in body should be ...`."""
    return lambda path, value: invalid(_path(path), value, f"{path} in body {rule}")


def mistyped(wanted: str) -> Make:
    """A value of another type or format; what is shown is the type it has, or the value."""

    def make(path: str, value: Any) -> FieldError:
        shown = value.replace('"', '\\"')
        rule = f'{path} in body must be of type {wanted}: "{shown}"'
        return type_invalid(_path(path), value, rule)

    return make


def missing(path: str, value: Any) -> FieldError:
    return required(_path(path))


def not_among(values: list[str]) -> Make:
    return lambda path, value: not_supported(_path(path), value, values)


def longer_than(most: int) -> Make:
    return lambda path, value: too_long(_path(path), most)


def more_than(most: int) -> Make:
    return lambda path, value: too_many(_path(path), value, most)


def about_the_whole(rule: str) -> Make:
    """What no single field is to blame for; the wire names the place only in the text."""
    return lambda path, value: invalid(Path(), "", rule.format(path=path))


def is_blocking(error: FieldError) -> bool:
    """Whether further rules cannot be asked of a value that is wrong in this way."""
    return error.type in _BLOCKING


_BLOCKING = frozenset(
    (
        ErrorType.NOT_SUPPORTED,
        ErrorType.REQUIRED,
        ErrorType.TOO_LONG,
        ErrorType.TOO_MANY,
        ErrorType.TYPE_INVALID,
    )
)


def _path(text: str) -> Path:
    return Path(text) if text else Path()
