"""Status: only the status subresource writes it; every other write keeps or resets it."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.model import deep_copy

T = TypeVar("T", bound=Object)

_FIELD = "status"


def drop_status(obj: Object) -> None:
    """Reset the status of a new object to the default of its kind."""
    if isinstance(obj, Unstructured):
        obj.content.pop(_FIELD, None)
    else:
        setattr(obj, _FIELD, _initial(type(obj)))


def keep_status(new: Object, old: Object) -> None:
    """Copy the status of *old* into *new*."""
    if not isinstance(new, Unstructured):
        setattr(new, _FIELD, deep_copy(getattr(old, _FIELD)))
    elif isinstance(old, Unstructured) and _FIELD in old:
        new[_FIELD] = deep_copy(old[_FIELD])
    else:
        new.content.pop(_FIELD, None)


def only_status(new: T, old: T, *, with_metadata: bool = False) -> T:
    """Return *old* with the status and the managedFields, or all metadata, of *new*."""
    merged = old.deep_copy()
    if with_metadata:
        merged.metadata = new.metadata
    else:
        merged.metadata.managed_fields = new.metadata.managed_fields
    keep_status(merged, new)
    return merged


def check_status(cls: type[Object]) -> None:
    """Raise TypeError for a class whose status has no default."""
    if issubclass(cls, Unstructured):
        return
    info = cls.__pydantic_fields__.get(_FIELD)
    if info is None or info.is_required():
        raise TypeError(f"{cls.__qualname__} has a status subresource: give its status a default")


def _initial(cls: type[Object]) -> Any:
    # Not `get_default`, which inspects the signature of the factory on every call.
    info = cls.__pydantic_fields__[_FIELD]
    if info.default_factory is None:
        return deep_copy(info.default)
    return cast(Callable[[], Any], info.default_factory)()
