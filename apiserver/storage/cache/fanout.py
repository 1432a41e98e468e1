"""Fan-out: notifies the watchers of one resource of each change.

Watchers with the same selection and form share an event log (`event_log.py`), and logs are indexed
(`log_index.py`), so a change costs nothing for watchers that it does not concern. All logs share
one `EntryEvent` per (change, type, form): its frame is built when the first watcher sends it, and
only once. A change that no watcher is notified of has no event.
"""

import logging
from collections.abc import Hashable, Iterable, Iterator
from typing import Final

from apimachinery.watch import EventType
from apiserver.storage.cache.cache_limits import WatchLimits
from apiserver.storage.cache.entry import Entry, EntrySelection, View
from apiserver.storage.cache.entry_event import EntryEvent
from apiserver.storage.cache.event_log import EventLog, Watcher
from apiserver.storage.cache.log_index import LogIndex
from apiserver.storage.cache.read_revision import RevisionExpired
from apiserver.storage.cache.waking import WakeTurns
from apiserver.storage.cache.window import Transition, Window

SHORT_BACKLOG: Final = 500
"""Changes that are matched at once when a watch resumes."""

logger = logging.getLogger(__name__)


class Fanout:
    """The watchers of one resource.

    Watchers that requested bookmarks are distributed over slots, so that each tick of the clock
    sends a bookmark to a few of them and not to all at once.
    """

    def __init__(self, view: View, limits: WatchLimits) -> None:
        self._view = view
        self._limits = limits
        self._logs: dict[tuple[EntrySelection, Hashable], EventLog] = {}
        self._index = LogIndex()
        self._slots: list[dict[Watcher, None]] = [{} for _ in range(limits.bookmark_slots)]
        self._next_slot = 0
        self._turns = WakeTurns()
        self._closed = False
        self.slow = 0
        """The number of watchers ended because they were too slow."""

    def __len__(self) -> int:
        return sum(len(log.watchers) for log in self._logs.values())

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
        watcher = Watcher(self._log_of(selection, form), after=after, bookmarks=bookmarks)
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
        self._add(watcher)
        if bookmarks:
            self._slots[self._next_slot][watcher] = None
            self._next_slot = (self._next_slot + 1) % len(self._slots)
        return watcher

    def detach(self, watcher: Watcher) -> None:
        """Remove *watcher* and end its stream."""
        self._remove(watcher)
        for slot in self._slots:
            slot.pop(watcher, None)
        watcher.end()

    def publish(self, transition: Transition) -> None:
        """Notify the matching watchers of one change."""
        if not self._logs:
            return
        unfiltered = _unfiltered_type(transition)
        shared: dict[tuple[EventType, Hashable], EntryEvent] = {}
        lagging: list[Watcher] = []
        event: EntryEvent | None = None
        for log in self._index.candidates(transition):
            event_type: EventType | None = unfiltered
            if log.selective:
                event_type = self._selected_event_type(transition, log.selection, log.watchers)
            if event_type is None:
                continue
            # Usually this is the event of the previous log.
            if event is None or event.form is not log.form or event.type is not event_type:
                event = shared.get((event_type, log.form))
                if event is None:
                    event = self._event(event_type, transition, log.form)
                    shared[event_type, log.form] = event
            log.append(event)
            lagging += log.laggards()
        for watcher in lagging:
            self.slow += 1
            watcher.end_slow()
            self.detach(watcher)

    def bookmark(self, watchers: Iterable[Watcher], revision: int) -> None:
        """Send a bookmark to those watchers that requested bookmarks and are behind *revision*."""
        shared: dict[Hashable, EntryEvent] = {}
        for watcher in watchers:
            if watcher.bookmarks and watcher.newest < revision:
                form = watcher.log.form
                if form not in shared:
                    shared[form] = self._bookmark(form, revision)
                watcher.push_bookmark(shared[form])

    def in_slot(self, slot: int) -> Iterable[Watcher]:
        """Return the watchers whose bookmarks are due at tick *slot*."""
        return self._slots[slot % len(self._slots)]

    def end_all(self, *, expired_at: int | None = None) -> None:
        """End every stream; with *expired_at*, as expired: older changes are not available."""
        for watcher in [watcher for log in self._logs.values() for watcher in log.watchers]:
            if expired_at is not None:
                watcher.end(RevisionExpired(watcher.newest, oldest=expired_at))
            self.detach(watcher)

    def close(self) -> None:
        """End every stream, including those started later."""
        self._closed = True
        self.end_all()

    def _log_of(self, selection: EntrySelection, form: Hashable) -> EventLog:
        log = self._logs.get((selection, form))
        if log is None:
            log = EventLog(selection, form, limits=self._limits, turns=self._turns)
        return log

    def _add(self, watcher: Watcher) -> None:
        log = watcher.log
        if not log.watchers:
            self._logs[log.selection, log.form] = log
            self._index.add(log)
        log.watchers[watcher] = None

    def _remove(self, watcher: Watcher) -> None:
        log = watcher.log
        if watcher in log.watchers:
            del log.watchers[watcher]
            if not log.watchers:
                del self._logs[log.selection, log.form]
                self._index.remove(log)

    def _initial_events(self, watcher: Watcher, entries: Iterable[Entry]) -> Iterator[EntryEvent]:
        view, form = self._view, watcher.log.form
        for entry in entries:
            revision = entry.record.revision
            yield EntryEvent(EventType.ADDED, entry, view=view, form=form, revision=revision)
        if watcher.bookmarks:
            yield self._bookmark(form, watcher.after, initial_events_end=True)

    def _event_for(self, watcher: Watcher, transition: Transition) -> EntryEvent | None:
        log = watcher.log
        selection = log.selection
        if selection.namespace not in (None, transition.namespace):
            return None
        if selection.name not in (None, transition.name):
            return None
        event_type = self._selected_event_type(transition, selection, [watcher])
        return self._event(event_type, transition, log.form) if event_type else None

    def _selected_event_type(
        self, transition: Transition, selection: EntrySelection, watchers: Iterable[Watcher]
    ) -> EventType | None:
        try:
            return _selected_type(transition, selection)
        except Exception:
            # A selector is supplied by the caller; its failure must not stop the feed of the
            # others.
            logger.exception("selector failed on %s, ending its watches", transition.key)
            for watcher in watchers:
                watcher.end()
            return None

    def _event(self, event_type: EventType, transition: Transition, form: Hashable) -> EntryEvent:
        entry = transition.deleted_entry if event_type is EventType.DELETED else transition.new
        return EntryEvent(
            event_type,
            entry,
            view=self._view,
            form=form,
            revision=transition.revision,
            previous=transition.old if self._view.converts else None,
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
