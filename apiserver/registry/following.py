"""Following: the objects of a resource, decoded once each, for whoever decides by them often.

There is no task and no queue. Whoever follows asks before each decision whether the watch cache has
moved, which is two comparisons, and is then told what has changed since. So a decision is always as
new as a read from the cache, in every worker, and what follows cannot fall behind or break off.
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

log = logging.getLogger(__name__)

TURN: Final = 100
"""Objects that are decoded at a start before others get a turn."""
REFRESH_SECONDS: Final = 1.0
"""How long the store may take to say how far it is."""


class Following:
    """One resource: *put* gets each object that is new or has changed, *gone* what is no more."""

    def __init__(
        self,
        store: ResourceStore[Any],
        put: Callable[[Any], None],
        gone: Callable[[str, str], None],
    ) -> None:
        self._store = store
        self._collection = store.cached.collection
        self._put = put
        self._gone = gone
        self._seen: dict[str, Entry] = {}
        self._lists = 0
        self._changed = 0

    async def begin(self) -> None:
        """Take what there is, and let others run meanwhile."""
        for position, entry in enumerate(self._entries()):
            if position % TURN == TURN - 1:
                await asyncio.sleep(0)
            self._take(entry)
        self.catch_up()

    def catch_up(self) -> bool:
        """Tell what has changed since the last time; whether anything has."""
        collection = self._collection
        if collection.changed == self._changed and collection.lists == self._lists:
            return False
        if collection.lists != self._lists or not self._follow():
            self._compare()
        self._lists, self._changed = collection.lists, collection.changed
        return True

    async def refresh(self) -> bool:
        """Bring the cache to where the store is; whether something changed for those who follow.

        If the store cannot be asked or takes too long, what is known has to do.
        """
        nobody = EntrySelection(
            namespace="-" if self._collection.keys.namespaced else None, name="-"
        )
        try:
            async with asyncio.timeout(REFRESH_SECONDS):
                await self._store.cached.list(nobody, at=Freshness.NEWEST)
        except (StorageError, TimeoutError) as error:
            why = str(error) or f"no answer in {REFRESH_SECONDS:g} s"
            log.warning("%s may be out of date: %s", self._collection.keys.prefix, why)
        return self.catch_up()

    def _follow(self) -> bool:
        """Take the changes one by one, or return False if some of them are forgotten."""
        try:
            transitions = self._collection.window.after(self._changed)
        except RevisionExpired:
            return False
        for key, entry in {each.key: each.new for each in transitions}.items():
            if entry is None:
                self._forget(key)
            else:
                self._take(entry)
        return True

    def _compare(self) -> None:
        """Take what differs from what is known; what is the same costs nothing but the look."""
        entries = {entry.record.key: entry for entry in self._entries()}
        for key in self._seen.keys() - entries.keys():
            self._forget(key)
        for entry in entries.values():
            self._take(entry)

    def _take(self, entry: Entry) -> None:
        key = entry.record.key
        if self._seen.get(key) is entry:
            return
        try:
            obj = self._store.decode(entry)
        except APIError:
            # What cannot be read is as good as gone, and must not keep the others from being seen.
            log.exception("%s at revision %d cannot be used", key, entry.record.revision)
            self._forget(key)
        else:
            self._put(obj)
        self._seen[key] = entry

    def _forget(self, key: str) -> None:
        if self._seen.pop(key, None) is not None:
            self._gone(*self._collection.keys.split(key))

    def _entries(self) -> list[Entry]:
        return self._collection.select(EntrySelection(), current=self._collection.changed).entries
