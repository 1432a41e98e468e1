"""Direct reads: bypass the cache for a revision it no longer covers, or while the feed lags.

Each costs a round trip, decodes every record it returns, and caches nothing.
"""

from apiserver.storage.cache.collection import Collection, CollectionListing
from apiserver.storage.cache.entry import Entry, EntrySelection, make_entry
from apiserver.storage.cache.read_revision import RevisionExpired, TooLargeRevision
from apiserver.storage.interface import Backend, Compacted, FutureRevision, KeyPage, Record
from apiserver.storage.keys import InvalidStorageKey
from apiserver.time_slices import TimeSlices

PAGE = 500
"""Records fetched at once when a selector decides how many are needed."""
LARGEST_PAGE = 10_000
"""Records fetched at once at most."""


async def direct_entry(
    backend: Backend, collection: Collection, key: str, *, revision: int | None
) -> Entry | None:
    """Read one object, newest or as of *revision*."""
    if revision is None:
        record = await backend.get(key)
        return make_entry(record, collection.view) if record else None
    page = await _range(backend, key, start=key, limit=1, revision=revision)
    matching = [record for record in page.records if record.key == key]
    return make_entry(matching[0], collection.view) if matching else None


async def direct_listing(
    backend: Backend,
    collection: Collection,
    selection: EntrySelection,
    *,
    start: str,
    limit: int,
    revision: int | None,
) -> CollectionListing:
    """List objects with the semantics of `Collection.select`, read from the backend."""
    prefix = collection.single_key(selection) or collection.prefix_of(selection)
    exact = not selection.selective and selection.name is None
    entries: list[Entry] = []
    time = TimeSlices()
    while True:
        page_size = _page_size(limit, len(entries), exact=exact)
        page = await _range(backend, prefix, start=start, limit=page_size, revision=revision)
        revision = page.revision if revision is None else revision
        for position, record in enumerate(page.records, start=1):
            await time.yield_loop()
            entry = _matching_entry(collection, selection, record)
            if entry is not None:
                entries.append(entry)
            if limit and len(entries) == limit:
                remaining = page.remaining + len(page.records) - position
                more = remaining > 0
                return CollectionListing(
                    entries, revision, more, remaining if exact or not more else None
                )
        if not page.remaining:
            return CollectionListing(entries, revision, remaining=0)
        start = page.records[-1].key + "\0"


def _page_size(limit: int, found: int, *, exact: bool) -> int:
    if not limit:
        return LARGEST_PAGE
    return min(limit - found if exact else max(limit, PAGE), LARGEST_PAGE)


def _matching_entry(
    collection: Collection, selection: EntrySelection, record: Record
) -> Entry | None:
    try:
        _, name = collection.keys.split(record.key)
    except InvalidStorageKey:
        return None
    if selection.name not in (None, name):
        return None
    entry = make_entry(record, collection.view)
    return entry if selection.matches(entry) else None


async def _range(
    backend: Backend, prefix: str, *, start: str, limit: int, revision: int | None
) -> KeyPage:
    try:
        return await backend.range(prefix, start=start, limit=limit, revision=revision)
    except Compacted as error:
        raise RevisionExpired(error.revision, oldest=error.oldest) from error
    except FutureRevision as error:
        raise TooLargeRevision(error.revision, current=error.current) from error
