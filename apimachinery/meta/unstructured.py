"""Unstructured: an object of a kind that has no class, such as a custom resource.

Its metadata is a typed ObjectMeta, so generic code (names, labels, owners) works on it; the other
fields are plain JSON, accessed by key: `gadget["spec"]["replicas"]`.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import orjson
from pydantic import ConfigDict
from pydantic_core import from_json, to_json

from apimachinery.meta.types import ListMeta, Object, TypeMeta
from apimachinery.model.decoding import DecodeError
from apimachinery.model.model import field
from apimachinery.model.wire_rules import sorted_deep


class Unstructured(Object):
    """An object of any kind."""

    model_config = ConfigDict(extra="allow")

    @property
    def content(self) -> dict[str, Any]:
        """All fields but kind, apiVersion and metadata; changing it changes the object."""
        if self.__pydantic_extra__ is None:
            object.__setattr__(self, "__pydantic_extra__", {})
        return self.__pydantic_extra__  # type: ignore[return-value]

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.content[key] = value

    def __delitem__(self, key: str) -> None:
        del self.content[key]

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def get(self, key: str, default: Any = None) -> Any:
        return self.content.get(key, default)

    def nested(self, *path: str | int, default: Any = None) -> Any:
        """Return the value at *path* in the content, or *default* if a step is missing."""
        value: Any = self.content
        for step in path:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                return default
        return value

    def to_dict(self) -> dict[str, Any]:
        """Return the whole document as plain values, with sorted keys."""
        document = self.model_dump(mode="json")
        return {key: sorted_deep(value) for key, value in document.items()}

    def to_json(self) -> bytes:
        """Return the canonical compact JSON of the document."""
        parts = [
            b'"%b":%b' % (name, orjson.dumps(value))
            for name, value in ((b"kind", self.kind), (b"apiVersion", self.api_version))
            if value
        ]
        metadata = self.metadata
        encoded: bytes = metadata.__pydantic_serializer__.to_json(metadata, by_alias=True)
        parts.append(b'"metadata":%b' % encoded)
        if self.content:
            parts.append(dump_content(self.content)[1:-1])
        return b"{%b}" % b",".join(parts)


def dump_content(content: Any) -> bytes:
    """Return the canonical compact JSON of plain values."""
    try:
        return orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # integers above 64 bits need the slower encoder
        return to_json(sorted_deep(content))


def load_content(data: bytes) -> dict[str, Any]:
    """Parse a document to plain values, with the nesting limit of all documents.

    Raises DecodeError.
    """
    try:
        document = from_json(data, allow_inf_nan=False)
        if _may_overflow(data):
            orjson.loads(data)  # refuses numbers above the range of floats, which become infinite
    except ValueError as error:
        raise DecodeError(str(error)) from None
    if not isinstance(document, dict):
        raise DecodeError("json: cannot unmarshal a document that is not an object")
    return document


def _may_overflow(data: bytes) -> bool:
    """Return whether a document may have a number above the range of floats: 1e309 or longer."""
    if _LARGE_EXPONENT.search(data):
        return True
    return len(data) > _MAX_DIGITS and b"0" * _MAX_DIGITS in data.translate(_DIGITS_AS_ZERO)


_LARGE_EXPONENT: Final = re.compile(rb"[0-9][eE]\+?[0-9]{3}")
_MAX_DIGITS: Final = 309
_DIGITS_AS_ZERO: Final = bytes(
    ord("0") if chr(code).isdigit() and code < 128 else code for code in range(256)
)


class UnstructuredList(TypeMeta):
    """A list of objects of any kind."""

    metadata: ListMeta = field(default_factory=ListMeta)
    items: list[Unstructured] = field(default_factory=list, omit_empty=False)

    def __iter__(self) -> Iterator[Unstructured]:  # type: ignore[override]  # as a list is
        return iter(self.items)
