"""Durations: Go's duration strings, read and written."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from apimachinery.scalars.duration import (
    DURATION,
    Duration,
    InvalidDuration,
    format_duration,
    parse_duration,
)

MAX_MICROSECONDS = (2**63 - 1) // 1000
durations = st.integers(-MAX_MICROSECONDS, MAX_MICROSECONDS).map(
    lambda microseconds: timedelta(microseconds=microseconds)
)


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("0", 0),
        ("-0", 0),
        ("0s", 0),
        ("5s", 5_000_000),
        ("+5s", 5_000_000),
        ("-5s", -5_000_000),
        ("1h2m3.5s", 3_723_500_000),
        ("1.5h", 5_400_000_000),
        ("3s4m", 243_000_000),
        (".5s", 500_000),
        ("1.s", 1_000_000),
        ("100ms", 100_000),
        ("12us", 12),
        ("12\u00b5s", 12),
        ("12\u03bcs", 12),
        ("1.000000s", 1_000_000),
        ("0.1000000000000000000000000000000s", 100_000),
        ("9223372036854775807ns", 9_223_372_036_854_775),
        ("-9223372036854775808ns", -9_223_372_036_854_775),
    ],
)
def test_go_durations_are_read(text: str, microseconds: int) -> None:
    assert parse_duration(text) == timedelta(microseconds=microseconds)


@pytest.mark.parametrize(
    ("text", "microseconds"), [("1999ns", 1), ("-1999ns", -1), ("1ns", 1), ("-999ns", -1)]
)
def test_nanoseconds_are_cut_off_but_something_never_becomes_nothing(
    text: str, microseconds: int
) -> None:
    assert parse_duration(text) == timedelta(microseconds=microseconds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("s", 'time: invalid duration "s"'),
        (".", 'time: invalid duration "."'),
        ("-.s", 'time: invalid duration "-.s"'),
        ("+-1s", 'time: invalid duration "+-1s"'),
        (" 1s", 'time: invalid duration " 1s"'),
        ("\u0661s", 'time: invalid duration "\\xd9\\xa1s"'),
        ('"\\', 'time: invalid duration "\\"\\\\"'),
        ("3", 'time: missing unit in duration "3"'),
        ("1h3", 'time: missing unit in duration "1h3"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ("3 s", 'time: unknown unit " s" in duration "3 s"'),
        ("1e3s", 'time: unknown unit "e" in duration "1e3s"'),
        ("1s\n", 'time: unknown unit "s\\x0a" in duration "1s\\x0a"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("-9223372036854775809ns", 'time: invalid duration "-9223372036854775809ns"'),
        ("2562048h", 'time: invalid duration "2562048h"'),
        ("99999999999999999999x", 'time: invalid duration "99999999999999999999x"'),
    ],
)
def test_what_is_not_a_duration_is_refused_in_the_words_of_go(text: str, message: str) -> None:
    with pytest.raises(InvalidDuration) as caught:
        parse_duration(text)

    assert str(caught.value) == message
    assert caught.value.text == text


def test_a_text_without_end_is_refused() -> None:
    with pytest.raises(InvalidDuration, match="no more than 1024 characters"):
        parse_duration("1" * 10_000_000)


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0, "0s"),
        (1, "1\u00b5s"),
        (1_100, "1.1ms"),
        (100_000, "100ms"),
        (999_999, "999.999ms"),
        (1_000_000, "1s"),
        (1_500_000, "1.5s"),
        (59_999_999, "59.999999s"),
        (60_000_000, "1m0s"),
        (3_600_000_000, "1h0m0s"),
        (3_661_500_000, "1h1m1.5s"),
        (90_000_000_000, "25h0m0s"),
        (-1, "-1\u00b5s"),
        (-90_000_000, "-1m30s"),
    ],
)
def test_durations_are_written_as_go_prints_them(microseconds: int, text: str) -> None:
    assert format_duration(timedelta(microseconds=microseconds)) == text


@given(durations)
def test_what_is_written_can_be_read_again(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@given(st.text(alphabet="0123456789.+-nsumh\u00b5\u0661 ", max_size=30) | st.text())
def test_any_text_is_a_duration_or_an_invalid_one(text: str) -> None:
    try:
        duration = parse_duration(text)
    except InvalidDuration:
        return

    assert parse_duration(format_duration(duration)) == duration


@pytest.mark.parametrize("duration", [timedelta.max, timedelta.min, timedelta(days=106752)])
def test_what_go_cannot_hold_is_not_written(duration: timedelta) -> None:
    with pytest.raises(InvalidDuration, match="64 bits"):
        format_duration(duration)


class Lease(BaseModel):
    model_config = ConfigDict(strict=True)

    period: Duration


def test_the_wire_form_is_the_string() -> None:
    lease = Lease.model_validate_json('{"period": "90s"}')

    assert lease.period == timedelta(seconds=90)
    assert lease.model_dump_json() == '{"period":"1m30s"}'
    assert lease.model_dump() == {"period": timedelta(seconds=90)}
    assert Lease(period=timedelta(seconds=1)).model_dump(mode="json") == {"period": "1s"}


@pytest.mark.parametrize("value", ["5", "null", "true", "[]", '"5"', '"PT5S"', '""'])
def test_a_document_with_a_bad_duration_names_the_place(value: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Lease.model_validate_json(f'{{"period": {value}}}')

    assert caught.value.errors()[0]["loc"] == ("period",)


def test_a_model_does_not_take_a_timedelta_that_cannot_be_written() -> None:
    with pytest.raises(ValidationError, match="64 bits"):
        Lease(period=timedelta.max)


def test_writers_find_the_marker_and_the_schema_is_a_string() -> None:
    assert DURATION in Duration.__metadata__  # type: ignore[attr-defined]
    assert TypeAdapter(Duration).json_schema() == {"type": "string"}
