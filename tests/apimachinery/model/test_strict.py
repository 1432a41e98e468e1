"""Unknown and repeated fields, in the order in which they stand in a document."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.model.decoding import DecodeError, unknown_fields
from apimachinery.model.model import Model, field
from apimachinery.model.strict_decoding import MAX_PROBLEMS, strict_decoding_problems

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=15,
)
names = st.sampled_from(["leaf", "leaves", "byName", "notes", "either", "color", "hue"])
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner),
    max_leaves=15,
)


class Leaf(Model):
    color: str = ""


class Tree(Model):
    leaf: Leaf | None = None
    leaves: list[Leaf] = field(default_factory=list)
    by_name: dict[str, Leaf] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    either: Leaf | bool | None = None


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        ("{}", ()),
        (
            '{"x":1,"leaf":{"hue":1,"color":"a","color":"b"},"y":2,"leaf":null}',
            (
                'unknown field "x"',
                'unknown field "leaf.hue"',
                'duplicate field "leaf.color"',
                'unknown field "y"',
                'duplicate field "leaf"',
            ),
        ),
        (
            '{"leaves":[{},{"hue":1}],"byName":{"a":{"hue":1},"a":{}}}',
            (
                'unknown field "leaves[1].hue"',
                'unknown field "byName.a.hue"',
                'duplicate field "byName.a"',
            ),
        ),
        (
            '{"notes":{"a":{"any":[{"b":1,"b":2}]}}}',
            ('duplicate field "notes.a.any[0].b"',),
        ),
        ('{"x":1,"x":2,"x":{"y":1,"y":2}}', ('unknown field "x"',)),
        ('{"leaf":"nonsense","leaves":{"a":1,"a":2}}', ('duplicate field "leaves.a"',)),
        (
            '{"either":{"hue":1,"color":"a","color":"b"}}',
            ('unknown field "either.hue"', 'duplicate field "either.color"'),
        ),
        ('{"either":true}', ()),
        ("[1]", ()),
    ],
)
def test_problems_are_told_in_order_and_once(document: str, problems: tuple[str, ...]) -> None:
    assert strict_decoding_problems(document, Tree) == problems


@given(document=documents)
def test_what_has_no_name_twice_has_no_problem_of_its_own(document: Any) -> None:
    assert strict_decoding_problems(orjson.dumps(document)) == ()


@given(document=trees)
def test_what_the_decoder_does_not_know_is_told(document: Any) -> None:
    unknown = {f'unknown field "{path}"' for path in unknown_fields(document, Tree)}

    assert set(strict_decoding_problems(orjson.dumps(document), Tree)) == unknown


def test_only_so_many_are_told() -> None:
    document = {f"x{number}": 1 for number in range(MAX_PROBLEMS + 1)}

    assert len(strict_decoding_problems(orjson.dumps(document), Tree)) == MAX_PROBLEMS


@pytest.mark.parametrize("document", [b"", b"{", b"[" * 100_000, b'{"a":' * 100_000, b"nope"])
def test_what_is_no_json_is_a_decode_error(document: bytes) -> None:
    with pytest.raises(DecodeError):
        strict_decoding_problems(document, Tree)


def test_what_is_nested_too_deep_is_left_to_the_decoder() -> None:
    assert strict_decoding_problems(b'{"a":' * 300 + b"1" + b"}" * 300) == ()
