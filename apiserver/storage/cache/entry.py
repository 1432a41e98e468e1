"""One object as the watch cache holds it: bytes, what selectors look at, and its served forms.

The cache never decodes. A `View`, given when a resource is registered, says what a record's labels
and selectable fields are (asked once per write) and how it reads in a served form (asked when
somebody wants that form, and then kept). A form is opaque here: a version, a table, anything
hashable.
"""

import logging
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from sys import intern
from typing import Protocol

from apiserver.storage.interface import Record

log = logging.getLogger(__name__)

Selectable = Mapping[str, str]

_NOTHING: dict[str, str] = {}


class View(Protocol):
    """How the records of one resource look from outside."""

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        """The labels and the selectable fields of *record*."""

    def encode(self, record: Record, form: Hashable) -> bytes:
        """*record* in a served form, with its revision as the resourceVersion.

        For a deletion *record* has the last value and the revision of the deletion.
        """

    def bookmark(self, revision: int, form: Hashable, *, initial_events_end: bool) -> bytes:
        """The object of a bookmark: of the right kind, with a resourceVersion and nothing else."""

    def frame(self, event_type: str, encoded: bytes, form: Hashable) -> bytes:
        """A whole event of a watch stream around an encoded object."""


def json_frame(event_type: str, encoded: bytes) -> bytes:
    """The event of a JSON watch stream: one document and a newline."""
    return b'{"type":"%b","object":%b}\n' % (event_type.encode(), encoded)


@dataclass(frozen=True, slots=True)
class EntrySelection:
    """Which objects of a resource are meant; None means whatever it is."""

    namespace: str | None = None
    name: str | None = None
    labels: Callable[[Selectable], bool] | None = None
    fields: Callable[[Selectable], bool] | None = None

    @property
    def selective(self) -> bool:
        """Whether it takes more than an object's key to know that it is meant."""
        return self.labels is not None or self.fields is not None

    def matches(self, entry: "Entry") -> bool:
        """Whether labels and fields are the ones meant; namespace and name are the caller's."""
        return (self.labels is None or self.labels(entry.labels)) and (
            self.fields is None or self.fields(entry.fields)
        )


class Entry:
    """A record, its labels and fields, and the forms in which it has been served so far."""

    __slots__ = ("_encoded", "_form", "_others", "fields", "labels", "record", "view")

    def __init__(
        self, record: Record, view: View, *, labels: Selectable, fields: Selectable
    ) -> None:
        self.record = record
        self.view = view
        self.labels = labels
        self.fields = fields
        # Nearly always there is one form; a dictionary would cost a fifth of a small object.
        self._form: Hashable = None
        self._encoded: bytes | None = None
        self._others: dict[Hashable, bytes] | None = None

    def __repr__(self) -> str:
        return f"Entry({self.record.key!r}, revision={self.record.revision})"

    def encode(self, form: Hashable) -> bytes:
        """The object in a served form; the same bytes every time."""
        if self._encoded is None:
            self._encoded = self._make(form)
            self._form = form
            return self._encoded
        if form == self._form:
            return self._encoded
        if self._others is None:
            self._others = {}
        encoded = self._others.get(form)
        if encoded is None:
            encoded = self._others[form] = self._make(form)
        return encoded

    def _make(self, form: Hashable) -> bytes:
        # What an encoder returns may sit in a buffer many times its size (orjson's is 8 KiB at
        # least); what is kept must not.
        return memoryview(self.view.encode(self.record, form)).tobytes()

    def at(self, revision: int) -> "Entry":
        """The same content as the last state of an object that was gone at *revision*."""
        record = self.record
        moved = Record(record.key, record.value, revision, record.created)
        return Entry(moved, self.view, labels=self.labels, fields=self.fields)


def make_entry(record: Record, view: View, *, before: Entry | None = None) -> Entry:
    """Look at *record* once; what has not changed since *before* is shared with it."""
    try:
        labels, fields = view.selectable(record)
    except Exception:
        # One object that cannot be read must not stop the feed of all the others: it matches no
        # selector that asks for something, and whoever wants it encoded gets the error.
        log.exception("%s at revision %d cannot be decoded", record.key, record.revision)
        labels = fields = _NOTHING
    return Entry(
        record,
        view,
        labels=_shared(labels, before.labels if before else _NOTHING),
        fields=_shared(fields, before.fields if before else _NOTHING),
    )


def _shared(pairs: Selectable, before: Selectable) -> Selectable:
    if pairs == before:
        return before
    if not pairs:
        return _NOTHING
    return {intern(key): intern(value) for key, value in pairs.items()}
