"""The page of reliability has the figures that the last recorded run has measured."""

import json

import pytest

from tests.benchmarks._abuse_attacks import ABUSES
from tests.faults.figures import FILE, MARK, PAGE, TABLES, rendered
from tests.faults.requests_at_limits import PARTS

FIGURES = json.loads(FILE.read_text())


def test_its_tables_are_those_of_the_figures() -> None:
    assert PAGE.read_text() == rendered(PAGE.read_text(), FIGURES)


def test_it_has_every_table_once() -> None:
    assert sorted(found[2] for found in MARK.finditer(PAGE.read_text())) == sorted(TABLES)


@pytest.mark.parametrize(("table", "rows"), [("abuses", ABUSES), ("pauses", PARTS)])
def test_its_rows_are_those_of_the_suite(table: str, rows: dict[str, object]) -> None:
    assert FIGURES[table].keys() <= rows.keys()


@pytest.mark.parametrize(
    "suite",
    [
        *("all processes of a server are killed", "each of three workers is killed"),
        *("a server is reloaded", "a process that writes to SQLite is killed"),
        *(
            "linearizability of backends",
            "linearizability of watch caches",
            "the leader of etcd 3.5",
        ),
        *("watchers move from server to server", "readers and watchers of random writes"),
        "informers among faults",
    ],
)
def test_it_has_every_suite(suite: str) -> None:
    assert any(row.startswith(suite) for row in FIGURES["fault suites"])
