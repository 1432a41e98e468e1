"""Serializers: convert documents between a media type and JSON, independently of their kind.

A serializer converts received bytes to JSON, together with the paths of duplicate keys, and
converts JSON to the bytes of a response. The codec decodes the JSON. Protobuf is not among the
serializers, because it cannot be decoded without the type of the message.

The functions that need YAML import it: programs that use only JSON need not load its parser.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from apimachinery.fieldpath import Path
from apimachinery.model.decoding import MAX_DEPTH, DecodeError, load_json
from apimachinery.serialization.document_size import (
    MAX_BYTES,
    MAX_DUPLICATES,
    check_values,
    has_many_values,
)
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML


@dataclass(frozen=True, slots=True)
class Document:
    """A document as JSON, and the paths of its duplicate keys."""

    json: bytes
    duplicates: tuple[str, ...] = ()
    yaml_messages: tuple[str, ...] = ()
    """The message of the YAML parser about each duplicate key; *json* contains the key once."""


@dataclass(frozen=True, slots=True)
class Serializer:
    """Reads and writes the documents of one media type."""

    media_type: str
    stream_media_type: str
    """The media type of a stream of documents; empty if documents cannot be streamed."""
    read: Callable[[bytes, bool], Document]
    """(data, whether to find duplicate keys) -> document; raises DecodeError."""
    write: Callable[[bytes], bytes]
    write_pretty: Callable[[bytes], bytes]
    frame: Callable[[bytes], bytes]


def read_json(data: bytes, find_duplicates: bool = False) -> Document:
    """Return *data* as it is; it is parsed only to find duplicate keys.

    Raises TooLarge for a document with too many values.
    """
    check_values(data)
    if not find_duplicates or not _may_have_duplicates(data):
        return Document(data)
    has_duplicates = False

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_duplicates
        members = dict(pairs)
        if len(members) != len(pairs):
            has_duplicates = True
            members = _WithDuplicates(members)
            members.names = _duplicate_names(pairs)
        return members

    parsed = load_json(data, object_pairs_hook=collect)
    if not has_duplicates:
        return Document(data)
    return Document(data, tuple(map(str, islice(_duplicates(parsed, Path(), 0), MAX_DUPLICATES))))


def write_json_pretty(data: bytes) -> bytes:
    return orjson.dumps(orjson.loads(data), option=orjson.OPT_INDENT_2)


def read_yaml(data: bytes, find_duplicates: bool = False) -> Document:
    """Convert YAML to JSON; raises DecodeError, TooLarge.

    JSON, which is valid YAML and often sent as YAML, is not converted: that is much faster.
    """
    if detect_media_type(data) == JSON and not has_many_values(data) and _is_json(data):
        json_document = read_json(data, find_duplicates)
        if not json_document.duplicates:
            return json_document
    from apimachinery.serialization.yaml import load_strict

    document, duplicates = load_strict(data)
    try:
        encoded = orjson.dumps(document)
    except orjson.JSONEncodeError as error:  # nested anchors make the document too deep
        raise DecodeError(f"yaml: {error}") from None
    if not find_duplicates:
        return Document(encoded)
    return Document(encoded, tuple(duplicates), tuple(duplicates.values()))


def yaml_error(lines: Iterable[str]) -> str:
    """Combine the messages of the strict YAML parser into its one error."""
    return "\n  ".join(("error converting YAML to JSON: yaml: unmarshal errors:", *lines))


def write_yaml(data: bytes) -> bytes:
    from apimachinery.serialization.yaml_writer import dump_yaml

    return dump_yaml(orjson.loads(data))


def _unchanged(data: bytes) -> bytes:
    return data


def _line(data: bytes) -> bytes:
    return data + b"\n"


def _no_stream(_: bytes) -> bytes:
    raise ValueError(f"YAML documents cannot be streamed: request {JSON}")


JSON_SERIALIZER = Serializer(
    media_type=JSON,
    stream_media_type=JSON,
    read=read_json,
    write=_unchanged,
    write_pretty=write_json_pretty,
    frame=_line,
)
YAML_SERIALIZER = Serializer(
    media_type=YAML,
    stream_media_type="",
    read=read_yaml,
    write=write_yaml,
    write_pretty=write_yaml,
    frame=_no_stream,
)

SERIALIZERS = {JSON: JSON_SERIALIZER, YAML: YAML_SERIALIZER}
"""Media type -> serializer; the first one is for clients without a preference."""


def detect_media_type(data: bytes) -> str:
    """Detect protobuf by its magic bytes and JSON by its opening brace; assume YAML otherwise."""
    if data.startswith(b"k8s\x00"):
        return PROTOBUF
    return JSON if data.lstrip()[:1] == b"{" else YAML


class LineFrames:
    """Splits a stream of JSON documents, one per line, however the bytes are chunked.

    Raises DecodeError for a document larger than *limit* bytes, so that memory stays bounded.
    """

    def __init__(self, limit: int = 16 * MAX_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the documents that *data* completes."""
        *lines, incomplete = data.split(b"\n")
        for line in lines:
            self._grow(line)
            if self._parts:
                line = b"".join((*self._parts, line))
                self._parts.clear()
            self._size = 0
            if line and not line.isspace():
                yield line
        self._grow(incomplete)
        if incomplete:
            self._parts.append(incomplete)

    def _grow(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            raise DecodeError(f"a frame of the stream is larger than {self._limit} bytes")

    @property
    def pending(self) -> bool:
        """Whether the bytes received so far end in the middle of a document."""
        return bool(b"".join(self._parts).strip())


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except ValueError:
        return False
    return True


def _may_have_duplicates(data: bytes) -> bool:
    """Return whether a document may have duplicate keys, by a cheap check without false negatives.

    Parsing and encoding the document drops duplicate keys and nothing else, so it has none if the
    number of key ends (`":`) stays the same. Whitespace before a colon and escaped quotation marks
    make the count unreliable; such documents are searched key by key.
    """
    if b" :" in data or b"\t:" in data or b"\n:" in data or b"\r:" in data or b"\\u0022" in data:
        return True
    try:
        deduplicated = orjson.dumps(orjson.loads(data))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return True  # the full search raises the DecodeError, with its position
    return deduplicated.count(b'":') != data.count(b'":')


class _WithDuplicates(dict[str, Any]):
    """A parsed JSON object with duplicate keys, which are in *names*."""

    names: tuple[str, ...] = ()


def _duplicate_names(pairs: Iterable[tuple[str, Any]]) -> tuple[str, ...]:
    earlier: set[str] = set()
    duplicates: dict[str, None] = {}
    for name, _ in pairs:
        if name in earlier:
            duplicates[name] = None
        earlier.add(name)
    return tuple(duplicates)


def _duplicates(value: Any, path: Path, depth: int) -> Iterator[Path]:
    if depth > MAX_DEPTH:  # the decoder rejects deeper documents
        return
    if isinstance(value, dict):
        if isinstance(value, _WithDuplicates):
            for name in value.names:
                yield path.member(name)
        for name, item in value.items():
            yield from _duplicates(item, path.member(name), depth + 1)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _duplicates(item, path.index(position), depth + 1)
