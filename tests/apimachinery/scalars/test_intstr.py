"""IntOrString: what the wire may hold and what a value means against a total."""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from apimachinery.scalars.intstr import (
    INT_OR_STRING,
    IntOrString,
    InvalidIntOrString,
    parse_int_or_string,
    parse_integer,
    scaled_value,
)


class Rollout(BaseModel):
    model_config = ConfigDict(strict=True)

    surge: IntOrString
    limit: IntOrString | None = None


@pytest.mark.parametrize("text", ["5", "-2147483648", "2147483647", '"5"', '"25%"', '""'])
def test_the_wire_keeps_numbers_and_strings_apart(text: str) -> None:
    document = f'{{"surge":{text},"limit":null}}'

    assert Rollout.model_validate_json(document).model_dump_json() == document


@pytest.mark.parametrize(
    "text", ["true", "1.0", "1e3", "2147483648", "-2147483649", "[]", "null", "{}"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="integer of 32 bits or a string") as caught:
        Rollout.model_validate_json(f'{{"surge": {text}}}')

    assert [error["loc"] for error in caught.value.errors()] == [("surge",)]


def test_python_values_are_as_strict() -> None:
    assert Rollout(surge=1).surge == 1
    for value in (True, 1.0, b"1"):
        with pytest.raises(ValidationError):
            Rollout(surge=value)  # type: ignore[arg-type]


def test_writers_find_the_marker_and_the_schema_says_int_or_string() -> None:
    assert INT_OR_STRING in IntOrString.__metadata__  # type: ignore[attr-defined]
    assert TypeAdapter(IntOrString).json_schema() == {
        "x-kubernetes-int-or-string": True,
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    }


@pytest.mark.parametrize(
    ("value", "total", "up", "down"),
    [
        (3, 10, 3, 3),
        (-3, 10, -3, -3),
        ("25%", 10, 3, 2),
        ("25%", 8, 2, 2),
        ("0%", 10, 0, 0),
        ("200%", 3, 6, 6),
        ("-10%", 15, -1, -2),
        ("+10%", 10, 1, 1),
    ],
)
def test_a_percentage_is_a_share_of_the_total(
    value: int | str, total: int, up: int, down: int
) -> None:
    assert scaled_value(value, total, round_up=True) == up
    assert scaled_value(value, total, round_up=False) == down


@given(st.integers(-1000, 1000), st.integers(0, 10**18))
def test_shares_are_exact(percent: int, total: int) -> None:
    share = Fraction(percent * total, 100)

    assert scaled_value(f"{percent}%", total, round_up=True) == ceil(share)
    assert scaled_value(f"{percent}%", total, round_up=False) == floor(share)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "invalid type: string is not a percentage"),
        ("5", "invalid type: string is not a percentage"),
        ("http", "invalid type: string is not a percentage"),
        ("%", 'invalid value "%": strconv.Atoi: parsing "": invalid syntax'),
        ("x%", 'invalid value "x%": strconv.Atoi: parsing "x": invalid syntax'),
        ("1.5%", 'invalid value "1.5%": strconv.Atoi: parsing "1.5": invalid syntax'),
        ("1_0%", 'invalid value "1_0%": strconv.Atoi: parsing "1_0": invalid syntax'),
        (
            "9223372036854775808%",
            'invalid value "9223372036854775808%": '
            'strconv.Atoi: parsing "9223372036854775808": value out of range',
        ),
    ],
)
def test_other_strings_have_no_share(value: str, reason: str) -> None:
    with pytest.raises(InvalidIntOrString) as caught:
        scaled_value(value, 10, round_up=True)

    assert str(caught.value) == f"invalid value for IntOrString: {reason}"


@given(st.text())
def test_any_string_is_a_percentage_or_an_invalid_one(text: str) -> None:
    try:
        scaled_value(text, 10, round_up=True)
    except InvalidIntOrString:
        assert parse_integer(text.removesuffix("%")) is None or not text.endswith("%")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("+5", 5),
        ("007", 7),
        ("2147483647", 2147483647),
        ("2147483648", "2147483648"),
        ("1_000", "1_000"),
        (" 5", " 5"),
        ("\u0665", "\u0665"),
        ("25%", "25%"),
        ("", ""),
        pytest.param("9" * 100_000, "9" * 100_000, id="long"),
    ],
)
def test_a_text_becomes_a_number_if_it_writes_one_of_32_bits(text: str, value: int | str) -> None:
    assert parse_int_or_string(text) == value


@given(st.integers(-(2**65), 2**65))
def test_integers_have_64_bits(number: int) -> None:
    expected = number if -(2**63) <= number < 2**63 else None

    assert parse_integer(str(number)) == expected
