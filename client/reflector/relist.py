"""Listing a whole collection for a cache, in pages where that is better for the server."""

from typing import Final, TypeVar

from apimachinery.errors import Expired
from apimachinery.meta.options import ListOptions
from apimachinery.meta.types import Object
from client.paging import PAGE_SIZE, Page
from client.reflector.list_watch import ListerWatcher

T = TypeVar("T", bound=Object)

ANYTHING: Final = "0"
"""The resourceVersion of who takes whatever state the server has in memory."""
NEWEST: Final = ""
"""The resourceVersion of who wants the newest state, whatever it costs."""


async def list_all(
    source: ListerWatcher[T], resource_version: str, *, page_size: int
) -> tuple[Page[T], bool]:
    """Everything in one state, and whether it came in several pages.

    When the state is forgotten on the way, everything is asked for again in one piece; if the
    first page already is refused, that is for the caller.
    """
    options = ListOptions(resource_version=resource_version, limit=page_size)
    page = await source.list(options)
    if not page.continue_:
        return page, False
    items, version = list(page.items), page.resource_version
    while page.continue_:
        try:
            # The token says which state is meant; servers refuse to be told twice.
            page = await source.list(ListOptions(limit=page_size, continue_=page.continue_))
        except Expired:
            whole = await source.list(ListOptions(resource_version=resource_version))
            return whole, True
        items += page.items
    return Page(items, version), True


def page_size_for(resource_version: str, *, wanted: int, server_pages: bool) -> int:
    """The page size of a list, so that the server can answer it from memory if it can at all.

    A server's cache ignores the limit of a list of any state, and answers one of a given state
    only without a limit. One that pages the former (*server_pages*) has no such cache.
    """
    if wanted:
        return wanted
    if server_pages or resource_version in (NEWEST, ANYTHING):
        return PAGE_SIZE
    return 0
