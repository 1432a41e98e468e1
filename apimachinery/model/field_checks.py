"""Checks of field declarations: bounds, enumerations and defaults that do not fit the field.

They run when a class is made, so that the mistake is found where it is written. pydantic would
report some of them when it compiles the class, and others only as a failure of the first request
that sets the field. A class with annotations that cannot be resolved yet is checked when it is
compiled, on its first use.
"""

import operator
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NewType, TypeVar, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from apimachinery.model.markers import Markers
from apimachinery.model.wire_rules import never

_NUMBERS: Final = (int, float, Decimal)
_ORDERED: Final = (_NUMBERS, (timedelta,), (datetime,))
"""The types that can be compared with a bound, and which of them with each other."""

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "lt": operator.lt,
    "multiple_of": lambda value, factor: value % factor == 0,
    "min_length": lambda value, limit: len(value) >= limit,
    "max_length": lambda value, limit: len(value) <= limit,
    "pattern": lambda value, pattern: _matches(value, pattern),
}


def check_field(place: str, info: FieldInfo, markers: Markers) -> None:
    """Raise TypeError, naming *place*, if a field declares what does not fit its type or default.

    An empty default of a field that is omitted when empty means unset, and fits every bound.
    """
    has_values = markers.enum or markers.known
    if markers.publish_enum is not None and not has_values:
        raise TypeError(
            f"{place}: publish_enum without enum or known: there is no value to publish"
        )
    if not (markers.bounds or has_values or markers.selectable):
        return
    annotation = _without_none(info.annotation)
    if isinstance(annotation, TypeVar):
        return  # checked for each class that replaces it by a type
    for name, bound in markers.bounds:
        if not _fits(name, bound, annotation):
            raise TypeError(f"{place}: {name}={bound!r} does not fit {_describe(annotation)}")
    _check_values(place, annotation, markers)
    if markers.selectable and _scalar(annotation) not in (str, int, bool):
        raise TypeError(
            f"{place}: selectable=True does not fit {_describe(annotation)}: field selectors"
            " compare strings, integers and booleans"
        )
    _check_default(place, info, markers)


def _check_values(place: str, annotation: Any, markers: Markers) -> None:
    if markers.enum and markers.known:
        raise TypeError(f"{place}: enum and known exclude each other: a set is closed or open")
    for option, values in (("enum", markers.enum), ("known", markers.known)):
        if not values:
            continue
        if not isinstance(values, tuple) or not all(isinstance(value, str) for value in values):
            raise TypeError(f"{place}: {option}={values!r} is not a tuple of strings")
        if _scalar(_innermost(annotation)) is not str:
            raise TypeError(f"{place}: {option}={values!r} does not fit {_describe(annotation)}")


def _fits(name: str, bound: Any, annotation: Any) -> bool:
    python = _scalar(annotation)
    match name:
        case "min_length" | "max_length":
            is_count = isinstance(bound, int) and not isinstance(bound, bool)
            return is_count and (_is_collection(annotation) or python in (str, bytes))
        case "pattern":
            return python is str and _is_pattern(bound)
        case "multiple_of":
            return python in _NUMBERS and isinstance(bound, _NUMBERS) and bound > 0
        case _:
            return any(
                python in family and isinstance(bound, family) and not isinstance(bound, bool)
                for family in _ORDERED
            )


def _check_default(place: str, info: FieldInfo, markers: Markers) -> None:
    default = _default(info)
    if default is None or (not default and _is_omitted_when_empty(info)):
        return
    for name, bound in markers.bounds:
        if not _COMPARISONS[name](default, bound):
            raise TypeError(f"{place}: its default {default!r} breaks {name}={bound!r}")
    # A string that is always encoded and empty by default must be set: writes without it fail.
    if markers.enum and default:
        for value in _strings(default):
            if value not in markers.enum:
                raise TypeError(f"{place}: its default {value!r} is not in enum={markers.enum!r}")


def _default(info: FieldInfo) -> Any:
    """Return the default, None if there is none or if it depends on other fields."""
    if info.is_required() or info.default_factory in (list, dict):
        return None
    if info.default_factory is not None and info.default_factory_takes_validated_data:
        return None
    return info.get_default(call_default_factory=True)


def _is_omitted_when_empty(info: FieldInfo) -> bool:
    return info.exclude_if is not never


def _strings(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def _matches(value: str, pattern: str) -> bool:
    # The regular expressions are pydantic's, which differ from those of `re`.
    try:
        SchemaValidator(core_schema.str_schema(pattern=pattern)).validate_python(value)
    except ValidationError:
        return False
    return True


def _is_pattern(pattern: Any) -> bool:
    try:
        SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError:
        return False
    return True


def _without_none(annotation: Any) -> Any:
    """Return the type of a field without `Annotated` and without None."""
    arguments = [argument for argument in get_args(annotation) if argument is not NoneType]
    origin = get_origin(annotation)
    if origin is Annotated or (origin in (Union, UnionType) and len(arguments) == 1):
        return _without_none(arguments[0])
    if isinstance(annotation, NewType):
        return _without_none(annotation.__supertype__)
    return annotation


def _is_collection(annotation: Any) -> bool:
    return (get_origin(annotation) or annotation) in (list, dict, Mapping)


def _innermost(annotation: Any) -> Any:
    """Return the type of the items of lists and of the values of maps, at any depth."""
    while _is_collection(annotation) and get_args(annotation):
        annotation = _without_none(get_args(annotation)[-1])
    return annotation


def _scalar(annotation: Any) -> type | None:
    """Return the scalar class that a type is or extends; None for enumerations and others."""
    if not isinstance(annotation, type) or issubclass(annotation, Enum):
        return None
    scalars = (bool, int, float, Decimal, str, bytes, timedelta, datetime)
    return next((scalar for scalar in scalars if issubclass(annotation, scalar)), None)


def _describe(annotation: Any) -> str:
    return annotation.__name__ if type(annotation) is type else str(annotation)
