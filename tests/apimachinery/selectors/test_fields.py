"""Field selectors: the grammar with its escapes, matching and conversion of field names."""

import copy
import pickle
import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.selectors import InvalidSelector, Operator
from apimachinery.selectors import field_selector as fields
from apimachinery.selectors.field_selector import FieldRequirement
from tests.pauses import measures_time

POD: Mapping[str, str] = {"metadata.name": "web", "status.phase": "Running", "spec.odd": "a,b=c\\"}

names = st.sampled_from(["a", "metadata.name", "spec.x", " a", ""])
values = st.text(alphabet="ab\\,=! é", max_size=6)
operators = st.sampled_from([Operator.EQUALS, Operator.NOT_EQUALS])
requirements = st.builds(FieldRequirement, names, operators, values)
selectors = st.lists(requirements, max_size=4).map(fields.FieldSelector)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (",,", ""),
        ("a=b", "a=b"),
        ("a==b", "a=b"),
        ("a!=b", "a!=b"),
        ("a=", "a="),
        ("b=c,,a=b,", "a=b,b=c"),
        ("a==z,a=b", "a=b,a=z"),
        (r"a=\,\=\\", r"a=\,\=\\"),
        ("a=!b", "a=!b"),
        ("a!!=b", "a!!=b"),
        (r"a\,b=c", r"a\,b=c"),
        (r"a\=b", r"a\=b"),
        ("=x", "=x"),
        ("a=b, c=d", " c=d,a=b"),
    ],
)
def test_selectors_have_a_canonical_text(text: str, canonical: str) -> None:
    selector = fields.parse(text)

    assert str(selector) == canonical
    assert fields.parse(canonical) == selector


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'", 0),
        ("a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'", 4),
        ("a in (b)", "invalid selector: 'a in (b)'; can't understand 'a in (b)'", 0),
        ("!a", "invalid selector: '!a'; can't understand '!a'", 0),
        (r"a=b,c=d\x", r"invalid field selector: invalid escape sequence: \x", 7),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\", 3),
        ("a=b=c", "invalid field selector: unescaped character in value: 61", 3),
        ("a===b", "invalid field selector: unescaped character in value: 61", 3),
    ],
)
def test_a_text_outside_the_grammar_is_refused_in_the_words_of_kubernetes(
    text: str, reason: str, position: int
) -> None:
    with pytest.raises(InvalidSelector) as caught:
        fields.parse(text)

    error = caught.value
    assert (error.reason, error.position, error.text) == (reason, position, text)
    assert str(error) == f"{reason} (at position {position})"


@measures_time
@pytest.mark.parametrize(
    "text",
    ["\\" * 32767, "a" * 10_000_000, "a=" + "=" * 32000],
    ids=["backslashes", "too long", "equals"],
)
def test_hostile_texts_are_refused_soon(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(InvalidSelector):
        fields.parse(text)

    assert time.perf_counter() - started < 1


@given(st.text(alphabet="ab=!\\, ", max_size=20) | st.text())
def test_any_text_is_a_selector_that_round_trips_or_an_invalid_one(text: str) -> None:
    try:
        selector = fields.parse(text)
    except InvalidSelector as error:
        assert error.text == text
        assert error.position is not None
        assert 0 <= error.position <= len(text)
        return

    assert fields.parse(str(selector)) == selector


@given(selectors)
def test_what_is_written_can_be_read_again(selector: fields.FieldSelector) -> None:
    again = fields.parse(str(selector))

    assert again == selector
    assert hash(again) == hash(selector)


@given(selectors, st.dictionaries(names, values))
def test_a_selector_matches_when_every_requirement_does(
    selector: fields.FieldSelector, given_fields: dict[str, str]
) -> None:
    expected = [
        (given_fields.get(one.field, "") == one.value) == (one.operator == "=")
        for one in selector.requirements
    ]

    assert selector.matches(given_fields) is all(expected)
    assert [one.matches(given_fields) for one in selector.requirements] == expected


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("", True),
        ("metadata.name=web", True),
        ("metadata.name==db", False),
        ("metadata.name!=db", True),
        ("metadata.name=web,status.phase!=Running", False),
        ("metadata.name=web,status.phase=Running", True),
        (r"spec.odd=a\,b\=c\\", True),
        # A field an object does not have is an empty one.
        ("missing=", True),
        ("missing!=x", True),
        ("missing!=", False),
    ],
)
def test_fields_are_matched(text: str, matched: bool) -> None:
    assert fields.parse(text).matches(POD) is matched


def test_a_set_selects_the_objects_that_have_all_of_it() -> None:
    selector = fields.from_set({"b": "x,y", "a": "1"})

    assert str(selector) == r"a=1,b=x\,y"
    assert fields.from_set({}) == fields.from_set(None) == fields.everything()
    assert fields.everything().empty
    assert not selector.empty


@pytest.mark.parametrize("name", ["a=b", "a,b", "a!"])
def test_a_field_that_no_text_can_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidSelector, match="cannot be used in a selector"):
        fields.from_set({name: "x"})


def test_only_equality_is_an_operator_of_fields() -> None:
    with pytest.raises(InvalidSelector, match="with operator 'in'"):
        FieldRequirement("a", Operator.IN, "x")


@pytest.mark.parametrize(
    ("text", "value"), [("a=x", "x"), ("a=", ""), ("a!=x", None), ("a!=y,a=x", "x"), ("b=x", None)]
)
def test_an_exact_match_is_known(text: str, value: str | None) -> None:
    assert fields.parse(text).requires_exact_match("a") == value


def test_fields_are_converted_to_those_the_resource_knows() -> None:
    def convert(field: str, value: str) -> tuple[str, str]:
        return (f"metadata.{field}", value.lower()) if field != "drop" else ("", "")

    selector = fields.parse("name=WEB,drop=me,namespace!=X").transform(convert)

    assert str(selector) == "metadata.name=web,metadata.namespace!=x"


def test_what_a_conversion_raises_reaches_the_caller() -> None:
    def convert(field: str, value: str) -> tuple[str, str]:
        raise LookupError(f"field label not supported: {field}")

    with pytest.raises(LookupError, match="field label not supported"):
        fields.parse("spec.n=1").transform(convert)


def test_selectors_are_values() -> None:
    selector = fields.parse("a=b")

    assert selector.add(FieldRequirement("b", Operator.DOUBLE_EQUALS, "c")) == fields.parse(
        "b=c,a=b"
    )
    assert copy.deepcopy(selector) is copy.copy(selector) is selector
    assert pickle.loads(pickle.dumps(selector)) == selector
    assert {selector, fields.parse("a==b")} == {selector}
    with pytest.raises(AttributeError):
        selector.requirements = ()
    with pytest.raises(AttributeError):
        del selector.matches
    assert selector != "a=b"
