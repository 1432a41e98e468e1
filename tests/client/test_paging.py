"""Pagination: the options of each page, and what happens when the snapshot expires."""

import pytest

from apimachinery.errors import APIError, Expired, Gone, InternalError
from apimachinery.meta.options import ListOptions
from client.paging import Listing, Page


class Pages:
    """Returns prepared pages or raises prepared errors."""

    def __init__(self, *pages: Page[str] | Exception) -> None:
        self.pages = list(pages)
        self.requested: list[ListOptions] = []

    async def fetch(self, options: ListOptions) -> Page[str]:
        self.requested.append(options)
        page = self.pages.pop(0)
        if isinstance(page, Exception):
            raise page
        return page


OPTIONS = ListOptions(
    limit=2, resource_version="5", resource_version_match="NotOlderThan", label_selector="a=b"
)


async def test_a_page_after_the_first_is_asked_for_by_its_token() -> None:
    """The token includes the resourceVersion; the selectors are repeated."""
    source = Pages(Page(["a", "b"], "7", "next"), Page(["c"], "7"))

    whole = await Listing(source.fetch, OPTIONS).all()

    assert (whole.items, whole.resource_version) == (["a", "b", "c"], "7")
    _, second = source.requested
    assert (second.continue_, second.limit, second.label_selector) == ("next", 2, "a=b")
    assert (second.resource_version, second.resource_version_match) == ("", "")


@pytest.mark.parametrize("first", [["a", "b"], []], ids=["full page", "empty page"])
async def test_a_state_forgotten_between_pages_is_asked_for_in_one_piece(first: list[str]) -> None:
    source = Pages(Page(first, "7", "next"), Expired("too old"), Page(["a", "b", "c"], "9"))

    whole = await Listing(source.fetch, OPTIONS).all()

    assert (whole.items, whole.resource_version) == (["a", "b", "c"], "9")
    again = source.requested[-1]
    assert (again.limit, again.continue_, again.resource_version) == (0, "", "5")
    assert again.resource_version_match == "NotOlderThan"


async def test_a_first_page_that_is_forgotten_is_an_error() -> None:
    source = Pages(Expired("too old"))

    with pytest.raises(Expired):
        await Listing(source.fetch, OPTIONS).all()

    assert len(source.requested) == 1


@pytest.mark.parametrize("error", [Gone("gone"), InternalError.of("broken")])
async def test_another_error_of_a_later_page_is_that_error(error: APIError) -> None:
    source = Pages(Page(["a"], "7", "next"), error)

    with pytest.raises(type(error)):
        await Listing(source.fetch, OPTIONS).all()

    assert len(source.requested) == 2
