"""Lazy decoding: JSON -> Model, each nested object when a program first reads it.

A client that lists ten thousand pods reads a few fields of each. So only an object and its metadata
are decoded at once; every nested object is a placeholder that keeps its parsed JSON. Reading,
changing, comparing, copying or encoding a placeholder decodes its own fields, and turns it into an
ordinary instance of its class. No validator of a nested class is compiled until a value needs one.

The result equals that of `bulk_decode_json`: whatever is unusual, such as a null, a missing
required field, an integer above 64 bits or a value of another type, is left to it. An error of a
nested object is raised when the object is first read.
"""

import os
from abc import ABCMeta
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from threading import RLock
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel

from apimachinery.lenient.bulk_decoding import bulk_decode_json
from apimachinery.lenient.level_plan import LevelPlan, Unusual, dump_plain, is_plain, level_plan
from apimachinery.lenient.shared_fields import SharedFields
from apimachinery.lenient.young_objects import YoungObjects
from apimachinery.model.class_fields import type_info
from apimachinery.model.model import Model, ModelType
from apimachinery.model.wire_rules import wire_name
from apimachinery.scalars.wire_types import FIELDS_V1

ModelT = TypeVar("ModelT", bound=Model)


def lazy_decode_json(cls: type[ModelT], data: bytes | str) -> ModelT:
    """Decode a document of a server, without constraints, its nested objects when they are read.

    Raises DecodeError if the document is malformed, or if its own fields or those of its metadata
    have values of the wrong type.
    """
    try:
        return lazy_decode_document(cls, load_object(data))
    except (Unusual, ValueError):
        return bulk_decode_json(cls, data)


def load_object(data: bytes | str) -> Any:
    """Parse an object, with the sets of managed fields that others have, too.

    Raises ValueError, or Unusual for what only pydantic parses exactly.
    """
    return _SHARED_FIELDS.load(data.encode() if isinstance(data, str) else data)


def lazy_decode_document(cls: type[ModelT], document: Any) -> ModelT:
    """Decode parsed JSON, which then belongs to the object; raises Unusual or ValueError."""
    if type(document) is not dict:
        raise Unusual
    plan: LevelPlan = cls.__dict__.get("__level_plan__") or _plan(cls)
    values = plan.decode(document)
    obj: ModelT = _new(cls)
    _set_values(obj, values)
    return obj


def _decode_now(obj: Any) -> None:
    """Turn a placeholder into an ordinary object; does nothing if it is one already."""
    with _LOCK.of_process():
        cls = getattr(type(obj), "__decoded_class__", None)
        if cls is None:
            return
        document = _get_document(obj)
        _YOUNG_OBJECTS.settle()
        try:
            values = _plan(cls).decode(document)
        except (Unusual, ValueError):
            values = bulk_decode_json(cls, dump_plain(document)).__dict__
        _set_values(obj, values)
        _set_class(obj, cls)
        _drop_document(obj)


def _plan(cls: type[Model]) -> LevelPlan:
    plan: LevelPlan | None = cls.__dict__.get("__level_plan__")
    if plan is None:
        plan = level_plan(cls, _decoder_of)
        type.__setattr__(cls, "__level_plan__", plan)
    return plan


def _decoder_of(cls: type[Model], *, at_once: bool) -> Callable[[dict[str, Any]], Any]:
    """Return the function that decodes the nested objects of a class, or creates placeholders."""
    if not is_plain(cls):
        return lambda document: bulk_decode_json(cls, dump_plain(document))
    if at_once:
        return partial(lazy_decode_document, cls)
    field_sets = _field_sets(cls)
    placeholder: Any = None

    def create(document: dict[str, Any]) -> Any:
        nonlocal placeholder
        if placeholder is None:
            placeholder = _placeholder_class(cls)
        obj = _new(placeholder)
        _set_document(obj, document)
        return obj

    def create_with_sets(document: dict[str, Any]) -> Any:
        for name in field_sets:
            if type(fields := document.get(name)) is dict:
                document[name] = _SHARED_FIELDS.share(fields)
        return create(document)

    return create_with_sets if field_sets else create


def _field_sets(cls: type[Model]) -> tuple[str, ...]:
    """Return the wire names of the fields of a class that hold a FieldsV1."""
    return tuple(
        info.alias or wire_name(name)
        for name, info in cls.__pydantic_fields__.items()
        if type_info(info.annotation, tuple(info.metadata)).marked(FIELDS_V1)
    )


def _placeholder_class(cls: type[Model]) -> Any:
    cached = cls.__dict__.get("__placeholder_class__")
    if cached is None:
        # Not by pydantic's metaclass, which would collect the fields again.
        cached = ABCMeta.__new__(ModelType, cls.__name__, (cls,), dict(_PLACEHOLDER))
        for name, value in (
            ("__module__", cls.__module__),
            ("__qualname__", cls.__qualname__),
            ("__definition__", cls.__definition__),
            ("__decoded_class__", cls),
        ):
            type.__setattr__(cached, name, value)
        type.__setattr__(cls, "__placeholder_class__", cached)
    return cached


class _ProcessLock:
    """A lock for each process: a thread that a forked process lacks may hold that of its parent."""

    def __init__(self) -> None:
        self._locks: dict[int, AbstractContextManager[bool]] = {}

    def of_process(self) -> AbstractContextManager[bool]:
        pid = os.getpid()
        # setdefault is atomic: all threads get the same lock.
        return self._locks.get(pid) or self._locks.setdefault(pid, RLock())


_new: Final[Any] = object.__new__
_slots: Any = BaseModel.__dict__
_set_values: Final = _slots["__dict__"].__set__
_get_values: Final = _slots["__dict__"].__get__
# Models have no private attributes; an ordinary object has nothing in this slot.
_set_document: Final = _slots["__pydantic_private__"].__set__
_get_document: Final = _slots["__pydantic_private__"].__get__
_drop_document: Final = _slots["__pydantic_private__"].__delete__
_set_class: Final = cast(Any, object.__dict__["__class__"]).__set__

_SHARED_FIELDS: Final = SharedFields()
"""Global like the cache of parsed times: most objects of a program come from a few managers."""
_YOUNG_OBJECTS: Final = YoungObjects()
"""Global because a process has only one garbage collector."""
_LOCK: Final = _ProcessLock()
"""Held while a placeholder is decoded: two threads may read one object of a cache."""


# The attributes of placeholders. The class, which type() returns before the first read, creates
# ordinary objects. The others decode first; what follows is that of an ordinary object.


def _create(cls: Any, *args: Any, **values: Any) -> Any:
    return cls.__decoded_class__(*args, **values)


def _construct(cls: Any, *args: Any, **values: Any) -> Any:
    return cls.__decoded_class__.model_construct(*args, **values)


def _values(self: Any) -> dict[str, Any]:
    _decode_now(self)
    return cast(dict[str, Any], _get_values(self))


def _replace_values(self: Any, values: dict[str, Any]) -> None:
    _decode_now(self)
    _set_values(self, values)


def _class(self: Any) -> type:
    _decode_now(self)
    return type(self)


def _private(self: Any) -> None:
    _decode_now(self)


def _getattr(self: Any, name: str) -> Any:
    _decode_now(self)
    return getattr(self, name)


def _setattr(self: Any, name: str, value: Any) -> None:
    _decode_now(self)
    setattr(self, name, value)


def _delattr(self: Any, name: str) -> None:
    _decode_now(self)
    delattr(self, name)


def _equal(self: Any, other: object) -> bool:
    _decode_now(self)
    _decode_now(other)
    return bool(self == other)


def _copy(self: Any) -> Any:
    _decode_now(self)
    return self.__copy__()


def _reduce(self: Any, protocol: Any) -> Any:
    _decode_now(self)
    return self.__reduce_ex__(protocol)


_PLACEHOLDER: Final[dict[str, Any]] = {
    "__slots__": (),
    "__new__": _create,
    "model_construct": classmethod(_construct),
    "__dict__": property(_values, _replace_values),
    "__class__": property(_class),
    "__pydantic_private__": property(_private),
    "__getattr__": _getattr,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__eq__": _equal,
    "__hash__": None,
    "__copy__": _copy,
    "__reduce_ex__": _reduce,
}
