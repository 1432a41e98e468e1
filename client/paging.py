"""Lists in pages: a page as a value, and an iterator that asks for the next one by itself.

Who wants everything gets it sooner if the server makes the next page while this side decodes the
last one, so `UndecodedPage` is a page of which only the token is known yet.
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
    """Some objects of a collection, all in the state of one resourceVersion."""

    items: list[T] = field(default_factory=list)
    resource_version: str = ""
    continue_: str = ""
    """The token for the next page; empty on the last."""
    remaining_item_count: int | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class UndecodedPage(Generic[T]):
    """A page as it came from the server; decoding is what takes long."""

    decode: Callable[[], Page[T]]
    continue_: str = ""
    """The token for the next page, if it could be told without decoding."""


Receive: TypeAlias = Callable[[ListOptions], Coroutine[Any, Any, UndecodedPage[T]]]


class Listing(Generic[T]):
    """The objects of a collection, fetched page by page while one iterates.

    All pages show one state of the collection. A server forgets it after some minutes, and the
    next page then raises Expired; with *inconsistent* the rest comes in the newest state instead.
    `all` starts again with one large page in that case.
    """

    def __init__(
        self,
        fetch: Callable[[ListOptions], Awaitable[Page[T]]],
        options: ListOptions,
        *,
        inconsistent: bool = False,
        receive: Receive[T] | None = None,
    ) -> None:
        """*receive* does the first half of *fetch*, for those who want everything."""
        self._fetch = fetch
        self._options = options
        self._inconsistent = inconsistent
        self._receive = receive

    def __aiter__(self) -> AsyncIterator[T]:
        return self._items()

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Page after page, at least one."""
        options = self._options
        while True:
            try:
                page = await self._fetch(options)
            except (Expired, Gone) as error:
                if not (options.continue_ and self._inconsistent and error.continue_token):
                    raise
                options = self._continued(error.continue_token)
                continue
            yield page
            if not page.continue_:
                return
            options = self._continued(page.continue_)

    async def all(self) -> Page[T]:
        """Everything, in one state."""
        pages: list[Page[T]] = []
        try:
            if self._receive is None or self._inconsistent:
                async for page in self.pages():
                    pages.append(page)
            else:
                await self._collect_ahead(self._receive, pages)
        except Expired:
            if not pages:  # the first page: there is no state to ask for again
                raise
            return await self._fetch(self._options.model_copy(update={"limit": 0}))
        return Page([item for page in pages for item in page.items], pages[0].resource_version)

    async def _collect_ahead(self, receive: Receive[T], pages: list[Page[T]]) -> None:
        """Page after page, each asked for before the one before it is decoded."""
        received = await receive(self._options)
        while True:
            if received.continue_:
                async with _begun(receive(self._continued(received.continue_))) as following:
                    pages.append(received.decode())
                    received = await following
                continue
            pages.append(received.decode())
            if not pages[-1].continue_:
                return
            received = await receive(self._continued(pages[-1].continue_))

    async def _items(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item

    def _continued(self, token: str) -> ListOptions:
        # The token says which state is meant; servers refuse to be told twice.
        return self._options.model_copy(
            update={"continue_": token, "resource_version": "", "resource_version_match": ""}
        )


@asynccontextmanager
async def _begun(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Let *work* begin, so that its request is on the way; it does not outlive the block."""
    task = asyncio.create_task(work)
    try:
        await asyncio.sleep(0)
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, or asyncio would complain of one that nobody waited for
