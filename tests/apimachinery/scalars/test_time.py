"""Instants on the wire."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from apimachinery.model.model import Model
from apimachinery.scalars.time import (
    MicroTime,
    Time,
    format_micro_time,
    format_time,
    now,
    parse_micro_time,
    parse_time,
)

INSTANTS = st.datetimes(
    min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)
)
OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda m: timezone(timedelta(minutes=m)))


class Clock(Model):
    at: Time | None = None
    exactly: MicroTime | None = None


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2024-02-29T12:30:45Z", datetime(2024, 2, 29, 12, 30, 45, tzinfo=UTC)),
        ("2024-02-29T12:30:45+02:00", datetime(2024, 2, 29, 10, 30, 45, tzinfo=UTC)),
        ("2024-02-29T12:30:45-00:30", datetime(2024, 2, 29, 13, 0, 45, tzinfo=UTC)),
        ("2024-02-29T12:30:45.999999999Z", datetime(2024, 2, 29, 12, 30, 45, tzinfo=UTC)),
        ("2024-02-29T12:30:45,5Z", datetime(2024, 2, 29, 12, 30, 45, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_any_offset_and_any_fraction_is_read(text: str, instant: datetime) -> None:
    assert parse_time(text) == instant
    assert parse_time(text).tzinfo is UTC


def test_micro_times_keep_six_digits() -> None:
    assert parse_micro_time("2024-01-01T00:00:00.1234567Z").microsecond == 123456
    assert parse_micro_time("2024-01-01T00:00:00.1Z").microsecond == 100000


@given(INSTANTS)
def test_what_is_written_is_read(instant: datetime) -> None:
    assert parse_micro_time(format_micro_time(instant)) == instant
    assert parse_time(format_time(instant)) == instant.replace(microsecond=0)


@given(INSTANTS, OFFSETS)
def test_the_zone_of_a_datetime_does_not_matter(instant: datetime, zone: timezone) -> None:
    elsewhere = instant.astimezone(zone)

    assert format_micro_time(elsewhere) == format_micro_time(instant)
    assert Clock(exactly=elsewhere).exactly == instant


def test_a_field_holds_what_the_wire_can_say() -> None:
    clock = Clock(at=datetime(2024, 1, 1, 0, 0, 0, 999999, tzinfo=UTC))

    assert clock.at == datetime(2024, 1, 1, tzinfo=UTC)
    assert clock.model_dump_json() == '{"at":"2024-01-01T00:00:00Z"}'


@pytest.mark.parametrize("value", [datetime(2024, 1, 1), 1704067200, True, b"2024"])
def test_only_texts_and_aware_datetimes_are_instants(value: object) -> None:
    with pytest.raises(ValidationError, match="RFC 3339 string or an aware datetime"):
        Clock.model_validate({"at": value})


def test_now_is_whole_seconds_in_utc() -> None:
    assert now().microsecond == 0
    assert now().tzinfo is UTC
