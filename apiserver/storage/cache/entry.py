"""Cache entry: one object as bytes, with its selectable fields and its served forms.

The cache never decodes. A `View`, given when a resource is registered, returns the labels and
selectable fields of a record (called once per write) and encodes it in a served form (called when
that form is first requested, and then kept). A form is opaque here: a version, a table, any
hashable value.
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
    """How the records of one resource are selected and encoded."""

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        """Return the labels and the selectable fields of *record*."""

    def forget(self, key: str) -> None:
        """Forget what the view knows about an object that is deleted."""

    def encode(self, record: Record, form: Hashable) -> bytes:
        """Encode *record* in a served form, with its revision as the resourceVersion.

        For a deletion, *record* has the last value and the revision of the deletion.
        """

    def bookmark(self, revision: int, form: Hashable, *, initial_events_end: bool) -> bytes:
        """Encode the object of a bookmark: its kind and resourceVersion and nothing else."""

    def frame(self, event_type: str, encoded: bytes, form: Hashable) -> bytes:
        """Wrap an encoded object into an event of a watch stream."""


def json_frame(event_type: str, encoded: bytes) -> bytes:
    """Return an event of a JSON watch stream: one document and a newline."""
    return b'{"type":"%b","object":%b}\n' % (event_type.encode(), encoded)


@dataclass(frozen=True, slots=True)
class EntrySelection:
    """Selects objects of a resource; None matches everything."""

    namespace: str | None = None
    name: str | None = None
    labels: Callable[[Selectable], bool] | None = None
    fields: Callable[[Selectable], bool] | None = None

    @property
    def selective(self) -> bool:
        """Return whether matching needs more than the key of an object."""
        return self.labels is not None or self.fields is not None

    def matches(self, entry: "Entry") -> bool:
        """Return whether labels and fields match; the caller checks namespace and name."""
        return (self.labels is None or self.labels(entry.labels)) and (
            self.fields is None or self.fields(entry.fields)
        )


class Entry:
    """A record, its labels and fields, and the forms in which it has been encoded so far."""

    __slots__ = ("_encoded", "_form", "_more_forms", "fields", "labels", "record", "view")

    def __init__(
        self, record: Record, view: View, *, labels: Selectable, fields: Selectable
    ) -> None:
        self.record = record
        self.view = view
        self.labels = labels
        self.fields = fields
        # Nearly always there is one form; a dictionary would add a fifth to a small object.
        self._form: Hashable = None
        self._encoded: bytes | None = None
        self._more_forms: dict[Hashable, bytes] | None = None

    def __repr__(self) -> str:
        return f"Entry({self.record.key!r}, revision={self.record.revision})"

    def encode(self, form: Hashable) -> bytes:
        """Encode the object in a served form; returns the same bytes every time.

        A form with a true attribute `transient` is encoded anew each time and not kept.
        """
        encoded = self.encoded(form)
        if encoded is None:
            encoded = self.encode_anew(form)
            self.keep(form, encoded)
        return encoded

    def encoded(self, form: Hashable) -> bytes | None:
        """Return the bytes of a form that has been encoded and kept."""
        if self._encoded is not None and form == self._form:
            return self._encoded
        return self._more_forms.get(form) if self._more_forms is not None else None

    def encode_anew(self, form: Hashable) -> bytes:
        """Encode the object in a form; keeps nothing, so any thread may call it."""
        # Copy: an encoder may return a slice of a buffer many times its size (orjson's has at least
        # 8 KiB), which must not be kept alive.
        return memoryview(self.view.encode(self.record, form)).tobytes()

    def keep(self, form: Hashable, encoded: bytes) -> None:
        """Keep the bytes of a form, unless it is transient."""
        if getattr(form, "transient", False):
            return
        if self._encoded is None:
            self._encoded, self._form = encoded, form
            return
        if self._more_forms is None:
            self._more_forms = {}
        self._more_forms[form] = encoded

    def with_revision(self, revision: int) -> "Entry":
        """Return the last state of an object that was deleted at *revision*."""
        record = self.record
        deleted = Record(record.key, record.value, revision, record.created)
        return Entry(deleted, self.view, labels=self.labels, fields=self.fields)


def make_entry(record: Record, view: View, *, previous: Entry | None = None) -> Entry:
    """Create the entry of *record*; labels and fields equal to those of *previous* are shared."""
    try:
        labels, fields = view.selectable(record)
        labels = _share(labels, previous.labels if previous else _NOTHING)
        fields = _share(fields, previous.fields if previous else _NOTHING)
    except Exception:
        # One unreadable object must not stop the feed of all others: it matches no selector that
        # requires a value, and encoding it raises the error.
        log.exception("%s at revision %d cannot be decoded", record.key, record.revision)
        labels = fields = _NOTHING
    return Entry(record, view, labels=labels, fields=fields)


def _share(pairs: Selectable, previous: Selectable) -> Selectable:
    if pairs == previous:
        return previous
    if not pairs:
        return _NOTHING
    return {intern(key): intern(value) for key, value in pairs.items()}
