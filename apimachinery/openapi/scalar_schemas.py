"""Scalars as schemas: types, formats, closed sets, and the bounds that fields declare.

A few scalars have a definition of their own, because Kubernetes publishes them so: instants,
durations, quantities and raw documents. They are told apart by the marker in their annotation.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final, Literal, NewType, TypeVar, get_args, get_origin

from annotated_types import Ge, GroupedMetadata, Gt, Le, Lt, MaxLen, MinLen, MultipleOf
from pydantic.fields import FieldInfo

from apimachinery.model.class_fields import TypeInfo
from apimachinery.openapi.definition_names import META_PACKAGE
from apimachinery.openapi.dialect import Dialect, Schema
from apimachinery.openapi.openapi_errors import UnpublishableType
from apimachinery.scalars.duration import DURATION
from apimachinery.scalars.intstr import INT_OR_STRING
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MICRO_TIME, TIME
from apimachinery.scalars.wire_types import (
    BASE64,
    FIELDS_V1,
    INT32,
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    RAW,
)

ANYTHING: Final = "x-kubernetes-preserve-unknown-fields"


@dataclass(frozen=True, slots=True)
class NamedScalar:
    """A scalar with a definition of its own; of several *types* v2 has only one."""

    name: str
    description: str
    types: tuple[str, ...]
    format: str = ""
    v2_type: str = ""

    def schema(self, dialect: Dialect) -> Schema:
        schema: Schema = {"description": self.description}
        if self.format:
            schema["format"] = self.format
        if len(self.types) > 1 and dialect.has_one_of:
            schema["oneOf"] = [{"type": name} for name in self.types]
        else:
            schema["type"] = self.v2_type or self.types[0]
        return schema


_TIME: Final = NamedScalar(
    f"{META_PACKAGE}.Time", "An instant to the second, in RFC 3339.", ("string",), "date-time"
)
_MICRO_TIME: Final = NamedScalar(
    f"{META_PACKAGE}.MicroTime",
    "An instant to the microsecond, in RFC 3339.",
    ("string",),
    "date-time",
)
_DURATION: Final = NamedScalar(
    f"{META_PACKAGE}.Duration",
    "A length of time: numbers with units from ns to h, such as 1h30m or 300ms.",
    ("string",),
)
_FIELDS_V1: Final = NamedScalar(
    f"{META_PACKAGE}.FieldsV1",
    "A set of field paths as a tree. A key is '.' for the node itself, 'f:<name>' for a field or a"
    " key of a map, 'k:<keys>' for the element of a list with these keys, 'v:<value>' for the"
    " element with this value, or 'i:<index>' for the element at this place.",
    ("object",),
)
_RAW: Final = NamedScalar(
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
    "A whole document of another type, with its own apiVersion and kind.",
    ("object",),
)
_QUANTITY: Final = NamedScalar(
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "An exact number with an optional suffix: n, u, m, k, M, G, T, P or E for powers of 1000, Ki to"
    " Ei for powers of 1024, or a decimal exponent such as e3. It is written back in canonical"
    " form: without a fraction, with the largest suffix that loses nothing.",
    ("string", "number"),
)
_INT_OR_STRING: Final = NamedScalar(
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    "A number of 32 bits, or a text such as a percentage or the name of a port.",
    ("integer", "string"),
    "int-or-string",
    v2_type="string",
)
PATCH: Final = NamedScalar(
    f"{META_PACKAGE}.Patch", "A change to an object; the content type says which.", ("object",)
)

_BY_MARKER: Final = (
    (TIME, _TIME),
    (MICRO_TIME, _MICRO_TIME),
    (DURATION, _DURATION),
    (FIELDS_V1, _FIELDS_V1),
    (RAW, _RAW),
    (INT_OR_STRING, _INT_OR_STRING),
)
_PLAIN: Final[tuple[tuple[type, Schema], ...]] = (
    (bool, {"type": "boolean"}),
    (int, {"format": "int64", "type": "integer"}),
    (float, {"format": "double", "type": "number"}),
    (Decimal, {"type": "number"}),
    (str, {"type": "string"}),
    (bytes, {"format": "byte", "type": "string"}),
    (datetime, {"format": "date-time", "type": "string"}),
    (timedelta, {"type": "string"}),
)
_EXACTLY: Final = dict(_PLAIN)


def named_scalar(info: TypeInfo) -> NamedScalar | None:
    """The definition that a type refers to, if it is not a Model's."""
    if isinstance(info.python, type) and issubclass(info.python, Quantity):
        return _QUANTITY
    if not info.metadata:
        return None
    return next((named for marker, named in _BY_MARKER if info.marked(marker)), None)


def bare_scalar(info: TypeInfo) -> Schema | None:
    """The schema of a type without any marker or bound: the short way for most fields."""
    if info.metadata or type(info.python) is not type:
        return None
    known = _EXACTLY.get(info.python)
    return None if known is None else dict(known)


def plain_scalar(info: TypeInfo, place: str) -> Schema:
    """The schema of a scalar without a definition; *place* is named if there is none."""
    if info.marked(INT32):
        return {"format": "int32", "type": "integer"}
    if info.marked(BASE64):
        return {"format": "byte", "type": "string"}
    python = info.python
    while isinstance(python, NewType):
        python = python.__supertype__
    if isinstance(python, TypeVar):
        return {ANYTHING: True}
    values = closed_set(python)
    if values is not None:
        return {**_plain_type(type(values[0]), place), "enum": list(values)}
    return _plain_type(python, place)


def closed_set(python: Any) -> tuple[Any, ...] | None:
    """The values of a Literal or an Enum in order, or None for any other type."""
    if type(python) is type:  # an ordinary class, as nearly all are
        return None
    if get_origin(python) is Literal:
        found = get_args(python)
    elif isinstance(python, type) and issubclass(python, Enum) and len(python):
        found = tuple(member.value for member in python)
    else:
        return None
    values = dict.fromkeys(each.value if isinstance(each, Enum) else each for each in found)
    return tuple(sorted(values, key=lambda value: (str(type(value)), value)))


def _plain_type(python: Any, place: str) -> Schema:
    if isinstance(python, type):
        for known, schema in _PLAIN:
            if issubclass(python, known):
                return dict(schema)
    raise UnpublishableType(place, f"there is no OpenAPI type for {python!r}")


def constraints(info: TypeInfo, schema: Schema) -> Schema:
    """What the annotation demands beyond the type; of several bounds the narrowest."""
    parts = tuple(_flat(info.metadata))
    if not parts:
        return {}
    size = {"array": "Items", "object": "Properties"}.get(schema.get("type", ""), "Length")
    found = {**_lower_bound(parts), **_upper_bound(parts)}
    if shortest := [part.min_length for part in parts if isinstance(part, MinLen)]:
        found[f"min{size}"] = max(shortest)
    if longest := [part.max_length for part in parts if isinstance(part, MaxLen)]:
        found[f"max{size}"] = min(longest)
    for part in parts:
        if isinstance(part, MultipleOf) and _is_number(part.multiple_of):
            found["multipleOf"] = part.multiple_of
        pattern = getattr(part, "pattern", None)
        if isinstance(pattern, str | re.Pattern):
            found["pattern"] = pattern if isinstance(pattern, str) else pattern.pattern
    return found


def _flat(metadata: Iterable[Any]) -> Iterator[Any]:
    for part in metadata:
        if isinstance(part, FieldInfo):
            yield from _flat(part.metadata)
        elif isinstance(part, GroupedMetadata):
            yield from _flat(part)
        else:
            yield part


def _lower_bound(parts: Iterable[Any]) -> Schema:
    bounds: list[tuple[Any, bool]] = []
    bounds += [(part.ge, False) for part in parts if isinstance(part, Ge) and _is_number(part.ge)]
    bounds += [(part.gt, True) for part in parts if isinstance(part, Gt) and _is_number(part.gt)]
    bound, exclusive = max(bounds, default=(INT64_MIN, False))
    # The ends of the integers are what the format says.
    if not exclusive and bound in (INT32_MIN, INT64_MIN):
        return {}
    return {"minimum": bound, "exclusiveMinimum": True} if exclusive else {"minimum": bound}


def _upper_bound(parts: Iterable[Any]) -> Schema:
    bounds: list[tuple[Any, bool]] = []
    bounds += [(part.le, True) for part in parts if isinstance(part, Le) and _is_number(part.le)]
    bounds += [(part.lt, False) for part in parts if isinstance(part, Lt) and _is_number(part.lt)]
    bound, inclusive = min(bounds, default=(INT64_MAX, True))
    if inclusive and bound in (INT32_MAX, INT64_MAX):
        return {}
    return {"maximum": bound} if inclusive else {"maximum": bound, "exclusiveMaximum": True}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
