"""Sample objects: an object of a class with every field set, and one with required fields only.

The values are always the same and derived from the fields, so that samples can be stored in files
and a field that is lost or swapped is noticed.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MinLen

from apimachinery.meta.types import ObjectMeta, TypeMeta
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apimachinery.model.decoding import union_model
from apimachinery.model.model import Model, new_model
from apimachinery.scalars.intstr import INT_OR_STRING
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MICRO_TIME

ModelT = TypeVar("ModelT", bound=Model)

INSTANT: Final = datetime(2024, 2, 29, 12, 30, 45, tzinfo=UTC)
FINE_INSTANT: Final = INSTANT.replace(microsecond=123456)


def complete_object(cls: type[ModelT]) -> ModelT:
    """Return an object of *cls* in which every field is set, except those only the server writes.

    An object of a recursive type contains another one, once. Raises TypeError for a type that has
    no sample.
    """
    return _Sampler(required_only=False).model(cls, ())


def minimal_object(cls: type[ModelT]) -> ModelT:
    """Return an object of *cls* in which only required fields are set; others have defaults."""
    return _Sampler(required_only=True).model(cls, ())


class _Sampler:
    def __init__(self, *, required_only: bool) -> None:
        self._required_only = required_only

    def model(self, cls: type[ModelT], above: tuple[type[Model], ...]) -> ModelT:
        within: tuple[type[Model], ...] = (*above, cls)
        return new_model(cls, {f.name: self._field(cls, f, within) for f in fields_of(cls)})

    def _field(self, cls: type[Model], field: ModelField, within: tuple[type[Model], ...]) -> Any:
        if issubclass(cls, TypeMeta) and field.name in ("kind", "api_version"):
            return ""
        if cls is ObjectMeta and field.name in ("managed_fields", "resource_version", "self_link"):
            return field.default
        if self._required_only and not field.required:
            return field.default
        model = field.type.model or _union_class(field.type)
        if model is not None and within.count(model) > 1:
            return _end_of_recursion(field)
        return self._value(field.type, field, within)

    def _value(self, kind: TypeInfo, field: ModelField, within: tuple[type[Model], ...]) -> Any:
        model = kind.python if kind.category == "model" else _union_class(kind)
        if model is not None:
            return self.model(model, within)
        if kind.category == "any":
            return {"any": field.wire}
        if kind.item is None:
            return _scalar(kind, field)
        count = max(1, _bound(kind, MinLen, "min_length") or 0)
        items = [self._value(kind.item, field, within) for _ in range(count)]
        if kind.category == "list":
            return items
        return {f"key{position or ''}": item for position, item in enumerate(items)}


def _union_class(kind: TypeInfo) -> type[Model] | None:
    model = union_model(kind)
    return None if model is None else model.python


def _end_of_recursion(field: ModelField) -> Any:
    if not field.required:
        return field.default
    return None if field.type.optional else field.type.python()


def _scalar(kind: TypeInfo, field: ModelField) -> Any:
    if kind.marked(INT_OR_STRING):
        return "http"
    python = kind.python
    if get_origin(python) is Literal:
        return get_args(python)[0]
    if get_origin(python) is Union:
        python = get_args(python)[0]
    if isinstance(python, type) and issubclass(python, Enum):
        return next(iter(python))
    if python is datetime:
        return FINE_INSTANT if kind.marked(MICRO_TIME) else INSTANT
    if python is int:
        return _integer(kind, field)
    if python is str:
        text = next(iter(field.markers.enum or field.markers.known), field.wire)
        return text.ljust(_bound(kind, MinLen, "min_length") or 0, "x")
    values: dict[Any, Any] = {
        bytes: field.wire.encode(),
        bool: True,
        float: 0.5,
        Decimal: Decimal("0.5"),
        timedelta: timedelta(minutes=5),
        Quantity: Quantity("2Gi"),
    }
    if python in values:
        return values[python]
    if not field.required:
        return field.default
    raise TypeError(f"there is no sample of {python!r}, the type of {field.name}")


def _integer(kind: TypeInfo, field: ModelField) -> int:
    """Return the protobuf number of the field, or 3, or the nearest number within the bounds."""
    number = field.markers.proto if isinstance(field.markers.proto, int) else 3
    lows = (_bound(kind, Ge, "ge"), _add(_bound(kind, Gt, "gt"), 1))
    highs = (_bound(kind, Le, "le"), _add(_bound(kind, Lt, "lt"), -1))
    number = max([number, *(low for low in lows if low is not None)])
    return min([number, *(high for high in highs if high is not None)])


def _bound(kind: TypeInfo, constraint: type[Any], name: str) -> int | None:
    """Return the bound that was declared last, which is that of the field."""
    found = [getattr(part, name) for part in kind.metadata if isinstance(part, constraint)]
    return int(found[-1]) if found else None


def _add(bound: int | None, number: int) -> int | None:
    return None if bound is None else bound + number
