"""Fan-out: notifies the watchers of one resource of each change.

Watchers are indexed by namespace and name, so a change is checked only against watchers that may
match it. They share one `EntryEvent` per (change, type, form): its frame is built when the first of
them sends it, and only once. Each watcher has its own queue, and nothing ever waits for it: when a
queue is full, its stream ends after the queued events, and the client resumes from the last
revision it has received.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator
from itertools import chain
from typing import Final

from apimachinery.watch import EventType
from apiserver.storage.cache.cache_limits import WatchLimits
from apiserver.storage.cache.entry import Entry, EntrySelection, View
from apiserver.storage.cache.read_revision import RevisionExpired
from apiserver.storage.cache.waking import WakeTurns
from apiserver.storage.cache.window import Transition, Window
from apiserver.time_slices import TimeSlices

SHORT_BACKLOG: Final = 500
"""Changes that are matched at once when a watch resumes."""

log = logging.getLogger(__name__)


class EntryEvent:
    """An event of a watch, shared by all watchers that receive it."""

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
        """The object of the event; None for a bookmark."""
        return self._entry

    @property
    def is_framed(self) -> bool:
        """Whether the frame has been built, for this watcher or another."""
        return self._frame is not None

    @property
    def frame(self) -> bytes:
        """The complete bytes of the event in the form that the watcher requested."""
        if self._frame is None:
            self._frame = self.frame_in(self.form)
        return self._frame

    def frame_in(self, form: Hashable) -> bytes:
        """Encode the event in another form, for a stream whose first event has its own form."""
        if self._entry is not None:
            encoded = self._entry.encode(form)
        else:
            encoded = self._view.bookmark(
                self.revision, form, initial_events_end=self.initial_events_end
            )
        return self._view.frame(self.type, encoded, form)


class Watcher(AsyncIterator[list[EntryEvent]]):
    """An open watch: first the backlog, then new events, in batches.

    It has one consumer at a time. Iteration stops when the cache is closed or the queue is full,
    and raises RevisionExpired when the cache has missed changes.
    """

    def __init__(
        self,
        selection: EntrySelection,
        form: Hashable,
        *,
        after: int,
        bookmarks: bool,
        limits: WatchLimits,
        turns: WakeTurns,
    ) -> None:
        self.selection = selection
        self.selective = selection.selective
        self.form = form
        self.after = after
        """Only changes after this revision are sent."""
        self.bookmarks = bookmarks
        self.newest = after
        """The revision of the last event delivered or queued."""
        self.slow = False
        """Whether the stream was ended because its queue was full."""
        self._backlog: Iterator[EntryEvent | None] | None = None
        self._caught_up: Callable[[], None] | None = None
        self._queue: list[EntryEvent] = []
        self._limits = limits
        self._closed = False
        self._failure: RevisionExpired | None = None
        self._waiter: asyncio.Future[None] | None = None
        """What the consumer waits for; None once it is to be resumed."""
        self._turns = turns

    def __aiter__(self) -> "Watcher":
        return self

    async def __anext__(self) -> list[EntryEvent]:
        if self._backlog is not None:
            # Sending may not block at all; a long backlog must let other tasks run.
            await asyncio.sleep(0)
            backlog = await self._take_backlog(self._backlog)
            if backlog:
                return backlog
        while not self._queue:
            if self._closed:
                raise self._failure or StopAsyncIteration
            self._waiter = waiter = asyncio.get_running_loop().create_future()
            try:
                await waiter
            finally:
                self._waiter = None
        return self._take()

    async def _take_backlog(self, backlog: Iterator[EntryEvent | None]) -> list[EntryEvent]:
        """Return the next events of the backlog, as many as there is time for; none at its end."""
        events: list[EntryEvent] = []
        time = TimeSlices()
        for event in backlog:
            if event is not None:
                events.append(event)
                self.newest = max(self.newest, event.revision)
                if len(events) == self._limits.batch:
                    return events
            if time.is_over:
                if events:
                    return events
                await time.yield_loop()
        self._end_backlog()
        return events

    def when_caught_up(self, callback: Callable[[], None]) -> None:
        """Call *callback* when the backlog has been taken, at once if there is none."""
        if self._backlog is None:
            callback()
        else:
            self._caught_up = callback

    def prepend(self, backlog: Iterable[EntryEvent | None], *, until: int) -> None:
        """Deliver *backlog*, which covers everything up to *until*, before the queue.

        None stands for a change that the watcher is not sent.
        """
        self._backlog = chain(self._backlog or (), backlog)
        self.newest = until

    def push(self, event: EntryEvent) -> None:
        """Queue *event*, or end the stream if the queue is full."""
        if self._closed:
            return
        if len(self._queue) < self._limits.queue:
            self._queue.append(event)
            self.newest = event.revision
            self._wake()
        else:
            self.slow = True
            self.end()

    def push_bookmark(self, bookmark: EntryEvent) -> None:
        """Queue *bookmark* if there is room; it never ends a stream."""
        if self._queue and self._queue[-1].type is EventType.BOOKMARK:
            self._queue.pop()
        if len(self._queue) < self._limits.queue:
            self.push(bookmark)

    def end(self, failure: RevisionExpired | None = None) -> None:
        """End the stream after the queued events, with *failure* if given."""
        if not self._closed:
            self._closed = True
            self._failure = failure
            self._wake()

    def _end_backlog(self) -> None:
        self._backlog = None
        if self._caught_up is not None:
            self._caught_up()

    def _take(self) -> list[EntryEvent]:
        queue = self._queue
        if len(queue) <= self._limits.batch:
            self._queue = []
            return queue
        self._queue = queue[self._limits.batch :]
        return queue[: self._limits.batch]

    def _wake(self) -> None:
        if self._waiter is not None:
            waiter, self._waiter = self._waiter, None
            self._turns.resume(waiter)


class Fanout:
    """The watchers of one resource.

    Watchers that requested bookmarks are distributed over slots, so that each tick of the clock
    sends a bookmark to a few of them and not to all at once.
    """

    def __init__(self, view: View, limits: WatchLimits) -> None:
        self._view = view
        self._limits = limits
        self._index: dict[tuple[str | None, str | None], dict[Watcher, None]] = {}
        self._slots: list[dict[Watcher, None]] = [{} for _ in range(limits.bookmark_slots)]
        self._next_slot = 0
        self._turns = WakeTurns()
        self._closed = False
        self.slow = 0
        """The number of watchers ended because they were too slow."""

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
        """Start a watch of every change after *after*. Raises RevisionExpired.

        Delivers *initial* first, the state at *after*, then the changes in the window. There is no
        gap and no duplicate, because no other task runs between reading the window and adding the
        watcher to the index.
        """
        backlog = window.after(after)
        watcher = Watcher(
            selection,
            form,
            after=after,
            bookmarks=bookmarks,
            limits=self._limits,
            turns=self._turns,
        )
        if initial is not None:
            watcher.prepend(self._initial_events(watcher, initial), until=after)
        events = (self._event_for(watcher, transition) for transition in backlog)
        if len(backlog) > SHORT_BACKLOG:
            # Its changes are matched when they are sent, so that other tasks run in between.
            watcher.prepend(events, until=after)
        elif matching := [event for event in events if event is not None]:
            watcher.prepend(matching, until=matching[-1].revision)
        if self._closed:
            watcher.end()
            return watcher
        self._index.setdefault((selection.namespace, selection.name), {})[watcher] = None
        if bookmarks:
            self._slots[self._next_slot][watcher] = None
            self._next_slot = (self._next_slot + 1) % len(self._slots)
        return watcher

    def detach(self, watcher: Watcher) -> None:
        """Remove *watcher* and end its stream."""
        index_key = (watcher.selection.namespace, watcher.selection.name)
        watchers = self._index.get(index_key, {})
        watchers.pop(watcher, None)
        if not watchers:
            self._index.pop(index_key, None)
        for slot in self._slots:
            slot.pop(watcher, None)
        watcher.end()

    def publish(self, transition: Transition) -> None:
        """Notify the matching watchers of one change."""
        unfiltered = _unfiltered_type(transition)
        shared: dict[tuple[EventType, Hashable], EntryEvent] = {}
        overflowed: list[Watcher] = []
        event: EntryEvent | None = None
        for watcher in self._candidates(transition):
            event_type = (
                self._selected_event_type(transition, watcher) if watcher.selective else unfiltered
            )
            if event_type is None or transition.revision <= watcher.after:
                continue
            # Usually this is the event of the previous watcher.
            if event is None or event.form is not watcher.form or event.type is not event_type:
                event = shared.get((event_type, watcher.form))
                if event is None:
                    event = self._event(event_type, transition, watcher.form)
                    shared[event_type, watcher.form] = event
            watcher.push(event)
            if watcher.slow:
                overflowed.append(watcher)
        for watcher in overflowed:
            self.slow += 1
            self.detach(watcher)

    def bookmark(self, watchers: Iterable[Watcher], revision: int) -> None:
        """Send a bookmark to those watchers that requested bookmarks and are behind *revision*."""
        shared: dict[Hashable, EntryEvent] = {}
        for watcher in watchers:
            if watcher.bookmarks and watcher.newest < revision:
                if watcher.form not in shared:
                    shared[watcher.form] = self._bookmark(watcher.form, revision)
                watcher.push_bookmark(shared[watcher.form])

    def in_slot(self, slot: int) -> Iterable[Watcher]:
        """Return the watchers whose bookmarks are due at tick *slot*."""
        return self._slots[slot % len(self._slots)]

    def end_all(self, *, expired_at: int | None = None) -> None:
        """End every stream; with *expired_at*, as expired: older changes are not available."""
        for watcher in [watcher for group in self._index.values() for watcher in group]:
            if expired_at is not None:
                watcher.end(RevisionExpired(watcher.newest, oldest=expired_at))
            self.detach(watcher)

    def close(self) -> None:
        """End every stream, including those started later."""
        self._closed = True
        self.end_all()

    def _initial_events(self, watcher: Watcher, entries: Iterable[Entry]) -> Iterator[EntryEvent]:
        view, form = self._view, watcher.form
        for entry in entries:
            revision = entry.record.revision
            yield EntryEvent(EventType.ADDED, entry, view=view, form=form, revision=revision)
        if watcher.bookmarks:
            yield self._bookmark(form, watcher.after, initial_events_end=True)

    def _candidates(self, transition: Transition) -> Iterator[Watcher]:
        index, namespace, name = self._index, transition.namespace, transition.name
        for index_key in ((None, None), (namespace, None), (namespace, name), (None, name)):
            if index_key in index:
                yield from index[index_key]

    def _event_for(self, watcher: Watcher, transition: Transition) -> EntryEvent | None:
        selection = watcher.selection
        if selection.namespace not in (None, transition.namespace):
            return None
        if selection.name not in (None, transition.name):
            return None
        event_type = self._selected_event_type(transition, watcher)
        return self._event(event_type, transition, watcher.form) if event_type else None

    def _selected_event_type(self, transition: Transition, watcher: Watcher) -> EventType | None:
        try:
            return _selected_type(transition, watcher.selection)
        except Exception:
            # A selector is supplied by the caller; its failure must not stop the feed of the
            # others.
            log.exception("selector failed on %s, ending its watch", transition.key)
            watcher.end()
            return None

    def _event(self, event_type: EventType, transition: Transition, form: Hashable) -> EntryEvent:
        entry = transition.deleted_entry if event_type is EventType.DELETED else transition.new
        return EntryEvent(
            event_type, entry, view=self._view, form=form, revision=transition.revision
        )

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


def _unfiltered_type(transition: Transition) -> EventType:
    if transition.old is None:
        return EventType.ADDED
    return EventType.DELETED if transition.new is None else EventType.MODIFIED


def _selected_type(transition: Transition, selection: EntrySelection) -> EventType | None:
    """Return the event type for a watcher that receives only objects that *selection* matches."""
    old, new = transition.old, transition.new
    matches = new is not None and selection.matches(new)
    if old is not None and new is not None and _select_alike(old, new):
        return EventType.MODIFIED if matches else None
    if old is None or not selection.matches(old):
        return EventType.ADDED if matches else None
    return EventType.MODIFIED if matches else EventType.DELETED


def _select_alike(old: Entry, new: Entry) -> bool:
    return old.labels is new.labels and old.fields is new.fields
