"""Values as expressions see them: by the types of their schema.

Where JSON has only texts and numbers, expressions know instants, durations, bytes and doubles; and
a property whose name is no name in CEL is reached by another. What needs none of this, which is
nearly everything, is handed over as it is.
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
from apimachinery.structural.node import Node

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


def escaped(name: str) -> str:
    """The name by which expressions reach a property."""
    if name in _RESERVED:
        return f"__{name}__"
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], name)


def compile_conversion(node: Node, *, root: bool = False) -> Convert | None:
    """What makes a value of *node* one that expressions understand; None if it is one."""
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


def _resource(node: Node) -> Convert:
    """A whole resource, of whose metadata only the names are known."""
    members = _members(node) or (lambda value: value)

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        metadata = value.get("metadata") or {}
        names = {key: metadata[key] for key in ("name", "generateName") if key in metadata}
        return {**members(value), "metadata": names}

    return convert


def _members(node: Node) -> Convert | None:
    parts = ((name, compile_conversion(part)) for name, part in node.properties.items())
    below = {name: found for name, found in parts if found is not None}
    renamed = {name: escaped(name) for name in node.properties if escaped(name) != name}
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


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _timestamp(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    made = Timestamp()
    try:
        made.FromDatetime(parse_micro_time(value))
    except ValueError:
        return value
    return made


def _date(value: Any) -> Any:
    return _timestamp(f"{value}T00:00:00Z")


def _duration(value: Any) -> Any:
    made = Duration()
    try:
        made.FromTimedelta(parse_duration(value))
    except (InvalidDuration, TypeError):
        return value
    return made


def _bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return value


_SCALARS: Final[dict[tuple[str, str], Convert]] = {
    ("number", ""): _number,
    ("string", "date-time"): _timestamp,
    ("string", "datetime"): _timestamp,
    ("string", "date"): _date,
    ("string", "duration"): _duration,
    ("string", "byte"): _bytes,
}
