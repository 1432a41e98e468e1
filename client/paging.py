"""Lists in pages: a page as a value, and an iterator that asks for the next one by itself."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

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
    ) -> None:
        self._fetch = fetch
        self._options = options
        self._inconsistent = inconsistent

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
        items: list[T] = []
        version = ""
        try:
            async for page in self.pages():
                version = version or page.resource_version
                items += page.items
        except Expired:
            if not version:  # the first page: there is no state to ask for again
                raise
            return await self._fetch(self._options.model_copy(update={"limit": 0}))
        return Page(items, version)

    async def _items(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item

    def _continued(self, token: str) -> ListOptions:
        # The token says which state is meant; servers refuse to be told twice.
        return self._options.model_copy(
            update={"continue_": token, "resource_version": "", "resource_version_match": ""}
        )
