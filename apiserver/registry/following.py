"""Following: decode each object of a resource once, for decisions that need all of them.

Authorization keeps its roles and bindings this way. There is no task and no queue: before each
decision the caller checks whether the watch cache has changed, which takes two comparisons, and
receives the changes since its last check. So a decision is as new as a read from the cache, in
every worker, and a follower cannot lag behind or stop.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from apimachinery.errors import APIError
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.storage.cache.read_revision import Freshness, RevisionExpired
from apiserver.storage.interface import StorageError
from apiserver.time_slices import TimeSlices
from apiserver.workload import LIGHT_BYTES

log = logging.getLogger(__name__)

REFRESH_SECONDS: Final = 1.0
"""Seconds that the backend may take to report its revision."""


class Following:
    """Follows one resource.

    Calls *put* with each new or changed object, or with what *prepare* returns for it, which is
    called in another thread for a large object. Calls *forget* with the namespace and name of each
    deleted object.
    """

    def __init__(
        self,
        store: ResourceStore[Any],
        put: Callable[[Any], None],
        forget: Callable[[str, str], None],
        *,
        prepare: Callable[[Any], Any] | None = None,
    ) -> None:
        self._store = store
        self._collection = store.cached.collection
        self._put = put
        self._prepare = prepare
        self._forget = forget
        self._entries: dict[str, Entry] = {}
        self._lists = 0
        self._changed = 0
        self._reporting = asyncio.Lock()

    @property
    def is_current(self) -> bool:
        """Whether all that the cache has was reported."""
        collection = self._collection
        return collection.changed == self._changed and collection.lists == self._lists

    @property
    def has_begun(self) -> bool:
        """Whether a whole state of the cache was reported."""
        return self._lists > 0

    async def begin(self) -> None:
        """Put every cached object."""
        await self.catch_up()

    async def catch_up(self) -> bool:
        """Report the changes up to the state of the cache; return whether there were any.

        Other tasks run in between if there are many changes or large objects.
        """
        if self.is_current:
            return False
        async with self._reporting:
            collection = self._collection
            lists, changed = collection.lists, collection.changed
            if lists != self._lists or not await self._replay():
                await self._compare()
            self._lists, self._changed = lists, changed
        return True

    async def refresh(self) -> bool:
        """Wait until the cache has the newest stored state, then catch up; return as it does.

        If the backend fails or takes too long, the cached state is used.
        """
        nothing = EntrySelection(
            namespace="-" if self._collection.keys.namespaced else None, name="-"
        )
        try:
            async with asyncio.timeout(REFRESH_SECONDS):
                await self._store.cached.list(nothing, at=Freshness.NEWEST)
        except (StorageError, TimeoutError) as error:
            reason = str(error) or f"no answer in {REFRESH_SECONDS:g} s"
            log.warning("%s may be out of date: %s", self._collection.keys.prefix, reason)
        return await self.catch_up()

    async def _replay(self) -> bool:
        """Report the changes in the cache's window; return False if it lacks some of them."""
        try:
            transitions = self._collection.window.after(self._changed)
        except RevisionExpired:
            return False
        newest = {transition.key: transition.new for transition in transitions}
        time = TimeSlices()
        for key, entry in newest.items():
            if entry is None:
                self._remove(key)
            else:
                await self._update(entry)
            await time.yield_loop()
        return True

    async def _compare(self) -> None:
        """Report the differences to the whole cached state; unchanged entries are not decoded."""
        entries = {entry.key: entry for entry in self._cached()}
        time = TimeSlices()
        for key in self._entries.keys() - entries.keys():
            self._remove(key)
        for entry in entries.values():
            await self._update(entry)
            await time.yield_loop()

    async def _update(self, entry: Entry) -> None:
        key = entry.key
        if self._entries.get(key) is entry:
            return
        try:
            if entry.size <= LIGHT_BYTES:
                prepared = self._decode(entry)
            else:
                prepared = await asyncio.to_thread(self._decode, entry)
        except APIError:
            # An unreadable object counts as deleted: it must not hide the others.
            log.exception("ignored %s: revision %d cannot be decoded", key, entry.revision)
            self._remove(key)
        else:
            self._put(prepared)
        self._entries[key] = entry

    def _decode(self, entry: Entry) -> Any:
        obj = self._store.decode(entry)
        return self._prepare(obj) if self._prepare is not None else obj

    def _remove(self, key: str) -> None:
        if self._entries.pop(key, None) is not None:
            self._forget(*self._collection.keys.split(key))

    def _cached(self) -> list[Entry]:
        return self._collection.select(EntrySelection(), current=self._collection.changed).entries
