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

from apiserver.storage.entry import Entry, Selection, View, make_entry
from apiserver.storage.fanout import Fanout
from apiserver.storage.interface import Change, Record
from apiserver.storage.keys import InvalidKey, ResourceKeys, after_prefix
from apiserver.storage.window import Transition, Window

Overlay = Mapping[str, Entry | None]
"""What differs from now: the entry as it was, None if there was none."""


@dataclass(frozen=True, slots=True)
class Listing:
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

    It is filled from a list and lives on the changes that follow. While it is not filled it keeps
    the last change of each key, to be applied on top of the list.
    """

    def __init__(self, keys: ResourceKeys, view: View, *, window: Window, fanout: Fanout) -> None:
        self.keys = keys
        self.view = view
        self.window = window
        self.fanout = fanout
        self.filled = asyncio.Event()
        self.changed = 0
        """The revision of the last change: a list at any later one reads the same."""
        self._entries = SortedDict()
        self._pending: dict[str, Change] = {}
        self._staged: dict[str, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    # Filling

    def begin(self, revision: int) -> None:
        """Expect a list at *revision*; watchers cannot go on, they might have missed something."""
        self.filled.clear()
        self._pending = {}
        self._staged = {}
        self.fanout.end_all(expired_at=revision)

    def stage(self, records: Iterable[Record]) -> None:
        """Take a part of the list; what is known already is not looked at again."""
        for record in records:
            known = self._entries.get(record.key)
            if known is not None and known.record.revision == record.revision:
                self._staged[record.key] = known
            elif self._locate(record.key) is not None:
                self._staged[record.key] = make_entry(record, self.view)

    def finish(self, revision: int) -> None:
        """The list is complete; with what has changed since, it is the state at *revision*."""
        staged, self._staged = self._staged, {}
        pending, self._pending = self._pending, {}
        for key, change in pending.items():
            entry = self._entry_of(change, staged.get(key))
            if entry is not None:
                staged[key] = entry
            else:
                staged.pop(key, None)
        self._entries = SortedDict(staged)
        self.window.reset(revision)
        self.changed = revision
        self.filled.set()

    # Following

    def apply(self, change: Change, now: float) -> None:
        """Take one change from the feed and tell the watchers."""
        place = self._locate(change.key)
        if place is None:
            return
        if not self.filled.is_set():
            self._pending[change.key] = change
            return
        old: Entry | None = self._entries.get(change.key)
        new = self._entry_of(change, old)
        if old is None and new is None:
            return
        if new is not None:
            self._entries[change.key] = new
        else:
            del self._entries[change.key]
        self.changed = change.revision
        transition = Transition(
            change.key,
            namespace=place[0],
            name=place[1],
            old=old,
            new=new,
            revision=change.revision,
            seen=now,
        )
        self.window.append(transition)
        self.fanout.publish(transition)

    def _entry_of(self, change: Change, before: Entry | None) -> Entry | None:
        if change.value is None:
            return None
        record = Record(change.key, change.value, change.revision, change.created)
        return make_entry(record, self.view, before=before)

    def _locate(self, key: str) -> tuple[str, str] | None:
        try:
            return self.keys.split(key)
        except InvalidKey:
            return None  # somebody else's, under our prefix

    # Reading

    def knows(self, revision: int) -> bool:
        """Whether the state at *revision*, which has happened, can be told from here."""
        return revision >= self.window.start

    def single_key(self, selection: Selection) -> str | None:
        """The one key that can match, if there is only one."""
        if selection.name is None or (self.keys.namespaced and selection.namespace is None):
            return None
        try:
            return self.keys.object_key(selection.name, namespace=selection.namespace or "")
        except InvalidKey:
            return None  # no object has such a name, and a scan will not find one

    def prefix_of(self, selection: Selection) -> str:
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
        selection: Selection,
        *,
        current: int,
        start: str = "",
        limit: int = 0,
        revision: int | None = None,
    ) -> Listing:
        """The matching entries now, at *current*, or as they were at *revision*."""
        at = current if revision is None else revision
        key = self.single_key(selection)
        if key is not None:
            entry = self.entry(key, revision=revision)
            chosen = entry is not None and key >= start and selection.matches(entry)
            return Listing([entry] if entry is not None and chosen else [], at)
        prefix = self.prefix_of(selection)
        lower, upper = max(prefix, start), after_prefix(prefix)
        overlay = self._overlay(revision)
        candidates = self._between(lower, upper, overlay)
        entries = list(islice(self._matching(selection, candidates), limit or None))
        if not limit or len(entries) < limit or next(candidates, None) is None:
            return Listing(entries, at, remaining=0)
        if selection.selective or selection.name is not None:
            return Listing(entries, at, more=True)
        remaining = self._count(lower, upper, overlay) - len(entries)
        return Listing(entries, at, more=True, remaining=remaining)

    def _matching(self, selection: Selection, candidates: Iterator[Entry]) -> Iterator[Entry]:
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
