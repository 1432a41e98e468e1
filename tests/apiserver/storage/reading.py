"""Taking what a test expects from a feed, without waiting for ever if it does not come."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from apiserver.storage.interface import Backend, ChangeBatch, Feed, StoredChange

PATIENCE_SECONDS = 20


async def take(feed: Feed, count: int) -> list[StoredChange]:
    """The next *count* changes; more than that are an error of the feed or of the test."""
    changes: list[StoredChange] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(changes) < count:
            changes += (await anext(feed)).changes
    assert len(changes) == count
    return changes


async def take_until(feed: Feed, revision: int) -> list[ChangeBatch]:
    """All batches up to the one that has come as far as *revision*."""
    batches: list[ChangeBatch] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not batches or batches[-1].revision < revision:
            batches.append(await anext(feed))
    return batches


@asynccontextmanager
async def reported(backend: Backend, prefix: str = "/") -> AsyncIterator[list[StoredChange]]:
    """Collect into a list all that a feed says about what is written inside the `async with`.

    The last of it is told apart by a key that is written at the end.
    """
    found: list[StoredChange] = []
    start = await backend.current_revision()
    async with backend.watch(prefix, after=start) as feed:
        yield found
        last = await backend.create(f"{prefix}~last", b"")
        for batch in await take_until(feed, last):
            found += batch.changes
        assert found.pop().revision == last


async def create_all(backend: Backend, keys: Iterable[str]) -> dict[str, int]:
    """Create *keys* one after the other, each with itself as its value; their revisions."""
    return {key: await backend.create(key, key.encode()) for key in keys}
