"""Relist: list a whole collection for a cache, with pagination where that suits the server."""

from typing import Final, TypeVar

from apimachinery.errors import Expired
from apimachinery.meta.options import ListOptions
from apimachinery.meta.types import Object
from client.paging import PAGE_SIZE, Page
from client.reflector.list_watch import ListerWatcher

T = TypeVar("T", bound=Object)

ANY: Final = "0"
"""The resourceVersion that requests any state, usually served from the server's watch cache."""
MOST_RECENT: Final = ""
"""The resourceVersion that requests the most recent state, read from storage if necessary."""


async def list_all(
    source: ListerWatcher[T], resource_version: str, *, page_size: int
) -> tuple[Page[T], bool]:
    """Return the whole collection in one state, and whether it came in several pages.

    If the continue token expires between two pages, the collection is listed again without
    pagination. An error of the first page is raised to the caller.
    """
    options = ListOptions(resource_version=resource_version, limit=page_size)
    page = await source.list(options)
    if not page.continue_:
        return page, False
    items, version = list(page.items), page.resource_version
    while page.continue_:
        try:
            # The token determines the state; servers reject a resourceVersion beside it.
            page = await source.list(ListOptions(limit=page_size, continue_=page.continue_))
        except Expired:
            whole = await source.list(ListOptions(resource_version=resource_version))
            return whole, True
        items += page.items
    return Page(items, version), True


def page_size_for(resource_version: str, *, configured: int, server_pages: bool) -> int:
    """Return the page size with which the server can serve the list from its watch cache.

    A watch cache ignores the limit of a list of any state, and serves a list of a given state only
    without a limit. A server that paginates the former (*server_pages*) has no watch cache. A
    *configured* page size takes precedence.
    """
    if configured:
        return configured
    if server_pages or resource_version in (MOST_RECENT, ANY):
        return PAGE_SIZE
    return 0
