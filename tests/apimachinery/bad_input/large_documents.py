"""The worst documents, at the size limit of a request.

A case builds the input for a number of items and returns the call to be measured. With half as many
items the call must take about half the time.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from apimachinery.apply.apply_errors import ApplyError
from apimachinery.codec import Codec, FieldValidation
from apimachinery.errors import APIError
from apimachinery.patch.patch_errors import PatchError
from apimachinery.schema import GroupVersionKind
from apimachinery.scheme import Scheme
from apimachinery.serialization.document_size import MAX_BYTES, MAX_VALUES
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML
from apis.core.register import add_to_scheme

Call = Callable[[], object]

CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")
KEYS = MAX_VALUES * 2 // 5
"""The members of a map at the limit: each is a key and a value."""
ITEMS = MAX_VALUES - 100
"""The items of a list at the limit."""


@dataclass(frozen=True)
class Case:
    """One reader and its worst input of a given number of items."""

    name: str
    make: Callable[[int], Call]
    items: int


def _codec() -> Codec:
    scheme = Scheme()
    add_to_scheme(scheme)
    return Codec(scheme)


CODEC = _codec()


def tolerant(function: Callable[..., object], *arguments: Any) -> Call:
    """Return a call that may refuse its input."""

    def call() -> None:
        with suppress(ValueError, APIError, ApplyError, PatchError):
            function(*arguments)

    return call


def decoding(name: str, make: Callable[[int], bytes], items: int, media_type: str = JSON) -> Case:
    """Return the case of a config map in a request."""

    def decode(data: bytes) -> None:
        CODEC.decode_internal(
            data,
            expected=CONFIG_MAP,
            media_type=media_type,
            validation=FieldValidation.WARN,
            lenient=True,
        )

    return Case(f"{name} in {media_type}", lambda n: tolerant(decode, make(n)), items)


def listed(head: bytes, item: bytes, tail: bytes) -> Callable[[int], bytes]:
    return lambda n: head + b",".join([item] * n) + tail


def mapped(head: bytes, item: bytes, tail: bytes) -> Callable[[int], bytes]:
    """Return documents with *item* for each number."""
    return lambda n: head + b",".join([item % number for number in range(n)]) + tail


def metadata(**fields: Any) -> bytes:
    return orjson.dumps({"metadata": fields})


def entry(number: int, **fields: Any) -> Any:
    return {
        "manager": f"m{number}",
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {f"f:{number}": {}}},
        **fields,
    }


JSON_CASES = [
    decoding("keys", mapped(b'{"data":{', b'"k%d":""', b"}}"), KEYS),
    decoding("nulls", mapped(b'{"data":{', b'"k%d":null', b"}}"), KEYS),
    decoding("wrong types", mapped(b'{"data":{', b'"k%d":1', b"}}"), KEYS),
    decoding("unknown fields", mapped(b"{", b'"k%d":1', b"}"), KEYS),
    decoding("duplicate keys", listed(b'{"data":{', b'"a":""', b"}}"), KEYS),
    decoding(
        "items without fields", listed(b'{"metadata":{"ownerReferences":[', b"{}", b"]}}"), KEYS
    ),
    decoding("numbers", listed(b'{"x":[', b"1.2345678", b"]}"), ITEMS),
    decoding("too many values", listed(b'{"x":[', b"{}", b"]}"), MAX_BYTES // 3 - 10),
    decoding("long numbers", listed(b'{"x":[', b"9" * 3999, b"]}"), 780),
    decoding("one number", lambda n: b'{"x":' + b"9" * n + b"}", MAX_BYTES - 10),
    decoding("escapes", lambda n: b'{"data":{"a":"' + b"\\n" * n + b'"}}', MAX_BYTES // 2 - 50),
    decoding("commas", lambda n: b'{"data":{"a":"' + b"," * n + b'"}}', MAX_BYTES - 50),
    decoding(
        "a long key above many values",
        lambda n: b'{"%b":[%b]}' % (b"k" * 8 * n, b",".join([b'{"a":1}'] * n)),
        MAX_VALUES // 5,
    ),
    decoding(
        "owners",
        lambda n: metadata(
            ownerReferences=[
                {"apiVersion": "v1", "kind": "K", "name": f"n{i}", "uid": f"{i}"} for i in range(n)
            ]
        ),
        MAX_VALUES // 9 - 10,
    ),
    decoding(
        "managers", lambda n: metadata(managedFields=[entry(i) for i in range(n)]), MAX_VALUES // 20
    ),
]

YAML_CASES = [
    decoding("a flow list", listed(b"x: [", b"1", b"]"), 30_000, YAML),
    decoding("a block list", lambda n: b"x:\n" + b"- 1\n" * n, 30_000, YAML),
    decoding("explicit keys", mapped(b"{", b"? k%d : v", b"}"), 15_000, YAML),
    decoding("merged maps", mapped(b"data: {<<: [", b"{k%d: v}", b"]}"), 15_000, YAML),
    decoding("aliases", lambda n: b"x: &a 1\ny: [" + b"*a," * n + b"]", 30_000, YAML),
    decoding(
        "a long key above many values",
        lambda n: b"? " + b"k" * 30 * n + b"\n: [" + b"1," * n + b"]",
        30_000,
        YAML,
    ),
    decoding("too many values", listed(b"x: [", b"1", b"]"), MAX_BYTES // 2 - 10, YAML),
    decoding("one string", lambda n: b"data:\n  a: " + b"word " * n, MAX_BYTES // 5 - 10, YAML),
    decoding("one text", lambda n: b"data:\n  a: |\n" + b"    x\n" * n, MAX_BYTES // 6 - 10, YAML),
    decoding("escapes", lambda n: b'data: {a: "' + b"\\n" * n + b'"}', MAX_BYTES // 2 - 10, YAML),
    decoding("a comment", lambda n: b"#" * n + b"\na: 1", MAX_BYTES - 10, YAML),
    decoding("empty lines", lambda n: b"\n" * n + b"a: 1", MAX_BYTES - 10, YAML),
    decoding("a tag", lambda n: b"a: !" + b"x" * n, MAX_BYTES - 10, YAML),
    decoding("open lists", lambda n: b"[" * n, MAX_BYTES, YAML),
]


def protobuf(field: bytes) -> Callable[[int], bytes]:
    """Return config maps with the same field many times."""

    def make(n: int) -> bytes:
        return CODEC.protobuf.wrap(field * n, api_version="v1", kind="ConfigMap")

    return make


PROTOBUF_CASES = [
    decoding(name, protobuf(field), items, PROTOBUF)
    for name, field, items in (
        ("entries", b"\x12\x00", KEYS),
        ("too many entries", b"\x12\x00", MAX_BYTES // 2 - 50),
        ("labels", b"\x0a\x05\x5a\x03\x0a\x01a", KEYS // 3),
        ("unknown fields", b"\xf8\x01\x01", KEYS),
        ("groups", b"\xfb\x01\xfc\x01", KEYS),
        ("wrong wire types", b"\x10\x00", KEYS),
    )
] + [
    decoding(
        "an unfinished message",
        lambda n: protobuf(b"\x12\x00")(n) + b"\x12",
        KEYS,
        PROTOBUF,
    ),
]

CASES = (*JSON_CASES, *YAML_CASES, *PROTOBUF_CASES)
