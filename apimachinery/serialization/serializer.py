"""Serializers: documents as bytes of some media type, whatever they describe.

Every document is JSON inside: a serializer turns what came over the wire into JSON bytes, with the
paths of keys that stood twice, and turns JSON bytes into what goes out. What the JSON means is the
codec's affair. Protobuf is not here, because it cannot be read without knowing the type.

YAML is imported by the functions that need it: programs that talk JSON need not load its parser.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from apimachinery.model.decoding import MAX_DEPTH, DecodeError, load_json
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML

MAX_BYTES = 3 * 1024 * 1024
"""The largest document that is read unless a caller says otherwise; what etcd takes at most."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document as JSON, and the paths of keys that stood twice in what it was read from."""

    json: bytes
    duplicates: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()
    """What a YAML parser says of each of them; the JSON has them once."""


@dataclass(frozen=True, slots=True)
class Serializer:
    """How documents of one media type are read and written."""

    media_type: str
    stream_media_type: str
    """The media type of a stream of such documents; empty when there can be none."""
    read: Callable[[bytes, bool], Document]
    """(data, whether to look for duplicates) -> document; raises DecodeError."""
    write: Callable[[bytes], bytes]
    write_pretty: Callable[[bytes], bytes]
    frame: Callable[[bytes], bytes]


def read_json(data: bytes, find_duplicates: bool = False) -> Document:
    """Nothing is parsed unless duplicates are asked for: the codec's decoder will."""
    if not find_duplicates or not _may_repeat(data):
        return Document(data)
    repeated: list[_Repeated] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            made = _Repeated(made)
            made.names = _repeated_names(pairs)
            repeated.append(made)
        return made

    parsed = load_json(data, object_pairs_hook=collect)
    return Document(data, tuple(_duplicates(parsed, "", 0)) if repeated else ())


def write_json_pretty(data: bytes) -> bytes:
    return orjson.dumps(orjson.loads(data), option=orjson.OPT_INDENT_2)


def read_yaml(data: bytes, find_duplicates: bool = False) -> Document:
    """JSON is YAML, comes often under its name, and is read much faster as what it is."""
    if recognise(data) == JSON and _is_json(data):
        found = read_json(data, find_duplicates)
        if not found.duplicates:
            return found
    from apimachinery.serialization.yaml import load_strict

    document, repeated = load_strict(data)
    try:
        written = orjson.dumps(document)
    except orjson.JSONEncodeError as error:  # anchors within anchors, nested too deep
        raise DecodeError(f"yaml: {error}") from None
    if not find_duplicates:
        return Document(written)
    return Document(written, tuple(repeated), tuple(repeated.values()))


def yaml_complaint(lines: Iterable[str]) -> str:
    """All that a strict YAML parser has to say, as the one error that it is."""
    return "\n  ".join(("error converting YAML to JSON: yaml: unmarshal errors:", *lines))


def write_yaml(data: bytes) -> bytes:
    from apimachinery.serialization.yaml import dump_yaml

    return dump_yaml(orjson.loads(data))


def _same(data: bytes) -> bytes:
    return data


def _line(data: bytes) -> bytes:
    return data + b"\n"


def _no_stream(_: bytes) -> bytes:
    raise ValueError("YAML has no stream form: ask for application/json")


JSON_SERIALIZER = Serializer(
    media_type=JSON,
    stream_media_type=JSON,
    read=read_json,
    write=_same,
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
"""Media type -> serializer, the one for clients that do not care first."""


def recognise(data: bytes) -> str:
    """The media type that *data* looks like: protobuf by its magic, JSON by its brace, or YAML."""
    if data.startswith(b"k8s\x00"):
        return PROTOBUF
    return JSON if data.lstrip()[:1] == b"{" else YAML


class LineFrames:
    """Cuts a stream of JSON documents into documents, however the bytes arrive.

    A document larger than *limit* raises DecodeError instead of growing without bound.
    """

    def __init__(self, limit: int = 16 * MAX_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The documents that *data* completes."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._grow(line)
            whole = b"".join((*self._parts, line))
            self._parts.clear()
            self._size = 0
            if whole.strip():
                yield whole
        self._grow(rest)
        if rest:
            self._parts.append(rest)

    def _grow(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            raise DecodeError(f"a frame of the stream is larger than {self._limit} bytes")

    @property
    def pending(self) -> bool:
        """Whether the stream ended, if it ended now, in the middle of a document."""
        return bool(b"".join(self._parts).strip())


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except ValueError:
        return False
    return True


def _may_repeat(data: bytes) -> bool:
    """Whether a key might stand twice: cheap, never wrong when it says no.

    Parsing and writing again drops repeated keys and nothing else, so an equal number of key ends
    (`":`) means that none was dropped. The spellings that would make the count meaningless, a
    blank before the colon and an escaped quotation mark, send the document the long way.
    """
    if any(odd in data for odd in (b" :", b"\t:", b"\n:", b"\r:", b"\\u0022")):
        return True
    try:
        again = orjson.dumps(orjson.loads(data))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return True  # the decoder will say what is wrong, and where
    return again.count(b'":') != data.count(b'":')


class _Repeated(dict[str, Any]):
    """A parsed object in which some names stood more than once."""

    names: tuple[str, ...] = ()


def _repeated_names(pairs: Iterable[tuple[str, Any]]) -> tuple[str, ...]:
    seen: set[str] = set()
    repeated: dict[str, None] = {}
    for name, _ in pairs:
        if name in seen:
            repeated[name] = None
        seen.add(name)
    return tuple(repeated)


def _duplicates(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:  # what is below will be refused by the decoder
        return
    if isinstance(value, dict):
        if isinstance(value, _Repeated):
            for name in value.names:
                yield f"{path}.{name}" if path else name
        for name, item in value.items():
            yield from _duplicates(item, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _duplicates(item, f"{path}[{position}]", depth + 1)
