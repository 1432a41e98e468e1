"""The page of scale has the plots and tables of its figures, and the model agrees with them."""

import json
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tests.benchmarks._plots import log_plot
from tests.benchmarks._scale_model import checks
from tests.benchmarks._scale_page import DOCS, FILE, MARK, PAGE, plots, rendered

FIGURES = json.loads(FILE.read_text())


def test_its_tables_are_those_of_the_figures() -> None:
    page = PAGE.read_text()

    assert page == rendered(page, FIGURES)
    assert len(MARK.findall(page)) == 5


@pytest.mark.parametrize("name", plots(FIGURES))
def test_its_plots_are_those_of_the_figures(name: str) -> None:
    assert (DOCS / name).read_text() == plots(FIGURES)[name]
    assert f"]({name})" in PAGE.read_text()


def test_a_plot_is_an_image_with_a_line_for_each_name() -> None:
    image = ElementTree.fromstring(
        log_plot("T", "x", "y", {"<a>": {1: 2.0, 10: 30.0}, "b": {1: 5}})
    )

    texts = [element.text for element in image.iter("{http://www.w3.org/2000/svg}text")]
    assert {"T", "<a>", "b"} <= set(texts)


@pytest.mark.parametrize("name", checks(FIGURES))
def test_the_model_predicts_what_was_measured(name: str) -> None:
    """From a tenth of the size; what is small compared to its noise may be wrong by more."""
    predicted, measured = checks(FIGURES)[name]

    assert predicted / 2 < measured < predicted * 2


@pytest.mark.parametrize("kind", [kind for kind in FIGURES["watchers"] if kind != "everything"])
def test_watchers_of_something_else_cost_an_event_nothing(kind: str) -> None:
    costs = FIGURES["watchers"][kind]
    first, last = min(costs, key=int), max(costs, key=int)

    assert int(last) == 1000 * int(first)
    assert costs[last]["event"] < costs[first]["event"] * 1.5


@pytest.mark.parametrize("store", FIGURES["objects"])
@pytest.mark.parametrize("name", ["get", "page", "write", "follow"])
def test_requests_cost_the_same_among_more_objects(store: str, name: str) -> None:
    rows = FIGURES["objects"][store]
    costs = [rows[size][name] for size in sorted(rows, key=int)]

    assert all(after < before * 2 for before, after in pairwise(costs))
