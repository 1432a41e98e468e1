"""The objects of one resource as the watch cache knows them: now, and in the recent past.

Everything here is synchronous. A read cannot see half of a change, and a list is one snapshot,
simply because nothing else runs meanwhile.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import filterfalse, islice

from sortedcontainers import SortedDict

from apiserver.storage.cache.entry import Entry, EntrySelection, View, make_entry
from apiserver.storage.cache.fanout import Fanout
from apiserver.storage.cache.initial_list import Filling
from apiserver.storage.cache.window import Transition, Window
from apiserver.storage.interface import Record, StoredChange
from apiserver.storage.keys import InvalidStorageKey, ResourceKeys, after_prefix

Overlay = Mapping[str, Entry | None]
"""What differs from now: the entry as it was, None if there was none."""


@dataclass(frozen=True, slots=True)
class CollectionListing:
    """Some objects in the order of their keys, all from one snapshot."""

    entries: list[Entry]
    revision: int
    """The revision of the whole store that this is a snapshot of."""
    more: bool = False
    """Whether keys follow the last entry; with a selector they need not match it."""
    remaining: int | None = None
    """How many objects follow; None if that cannot be known without looking at them."""

    @property
    def next_start(self) -> str:
        """The least key after the last entry, where the next page starts."""
        return self.entries[-1].record.key + "\0"


class Collection:
    """The entries of one resource, its window and its watchers.

    It is filled from a list and lives on the changes that follow. The feed may begin before the
    list: what it tells of that time changes no entry, but is remembered and told to watchers like
    anything else, so that a watch from before this process began can go on.
    """

    def __init__(self, keys: ResourceKeys, view: View, *, window: Window, fanout: Fanout) -> None:
        self.keys = keys
        self.view = view
        self.window = window
        self.fanout = fanout
        self.filled = asyncio.Event()
        self.changed = 0
        """The revision of the last change: a list at any later one reads the same."""
        self.lists = 0
        """How often it was filled from a list; only in between does the window tell all changes."""
        self._entries = SortedDict()
        self._filling = Filling(0, most=window.most)
        self._listed = 0
        # While the feed tells what happened before the list: what is to change once more.
        self._past: dict[str, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    # Filling

    def begin(
        self, revision: int, *, after: int | None = None, waiting: Iterable[StoredChange] = ()
    ) -> None:
        """Expect a list, and every change after *after* (or *revision*), from *waiting* on.

        Watchers cannot go on, they might have missed something; nothing is known before *revision*.
        """
        self.filled.clear()
        start = revision if after is None else after
        self._filling = Filling(start, most=self.window.most, waiting=waiting)
        self.fanout.end_all(expired_at=revision)

    def list_at(self, revision: int) -> None:
        """Expect the first part of a list at *revision*."""
        self._filling.list_at(revision)

    def stage(self, records: Iterable[Record]) -> None:
        """Take a part of the list; what is known already is not looked at again."""
        staged = self._filling.staged
        for record in records:
            known = self._entries.get(record.key)
            if known is not None and known.record.revision == record.revision:
                staged[record.key] = known
            elif self._locate(record.key) is not None:
                staged[record.key] = make_entry(record, self.view)

    def finish(self) -> None:
        """The list is complete; what waits is to be applied with `catch_up`."""
        filling = self._filling
        staged, newer = filling.complete()
        for change in newer:
            before = staged.pop(change.key, None)
            entry = self._entry_of(change, before)
            if entry is not None and self._locate(change.key) is not None:
                staged[change.key] = entry
        self._entries = SortedDict(staged)
        self._past = {}
        self._listed = self.changed = filling.listed
        self.lists += 1
        self.window.reset(filling.start)

    def catch_up(self, now: float, *, most: int) -> bool:
        """Apply some of what has waited; whether that was all and the collection is filled."""
        for change in self._filling.take(most):
            self._follow(change, now)
        if not self._filling:
            self.filled.set()
        return self.filled.is_set()

    # Following

    def apply(self, change: StoredChange, now: float) -> None:
        """Take one change from the feed and tell the watchers."""
        if self.filled.is_set():
            self._follow(change, now)
        else:
            self._filling.add(change)

    def _follow(self, change: StoredChange, now: float) -> None:
        place = self._locate(change.key)
        if place is None:
            return
        past = change.revision <= self._listed
        old, new = self._recall(change) if past else self._replace(change)
        if old is None and new is None:
            return
        # The words of an entry that is kept anyhow, not those of the change, which then can go.
        source = change if new is None else new.record
        transition = Transition(
            source.key,
            namespace=place[0],
            old=old,
            new=new,
            revision=source.revision,
            seen=now,
        )
        self.window.append(transition)
        self.fanout.publish(transition)

    def _replace(self, change: StoredChange) -> tuple[Entry | None, Entry | None]:
        """Let *change* happen to the entries."""
        old: Entry | None = self._entries.get(change.key)
        new = self._entry_of(change, old)
        if new is not None:
            self._entries[change.key] = new
        else:
            self._entries.pop(change.key, None)
        self.changed = change.revision
        return old, new

    def _recall(self, change: StoredChange) -> tuple[Entry | None, Entry | None]:
        """What *change* was, of which the entries are the outcome already."""
        old = self._past.pop(change.key, None)
        if old is None and change.previous is not None:
            # Nobody is told when that was written, and the feed does not know.
            old = make_entry(Record(change.key, change.previous, 0, change.created), self.view)
        current: Entry | None = self._entries.get(change.key)
        if current is not None and current.record.revision == change.revision:
            return old, current
        new = self._entry_of(change, old)
        if new is not None:
            self._past[change.key] = new
        return old, new

    def _entry_of(self, change: StoredChange, before: Entry | None) -> Entry | None:
        if change.value is None:
            return None
        record = Record(change.key, change.value, change.revision, change.created)
        return make_entry(record, self.view, before=before)

    def _locate(self, key: str) -> tuple[str, str] | None:
        try:
            return self.keys.split(key)
        except InvalidStorageKey:
            return None  # somebody else's, under our prefix

    # Reading

    def knows(self, revision: int) -> bool:
        """Whether the state at *revision*, which has happened, can be told from here."""
        return revision >= max(self.window.start, self._listed)

    def single_key(self, selection: EntrySelection) -> str | None:
        """The one key that can match, if there is only one."""
        if selection.name is None or (self.keys.namespaced and selection.namespace is None):
            return None
        try:
            return self.keys.object_key(selection.name, namespace=selection.namespace or "")
        except InvalidStorageKey:
            return None  # no object has such a name, and a scan will not find one

    def prefix_of(self, selection: EntrySelection) -> str:
        """What every key that can match begins with."""
        if selection.namespace is None:
            return self.keys.prefix
        return self.keys.namespace_prefix(selection.namespace)

    def entry(self, key: str, *, revision: int | None = None) -> Entry | None:
        """The entry of *key* now, or as it was at a revision that `knows` says is known."""
        overlay = self._overlay(revision)
        found: Entry | None = overlay[key] if key in overlay else self._entries.get(key)
        return found

    def select(
        self,
        selection: EntrySelection,
        *,
        current: int,
        start: str = "",
        limit: int = 0,
        revision: int | None = None,
    ) -> CollectionListing:
        """The matching entries now, at *current*, or as they were at *revision*."""
        at = current if revision is None else revision
        key = self.single_key(selection)
        if key is not None:
            entry = self.entry(key, revision=revision)
            chosen = entry is not None and key >= start and selection.matches(entry)
            return CollectionListing([entry] if entry is not None and chosen else [], at)
        prefix = self.prefix_of(selection)
        lower, upper = max(prefix, start), after_prefix(prefix)
        overlay = self._overlay(revision)
        candidates = self._between(lower, upper, overlay)
        entries = list(islice(self._matching(selection, candidates), limit or None))
        if not limit or len(entries) < limit or next(candidates, None) is None:
            return CollectionListing(entries, at, remaining=0)
        if selection.selective or selection.name is not None:
            return CollectionListing(entries, at, more=True)
        remaining = self._count(lower, upper, overlay) - len(entries)
        return CollectionListing(entries, at, more=True, remaining=remaining)

    def _matching(self, selection: EntrySelection, candidates: Iterator[Entry]) -> Iterator[Entry]:
        if selection.name is not None:
            split, name = self.keys.split, selection.name
            candidates = (entry for entry in candidates if split(entry.record.key)[1] == name)
        return filter(selection.matches, candidates) if selection.selective else candidates

    def _between(self, lower: str, upper: str, overlay: Overlay) -> Iterator[Entry]:
        now = self._entries.irange(lower, upper, inclusive=(True, False))
        if not overlay:
            return map(self._entries.__getitem__, now)
        then = sorted(key for key, entry in overlay.items() if entry and lower <= key < upper)
        keys = merge(filterfalse(overlay.__contains__, now), then)
        return (overlay.get(key) or self._entries[key] for key in keys)

    def _count(self, lower: str, upper: str, overlay: Overlay) -> int:
        count: int = self._entries.bisect_left(upper) - self._entries.bisect_left(lower)
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
