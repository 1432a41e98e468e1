"""Lenient construction: `Cls(field=value)` without constraints, for old values in conversions.

pydantic's constructor has no switch, and a constructor of our own would cost every construction a
microsecond. So the constructor of all Model classes is replaced only while a conversion needs it;
other threads and tasks, which are told apart by a context variable, construct as always.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Final

from apimachinery.lenient.lenient_schema import lenient_validator
from apimachinery.model.model import Model, ModelType

_ACTIVE: Final = ContextVar("lenient_construction", default=False)


@contextmanager
def constructing_leniently() -> Iterator[None]:
    """Have the constructors of Models check types only, in this task, for the block.

    For conversion functions, which are written for valid values and construct objects: an old value
    that today's rules refuse must be converted all the same.
    """
    _REPLACED.enter()
    token = _ACTIVE.set(True)
    try:
        yield
    finally:
        _ACTIVE.reset(token)
        _REPLACED.leave()


def _construct(cls: type[Model], *args: Any, **values: Any) -> Any:
    if not _ACTIVE.get():
        return type.__call__(cls, *args, **values)
    return lenient_validator(cls).validate_python(values, by_alias=True, by_name=True)


class _Replaced:
    """Counts the blocks that need the constructor replaced."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._blocks = 0

    def enter(self) -> None:
        with self._lock:
            self._blocks += 1
            if self._blocks == 1:
                type.__setattr__(ModelType, "__call__", _construct)

    def leave(self) -> None:
        with self._lock:
            self._blocks -= 1
            if self._blocks == 0:
                type.__delattr__(ModelType, "__call__")


_REPLACED: Final = _Replaced()
