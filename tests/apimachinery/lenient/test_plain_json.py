"""Plain JSON: what the fast parser would change is left to the exact one."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.lenient.lazy_decoding import lazy_decode_json
from apimachinery.lenient.level_plan import Unusual
from apimachinery.lenient.plain_json import has_large_integer, load_plain
from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import RawExtension

LARGE = 123456789012345678901234567890


class Part(Model):
    default: Any = None


class Holder(Object):
    data: RawExtension = field(default_factory=dict)
    part: Part = field(default_factory=Part)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":%d}',
        '{"a":-%d}',
        '{"a" : %d}',
        '{"a"\n:%d}',
        '{"a":\t-%d}',
        "[%d]",
        "[1,%d]",
        '{"sha256:00000000000000000000":%d}',
    ],
)
@pytest.mark.parametrize("number", [2**64, 10**20, LARGE, 10**60])
def test_a_large_integer_is_not_parsed_fast(text: str, number: int) -> None:
    with pytest.raises(Unusual):
        load_plain((text % number).encode())
    with pytest.raises(Unusual):
        load_plain(text % number)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"a":{10**19 - 1}}}',
        '{"image":"a@sha256:%s"}' % ("0" * 64),
        '{"a":0.%s}' % ("1" * 40),
        '{"uid":"%s"}' % ("9" * 30),
    ],
)
def test_other_documents_are_parsed_fast(text: str) -> None:
    assert load_plain(text) == orjson.loads(text)


@given(
    st.recursive(st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_no_large_integer_is_missed(document: Any) -> None:
    data = json.dumps(document).encode()

    assert has_large_integer(b" " + data) or orjson.loads(data) == document


def test_a_large_integer_is_written_back_as_it_was_read() -> None:
    data = b'{"metadata":{"name":"a"},"data":{"big":%d},"part":{"default":%d}}' % (LARGE, LARGE)

    obj = lazy_decode_json(Holder, data)

    assert obj.data == {"big": LARGE}
    assert obj.part.default == LARGE
    assert obj.model_dump_json().encode() == data
