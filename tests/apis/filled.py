"""Objects with every field set, always to the same values: a field that is lost is noticed."""

from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, get_args

from apimachinery.meta.types import ObjectMeta, TypeMeta
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apimachinery.model.model import Model, new_model
from apimachinery.scalars.intstr import INT_OR_STRING
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MICRO_TIME

ModelT = TypeVar("ModelT", bound=Model)

INSTANT = datetime(2024, 2, 29, 12, 30, 45, tzinfo=UTC)
FINE_INSTANT = INSTANT.replace(microsecond=123456)


def filled(cls: type[ModelT], *, within: tuple[type[Model], ...] = ()) -> ModelT:
    """An object of *cls* in which nothing is empty but what the server alone writes.

    A type that holds itself does so once: *within* are the types above.
    """
    above: tuple[type[Model], ...] = (*within, cls)
    return new_model(cls, {found.name: _field(cls, found, above) for found in fields_of(cls)})


def _field(cls: type[Model], found: ModelField, above: tuple[type[Model], ...]) -> Any:
    if issubclass(cls, TypeMeta) and found.name in ("kind", "api_version"):
        return ""
    if cls is ObjectMeta and found.name in ("managed_fields", "resource_version", "self_link"):
        return found.default
    model = found.type.model or _arm(found.type)
    if model is not None and above.count(model) > 1:
        return found.default
    return _value(found.type, found, above)


def _value(kind: TypeInfo, found: ModelField, above: tuple[type[Model], ...]) -> Any:
    model = kind.python if kind.category == "model" else _arm(kind)
    if model is not None:
        return filled(model, within=above)
    if kind.category == "list" and kind.item is not None:
        return [_value(kind.item, found, above)]
    if kind.category == "map" and kind.item is not None:
        return {"key": _value(kind.item, found, above)}
    return {"any": found.wire} if kind.category == "any" else _scalar(kind, found)


def _arm(kind: TypeInfo) -> type[Model] | None:
    """The Model among the alternatives of a union."""
    arms = get_args(kind.python) if kind.category == "scalar" else ()
    return next((arm for arm in arms if isinstance(arm, type) and issubclass(arm, Model)), None)


def _scalar(kind: TypeInfo, found: ModelField) -> Any:
    if kind.marked(INT_OR_STRING):
        return "http"
    if kind.python is datetime:
        return FINE_INSTANT if kind.marked(MICRO_TIME) else INSTANT
    values: dict[Any, Any] = {
        str: next(iter(found.markers.enum or found.markers.known), found.wire),
        bytes: found.wire.encode(),
        int: found.markers.proto if isinstance(found.markers.proto, int) else 3,
        bool: True,
        float: 0.5,
        timedelta: timedelta(minutes=5),
        Quantity: Quantity("2Gi"),
    }
    return values[kind.python]
