"""From one change to everybody who watches: who wants it, as what, and at whose expense.

Watchers stand in an index by namespace and name, so a change is shown only to those who could want
it. What they get is one shared `EntryEvent` per (change, type, form): its frame is built when the
first of them sends it, and never again. Each watcher has a queue of its own that nothing ever waits
for: whoever lets it fill up gets what is in it, and then the end of the stream, and resumes from
the last revision it has seen.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Hashable, Iterable, Iterator
from itertools import chain, islice

from apimachinery.watch import EventType
from apiserver.storage.cache.cache_limits import WatchLimits
from apiserver.storage.cache.entry import Entry, EntrySelection, View
from apiserver.storage.cache.read_revision import RevisionExpired
from apiserver.storage.cache.window import Transition, Window

log = logging.getLogger(__name__)


class EntryEvent:
    """What a watcher is told; the same object for all who are told the same."""

    __slots__ = ("_entry", "_frame", "_view", "form", "initial_events_end", "revision", "type")

    def __init__(
        self,
        event_type: EventType,
        entry: Entry | None,
        *,
        view: View,
        form: Hashable,
        revision: int,
        initial_events_end: bool = False,
    ) -> None:
        self.type = event_type
        self.revision = revision
        self.initial_events_end = initial_events_end
        self._entry = entry
        self._view = view
        self.form = form
        self._frame: bytes | None = None

    def __repr__(self) -> str:
        return f"EntryEvent({self.type}, {self._entry!r}, revision={self.revision})"

    @property
    def entry(self) -> Entry | None:
        """The object it is about; a bookmark is about none."""
        return self._entry

    @property
    def frame(self) -> bytes:
        """The complete bytes of the event in the form the watcher asked for."""
        if self._frame is None:
            self._frame = self.frame_in(self.form)
        return self._frame

    def frame_in(self, form: Hashable) -> bytes:
        """The event in some other form, for a stream whose first event is unlike the rest."""
        if self._entry is not None:
            encoded = self._entry.encode(form)
        else:
            encoded = self._view.bookmark(
                self.revision, form, initial_events_end=self.initial_events_end
            )
        return self._view.frame(self.type, encoded, form)


class Watcher(AsyncIterator[list[EntryEvent]]):
    """A running watch: what had happened when it began, then what happens, in batches.

    One consumer at a time. It ends by itself when the cache is closed or the queue is full, and
    raises Expired when the cache has lost track of what happened.
    """

    def __init__(
        self,
        selection: EntrySelection,
        form: Hashable,
        *,
        after: int,
        bookmarks: bool,
        limits: WatchLimits,
    ) -> None:
        self.selection = selection
        self.selective = selection.selective
        self.form = form
        self.after = after
        """Only what happens after this revision is told."""
        self.bookmarks = bookmarks
        self.newest = after
        """The revision of the last event handed over or waiting."""
        self.slow = False
        """Whether it was ended because its queue was full."""
        self._past: Iterator[EntryEvent] | None = None
        self._queue: list[EntryEvent] = []
        self._limits = limits
        self._ended = False
        self._failure: RevisionExpired | None = None
        self._waiter: asyncio.Future[None] | None = None

    def __aiter__(self) -> "Watcher":
        return self

    async def __anext__(self) -> list[EntryEvent]:
        if self._past is not None:
            # Sending may go through without waiting; a long past must leave others a turn.
            await asyncio.sleep(0)
            past = list(islice(self._past, self._limits.batch))
            if past:
                return past
            self._past = None
        while not self._queue:
            if self._ended:
                raise self._failure or StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._take()

    def begin_with(self, past: Iterable[EntryEvent], *, until: int) -> None:
        """Tell *past*, which says all there is to say up to *until*, before the queue."""
        self._past = chain(self._past or (), past)
        self.newest = until

    def push(self, event: EntryEvent) -> None:
        """Put *event* into the queue, or end the stream if there is no room."""
        if self._ended:
            return
        if len(self._queue) < self._limits.queue:
            self._queue.append(event)
            self.newest = event.revision
            self._wake()
        else:
            self.slow = True
            self.end()

    def push_bookmark(self, bookmark: EntryEvent) -> None:
        """Put *bookmark* into the queue if there is room; it never ends a stream."""
        if self._queue and self._queue[-1].type is EventType.BOOKMARK:
            self._queue.pop()
        if len(self._queue) < self._limits.queue:
            self.push(bookmark)

    def end(self, failure: RevisionExpired | None = None) -> None:
        """Let the stream end, with *failure* if there is one, after what is waiting."""
        if not self._ended:
            self._ended = True
            self._failure = failure
            self._wake()

    def _take(self) -> list[EntryEvent]:
        queue = self._queue
        if len(queue) <= self._limits.batch:
            self._queue = []
            return queue
        self._queue = queue[self._limits.batch :]
        return queue[: self._limits.batch]

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Fanout:
    """The watchers of one resource.

    Those who asked for bookmarks are dealt out over slots, so that a tick of the clock reaches
    a few of them and not all at once.
    """

    def __init__(self, view: View, limits: WatchLimits) -> None:
        self._view = view
        self._limits = limits
        self._index: dict[tuple[str | None, str | None], dict[Watcher, None]] = {}
        self._slots: list[dict[Watcher, None]] = [{} for _ in range(limits.bookmark_slots)]
        self._next_slot = 0
        self._closed = False
        self.slow = 0
        """How many watchers were ended because they were too slow."""

    def __len__(self) -> int:
        return sum(map(len, self._index.values()))

    def attach(
        self,
        selection: EntrySelection,
        form: Hashable,
        *,
        window: Window,
        after: int,
        bookmarks: bool,
        initial: Iterable[Entry] | None = None,
    ) -> Watcher:
        """Begin a watch of everything after *after*, or raise Expired.

        First *initial* is told, the state at *after*, then what is in the window. There is no gap
        and nothing twice, because nobody else runs between reading the window and standing in the
        index.
        """
        past = window.after(after)
        watcher = Watcher(selection, form, after=after, bookmarks=bookmarks, limits=self._limits)
        if initial is not None:
            watcher.begin_with(self._initial(watcher, initial), until=after)
        missed = [event for event in (self._seen_by(watcher, change) for change in past) if event]
        if missed:
            watcher.begin_with(missed, until=missed[-1].revision)
        if self._closed:
            watcher.end()
            return watcher
        self._index.setdefault((selection.namespace, selection.name), {})[watcher] = None
        if bookmarks:
            self._slots[self._next_slot][watcher] = None
            self._next_slot = (self._next_slot + 1) % len(self._slots)
        return watcher

    def detach(self, watcher: Watcher) -> None:
        """Forget *watcher*, whose stream ends."""
        place = (watcher.selection.namespace, watcher.selection.name)
        watchers = self._index.get(place, {})
        watchers.pop(watcher, None)
        if not watchers:
            self._index.pop(place, None)
        for slot in self._slots:
            slot.pop(watcher, None)
        watcher.end()

    def publish(self, change: Transition) -> None:
        """Tell everybody who wants to know of one change."""
        plain = _plain_type(change)
        shared: dict[tuple[EventType, Hashable], EntryEvent] = {}
        overrun: list[Watcher] = []
        event: EntryEvent | None = None
        for watcher in self._interested(change):
            event_type = self._selected(change, watcher) if watcher.selective else plain
            if event_type is None or change.revision <= watcher.after:
                continue
            # Mostly it is the one that the watcher before was told.
            if event is None or event.form is not watcher.form or event.type is not event_type:
                event = shared.get((event_type, watcher.form))
                if event is None:
                    event = self._event(event_type, change, watcher.form)
                    shared[event_type, watcher.form] = event
            watcher.push(event)
            if watcher.slow:
                overrun.append(watcher)
        for watcher in overrun:
            self.slow += 1
            self.detach(watcher)

    def bookmark(self, watchers: Iterable[Watcher], revision: int) -> None:
        """Tell those of *watchers* who asked for it, and do not know, that *revision* is seen."""
        shared: dict[Hashable, EntryEvent] = {}
        for watcher in watchers:
            if watcher.bookmarks and watcher.newest < revision:
                if watcher.form not in shared:
                    shared[watcher.form] = self._bookmark(watcher.form, revision)
                watcher.push_bookmark(shared[watcher.form])

    def in_slot(self, slot: int) -> Iterable[Watcher]:
        """Those whose bookmarks are due at that tick."""
        return self._slots[slot % len(self._slots)]

    def end_all(self, *, expired_at: int | None = None) -> None:
        """End every stream; with *expired_at* as Expired, nothing older than that being known."""
        for watcher in [watcher for group in self._index.values() for watcher in group]:
            if expired_at is not None:
                watcher.end(RevisionExpired(watcher.newest, oldest=expired_at))
            self.detach(watcher)

    def close(self) -> None:
        """End every stream, and each that is begun after this."""
        self._closed = True
        self.end_all()

    def _initial(self, watcher: Watcher, entries: Iterable[Entry]) -> Iterator[EntryEvent]:
        view, form = self._view, watcher.form
        for entry in entries:
            revision = entry.record.revision
            yield EntryEvent(EventType.ADDED, entry, view=view, form=form, revision=revision)
        if watcher.bookmarks:
            yield self._bookmark(form, watcher.after, initial_events_end=True)

    def _interested(self, change: Transition) -> Iterator[Watcher]:
        index, namespace, name = self._index, change.namespace, change.name
        for place in ((None, None), (namespace, None), (namespace, name), (None, name)):
            if place in index:
                yield from index[place]

    def _seen_by(self, watcher: Watcher, change: Transition) -> EntryEvent | None:
        selection = watcher.selection
        if selection.namespace not in (None, change.namespace):
            return None
        if selection.name not in (None, change.name):
            return None
        event_type = self._selected(change, watcher)
        return self._event(event_type, change, watcher.form) if event_type else None

    def _selected(self, change: Transition, watcher: Watcher) -> EventType | None:
        try:
            return _selected_type(change, watcher.selection)
        except Exception:
            # A selector is somebody else's function; the feed of all the others goes on.
            log.exception("a selector failed on %s, its watch is ended", change.key)
            watcher.end()
            return None

    def _event(self, event_type: EventType, change: Transition, form: Hashable) -> EntryEvent:
        entry = change.gone if event_type is EventType.DELETED else change.new
        return EntryEvent(event_type, entry, view=self._view, form=form, revision=change.revision)

    def _bookmark(
        self, form: Hashable, revision: int, *, initial_events_end: bool = False
    ) -> EntryEvent:
        return EntryEvent(
            EventType.BOOKMARK,
            None,
            view=self._view,
            form=form,
            revision=revision,
            initial_events_end=initial_events_end,
        )


def _plain_type(change: Transition) -> EventType:
    if change.old is None:
        return EventType.ADDED
    return EventType.DELETED if change.new is None else EventType.MODIFIED


def _selected_type(change: Transition, selection: EntrySelection) -> EventType | None:
    """What a change is to somebody who sees only what *selection* matches."""
    old, new = change.old, change.new
    seen = new is not None and selection.matches(new)
    if old is not None and new is not None and _same_to_selectors(old, new):
        return EventType.MODIFIED if seen else None
    if old is None or not selection.matches(old):
        return EventType.ADDED if seen else None
    return EventType.MODIFIED if seen else EventType.DELETED


def _same_to_selectors(old: Entry, new: Entry) -> bool:
    return old.labels is new.labels and old.fields is new.fields
