"""Document size: limits on the bytes and on the values of one document.

A document of 3 MiB may be one string, or a million empty objects. The time for decoding follows
the number of values, and parsers written in C let no other thread run until they have finished, so
the number of values is limited as well. It is counted before a document is parsed.
"""

from typing import Final

from apimachinery.model.decoding import DecodeError
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML

MAX_BYTES: Final = 3 * 1024 * 1024
"""The default limit on the size of a document: that of Kubernetes, which follows from etcd's."""

MAX_VALUES: Final = 150_000
"""The maximum number of values in a document; the keys of objects count as values."""

MAX_DUPLICATES: Final = 100
"""The maximum number of duplicate keys that are listed for a document."""

_STRUCTURE: Final = {JSON: b",:[{", YAML: b",:[{-?&*", PROTOBUF: b""}
"""Bytes of which each value of a document, except for the first, has at least one of its own."""

_SLICE: Final = 64 * 1024


class TooLarge(DecodeError):
    """A document that exceeds the limit on its bytes, or on its values."""

    def __init__(self, limit: int, unit: str = "") -> None:
        super().__init__(f"Request entity too large: limit is {limit}{unit and f' {unit}'}")
        self.limit = limit


def too_many_values() -> TooLarge:
    return TooLarge(MAX_VALUES, "values")


def count_values(data: bytes, media_type: str = JSON) -> int:
    """Return an upper estimate of the number of values in a document, which costs very little.

    It is too high for documents with punctuation in their strings, and for protobuf.
    """
    structure = _STRUCTURE.get(media_type, _STRUCTURE[YAML])
    if not structure:
        return len(data) // 2  # the shortest field has a tag and one byte
    return 1 + sum(map(data.count, structure))


def check_values(data: bytes) -> None:
    """Raise TooLarge if a JSON document has more than MAX_VALUES values."""
    if has_many_values(data):
        raise too_many_values()


def has_many_values(data: bytes) -> bool:
    """Return whether a JSON document has more than MAX_VALUES values.

    If punctuation in strings may be the reason, the document is scanned without its strings: in
    slices, because a scan in one call would block other threads.
    """
    if len(data) <= MAX_VALUES or count_values(data) <= MAX_VALUES:
        return False
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    in_string, values = 0, 1
    for start in range(0, len(data), _SLICE):
        parts = data[start : start + _SLICE].split(b'"')
        values += count_values(b"".join(parts[in_string::2])) - 1
        if values > MAX_VALUES:
            return True
        in_string ^= (len(parts) - 1) & 1
    return False
