"""Field errors name the place and the rule in the words of Kubernetes."""

import json
from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from apimachinery import fieldpath as field
from apimachinery.fieldpath import ErrorType, FieldError, Path, quote, to_aggregate_message

SPEC = Path("spec", "x")


class Colour(StrEnum):
    RED = "red"


class Port(BaseModel):
    number: int = Field(alias="containerPort")
    name: str | None = None


def test_paths_print_names_positions_and_keys() -> None:
    assert str(Path("spec", "containers").index(0).child("name")) == "spec.containers[0].name"
    assert str(Path("spec").child("a", "b").key("k.example/x")) == "spec.a.b[k.example/x]"
    assert str(Path().child("spec")) == "spec"
    assert str(Path().key("x").child("y")) == "[x].y"


def test_the_empty_path_prints_as_nil_and_an_empty_name_as_brackets() -> None:
    assert str(Path()) == "<nil>"
    assert Path().empty
    assert str(Path("")) == "[]"
    assert str(Path("a", "")) == "a[]"


def test_a_path_is_not_changed_by_its_children() -> None:
    path = Path("spec")

    children = path.child("a"), path.index(1), path.key("k")

    assert str(path) == "spec"
    assert list(map(str, children)) == ["spec.a", "spec[1]", "spec[k]"]


def test_equal_paths_are_one_key() -> None:
    assert {Path("a").child("b"), Path("a", "b")} == {Path("a", "b")}
    assert Path("a") != "a"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (field.required(SPEC), "spec.x: Required value"),
        (field.required(SPEC, "name it"), "spec.x: Required value: name it"),
        (field.invalid(SPEC, 5, "must be positive"), "spec.x: Invalid value: 5: must be positive"),
        (field.immutable(SPEC, "b"), 'spec.x: Invalid value: "b": field is immutable'),
        (field.type_invalid(SPEC, "a", "not a number"), 'spec.x: Invalid value: "a": not a number'),
        (
            field.not_supported(SPEC, "x", ["a", "b"]),
            'spec.x: Unsupported value: "x": supported values: "a", "b"',
        ),
        (
            field.not_supported(SPEC, "x", Colour),
            'spec.x: Unsupported value: "x": supported values: "red"',
        ),
        (field.not_supported(SPEC, "x"), 'spec.x: Unsupported value: "x"'),
        (field.duplicate(SPEC, "x"), 'spec.x: Duplicate value: "x"'),
        (field.not_found(SPEC, "x"), 'spec.x: Not found: "x"'),
        (field.forbidden(SPEC, "not now"), "spec.x: Forbidden: not now"),
        (field.too_long(SPEC, 63), "spec.x: Too long: may not be more than 63 bytes"),
        (field.too_long(SPEC, 1), "spec.x: Too long: may not be more than 1 byte"),
        (field.too_long(SPEC, -1), "spec.x: Too long: value is too long"),
        (
            field.too_long_characters(SPEC, 5),
            "spec.x: Too long: may not be more than 5 characters",
        ),
        (field.too_short(SPEC, 2), "spec.x: Too short: must be at least 2 characters"),
        (field.too_short(SPEC, -1), "spec.x: Too short: value is too short"),
        (field.too_many(SPEC, 5, 3), "spec.x: Too many: 5: must have at most 3 items"),
        (field.too_many(SPEC, 2, 1), "spec.x: Too many: 2: must have at most 1 item"),
        (field.too_many(SPEC, -1, 3), "spec.x: Too many: must have at most 3 items"),
        (field.too_many(SPEC, 5, -1), "spec.x: Too many: 5: has too many items"),
        (field.too_few(SPEC, 0, 1), "spec.x: Too few: 0: must have at least 1 item"),
        (field.internal_error(SPEC, OSError("disk")), "spec.x: Internal error: disk"),
        (field.required(Path()), "<nil>: Required value"),
    ],
)
def test_errors_print_as_kubernetes_prints_them(error: FieldError, text: str) -> None:
    assert str(error) == text
    assert f"{error.field}: {error.body}" == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (-7, "-7"),
        (10**30, "1" + "0" * 30),
        (1.5, "1.5"),
        (2.0, "2"),
        (1e6, "1e+06"),
        (123456.5, "123456.5"),
        (0.00001234, "1.234e-05"),
        (-0.0, "-0"),
        (float("inf"), "+Inf"),
        (float("nan"), "NaN"),
        ("", '""'),
        ('say "hi"\n', r'"say \"hi\"\n"'),
        (Colour.RED, '"red"'),
        (timedelta(seconds=90), '"1m30s"'),
        ({"wait": timedelta()}, '{"wait":"0s"}'),
        (timedelta.max, "<timedelta>"),
        ({"b": 1, "a": {"d": None, "c": "<"}}, '{"a":{"c":"\\u003c","d":null},"b":1}'),
        ([1, "a", 2.0], '[1,"a",2]'),
        (Port(containerPort=80), '{"containerPort":80}'),
        ([Port(containerPort=80, name="ä")], '[{"containerPort":80,"name":"ä"}]'),
    ],
)
def test_bad_values_are_shown(value: Any, shown: str) -> None:
    assert str(field.invalid(SPEC, value, "no")) == f"spec.x: Invalid value: {shown}: no"


def test_a_value_that_cannot_be_written_is_shown_by_its_type() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    assert str(field.invalid(SPEC, deep, "no")) == "spec.x: Invalid value: <list>: no"
    assert str(field.invalid(SPEC, 10**5000, "no")) == "spec.x: Invalid value: <int>: no"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a b", '"a b"'),
        ("\\", r'"\\"'),
        ("\t\x00\x7f", r'"\t\x00\x7f"'),
        ("é☺", '"é☺"'),
        ("\u00a0\u200b", r'"\u00a0\u200b"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("\ud800", r'"\ud800"'),
    ],
)
def test_text_is_quoted_as_go_quotes_it(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_printable_ascii_is_quoted_as_in_json(text: str) -> None:
    assert json.loads(quote(text)) == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_json_value_can_be_shown(value: Any) -> None:
    text = str(field.invalid(SPEC, value, "no"))

    assert text.startswith("spec.x: Invalid value: ")
    assert text.isprintable() or not isinstance(value, str)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: field.required(SPEC), "FieldValueRequired"),
        (lambda: field.immutable(SPEC, 1), "FieldValueInvalid"),
        (lambda: field.not_supported(SPEC, 1), "FieldValueNotSupported"),
        (lambda: field.type_invalid(SPEC, 1, ""), "FieldValueTypeInvalid"),
        (lambda: field.internal_error(SPEC, OSError()), "InternalError"),
    ],
)
def test_the_reason_of_the_cause_is_the_type(make: Callable[[], FieldError], reason: str) -> None:
    assert make().reason == reason


def test_every_type_has_words() -> None:
    assert all(kind.words for kind in ErrorType)


def test_errors_are_joined_into_one_message() -> None:
    first, second = field.required(Path("a")), field.required(Path("b"))

    assert to_aggregate_message([]) == ""
    assert to_aggregate_message([first]) == "a: Required value"
    assert to_aggregate_message([first, first]) == "a: Required value"
    assert to_aggregate_message(iter([first, second, first])) == (
        "[a: Required value, b: Required value]"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 5000, '"' + "x" * 4096 + '..."'),
        (["x"] * 5000, '["x"'),
        ({str(key): 1 for key in range(9999, 0, -1)}, '{"1":1,"10":1,"100":1'),
        ([["x" * 10] * 1000] * 1000, '[["xxxxxxxxxx"'),
        (10**400, "<int>"),
    ],
    ids=["string", "list", "map", "nested", "number"],
)
def test_a_message_shows_the_beginning_of_a_large_value(value: Any, shown: str) -> None:
    body = field.invalid(SPEC, value, "wrong").body

    assert body.startswith(f"Invalid value: {shown}")
    assert body.endswith(": wrong")
    assert len(body) < 4200


def test_a_long_step_of_a_path_is_cut() -> None:
    assert str(Path("a").key("k" * 5000).child("b")) == f"a[{'k' * 4096}...].b"


def test_a_member_may_have_no_name() -> None:
    assert str(Path().member("a").index(0).member("")) == "a[0]."
