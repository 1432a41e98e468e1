"""Converted watch: selects the events of a watch by the objects as a webhook converts them.

An object may match a selector in one version and not in another. The watch below delivers every
change in the namespace with the state before it, and this one decides what its client is to see of
it: an object that begins to match is added, and one that ceases to match is deleted.
"""

from collections.abc import AsyncIterator, Callable, Sequence

from apimachinery.schema import GroupVersion
from apimachinery.watch import EventType
from apiserver.extensions.custom_view import CustomView
from apiserver.extensions.entry_conversion import EntryConversion
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.storage.cache.entry_event import EntryEvent, EventBatch, EventRun
from apiserver.storage.cache.event_log import Watcher
from apiserver.workload import Workload


class Matcher:
    """Selects objects by what they are in one version."""

    def __init__(
        self, conversion: EntryConversion, view: CustomView, version: GroupVersion
    ) -> None:
        self._conversion = conversion
        self._view = view
        self._version = version

    async def convert(self, entries: Sequence[Entry], workload: Workload | None = None) -> None:
        """Have all entries converted. Raises Unconverted."""
        await self._conversion.convert(entries, self._version, workload or Workload())

    async def select(self, entries: Sequence[Entry], selection: EntrySelection) -> list[Entry]:
        """Return the entries that match labels and fields. Raises Unconverted."""
        await self.convert(entries)
        return [entry for entry in entries if self.matches(entry, selection)]

    def matches(self, entry: Entry, selection: EntrySelection) -> bool:
        """Return whether a converted entry matches labels and fields."""
        record = self._conversion.source_in(entry, self._version)
        labels, fields = self._view.selectable(record)
        return (selection.labels is None or selection.labels(labels)) and (
            selection.fields is None or selection.fields(fields)
        )


class ConvertedWatch(AsyncIterator[EventBatch]):
    """The events of *watcher* that *selection* selects; takes the place of a `Watcher`."""

    def __init__(self, watcher: Watcher, matcher: Matcher, selection: EntrySelection) -> None:
        self.watcher = watcher
        self._matcher = matcher
        self._selection = selection

    def __aiter__(self) -> "ConvertedWatch":
        return self

    async def __anext__(self) -> EventBatch:
        while True:
            batch = await anext(self.watcher)
            events = await self._selected(list(batch))
            if events:
                return EventBatch([EventRun(events)])

    @property
    def slow(self) -> bool:
        return self.watcher.slow

    def when_caught_up(self, callback: Callable[[], None]) -> None:
        self.watcher.when_caught_up(callback)

    def end(self) -> None:
        self.watcher.end()

    async def _selected(self, events: Sequence[EntryEvent]) -> list[EntryEvent]:
        entries = [
            entry
            for event in events
            for entry in (event.entry, event.previous)
            if entry is not None
        ]
        await self._matcher.convert(entries)
        return [selected for event in events if (selected := self._select(event))]

    def _select(self, event: EntryEvent) -> EntryEvent | None:
        """Return what the client is to see of a change, None for nothing."""
        entry, previous = event.entry, event.previous
        if entry is None:
            return event  # a bookmark
        matches = self._matcher.matches(entry, self._selection)
        if event.type is not EventType.MODIFIED or previous is None:
            return event if matches else None
        matched = self._matcher.matches(previous, self._selection)
        if matches == matched:
            return event if matches else None
        if matches:
            return event.as_type(EventType.ADDED, entry)
        return event.as_type(EventType.DELETED, previous.with_revision(event.revision))
