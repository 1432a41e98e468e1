"""Syntax errors are worded as Go's decoder words them; the table is what kube-apiserver answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.serialization.go_json import parse_error, with_valid_utf8

END = "unexpected end of JSON input"
STRUCT = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\"";'
    r' Kind string "json:\"kind,omitempty\"" }'
)
ERRORS = {
    b"": END,
    b"{": END,
    b'{"a"': END,
    b'{"a":"x': END,
    b'{"a":"\\': END,
    b'{"a":}': "invalid character '}' looking for beginning of value",
    b'{"a":1,}': "invalid character '}' looking for beginning of object key string",
    b"{'a':1}": r"invalid character '\'' looking for beginning of object key string",
    b'{"a" 1}': "invalid character '1' after object key",
    b'{"a":1 "b"}': "invalid character '\"' after object key:value pair",
    b'{"a":01}': "invalid character '1' after object key:value pair",
    b'{"a":[1 2]}': "invalid character '2' after array element",
    b'{"a":1}}': "invalid character '}' after top-level value",
    b"nope": "invalid character 'o' in literal null (expecting 'u')",
    b'{"a":tru}': "invalid character '}' in literal true (expecting 'e')",
    b'{"a":-}': "invalid character '}' in numeric literal",
    b'{"a":1.x}': "invalid character 'x' in numeric literal",
    b'{"a":1e+}': "invalid character '}' in numeric literal",
    b'{"a":"\n"}': r"invalid character '\n' in string",
    b'{"a":"\x01"}': r"invalid character '\x01' in string",
    b'{"a":"\\x"}': r"invalid escape sequence `\x` in string",
    b'{"a":"\\u12g4"}': r"invalid escape sequence `\u12g4` in string",
    b'{"a":\xff}': r"invalid character '\xff' looking for beginning of value",
    b"\x00": r"invalid character '\x00' looking for beginning of value",
    b"[1]": f"json: cannot unmarshal array into Go value of type {STRUCT}",
    b'"x"': f"json: cannot unmarshal string into Go value of type {STRUCT}",
    b" 5": f"json: cannot unmarshal number into Go value of type {STRUCT}",
    b"true": f"json: cannot unmarshal bool into Go value of type {STRUCT}",
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


@pytest.mark.parametrize(("data", "message"), ERRORS.items())
def test_an_error_has_the_words_of_go(data: bytes, message: str) -> None:
    assert parse_error(data) == message


@given(value=st.dictionaries(st.text(), VALUES), indent=st.none() | st.integers(0, 3))
def test_valid_documents_have_no_error(value: object, indent: int | None) -> None:
    assert parse_error(json.dumps(value, indent=indent).encode()) == ""


@given(value=st.dictionaries(st.text(), VALUES), cut=st.floats(0, 0.99))
def test_a_beginning_of_a_document_ends_too_early(value: object, cut: float) -> None:
    data = json.dumps(value).encode()

    assert parse_error(data[: int(len(data) * cut)]) == END


@given(data=st.binary(max_size=40))
def test_any_bytes_are_an_error_exactly_if_python_says_so(data: bytes) -> None:
    try:
        is_object = isinstance(json.loads(with_valid_utf8(data)), dict | None.__class__)
    except ValueError:
        is_object = False

    assert (parse_error(with_valid_utf8(data)) == "") == is_object


def test_each_invalid_byte_is_replaced() -> None:
    assert with_valid_utf8(b"a\xff\xe2\x82b") == "a\ufffd\ufffd\ufffdb".encode()
    assert with_valid_utf8("é".encode()) == "é".encode()
