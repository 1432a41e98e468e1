"""Problems: validation errors of values, whose paths are built while they are returned.

Most values are valid, so validation does not keep track of paths: a check that fails returns a
`Problem`, and each node above adds the step that leads to it.
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
ErrorFactory = Callable[[str, Any], FieldError]
"""Builds the field error from the path and the invalid value."""


class Problem:
    """One invalid value, and the steps from it up to the root."""

    __slots__ = ("_build_error", "_steps", "_value")

    def __init__(self, build_error: ErrorFactory, value: Any, *steps: str) -> None:
        self._build_error = build_error
        self._value = value
        self._steps = list(steps)

    def below(self, step: str) -> "Problem":
        """Add the step that leads to the problem from one node above; return the problem."""
        self._steps.append(step)
        return self

    def error(self, place: Path | None = None) -> FieldError:
        """Return the error with its whole path, relative to *place* if the value is a part."""
        text = "".join(reversed(self._steps)).removeprefix(".")
        error = self._build_error(text, self._value)
        if place is None or (error.field == _NO_FIELD and text):
            return error
        return replace(error, field=str(place.child(text) if text else place))


_NO_FIELD = str(Path())


def member_step(name: str) -> str:
    return f".{name}"


def item_step(position: int) -> str:
    return f"[{position}]"


def invalid_value(rule: str) -> ErrorFactory:
    """Report a value that violates a rule: `spec.n in body should be ...`."""
    return lambda path, value: invalid(_path(path), value, f"{path} in body {rule}")


def wrong_type(expected: str) -> ErrorFactory:
    """Report a wrong type, with the actual type as value, or a wrong format, with the value."""

    def build_error(path: str, value: Any) -> FieldError:
        escaped = value.replace('"', '\\"')
        rule = f'{path} in body must be of type {expected}: "{escaped}"'
        return type_invalid(_path(path), value, rule)

    return build_error


def missing_field(path: str, value: Any) -> FieldError:
    return required(_path(path))


def forbidden_property(path: str, value: Any) -> FieldError:
    """Report a field in an object that has no fields but the declared ones."""
    name = f"{path}.{value}" if path else value
    return invalid(_path(path), value, f"{name} in body is a forbidden property")


def unsupported_value(supported: list[str]) -> ErrorFactory:
    return lambda path, value: not_supported(_path(path), value, supported)


def value_too_long(limit: int) -> ErrorFactory:
    return lambda path, value: too_long(_path(path), limit)


def too_many_items(limit: int) -> ErrorFactory:
    return lambda path, value: too_many(_path(path), value, limit)


def error_without_field(rule: str) -> ErrorFactory:
    """Report an error that has no field on the wire; its message may include the path."""
    return lambda path, value: invalid(Path(), "", rule.format(path=path))


def is_blocking(error: FieldError) -> bool:
    """Return whether CEL rules cannot be evaluated on a value with this error."""
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
