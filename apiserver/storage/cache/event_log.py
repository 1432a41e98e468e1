"""Event log: the events of all watchers that select the same objects in the same form.

Watchers of the same selection and form are sent the same events, so an event is appended once,
however many watchers there are. The log consists of runs: a run is complete when the first watcher
takes it, and the others take the same run later, so its bytes are joined only once. A watcher
refers to the place of the first run that it has not taken, and each place to the next one: what
every watcher has taken is freed.

Nothing waits for a watcher. When too many events wait for one, its stream ends after these events,
and its client resumes from the last revision it has received. What is sent to a client, or waits
for one whose stream has ended, does not refer to a place: a slow client would keep all events that
follow in memory.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Iterator
from itertools import chain
from typing import Final, Protocol

from apiserver.storage.cache.cache_limits import WatchLimits
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.entry_event import WRITE_BYTES, EntryEvent, EventBatch, EventRun
from apiserver.storage.cache.read_revision import RevisionExpired
from apiserver.storage.cache.waking import Waiters, WakeTurns
from apiserver.time_slices import TimeSlices

RUN_BYTES: Final = WRITE_BYTES // 2
"""The size of stored objects from which on a run is complete, so that it can be joined."""


class _Place:
    """The place of a run in a log."""

    __slots__ = ("next", "run", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        """The number of events of the log before this run."""
        self.run = EventRun()
        self.next: _Place | None = None


class EventLog:
    """The events that some watcher has not taken, and the watchers."""

    def __init__(
        self, selection: EntrySelection, form: Hashable, *, limits: WatchLimits, turns: WakeTurns
    ) -> None:
        self.selection = selection
        self.selective = selection.selective
        self.form = form
        self.limits = limits
        self.count = 0
        """The number of events appended so far."""
        self.newest = 0
        """The revision of the last event."""
        self.watchers: dict[Watcher, None] = {}
        self.waiters = Waiters(turns)
        self._tail = _Place(0)
        self._may_lag = 0
        """The count up to which no watcher has more events waiting than it may."""

    def append(self, event: EntryEvent) -> None:
        """Append *event* and resume the watchers that wait for one."""
        tail = self._tail.run
        entry = event.entry
        if entry is not None:
            tail.size += entry.size
        tail.events.append(event)
        self.count += 1
        self.newest = event.revision
        if len(tail.events) >= self.limits.batch or tail.size >= RUN_BYTES:
            self.begin_run()
        self.waiters.resume_all()

    def begin_run(self) -> _Place:
        """Return the place of the next event; the runs before it are complete."""
        tail = self._tail
        if tail.run.events:
            tail.run.complete = True
            tail.next = self._tail = _Place(self.count)
        return self._tail

    def laggards(self) -> list["Watcher"]:
        """Return the watchers that have more events waiting than they may.

        The watchers are looked at only when so many events have come since the last time that the
        one furthest behind may have too many.
        """
        if self.count <= self._may_lag:
            return []
        most = self.limits.queue
        watchers = [each for each in self.watchers if not each.has_ended]
        for watcher in watchers:
            watcher.skip_unsent()
        self._may_lag = most + min((each.position for each in watchers), default=self.count)
        return [each for each in watchers if self.count - each.position > most]


class OpenWatch(Protocol):
    """The events of an open watch, in batches."""

    @property
    def slow(self) -> bool:
        """Whether the stream was ended because too many events waited."""

    def __aiter__(self) -> AsyncIterator[EventBatch]: ...

    def __anext__(self) -> Awaitable[EventBatch]: ...

    def when_caught_up(self, callback: Callable[[], None]) -> None:
        """Call *callback* when the backlog has been taken, at once if there is none."""

    def end(self) -> None:
        """End the stream after the waiting events."""


class Watcher(AsyncIterator[EventBatch]):
    """An open watch: first the backlog, then new events, in batches.

    It has one consumer at a time. Iteration stops when the cache is closed or too many events wait,
    and raises RevisionExpired when the cache has missed changes.
    """

    def __init__(self, log: EventLog, *, after: int, bookmarks: bool) -> None:
        self.log = log
        self.after = after
        """Only changes after this revision are sent."""
        self.bookmarks = bookmarks
        self.slow = False
        """Whether the stream was ended because too many events waited."""
        self._newest = after
        self._backlog: Iterator[EntryEvent | None] | None = None
        self._caught_up: Callable[[], None] | None = None
        self._place = log.begin_run()
        """The place of the first run that has not been taken."""
        self._bookmark: tuple[EntryEvent, int] | None = None
        """A bookmark, and the number of events of the log before it."""
        self._end: int | None = None
        """The count of the log at which the stream ends."""
        self._failure: RevisionExpired | None = None

    def __aiter__(self) -> "Watcher":
        return self

    async def __anext__(self) -> EventBatch:
        if self._backlog is not None:
            # Sending may not block at all; a long backlog must let other tasks run.
            await asyncio.sleep(0)
            backlog = await self._take_backlog(self._backlog)
            if backlog:
                return EventBatch([EventRun(backlog)])
        while not (runs := self._take()):
            if self._end is not None:
                raise self._failure or StopAsyncIteration
            await self.log.waiters.wait(self)
        return EventBatch(runs)

    @property
    def newest(self) -> int:
        """The revision of the last event delivered or waiting."""
        return max(self._newest, self.log.newest)

    @property
    def position(self) -> int:
        """The number of events of the log before the first that waits."""
        return self._place.start

    @property
    def has_ended(self) -> bool:
        """Whether the stream ends after events that already wait."""
        return self._end is not None

    def skip_unsent(self) -> None:
        """Drop complete runs at the front whose events are only sent to other watchers."""
        while (following := self._place.next) is not None and not self._bookmark_is_due:
            if self._place.run.events[-1].revision > self.after:
                return
            self._place = following

    def when_caught_up(self, callback: Callable[[], None]) -> None:
        """Call *callback* when the backlog has been taken, at once if there is none."""
        if self._backlog is None:
            callback()
        else:
            self._caught_up = callback

    def prepend(self, backlog: Iterable[EntryEvent | None], *, until: int) -> None:
        """Deliver *backlog*, which covers everything up to *until*, before the events of the log.

        None stands for a change that the watcher is not sent.
        """
        self._backlog = chain(self._backlog or (), backlog)
        self._newest = until

    def push_bookmark(self, bookmark: EntryEvent) -> None:
        """Send *bookmark* after the waiting events; it never ends a stream."""
        if self._end is None and self.log.count - self.position < self.log.limits.queue:
            self._bookmark = (bookmark, self.log.begin_run().start)
            self._newest = bookmark.revision
            self.log.waiters.resume(self)

    def end(self, failure: RevisionExpired | None = None) -> None:
        """End the stream after the waiting events, with *failure* if given."""
        self._end_at(self.log.count, failure)

    def end_slow(self) -> None:
        """End the stream after as many events as may wait."""
        self.slow = True
        self._end_at(self.position + self.log.limits.queue)

    def _end_at(self, count: int, failure: RevisionExpired | None = None) -> None:
        if self._end is None:
            self._end = count
            self._failure = failure
            self._keep_until(count)
            self.log.waiters.resume(self)

    def _keep_until(self, count: int) -> None:
        """Leave the log with the runs that wait, but for events after *count*.

        The client of a stream that has ended may take any time to read the rest of it.
        """
        place: _Place | None = self._place
        self._place = last = _Place(self._place.start)
        while place is not None and place.start < count:
            last.run = EventRun(place.run.events[: count - place.start], complete=True)
            last.next = _Place(place.start + len(last.run.events))
            last, place = last.next, place.next

    async def _take_backlog(self, backlog: Iterator[EntryEvent | None]) -> list[EntryEvent]:
        """Return the next events of the backlog, as many as there is time for; none at its end."""
        events: list[EntryEvent] = []
        time = TimeSlices()
        for event in backlog:
            if event is not None:
                events.append(event)
                self._newest = max(self._newest, event.revision)
                if len(events) == self.log.limits.batch:
                    return events
            if time.is_over:
                if events:
                    return events
                await time.yield_loop()
        self._backlog = None
        if self._caught_up is not None:
            self._caught_up()
        return events

    def _take(self) -> list[EventRun]:
        """Return the waiting runs, as many as are delivered at once."""
        runs: list[EventRun] = []
        room = self.log.limits.batch
        while room > 0:
            place = self._place
            if self._bookmark is not None and self._bookmark_is_due:
                runs.append(EventRun([self._bookmark[0]]))
                self._bookmark = None
                room -= 1
            size = len(place.run.events)
            if not size or (runs and size > room):
                break
            self._place = place.next or self.log.begin_run()
            # Events that only other watchers are sent take no room: those behind must not wait.
            if (visible := self._visible(place.run)) is not None:
                runs.append(visible)
                room -= len(visible.events)
        return runs

    @property
    def _bookmark_is_due(self) -> bool:
        return self._bookmark is not None and self._bookmark[1] == self._place.start

    def _visible(self, run: EventRun) -> EventRun | None:
        """Return *run* without events that only other watchers of the log are sent."""
        events = run.events
        if events[0].revision > self.after:
            return run
        events = [event for event in events if event.revision > self.after]
        return EventRun(events, complete=True) if events else None
