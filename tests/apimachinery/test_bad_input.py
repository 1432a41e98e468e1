"""Whatever is sent, the right error names the place, soon, and nothing else is ever raised."""

import time
from typing import Any

import pytest

from tests.apimachinery.bad_input import Table, documents, requests, schemas, values

TABLES = (*documents.TABLES, *values.TABLES, *requests.TABLES, *schemas.TABLES)
ROWS = [
    pytest.param(table, *row, id=f"{table.name} {position}")
    for table in TABLES
    for position, row in enumerate(table.rows)
]

SECONDS = 5.0
"""Far above what the slowest row takes, and far below what a hostile one could."""


@pytest.mark.parametrize(("table", "given", "error", "says"), ROWS)
def test_bad_input_is_refused_by_its_own_error_that_names_the_place(
    table: Table, given: Any, error: type[Exception], says: str
) -> None:
    started = time.perf_counter()

    with pytest.raises(Exception) as refused:
        table.read(given)

    elapsed = time.perf_counter() - started
    message = str(refused.value)
    assert isinstance(refused.value, error), f"{refused.value!r}"[:500]
    assert says in message, message[:500]
    # What cannot be written as UTF-8 could be put into no answer.
    message.encode()
    assert elapsed < SECONDS


def test_the_tables_are_long_enough_to_mean_something() -> None:
    assert len(ROWS) >= 150
