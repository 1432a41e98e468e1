"""Schemas of scalars: types, formats, enums, and the constraints that fields declare.

Times, durations, quantities, raw documents and a few other scalars have a definition of their own,
because Kubernetes publishes them so. They are recognized by the marker in their annotation.
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
    OpaqueType,
)

PRESERVE_UNKNOWN: Final = "x-kubernetes-preserve-unknown-fields"


@dataclass(frozen=True, slots=True)
class NamedScalar:
    """A scalar with a definition of its own; OpenAPI v2 publishes only one of several *types*.

    An opaque type has none.
    """

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
        elif self.types:
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
    "A duration: numbers with units from ns to h, such as 1h30m or 300ms.",
    ("string",),
)
_FIELDS_V1: Final = NamedScalar(
    f"{META_PACKAGE}.FieldsV1",
    "A set of field paths as a tree. A key is '.' for the node itself, 'f:<name>' for a field or a"
    " key of a map, 'k:<keys>' for the list item with these keys, 'v:<value>' for the item with"
    " this value, or 'i:<index>' for the item at this index.",
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
    " Ei for powers of 1024, or a decimal exponent such as e3. It is serialized in canonical form:"
    " without a fraction, with the largest suffix that keeps the exact value.",
    ("string", "number"),
)
_INT_OR_STRING: Final = NamedScalar(
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    "A 32-bit integer, or a string such as a percentage or the name of a port.",
    ("integer", "string"),
    "int-or-string",
    v2_type="string",
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
_PLAIN_BY_TYPE: Final = dict(_PLAIN)


def named_scalar(info: TypeInfo) -> NamedScalar | None:
    """Return the definition of a scalar that has one of its own, else None."""
    if isinstance(info.python, type) and issubclass(info.python, Quantity):
        return _QUANTITY
    if not info.metadata:
        return None
    for part in info.metadata:
        if isinstance(part, OpaqueType):
            return NamedScalar(part.definition, part.description, ())
    return next((scalar for marker, scalar in _BY_MARKER if info.marked(marker)), None)


def bare_scalar(info: TypeInfo) -> Schema | None:
    """Return the schema of a plain type without marker or constraint, else None.

    A shortcut for most fields.
    """
    if info.metadata or type(info.python) is not type:
        return None
    schema = _PLAIN_BY_TYPE.get(info.python)
    return None if schema is None else dict(schema)


def plain_scalar(info: TypeInfo, place: str) -> Schema:
    """Return the schema of a scalar without a definition of its own.

    Raises UnpublishableType, naming *place*, if OpenAPI has no type for it.
    """
    if info.marked(INT32):
        return {"format": "int32", "type": "integer"}
    if info.marked(BASE64):
        return {"format": "byte", "type": "string"}
    python = info.python
    while isinstance(python, NewType):
        python = python.__supertype__
    if isinstance(python, TypeVar):
        return {PRESERVE_UNKNOWN: True}
    values = enum_values(python)
    if values is not None:
        return {**_plain_type(type(values[0]), place), "enum": list(values)}
    return _plain_type(python, place)


def enum_values(python: Any) -> tuple[Any, ...] | None:
    """Return the sorted values of a Literal or Enum, or None for any other type."""
    if type(python) is type:  # an ordinary class: the most common case
        return None
    if get_origin(python) is Literal:
        members = get_args(python)
    elif isinstance(python, type) and issubclass(python, Enum) and len(python):
        members = tuple(member.value for member in python)
    else:
        return None
    values = dict.fromkeys(
        member.value if isinstance(member, Enum) else member for member in members
    )
    return tuple(sorted(values, key=lambda value: (str(type(value)), value)))


def _plain_type(python: Any, place: str) -> Schema:
    if isinstance(python, type):
        for scalar_type, schema in _PLAIN:
            if issubclass(python, scalar_type):
                return dict(schema)
    raise UnpublishableType(place, f"OpenAPI has no type for {python!r}")


def constraints(info: TypeInfo, schema: Schema) -> Schema:
    """Return the constraints of an annotation; of several bounds, the narrowest."""
    parts = tuple(_flatten(info.metadata))
    if not parts:
        return {}
    size = {"array": "Items", "object": "Properties"}.get(schema.get("type", ""), "Length")
    limits = {**_lower_bound(parts), **_upper_bound(parts)}
    if minimums := [part.min_length for part in parts if isinstance(part, MinLen)]:
        limits[f"min{size}"] = max(minimums)
    if maximums := [part.max_length for part in parts if isinstance(part, MaxLen)]:
        limits[f"max{size}"] = min(maximums)
    for part in parts:
        if isinstance(part, MultipleOf) and _is_number(part.multiple_of):
            limits["multipleOf"] = part.multiple_of
        pattern = getattr(part, "pattern", None)
        if isinstance(pattern, str | re.Pattern):
            limits["pattern"] = pattern if isinstance(pattern, str) else pattern.pattern
    return limits


def _flatten(metadata: Iterable[Any]) -> Iterator[Any]:
    for part in metadata:
        if isinstance(part, FieldInfo):
            yield from _flatten(part.metadata)
        elif isinstance(part, GroupedMetadata):
            yield from _flatten(part)
        else:
            yield part


def _lower_bound(parts: Iterable[Any]) -> Schema:
    bounds: list[tuple[Any, bool]] = []
    bounds += [(part.ge, False) for part in parts if isinstance(part, Ge) and _is_number(part.ge)]
    bounds += [(part.gt, True) for part in parts if isinstance(part, Gt) and _is_number(part.gt)]
    bound, exclusive = max(bounds, default=(INT64_MIN, False))
    # The format (int32, int64) already implies the limits of integers.
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
