"""Listing: select the entries of a list from a snapshot, without holding up other requests.

A selector is evaluated for every entry of a collection, however few match. So the snapshot, which
is a copy of references, is taken at once, and the entries are then matched in time slices.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from apiserver.storage.cache.collection import (
    Collection,
    CollectionListing,
    CollectionSnapshot,
    filter_entries,
)
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.time_slices import TimeSlices

MATCHED: Final = 128
"""Entries matched with a selector before the time is checked."""
TAKEN: Final = 1024
"""Entries taken without a selector before the time is checked."""


async def list_entries(
    collection: Collection,
    selection: EntrySelection,
    *,
    current: int,
    start: str = "",
    limit: int = 0,
    revision: int | None = None,
) -> CollectionListing:
    """List like `Collection.select`; let other tasks run if there is much to look at."""
    if collection.is_short(selection, start=start, limit=limit):
        return collection.select(
            selection, current=current, start=start, limit=limit, revision=revision
        )
    snapshot = collection.snapshot(selection, start=start, revision=revision)
    listed_at = current if revision is None else revision
    return await _match(collection, selection, snapshot, limit, listed_at)


async def _match(
    collection: Collection,
    selection: EntrySelection,
    snapshot: CollectionSnapshot,
    limit: int,
    revision: int,
) -> CollectionListing:
    is_exact = not selection.selective and selection.name is None
    candidates = iter(snapshot.entries)
    found: list[Entry] = []
    time = TimeSlices()
    while batch := list(islice(candidates, TAKEN if is_exact else MATCHED)):
        found.extend(filter_entries(collection.keys, selection, batch))
        if limit and len(found) >= limit:
            entries = found[:limit]
            if not _has_more(entries[-1], batch, candidates):
                break
            remaining = snapshot.count - limit if is_exact else None
            return CollectionListing(entries, revision, more=True, remaining=remaining)
        await time.yield_loop()
    return CollectionListing(found, revision, remaining=0)


def _has_more(last: Entry, batch: list[Entry], candidates: Iterator[Entry]) -> bool:
    return batch[-1] is not last or next(candidates, None) is not None
