"""Transforms: making objects smaller before they are cached.

They run once for each object, when it arrives, while nobody else has it. Strings are not made
unique here: the decoder already gives equal short ones out only once, and more was measured to
bring nothing.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from apimachinery.meta.types import Object

T = TypeVar("T", bound=Object)


def drop_managed_fields(obj: T) -> T:
    """Forget who set which field; often half of an object, and no controller reads it."""
    obj.metadata.managed_fields = []
    return obj


def compact(obj: T) -> T:
    """An equal object in less than half of the memory.

    A decoded model remembers in a set which of its fields were given, which nothing asks for, and
    keeps its fields in a map of its own. Filled one by one, objects of a class share the keys of
    that map. What cannot change, and plain JSON, is shared with *obj*, which should be let go of.
    """
    made: T = _compact(obj)
    return made


def chain(*transforms: Callable[[T], T]) -> Callable[[T], T]:
    """One transform after the other."""

    def chained(obj: T) -> T:
        for transform in transforms:
            obj = transform(obj)
        return obj

    return chained


class _NothingGiven(set[str]):
    """The fields that were given to a cached object: none, and one of this for all of them."""

    def add(self, field: str, /) -> None:
        """Ignored: whoever sets a field of a cached object must not change the others."""

    def copy(self) -> set[str]:
        return set()

    __copy__ = copy


_NOTHING_GIVEN: Final = _NothingGiven()
_UNCHANGING: Final = frozenset((str, int, bool, float, bytes, type(None)))
_set: Final = object.__setattr__


def _compact(value: Any) -> Any:
    cls: Any = type(value)
    if cls in _UNCHANGING:
        return value
    if cls is list:
        return [_compact(item) for item in value] if value else []
    if cls is dict:
        return {key: _compact(item) for key, item in value.items()} if value else {}
    if not hasattr(cls, "__pydantic_fields_set__"):
        return value
    made = cls.__new__(cls)
    # Filled one by one and not with `update`, or the keys would not be shared.
    fields = made.__dict__
    for name, item in value.__dict__.items():
        fields[name] = item if type(item) in _UNCHANGING else _compact(item)
    _set(made, "__pydantic_fields_set__", _NOTHING_GIVEN)
    _set(made, "__pydantic_extra__", value.__pydantic_extra__)
    _set(made, "__pydantic_private__", value.__pydantic_private__)
    return made
