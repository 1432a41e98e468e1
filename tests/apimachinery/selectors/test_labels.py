"""Label selectors: the grammar, the messages, what is matched, and the canonical text."""

import copy
import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.selectors import InvalidSelector, Operator
from apimachinery.selectors import label_selector as labels
from apimachinery.selectors.label_selector import Requirement
from tests.pauses import measures_time

WEB: Mapping[str, str] = {"app": "web", "tier": "front", "size": "5", "empty": ""}

keys = st.sampled_from(["a", "b", "in", "notin", "example.com/a", "x.y_z-1"])
values = st.sampled_from(["", "a", "b", "in", "notin", "1", "17", "x.y_z-1"])
integers = st.integers(0, 30).map(str)
requirements = st.one_of(
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.lists(values, min_size=1, max_size=4).map(tuple),
    ),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.NOT_EQUALS]),
        st.tuples(values),
    ),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN]),
        st.tuples(integers),
    ),
    st.builds(
        Requirement, keys, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST]), st.just(())
    ),
)
# More than eight are merged by key.
selectors = st.lists(requirements, max_size=14).map(labels.Selector)
label_sets = st.dictionaries(keys, values | integers)


def satisfied(requirement: Requirement, given_labels: Mapping[str, str]) -> bool:
    """The meaning of a requirement, written as the documentation of Kubernetes has it."""
    present = requirement.key in given_labels
    value = given_labels.get(requirement.key, "")
    match requirement.operator:
        case Operator.EXISTS:
            return present
        case Operator.DOES_NOT_EXIST:
            return not present
        case Operator.NOT_IN | Operator.NOT_EQUALS:
            return not present or value not in requirement.values
        case Operator.GREATER_THAN:
            return value.isdecimal() and int(value) > int(requirement.values[0])
        case Operator.LESS_THAN:
            return value.isdecimal() and int(value) < int(requirement.values[0])
        case _:
            return present and value in requirement.values


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (" \t\r\n", ""),
        ("a", "a"),
        ("!a", "!a"),
        ("! a", "!a"),
        ("a=b", "a=b"),
        ("a==b", "a==b"),
        ("a != b", "a!=b"),
        ("a=", "a="),
        ("a!=,b", "a!=,b"),
        ("a in (y,x,y)", "a in (x,y)"),
        ("a notin(x)", "a notin (x)"),
        ("a in ()", "a in ()"),
        ("a in (,)", "a in ()"),
        ("a in (,x)", "a in (,x)"),
        ("a in (x,)", "a in (,x)"),
        ("a in (x,,y)", "a in (,x,y)"),
        ("a>1 , b\t<\n2 ", "a>1,b<2"),
        ("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"),
        ("b,a,!c", "a,b,!c"),
        ("in in (in,notin)", "in in (in,notin)"),
        ("notin=in", "notin=in"),
        ("example.com/a=b", "example.com/a=b"),
        ("k>1,k<5", "k>1,k<5"),
    ],
)
def test_selectors_have_a_canonical_text_sorted_by_key(text: str, canonical: str) -> None:
    assert str(labels.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ("=", "found '=', expected: !, identifier, or 'end of string'", 0),
        ("!=x", "found '!=', expected: !, identifier, or 'end of string'", 0),
        (",", "found ',', expected: !, identifier, or 'end of string'", 0),
        ("a,", "found '', expected: identifier after ','", 2),
        ("a,,b", "found ',', expected: identifier after ','", 2),
        ("!a=b", "found '=', expected: ',' or 'end of string'", 2),
        ("a=b c", "found 'c', expected: ',' or 'end of string'", 4),
        ("!", "unable to parse requirement: found '', expected: identifier", 1),
        ("!!a", "unable to parse requirement: found '!', expected: identifier", 1),
        ("a===b", "unable to parse requirement: found '=', expected: identifier", 3),
        (
            "a b",
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
            2,
        ),
        (
            "a(b)",
            "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt",
            1,
        ),
        ("a in b", "unable to parse requirement: found 'b' expected: '('", 5),
        ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier", 6),
        ("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier", 6),
        ("a in (x", "unable to parse requirement: found '', expected: ',' or ')'", 7),
        ("a in (x y)", "unable to parse requirement: found 'y', expected: ',' or ')'", 8),
        ("a in (x,", "unable to parse requirement: found '', expected: ',', or identifier", 8),
        ("a in (x,,)", "unable to parse requirement: found ')', expected: ',', or identifier", 9),
        ("a in (,,)", "unable to parse requirement: found ')', expected: ',', or identifier", 8),
    ],
)
def test_a_text_outside_the_grammar_is_refused_in_the_words_of_kubernetes(
    text: str, reason: str, position: int
) -> None:
    with pytest.raises(InvalidSelector) as caught:
        labels.parse(text)

    error = caught.value
    assert (error.reason, error.position, error.text) == (reason, position, text)
    assert str(error) == f"{reason} (at position {position})"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("-a", '<nil>: Invalid value: "-a": name part must consist of'),
        ("-a===b", '<nil>: Invalid value: "-a": name part must consist of'),
        ("a/b/c=d", '<nil>: Invalid value: "a/b/c": a valid label key must consist of'),
        ("/a", '<nil>: Invalid value: "/a": prefix part must be non-empty'),
        ("\x00", '<nil>: Invalid value: "\\x00": name part must consist of'),
        ("a=-", 'values[0][a]: Invalid value: "-": a valid label must be an empty string or'),
        ("a in (b,$)", 'values[0][a]: Invalid value: "$": a valid label must be'),
        ("a in (-,$)", '[values[0][a]: Invalid value: "$": a valid label must be'),
        ("a=" + "b" * 64, f'values[0][a]: Invalid value: "{"b" * 64}": must be no more than 63'),
        (
            "a>b",
            'values[0]: Invalid value: "b": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
        ("a<", "values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be"),
        ("a>9223372036854775808", 'values[0]: Invalid value: "9223372036854775808": for'),
    ],
)
def test_bad_keys_and_values_are_named(text: str, start: str) -> None:
    with pytest.raises(InvalidSelector) as caught:
        labels.parse(text)

    assert caught.value.reason.startswith(f"unable to parse requirement: {start}")
    assert caught.value.position == 0


@measures_time
@pytest.mark.parametrize(
    "text",
    ["(" * 32768, "!" * 32768, "a" * 32768, "a," * 16384, "a in (" + "," * 32000, "a" * 10_000_000],
    ids=["parentheses", "bangs", "key", "terms", "commas", "too long"],
)
def test_hostile_texts_are_refused_soon(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(InvalidSelector):
        labels.parse(text)

    assert time.perf_counter() - started < 2


@given(st.text(alphabet="ab1-=!<>(),/ \tin", max_size=30) | st.text())
def test_any_text_is_a_selector_that_round_trips_or_an_invalid_one(text: str) -> None:
    try:
        selector = labels.parse(text)
    except InvalidSelector as error:
        assert error.text == text
        assert error.position is not None
        assert 0 <= error.position <= len(text)
        return

    assert labels.parse(str(selector)) == selector


@given(selectors)
def test_what_is_written_can_be_read_again(selector: labels.Selector) -> None:
    again = labels.parse(str(selector))

    assert again == selector
    assert hash(again) == hash(selector)


@given(selectors, label_sets)
def test_a_selector_matches_when_every_requirement_does(
    selector: labels.Selector, given_labels: dict[str, str]
) -> None:
    expected = [satisfied(one, given_labels) for one in selector.requirements]

    assert selector.matches(given_labels) is all(expected)
    assert [one.matches(given_labels) for one in selector.requirements] == expected


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("", True),
        ("app", True),
        ("!app", False),
        ("!missing", True),
        ("app=web", True),
        ("app==db", False),
        ("missing=web", False),
        ("missing=", False),
        ("empty=", True),
        ("app!=web", False),
        ("missing!=web", True),
        ("missing notin (a,b)", True),
        ("app notin (web,db)", False),
        ("app in (web,db)", True),
        ("missing in (,a)", False),
        ("app=web,tier=front", True),
        ("app=web,tier=back", False),
        ("app=web,app=db", False),
        ("app=web,tier!=back,size>4", True),
        ("size>4", True),
        ("size<5", False),
        ("app>1", False),
        ("missing<1", False),
    ],
)
def test_labels_are_matched(text: str, matched: bool) -> None:
    assert labels.parse(text).matches(WEB) is matched
    assert labels.parse(text).matches(MappingProxyType(dict(WEB))) is matched


def test_matching_costs_no_more_for_a_long_selector() -> None:
    class Counting(dict[str, str]):
        lookups = 0

        def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
            self.lookups += 1
            return super().get(key, default)

        def __getitem__(self, key: str) -> str:
            self.lookups += 1
            return super().__getitem__(key)

    selector = labels.parse(",".join(f"key{number}!=x,app!=v{number}" for number in range(1_000)))
    counting = Counting(WEB)

    assert selector.matches(counting)
    assert counting.lookups <= len(WEB)


@pytest.mark.parametrize("value", ["1_0", " 7", "\u0667", "9223372036854775808", "x", ""])
def test_a_label_that_writes_no_integer_is_neither_more_nor_less(value: str) -> None:
    assert not labels.parse("n>1").matches({"n": value})
    assert not labels.parse("n<99").matches({"n": value})


def test_signed_labels_are_compared_as_numbers() -> None:
    assert labels.parse("n<1").matches({"n": "-5"})
    assert labels.parse("n>1").matches({"n": "+5"})


def test_everything_and_nothing() -> None:
    everything, nothing = labels.everything(), labels.nothing()

    assert (everything.empty, everything.matches({}), str(everything)) == (True, True, "")
    assert (nothing.empty, nothing.matches(WEB), str(nothing)) == (False, False, "")
    assert everything == labels.parse("") != nothing
    assert not nothing.selectable
    assert nothing.add(Requirement("a", Operator.EXISTS)) == nothing


def test_a_set_selects_the_objects_that_have_all_of_it() -> None:
    selector = labels.from_set({"tier": "front", "app": "web"})

    assert str(selector) == "app=web,tier=front"
    assert selector.matches(WEB)
    assert labels.from_set({}) == labels.from_set(None) == labels.everything()
    with pytest.raises(InvalidSelector, match="key: Invalid value"):
        labels.from_set({"-": "x"})


def test_adding_returns_a_sorted_selector_and_leaves_the_old_one() -> None:
    selector = labels.parse("b")

    added = selector.add(Requirement("a", Operator.EQUALS, ("x",)))

    assert (str(added), str(selector)) == ("a=x,b", "b")
    assert not added.matches({"b": ""})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=x", "x"),
        ("a==x", "x"),
        ("a in (x)", "x"),
        ("a=", ""),
        ("a in (x,y)", None),
        ("a!=x", None),
        ("a", None),
        ("b=x", None),
        ("a!=x,a=y", None),
    ],
)
def test_an_exact_match_is_known(text: str, value: str | None) -> None:
    assert labels.parse(text).requires_exact_match("a") == value


@dataclass
class Expression:
    key: str
    operator: str
    values: list[str] = field(default_factory=list)


@dataclass
class LabelSelector:
    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: list[Expression] = field(default_factory=list)


def test_the_api_type_is_compiled() -> None:
    selector = labels.from_label_selector(
        LabelSelector(
            {"app": "web"},
            [
                Expression("tier", "In", ["front", "back"]),
                Expression("size", "NotIn", ["9"]),
                Expression("empty", "Exists"),
                Expression("canary", "DoesNotExist"),
            ],
        )
    )

    assert str(selector) == "app=web,!canary,empty,size notin (9),tier in (back,front)"
    assert selector.matches(WEB)


def test_no_api_selector_is_nothing_and_an_empty_one_everything() -> None:
    assert labels.from_label_selector(None) == labels.nothing()
    assert labels.from_label_selector(LabelSelector()) == labels.everything()


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (Expression("a", "X"), '"X" is not a valid label selector operator'),
        (Expression("a", "Gt", ["1"]), '"Gt" is not a valid label selector operator'),
        (
            Expression("a", "In"),
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            Expression("a", "Exists", ["x"]),
            'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
        ),
    ],
)
def test_a_wrong_expression_is_refused(expression: Expression, message: str) -> None:
    with pytest.raises(InvalidSelector) as caught:
        labels.from_label_selector(LabelSelector({}, [expression]))

    assert str(caught.value) == message
    assert caught.value.position is None


@pytest.mark.parametrize(
    ("operator", "count", "rule"),
    [
        (Operator.EQUALS, 0, "exact-match compatibility requires one single value"),
        (Operator.NOT_EQUALS, 2, "exact-match compatibility requires one single value"),
        (Operator.GREATER_THAN, 0, "for 'Gt', 'Lt' operators, exactly one value is required"),
        (Operator.LESS_THAN, 2, "for 'Gt', 'Lt' operators, exactly one value is required"),
    ],
)
def test_operators_know_how_many_values_they_take(
    operator: Operator, count: int, rule: str
) -> None:
    with pytest.raises(InvalidSelector, match=rule):
        Requirement("a", operator, tuple(map(str, range(count))))


def test_selectors_are_values() -> None:
    selector = labels.parse("a=b")

    assert copy.deepcopy(selector) is copy.copy(selector) is selector
    assert len({selector, labels.parse("a=b"), labels.parse("a==b")}) == 2
    for one in (selector, labels.nothing()):
        assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(AttributeError):
        selector.requirements = ()
    with pytest.raises(AttributeError):
        del selector.matches
    assert selector != "a=b"
