"""Entry events: what watchers are sent, each encoded once and joined once for all of them."""

from collections.abc import Hashable, Iterator
from itertools import chain
from typing import Final

from apimachinery.watch import EventType
from apiserver.storage.cache.entry import Entry, View

WRITE_BYTES: Final = 64 * 1024
"""The size of one write to a watcher; the next one waits until the client has read enough."""


class EntryEvent:
    """An event of a watch, shared by all watchers that receive it."""

    __slots__ = (
        *("_entry", "_frame", "_view", "form", "initial_events_end"),
        *("previous", "revision", "type"),
    )

    def __init__(
        self,
        event_type: EventType,
        entry: Entry | None,
        *,
        view: View,
        form: Hashable,
        revision: int,
        initial_events_end: bool = False,
        previous: Entry | None = None,
    ) -> None:
        self.type = event_type
        self.revision = revision
        self.initial_events_end = initial_events_end
        self._entry = entry
        self._view = view
        self.form = form
        self._frame: bytes | None = None
        self.previous = previous
        """The object before a modification, where objects are converted to be selected."""

    def __repr__(self) -> str:
        return f"EntryEvent({self.type}, {self._entry!r}, revision={self.revision})"

    @property
    def entry(self) -> Entry | None:
        """The object of the event; None for a bookmark."""
        return self._entry

    def as_type(self, event_type: EventType, entry: Entry) -> "EntryEvent":
        """Return another event of the same change."""
        return EntryEvent(
            event_type, entry, view=self._view, form=self.form, revision=self.revision
        )

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


class EventRun:
    """Consecutive events of a log."""

    __slots__ = ("complete", "events", "joined", "size")

    def __init__(self, events: list[EntryEvent] | None = None, *, complete: bool = False) -> None:
        self.events = [] if events is None else events
        self.complete = complete
        """Whether no more events are appended, so that the frames can be joined."""
        self.size = 0
        """The size of the stored objects, about that of the frames."""
        self.joined: bytes | None = None
        """The frames of all events as one, after `join`."""

    def join(self) -> bytes | None:
        """Join the frames, which have been built; None if they are too long for one write."""
        frames = [event.frame for event in self.events]
        if sum(map(len, frames)) > WRITE_BYTES:
            return None
        self.joined = frames[0] if len(frames) == 1 else b"".join(frames)
        return self.joined


class EventBatch:
    """What a watcher takes at once: runs of its log, and events that only it is sent."""

    __slots__ = ("runs",)

    def __init__(self, runs: list[EventRun]) -> None:
        self.runs = runs

    def __len__(self) -> int:
        return sum(len(run.events) for run in self.runs)

    def __iter__(self) -> Iterator[EntryEvent]:
        return chain.from_iterable(run.events for run in self.runs)

    @property
    def joined(self) -> bytes | None:
        """All frames as one, if each run has been joined and one write has room for them."""
        parts = [run.joined for run in self.runs if run.joined is not None]
        if len(parts) < len(self.runs) or sum(map(len, parts)) > WRITE_BYTES:
            return None
        return parts[0] if len(parts) == 1 else b"".join(parts)
