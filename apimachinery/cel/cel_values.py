"""CEL values: convert JSON values to the types of CEL, by their schema.

Where JSON has only strings and numbers, CEL has timestamps, durations, bytes and doubles. A
property whose name is not a CEL identifier gets an escaped name. Most values need no
conversion and are passed on as they are.
"""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any, Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from apimachinery.scalars.duration import InvalidDuration, parse_duration
from apimachinery.scalars.time import parse_micro_time
from apimachinery.structural.schema_node import SchemaNode

Convert = Callable[[Any], Any]

_RESERVED: Final = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    )
)
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_SPECIAL: Final = re.compile(r"__|[./-]")


def escape(name: str) -> str:
    """Return the name of a property as CEL identifier: `a__dash__b` for `a-b`."""
    if name in _RESERVED:
        return f"__{name}__"
    return _SPECIAL.sub(lambda match: _ESCAPES[match[0]], name)


def compile_conversion(node: SchemaNode, *, root: bool = False) -> Convert | None:
    """Compile the conversion of values of *node*; None if they need none."""
    if root or node.embedded:
        return _resource(node)
    if node.properties:
        return _members(node)
    if node.additional is not None:
        return _each_value(compile_conversion(node.additional))
    if node.items is not None:
        return _each_item(compile_conversion(node.items))
    return _SCALARS.get((node.type, node.source.get("format", ""))) or _SCALARS.get((node.type, ""))


def _each_value(below: Convert | None) -> Convert | None:
    if below is None:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: below(item) for key, item in value.items()}

    return convert


def _each_item(below: Convert | None) -> Convert | None:
    if below is None:
        return None
    return lambda value: [below(item) for item in value] if isinstance(value, list) else value


def _resource(node: SchemaNode) -> Convert:
    """Convert a whole resource; rules can use only the names in its metadata."""
    members = _members(node) or (lambda value: value)

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        metadata = value.get("metadata")
        present = metadata if isinstance(metadata, dict) else {}
        names = {key: present[key] for key in ("name", "generateName") if key in present}
        return {**members(value), "metadata": names}

    return convert


def _members(node: SchemaNode) -> Convert | None:
    parts = ((name, compile_conversion(part)) for name, part in node.properties.items())
    below = {name: conversion for name, conversion in parts if conversion is not None}
    renamed = {name: escape(name) for name in node.properties if escape(name) != name}
    if not below and not renamed:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            renamed.get(key, key): below[key](item) if key in below else item
            for key, item in value.items()
        }

    return convert


def _to_double(value: Any) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    try:
        return float(value)
    except OverflowError:
        return value


def _to_timestamp(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    timestamp = Timestamp()
    try:
        timestamp.FromDatetime(parse_micro_time(value))
    except (ValueError, OverflowError):
        return value
    return timestamp


def _date_to_timestamp(value: Any) -> Any:
    return _to_timestamp(f"{value}T00:00:00Z") if isinstance(value, str) else value


def _to_duration(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    duration = Duration()
    try:
        duration.FromTimedelta(parse_duration(value))
    except (InvalidDuration, ValueError, OverflowError):
        return value
    return duration


def _to_bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return value


_SCALARS: Final[dict[tuple[str, str], Convert]] = {
    ("number", ""): _to_double,
    ("string", "date-time"): _to_timestamp,
    ("string", "datetime"): _to_timestamp,
    ("string", "date"): _date_to_timestamp,
    ("string", "duration"): _to_duration,
    ("string", "byte"): _to_bytes,
}
