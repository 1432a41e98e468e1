"""The limit on the values of a document."""

import pytest

from apimachinery.model.decoding import DecodeError
from apimachinery.serialization.document_size import (
    MAX_VALUES,
    TooLarge,
    check_values,
    count_values,
)
from apimachinery.serialization.media_types import PROTOBUF, YAML
from apimachinery.serialization.serializer import read_json, read_yaml
from apimachinery.serialization.yaml import load_all_yaml

FULL = b"[" + b",".join([b"1"] * (MAX_VALUES - 1)) + b"]"
TOO_MANY = FULL[:-1] + b",1]"
COMMAS = b"," * MAX_VALUES
BLOCK = b"- 1\n" * MAX_VALUES


@pytest.mark.parametrize(
    ("document", "values"),
    [
        (b"1", 1),
        (b"[1,2,3]", 4),
        (b'{"a": {"b": 1}}', 5),
        (b'{"a":[{"b":true},null]}', 7),
    ],
)
def test_keys_and_values_are_counted(document: bytes, values: int) -> None:
    assert count_values(document) == values


@pytest.mark.parametrize("document", [b"- - 1\n- a\n", b"{? a, b: 1}", b"- &a 1\n- *a\n"])
def test_the_estimate_of_yaml_is_not_too_low(document: bytes) -> None:
    assert count_values(document, YAML) >= 3


def test_the_estimate_of_protobuf_follows_its_size() -> None:
    assert count_values(b"k8s\x00" + bytes(96), PROTOBUF) == 50


@pytest.mark.parametrize(
    "document",
    [
        FULL,
        b'{"table": "' + COMMAS + b'"}',
        b'["\\"' + COMMAS + b'", "\\\\", "' + COMMAS + b'"]',
        b'"' + b"\\\\" * MAX_VALUES + b'\\"' + COMMAS + b'"',
    ],
)
def test_punctuation_in_strings_is_not_counted(document: bytes) -> None:
    check_values(document)


@pytest.mark.parametrize(
    "document",
    [TOO_MANY, b'["' + b" " * 100_000 + b'\\\\",' + TOO_MANY, b'{"a":1,' * (MAX_VALUES // 3 + 1)],
)
def test_a_document_with_too_many_values_is_refused(document: bytes) -> None:
    with pytest.raises(TooLarge, match=f"Request entity too large: limit is {MAX_VALUES} values"):
        read_json(document)


@pytest.mark.parametrize(
    "document",
    [
        TOO_MANY,
        BLOCK,
        b"{" + b"a," * MAX_VALUES + b"}",
    ],
)
def test_yaml_with_too_many_values_is_refused(document: bytes) -> None:
    with pytest.raises(TooLarge, match="values"):
        read_yaml(document)


def test_the_values_of_aliases_are_counted() -> None:
    document = b"a: &a [" + b"1," * 1000 + b"]\nb: [" + b"*a," * 200 + b"]"

    with pytest.raises(DecodeError, match="excessive aliasing"):
        read_yaml(document)


def test_a_file_of_manifests_is_not_limited() -> None:
    assert len(load_all_yaml(BLOCK[:400] + b"---\n" + BLOCK)[1][0]) == MAX_VALUES
