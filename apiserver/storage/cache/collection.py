"""Collection: the cached objects of one resource, at the newest and at recent revisions.

Everything here is synchronous: no other task runs in between, so a read never sees half of a
change, and a list is one snapshot. A list of many entries takes its snapshot here and then lets
other tasks run (`listing.py`).
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import filterfalse, islice
from typing import Final

from sortedcontainers import SortedList

from apiserver.storage.cache.entry import Entry, EntrySelection, LabelSets, View, make_entry
from apiserver.storage.cache.fanout import Fanout
from apiserver.storage.cache.initial_list import InitialList
from apiserver.storage.cache.unclaimed_changes import ChangeHistory
from apiserver.storage.cache.window import Transition, Window
from apiserver.storage.interface import Record, StoredChange
from apiserver.storage.keys import InvalidStorageKey, ResourceKeys, after_prefix

SHORT: Final = 1000
"""The number of entries that a list may look at without letting other tasks run."""
LOOKUP_COST: Final = 8
"""How much longer it takes to look up an entry than to copy it with all others."""

Overlay = Mapping[str, Entry | None]
"""The differences from the newest state: the entry as it was, None if it did not exist."""


@dataclass(frozen=True, slots=True)
class CollectionListing:
    """Entries in the order of their keys, all from one snapshot."""

    entries: list[Entry]
    revision: int
    """The revision of the store at which the snapshot was taken."""
    more: bool = False
    """Whether more keys follow the last entry; with a selector, they may not match it."""
    remaining: int | None = None
    """The number of objects that follow; None if counting them would require a scan."""

    @property
    def next_start(self) -> str:
        """The smallest key after the last entry, where the next page starts."""
        return self.entries[-1].key + "\0"


@dataclass(frozen=True, slots=True)
class CollectionSnapshot:
    """Entries at one revision, in the order of their keys."""

    entries: Iterable[Entry]
    count: int


def filter_entries(
    keys: ResourceKeys, selection: EntrySelection, candidates: Iterable[Entry]
) -> Iterator[Entry]:
    """Return the matching entries among *candidates*, which are in the selected namespace."""
    if selection.name is not None:
        split, name = keys.split, selection.name
        candidates = (entry for entry in candidates if split(entry.key)[1] == name)
    return filter(selection.matches, candidates) if selection.selective else iter(candidates)


class Collection:
    """The entries of one resource, its window of changes and its watchers.

    A collection is filled from a list and then updated by the changes that follow. The feed may
    start before the list: changes of that time do not change any entry, but they enter the window
    and are sent to watchers like all others, so that a watch from before the start of this process
    can resume.
    """

    def __init__(self, keys: ResourceKeys, view: View, *, window: Window, fanout: Fanout) -> None:
        self.keys = keys
        self.view = view
        self.window = window
        self.fanout = fanout
        self.filled = asyncio.Event()
        self.changed = 0
        """The revision of the last change: a list at any later revision is the same."""
        self.starts_empty = False
        """Whether no watch may resume from before the list: it may have seen other content."""
        self.lists = 0
        """How often it was filled from a list; the window has all changes only since the last."""
        self._entries: dict[str, Entry] = {}
        self._order = SortedList()
        self._label_sets = LabelSets()
        self._initial_list = InitialList(0, max_changes=window.max_changes)
        self._listed = 0
        # While the feed replays changes from before the list: the entries that will change again.
        self._past: dict[str, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def count(self, namespace: str = "") -> int:
        """Return the number of entries, or of those in one namespace."""
        if not namespace or not self.keys.namespaced:
            return len(self._entries)
        try:
            prefix = self.keys.namespace_prefix(namespace)
        except InvalidStorageKey:
            return 0
        return self._count(prefix, after_prefix(prefix), {})

    # Initial list

    def begin(
        self, revision: int, *, after: int | None = None, pending: Iterable[StoredChange] = ()
    ) -> None:
        """Expect a list, and every change after *after* (or *revision*), starting with *pending*.

        All watches end as Expired, because they may have missed changes: no change before
        *revision* is available.
        """
        self.filled.clear()
        start = revision if after is None or self.starts_empty else after
        self._initial_list = InitialList(
            start, max_changes=self.window.max_changes, pending=pending
        )
        self.fanout.end_all(expired_at=revision)

    def list_at(self, revision: int) -> None:
        """Expect the first page of a list at *revision*."""
        self._initial_list.list_at(revision)

    def stage(self, records: Iterable[Record]) -> None:
        """Add a page of the list; entries that are already cached are reused."""
        staged = self._initial_list.staged
        for record in records:
            cached = self._entries.get(record.key)
            if cached is not None and cached.revision == record.revision:
                staged[record.key] = cached
            elif self._split(record.key) is not None:
                staged[record.key] = make_entry(record, self.view, label_sets=self._label_sets)

    def finish(self) -> None:
        """Complete the list; `catch_up` then applies the pending changes."""
        initial = self._initial_list
        staged, newer = initial.complete()
        for change in newer:
            previous = staged.pop(change.key, None)
            entry = self._entry_of(change, previous)
            if entry is not None and self._split(change.key) is not None:
                staged[change.key] = entry
        self._entries, self._order = staged, SortedList(staged)
        self._past = {}
        self._listed = self.changed = initial.listed
        self.lists += 1
        self.window.reset(initial.start)

    def catch_up(self, now: float, *, max_changes: int) -> bool:
        """Apply some pending changes; return whether the collection is now filled."""
        for change in self._initial_list.take(max_changes):
            self._apply(change, now)
        if not self._initial_list:
            self.filled.set()
        return self.filled.is_set()

    def history(self) -> ChangeHistory:
        """Return every change that is known, for the collection that replaces this one."""
        initial = self._initial_list
        if not self.filled.is_set() and not initial.is_complete:
            return ChangeHistory(initial.start, initial.pending())
        applied = [transition.change() for transition in self.window.after(self.window.start)]
        pending = () if self.filled.is_set() else initial.pending()
        return ChangeHistory(self.window.start, [*applied, *pending])

    def expire(self, revision: int) -> None:
        """End all watches as Expired: what they have seen before *revision* looks otherwise now."""
        self.window.reset(max(revision, self.window.start))
        self.fanout.end_all(expired_at=revision)

    # Changes

    def apply(self, change: StoredChange, now: float) -> None:
        """Apply one change of the feed and notify the watchers."""
        if self.filled.is_set():
            self._apply(change, now)
        else:
            self._initial_list.add(change)

    def _apply(self, change: StoredChange, now: float) -> None:
        parts = self._split(change.key)
        if parts is None:
            return
        past = change.revision <= self._listed
        if past and change.revision <= self.window.start:
            return
        old, new = self._reconstruct(change) if past else self._replace(change)
        if old is None and new is None:
            return
        # Use the strings of the entry, which is kept anyway, so that those of the change can be
        # freed.
        source = change if new is None else new
        transition = Transition(
            source.key,
            namespace=parts[0],
            old=old,
            new=new,
            revision=source.revision,
            observed=now,
        )
        self.window.append(transition)
        self.fanout.publish(transition)

    def _replace(self, change: StoredChange) -> tuple[Entry | None, Entry | None]:
        """Apply *change* to the entries."""
        key = change.key
        old = self._entries.get(key)
        new = self._entry_of(change, old)
        if new is not None:
            self._entries[key] = new
            if old is None:
                self._order.add(key)
        else:
            if old is not None:
                del self._entries[key]
                self._order.remove(key)
            self.view.forget(key)
        self.changed = change.revision
        return old, new

    def _reconstruct(self, change: StoredChange) -> tuple[Entry | None, Entry | None]:
        """Return the entries before and after a *change* that the list already includes."""
        old = self._past.pop(change.key, None)
        if old is None and change.previous is not None:
            # The feed does not include the revision of the previous value, and no watcher is sent
            # it.
            old = make_entry(Record(change.key, change.previous, 0, change.created), self.view)
        current = self._entries.get(change.key)
        if current is not None and current.revision == change.revision:
            return old, current
        new = self._entry_of(change, old)
        if new is not None:
            self._past[change.key] = new
        return old, new

    def _entry_of(self, change: StoredChange, previous: Entry | None) -> Entry | None:
        if change.value is None:
            return None
        record = Record(change.key, change.value, change.revision, change.created)
        return make_entry(record, self.view, previous=previous, label_sets=self._label_sets)

    def _split(self, key: str) -> tuple[str, str] | None:
        try:
            return self.keys.split(key)
        except InvalidStorageKey:
            return None  # not an object: written by another program under our prefix

    # Reads

    def covers(self, revision: int) -> bool:
        """Return whether the state at *revision*, not in the future, can be read from here."""
        return revision >= max(self.window.start, self._listed)

    def single_key(self, selection: EntrySelection) -> str | None:
        """Return the only key that can match, None if there may be several."""
        if selection.name is None or (self.keys.namespaced and selection.namespace is None):
            return None
        try:
            return self.keys.object_key(selection.name, namespace=selection.namespace or "")
        except InvalidStorageKey:
            return None  # no object can have such a name, and a scan will not match any

    def prefix_of(self, selection: EntrySelection) -> str:
        """Return the prefix of all keys that can match."""
        if selection.namespace is None:
            return self.keys.prefix
        return self.keys.namespace_prefix(selection.namespace)

    def entry(self, key: str, *, revision: int | None = None) -> Entry | None:
        """Return the entry of *key* now, or at a *revision* that the collection covers."""
        overlay = self._overlay(revision)
        return overlay[key] if key in overlay else self._entries.get(key)

    def select(
        self,
        selection: EntrySelection,
        *,
        current: int,
        start: str = "",
        limit: int = 0,
        revision: int | None = None,
    ) -> CollectionListing:
        """List the matching entries at the *current* revision, or as of *revision*."""
        snapshot = current if revision is None else revision
        key = self.single_key(selection)
        if key is not None:
            entry = self.entry(key, revision=revision)
            matches = entry is not None and key >= start and selection.matches(entry)
            return CollectionListing([entry] if entry is not None and matches else [], snapshot)
        lower, upper = self._bounds(selection, start)
        overlay = self._overlay(revision)
        candidates = self._range(lower, upper, overlay)
        entries = list(islice(filter_entries(self.keys, selection, candidates), limit or None))
        if not limit or len(entries) < limit or next(candidates, None) is None:
            return CollectionListing(entries, snapshot, remaining=0)
        if selection.selective or selection.name is not None:
            return CollectionListing(entries, snapshot, more=True)
        remaining = self._count(lower, upper, overlay) - len(entries)
        return CollectionListing(entries, snapshot, more=True, remaining=remaining)

    def is_short(self, selection: EntrySelection, *, start: str, limit: int) -> bool:
        """Return whether `select` looks at few entries, whatever it returns."""
        if len(self._entries) <= SHORT or self.single_key(selection) is not None:
            return True
        if 0 < limit <= SHORT and not selection.selective and selection.name is None:
            return True
        first, last = self._positions(*self._bounds(selection, start))
        return last - first <= SHORT

    def snapshot(
        self, selection: EntrySelection, *, start: str, revision: int | None
    ) -> CollectionSnapshot:
        """Return all entries that may match, as they are now or were at *revision*."""
        lower, upper = self._bounds(selection, start)
        overlay = self._overlay(revision)
        if overlay:
            return CollectionSnapshot(
                list(self._range(lower, upper, overlay)), self._count(lower, upper, overlay)
            )
        first, last = self._positions(lower, upper)
        keys = self._order[first:last]
        if len(keys) < len(self._entries) // LOOKUP_COST:
            return CollectionSnapshot([self._entries[key] for key in keys], len(keys))
        return CollectionSnapshot(map(self._entries.copy().__getitem__, keys), len(keys))

    def _bounds(self, selection: EntrySelection, start: str) -> tuple[str, str]:
        prefix = self.prefix_of(selection)
        return max(prefix, start), after_prefix(prefix)

    def _positions(self, lower: str, upper: str) -> tuple[int, int]:
        return self._order.bisect_left(lower), self._order.bisect_left(upper)

    def _range(self, lower: str, upper: str, overlay: Overlay) -> Iterator[Entry]:
        newest_keys = self._order.irange(lower, upper, inclusive=(True, False))
        if not overlay:
            return map(self._entries.__getitem__, newest_keys)
        overlay_keys = sorted(
            key for key, entry in overlay.items() if entry and lower <= key < upper
        )
        keys = merge(filterfalse(overlay.__contains__, newest_keys), overlay_keys)
        return (overlay.get(key) or self._entries[key] for key in keys)

    def _count(self, lower: str, upper: str, overlay: Overlay) -> int:
        first, last = self._positions(lower, upper)
        count = last - first
        for key, entry in overlay.items():
            if lower <= key < upper:
                count += (entry is not None) - (key in self._entries)
        return count

    def _overlay(self, revision: int | None) -> Overlay:
        overlay: dict[str, Entry | None] = {}
        if revision is not None and revision < self.changed:
            for transition in self.window.after(revision):
                overlay.setdefault(transition.key, transition.old)
        return overlay
