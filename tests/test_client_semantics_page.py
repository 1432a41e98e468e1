"""Every promise of the client names a test, and every test that is named exists.

The files are parsed and not run: whether a test passes is for the test to say.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests/client"
PAGES = sorted((ROOT / "docs").glob("client-semantics*.md"))
ROW = re.compile(r"^\| (?P<promise>.+?) \| (?P<tests>[^|]+) \|$", re.MULTILINE)
NAMED = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<function>\w+)`")
NUMBER = re.compile(r"^\*\*(\w+)\*\* ")
HEADS = ("promise", "---")


def rows() -> list[tuple[Path, str, str]]:
    """(page, promise, tests) of every row of every table."""
    return [
        (page, row["promise"], row["tests"])
        for page in PAGES
        for row in ROW.finditer(page.read_text())
        if row["promise"].strip("-: ") and row["promise"] not in HEADS
    ]


@cache
def functions_in(file: str) -> frozenset[str]:
    """The tests of a file, those in classes too."""
    path = next((each for each in (TESTS / file, ROOT / file) if each.is_file()), None)
    if path is None:
        return frozenset()
    nodes = ast.walk(ast.parse(path.read_text()))
    return frozenset(
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
    )


def test_there_are_promises() -> None:
    assert len(rows()) > 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_promise_names_tests_that_exist(page: Path) -> None:
    missing = [
        f"{promise}: {tests}"
        for of, promise, tests in rows()
        if of == page
        and not (
            (named := NAMED.findall(tests))
            and all(function in functions_in(file) for file, function in named)
        )
    ]

    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_row_of_the_page_is_understood(page: Path) -> None:
    """A table that is written differently must not escape the test above."""
    lines = [
        line for line in page.read_text().splitlines() if line.startswith("|") and "::" in line
    ]
    understood = [tests for of, _, tests in rows() if of == page]

    assert len(lines) == len(understood)


def test_numbers_are_given_once() -> None:
    numbers = [found[1] for _, promise, _ in rows() if (found := NUMBER.match(promise))]

    assert len(numbers) == len(set(numbers))


def test_a_test_that_does_not_exist_is_noticed() -> None:
    assert "test_numbers_are_given_once" in functions_in("tests/test_client_semantics_page.py")
    assert "test_nobody_wrote" not in functions_in("test_watch.py")
    assert functions_in("test_no_such_file.py") == frozenset()
