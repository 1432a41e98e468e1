"""Pagination: a page of a list as a value, and an iterator that fetches page after page.

Fetching all pages is faster if the server prepares the next page while the client decodes the
last one. `UndecodedPage` makes this possible: its continue token is available before decoding.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, TypeVar

from apimachinery.errors import Expired, Gone
from apimachinery.meta.options import ListOptions

T = TypeVar("T")

PAGE_SIZE: Final = 500


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some objects of a collection, as they were at one resourceVersion."""

    items: list[T] = field(default_factory=list)
    resource_version: str = ""
    continue_: str = ""
    """The continue token for the next page; empty on the last page."""
    remaining_item_count: int | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class UndecodedPage(Generic[T]):
    """A page as received from the server; decoding it is the slow part."""

    decode: Callable[[], Page[T]]
    continue_: str = ""
    """The continue token for the next page; empty if it requires decoding."""


FetchUndecoded: TypeAlias = Callable[[ListOptions], Coroutine[Any, Any, UndecodedPage[T]]]


class Listing(Generic[T]):
    """The objects of a collection, fetched page by page during iteration.

    All pages belong to one snapshot of the collection. Servers discard it after some minutes, and
    the next page then raises Expired. With *inconsistent* the remaining pages come from the newest
    state instead. `all` falls back to a single unpaginated list in that case.
    """

    def __init__(
        self,
        fetch: Callable[[ListOptions], Awaitable[Page[T]]],
        options: ListOptions,
        *,
        inconsistent: bool = False,
        fetch_undecoded: FetchUndecoded[T] | None = None,
    ) -> None:
        """Create a listing; *fetch_undecoded*, if given, lets `all` prefetch pages."""
        self._fetch = fetch
        self._options = options
        self._inconsistent = inconsistent
        self._fetch_undecoded = fetch_undecoded

    def __aiter__(self) -> AsyncIterator[T]:
        return self._items()

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Yield the pages, at least one; raises Expired if the snapshot expires."""
        options = self._options
        while True:
            try:
                page = await self._fetch(options)
            except (Expired, Gone) as error:
                if not (options.continue_ and self._inconsistent and error.continue_token):
                    raise
                options = self._next_options(error.continue_token)
                continue
            yield page
            if not page.continue_:
                return
            options = self._next_options(page.continue_)

    async def all(self) -> Page[T]:
        """Return all objects as one page, in one consistent state unless *inconsistent*."""
        pages: list[Page[T]] = []
        try:
            if self._fetch_undecoded is None or self._inconsistent:
                async for page in self.pages():
                    pages.append(page)
            else:
                await self._prefetch_pages(self._fetch_undecoded, pages)
        except Expired:
            if not pages:  # the requested resourceVersion has expired, not a continue token
                raise
            return await self._fetch(self._options.model_copy(update={"limit": 0}))
        return Page([item for page in pages for item in page.items], pages[0].resource_version)

    async def _prefetch_pages(self, fetch: FetchUndecoded[T], pages: list[Page[T]]) -> None:
        """Append every page to *pages*; request each before the previous one is decoded."""
        undecoded = await fetch(self._options)
        while True:
            if undecoded.continue_:
                async with _running_task(
                    fetch(self._next_options(undecoded.continue_))
                ) as next_page:
                    pages.append(undecoded.decode())
                    undecoded = await next_page
                continue
            pages.append(undecoded.decode())
            if not pages[-1].continue_:
                return
            undecoded = await fetch(self._next_options(pages[-1].continue_))

    async def _items(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item

    def _next_options(self, token: str) -> ListOptions:
        # The token includes the resourceVersion; servers reject a request with both.
        return self._options.model_copy(
            update={"continue_": token, "resource_version": "", "resource_version_match": ""}
        )


@asynccontextmanager
async def _running_task(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Start *work*, so that its request is sent before the block; cancel it after the block."""
    task = asyncio.create_task(work)
    try:
        await asyncio.sleep(0)
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # retrieved, because asyncio logs exceptions that never are
