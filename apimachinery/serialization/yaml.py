"""YAML: load it as JSON values by Kubernetes' rules.

PyYAML implements YAML 1.1 strictly; Kubernetes' parser does not, and a manifest must mean the same
here: a date stays a string, `1:30` is not ninety, keys become strings, `<<` merges. Duplicate keys
are reported with their paths and with the messages of Kubernetes' parser.

Values are built from the parser's events instead of PyYAML's nodes, because PyYAML's composer
recurses until the process runs out of stack. Aliases may share parts of a document, but count
towards a size limit as if each had been written out.
"""

import base64
import binascii
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from apimachinery.fieldpath import Path, quote, shorten
from apimachinery.model.decoding import MAX_DEPTH, DecodeError
from apimachinery.serialization.document_size import (
    MAX_DUPLICATES,
    MAX_VALUES,
    too_many_values,
)

MAX_ALIASED = 3 * 1024 * 1024
"""The maximum number of characters that all aliases together may add to a document."""

_LARGE = 64 * 1024
"""The length from which on the parser reads a text in pieces."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INT = re.compile(r"[-+]?(?:0[bB][01]+|0[oO][0-7]+|0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    "y": True,
    "Y": True,
    "n": False,
    "N": False,
}
_TAG = "tag:yaml.org,2002:"
_TAGS = frozenset(("str", "int", "float", "bool", "null", "timestamp", "binary", "merge", "value"))


def load_yaml(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """Load the only document in *data*: its JSON value, and the paths of its duplicate keys.

    The value must not be changed, because aliases share parts of it. Raises DecodeError.
    """
    value, duplicates = load_strict(data)
    return value, tuple(duplicates)


def load_strict(data: bytes) -> tuple[Any, dict[str, str]]:
    """Load like `load_yaml`; the duplicate keys map each path to the parser's message.

    A message is `line 3: key "a" already set in map`.
    """
    documents = _read_documents(data, several=False)
    return documents[0] if documents else (None, {})


def load_all_yaml(data: bytes) -> list[tuple[Any, tuple[str, ...]]]:
    """Load every document in *data* like `load_yaml`."""
    return [(value, tuple(duplicates)) for value, duplicates in _read_documents(data, several=True)]


def _read_documents(data: bytes, *, several: bool) -> list[tuple[Any, dict[str, str]]]:
    try:
        # Many documents come from files, not from clients.
        max_values = math.inf if several else MAX_VALUES
        text = data.decode("utf-8")
        source = text if len(text) < _LARGE else _Source(text)
        reader = _Reader(yaml.parse(source, Loader=_LOADER), max_values)
        return list(reader.documents(several=several))
    except UnicodeDecodeError as error:
        raise DecodeError(f"yaml: not UTF-8 at byte {error.start}") from None
    except yaml.YAMLError as error:
        raise DecodeError(f"yaml: {_format_error(error)}") from None


class _Source:
    """A text that the parser reads in pieces.

    Between two pieces it is Python code that runs, so that other threads can have their turn: the
    parser itself keeps the interpreter lock until a value is complete, even one of 3 MiB.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def read(self, size: int = _LARGE, /) -> str:
        start = self._position
        self._position = start + size
        return self._text[start : start + size]


@dataclass(frozen=True, slots=True)
class _Anchored:
    value: Any
    size: int
    values: int


class _Reader:
    """Builds JSON values from parser events, and collects duplicate keys."""

    def __init__(self, events: Iterator[yaml.Event], max_values: float) -> None:
        self.duplicates: dict[str, str] = {}
        """Path of a duplicate key -> the message about it."""
        self._events = events
        self._max_values = max_values
        self._anchors: dict[str, _Anchored | None] = {}
        """None for an anchor whose value is not complete yet."""
        self._size = 0
        """Characters of the document so far, with aliases written out."""
        self._values = 0
        """Keys and values so far, with aliases written out."""
        self._aliased = 0
        """The share of *_size* that comes from aliases."""
        self._steps: list[str | int] = []
        """The keys and positions from the root to the current value."""

    def documents(self, *, several: bool) -> Iterator[tuple[Any, dict[str, str]]]:
        first = True
        for event in self._events:
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            if not first and not several:
                raise DecodeError(f"yaml: {_location(event)}: expected one document, not several")
            first = False
            self.duplicates = {}
            self._anchors.clear()
            yield self._read_value(next(self._events), 0), self.duplicates

    def _read_value(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self._read_alias(event)
        if event.anchor is None:
            return self._read_node(event, depth)
        start, values_before = self._size, self._values
        self._anchors[event.anchor] = None
        value = self._read_node(event, depth)
        self._anchors[event.anchor] = _Anchored(
            value, self._size - start, self._values - values_before
        )
        return value

    def _read_node(self, event: Any, depth: int) -> Any:
        values = self._values = self._values + 1
        if values > self._max_values:
            raise too_many_values()
        if isinstance(event, yaml.ScalarEvent):
            self._size += len(event.value) + 1
            return _resolve_scalar(event)
        self._size += 1
        if depth >= MAX_DEPTH:
            path = shorten(self._path(), 200)
            raise DecodeError(f"yaml: nested deeper than {MAX_DEPTH} at {path}")
        if isinstance(event, yaml.MappingStartEvent):
            return self._read_mapping(depth)
        return self._read_sequence(depth)

    def _read_alias(self, event: yaml.AliasEvent) -> Any:
        if event.anchor not in self._anchors:
            raise DecodeError(
                f"yaml: {_location(event)}: unknown anchor {event.anchor!r} referenced"
            )
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise DecodeError(f"yaml: {_location(event)}: anchor {event.anchor!r} contains itself")
        self._size += anchored.size
        self._aliased += anchored.size
        self._values += anchored.values
        if self._aliased > MAX_ALIASED or self._values > self._max_values:
            raise DecodeError(f"yaml: {_location(event)}: document contains excessive aliasing")
        return anchored.value

    def _path(self) -> str:
        path = Path()
        for step in self._steps:
            path = path.index(step) if isinstance(step, int) else path.member(step)
        return str(path)

    def _read_sequence(self, depth: int) -> list[Any]:
        items: list[Any] = []
        self._steps.append(0)
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            self._steps[-1] = len(items)
            items.append(self._read_value(event, depth + 1))
        self._steps.pop()
        return items

    def _read_mapping(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if _is_merge(event):
                for part in _merge_parts(event, self._read_value(next(self._events), depth + 1)):
                    for key, value in part.items():
                        merged.setdefault(key, value)
                continue
            name = self._read_value(event, depth + 1)
            key = _key_text(event, name)
            event = next(self._events)
            self._steps.append(key)
            value = self._read_value(event, depth + 1)
            if key in members and len(self.duplicates) < MAX_DUPLICATES:
                message = f"{_location(event)}: key {_format_key(name)} already set in map"
                self.duplicates[self._path()] = message
            self._steps.pop()
            members[key] = value
        return {**merged, **members} if merged else members


def _is_merge(event: Any) -> bool:
    """Return whether a key is a plain `<<`; a quoted one is an ordinary key."""
    return isinstance(event, yaml.ScalarEvent) and (
        event.tag == f"{_TAG}merge" or (event.value == "<<" and event.implicit[0])
    )


def _merge_parts(key: yaml.Event, value: Any) -> list[dict[str, Any]]:
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, dict) for part in parts):
        raise DecodeError(f"yaml: {_location(key)}: map merge requires map or sequence of maps")
    return parts


def _resolve_scalar(event: yaml.ScalarEvent) -> Any:
    text: str = event.value
    if event.tag == "!":  # the non-specific tag: a string, whatever it looks like
        return text
    if event.tag:
        return _resolve_tagged(event, event.tag, text)
    return _resolve_plain(text) if event.implicit[0] else text


def _resolve_tagged(event: yaml.ScalarEvent, tag: str, text: str) -> Any:
    name = tag.removeprefix(_TAG)
    if name not in _TAGS:
        raise DecodeError(f"yaml: {_location(event)}: unknown tag {tag!r}")
    if name == "binary":
        return _decode_binary(event, text)
    quoted = event.style and name != "int"
    return text if name == "str" or quoted else _resolve_plain(text)


def _resolve_plain(text: str) -> Any:
    """Resolve an unquoted scalar; a number that fits neither 64 bits nor a float is a string."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _NOT_FINITE.fullmatch(text):
        raise DecodeError(f"json: unsupported value: {_not_finite(text)}")
    if len(text) > _LONGEST_NUMBER or text[0] not in "+-.0123456789":
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    number: float | None = _parse_integer(digits) if _INT.fullmatch(digits) else None
    if number is None and _FLOAT.fullmatch(digits):
        number = float(digits)
    return text if number is None or abs(number) == float("inf") else number


def _not_finite(text: str) -> str:
    """Return how Go writes a number that JSON does not have."""
    if text.lower().endswith("nan"):
        return "NaN"
    return "-Inf" if text.startswith("-") else "+Inf"


_LONGEST_NUMBER = 400
"""Longer scalars stay strings: no number of 64 bits has more digits, except for zeros."""


def _parse_integer(text: str) -> int | None:
    digits = text.lstrip("+-")
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdecimal()
    value = int(digits, 8 if octal else 0)
    value = -value if text.startswith("-") else value
    return value if -(2**63) <= value < 2**64 else None


def _key_text(event: yaml.Event, value: Any) -> str:
    if isinstance(value, dict | list):
        raise DecodeError(f"yaml: {_location(event)}: a key must be a scalar")
    if value is None:
        raise DecodeError(f"yaml: {_location(event)}: a key must not be null")
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _format_key(key: Any) -> str:
    return quote(shorten(key)) if isinstance(key, str) else str(key).lower()


def _decode_binary(event: yaml.ScalarEvent, text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        raise DecodeError(f"yaml: {_location(event)}: !!binary is not base64 of UTF-8") from None


def _location(event: yaml.Event | None) -> str:
    return f"line {event.start_mark.line + 1}" if event and event.start_mark else "unknown line"


def _format_error(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).split("\n")[0]
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)
