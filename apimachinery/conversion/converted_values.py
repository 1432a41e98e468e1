"""Converted values: whether conversion functions may produce values that break constraints.

A function such as `def spec_to_internal(spec: v1.Spec) -> internal.Spec` constructs objects, and
pydantic validates what is constructed. That is right for a request. An object that was stored
before a constraint was narrowed must be convertible all the same: reading never validates.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final

from pydantic import ValidationError

from apimachinery.conversion.kept_fields import Convert
from apimachinery.lenient.lenient_construction import constructing_leniently

_REFUSING: Final = ContextVar("refusing_invalid_values", default=False)


@contextmanager
def refusing_invalid_values() -> Iterator[None]:
    """Have conversions raise ValidationError for values that break constraints of their result."""
    token = _REFUSING.set(True)
    try:
        yield
    finally:
        _REFUSING.reset(token)


def tolerating_old_values(function: Convert) -> Convert:
    """Return a conversion that is repeated without constraints if they refuse its result."""

    @wraps(function)
    def convert(value: Any) -> Any:
        try:
            return function(value)
        except ValidationError:
            if _REFUSING.get():
                raise
        with constructing_leniently():
            return function(value)

    return convert
