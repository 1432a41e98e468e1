"""Cells, and ages as kubectl prints them."""

from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.scalars.quantity import Quantity
from apiserver.views.table import AGE, NAME, definition, encode_cells, human_duration, write_ages
from tests.apiserver.registry.world import note

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (1, "1s"),
        (70, "70s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 1, "2m1s"),
        (10 * MINUTE - 1, "9m59s"),
        (10 * MINUTE, "10m"),
        (10 * MINUTE + 1, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 59, "3h"),
        (3 * HOUR + MINUTE, "3h1m"),
        (8 * HOUR - 1, "7h59m"),
        (8 * HOUR, "8h"),
        (8 * HOUR + 59 * MINUTE, "8h"),
        (2 * DAY - 1, "47h"),
        (2 * DAY, "2d"),
        (2 * DAY + HOUR, "2d1h"),
        (2 * DAY + 3 * HOUR, "2d3h"),
        (8 * DAY - 1, "7d23h"),
        (8 * DAY, "8d"),
        (8 * DAY + 23 * HOUR, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 23 * HOUR, "2y"),
        (2 * YEAR + DAY, "2y1d"),
        (8 * YEAR - 1, "7y364d"),
        (8 * YEAR, "8y"),
        (8 * YEAR + 364 * DAY, "8y"),
        (100 * YEAR, "100y"),
    ],
)
def test_a_duration_is_written_as_people_read_it(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text


def test_a_time_in_a_row_becomes_an_age_when_it_is_sent() -> None:
    made = datetime(2030, 1, 1, tzinfo=UTC)
    encoded = encode_cells(["a", made, 3])

    soon = write_ages(encoded, datetime(2030, 1, 1, 0, 0, 52, tzinfo=UTC))
    late = write_ages(encoded, datetime(2030, 1, 3, 3, tzinfo=UTC))

    assert orjson.loads(soon) == ["a", "52s", 3]
    assert orjson.loads(late) == ["a", "2d3h", 3]


def test_cells_can_be_any_value() -> None:
    cells = ["x", 1, True, None, 1.5, Quantity("1500m")]

    assert orjson.loads(encode_cells(cells)) == ["x", 1, True, None, 1.5, "1500m"]


@given(st.lists(st.text()))
def test_no_text_is_taken_for_a_time(cells: list[str]) -> None:
    encoded = encode_cells(cells)

    assert write_ages(encoded, datetime(2030, 1, 1, tzinfo=UTC)) == encoded
    assert orjson.loads(encoded) == cells


def test_every_table_has_a_name_and_an_age() -> None:
    assert NAME.cell(note("a")) == "a"
    assert AGE.cell(note("a")) == "<unknown>"
    assert (definition(NAME).type, definition(NAME).format) == ("string", "name")
    assert definition(AGE).priority == 0
