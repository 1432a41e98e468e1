"""Cache entry: one object as bytes, with its selectable fields and its served forms.

The cache never decodes. A `View`, given when a resource is registered, returns the labels and
selectable fields of a record (called once per write) and encodes it in a served form (called when
that form is first requested, and then kept). A form is opaque here: a version, a table, any
hashable value.

A server caches every object, so an entry is small. Most objects are served as they are stored, but
for the first bytes, which all objects of a resource have in common: such an entry keeps only what
follows them, and composes both the stored and the served bytes from it. That is a copy of a
kilobyte, and takes less time than to find a kept form. Equal sets of labels are one object, and the
fields that the key names are read from the key.
"""

import logging
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from sys import intern
from typing import Final, Protocol, TypeAlias

from apiserver.storage.interface import Record

log = logging.getLogger(__name__)

Selectable = Mapping[str, str]

_NOTHING: Final[dict[str, str]] = {}
_NAME: Final = "metadata.name"
_NAMESPACE: Final = "metadata.namespace"
_KNOWN_SETS: Final = 4096
"""Different sets of labels that are compared with those of new objects."""


class _KeyFields(Enum):
    """Selectable fields that are parts of the key, and need no memory of their own."""

    NAME = 1
    NAME_AND_NAMESPACE = 2


_Kept: TypeAlias = "tuple[Hashable, bytes, _Kept | None]"
"""A form, the object encoded in it, and the forms that were kept before."""


class View(Protocol):
    """How the records of one resource are selected and encoded."""

    @property
    def converts(self) -> bool:
        """Whether an entry may have to be converted before it is encoded, which takes a while.

        Who encodes an entry has it converted first; `source` then returns the result.
        """

    def source(self, entry: "Entry", form: Hashable) -> Record:
        """Return the record to encode in *form*, of an entry that may have to be converted."""

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        """Return the labels and the selectable fields of *record*."""

    def forget(self, key: str) -> None:
        """Forget what the view knows about an object that is deleted."""

    def common_head(self, value: bytes) -> bytes:
        """Return the first bytes of a stored *value* if many objects have the same.

        They end where an object that is served as it is stored has its resourceVersion. Returns
        no bytes for an object that must be encoded.
        """

    def opening(self, key: str, head: bytes, form: Hashable) -> bytes | None:
        """Return what a served *form* has in the place of the common *head*.

        It ends before the digits of the resourceVersion; they and `",` precede the rest of the
        stored bytes. None if the object must be encoded.
        """

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
class EqualityTerm:
    """A condition that all objects of a selection meet: a label or field has one of *values*.

    A field that an object lacks has the empty value; a label that it lacks has none.
    """

    key: str
    values: tuple[str, ...]
    is_field: bool = False


@dataclass(frozen=True, slots=True)
class EntrySelection:
    """Selects objects of a resource; None matches everything."""

    namespace: str | None = None
    name: str | None = None
    labels: Callable[[Selectable], bool] | None = None
    fields: Callable[[Selectable], bool] | None = None
    terms: tuple[EqualityTerm, ...] = ()
    """What *labels* and *fields* require among other things; watches are indexed by them."""

    @property
    def selective(self) -> bool:
        """Return whether matching needs more than the key of an object."""
        return self.labels is not None or self.fields is not None

    def matches(self, entry: "Entry") -> bool:
        """Return whether labels and fields match; the caller checks namespace and name."""
        return (self.labels is None or self.labels(entry.labels)) and (
            self.fields is None or self.fields(entry.selectable_fields())
        )


class Entry:
    """A record, its labels and fields, and the forms in which it has been encoded so far."""

    __slots__ = (
        *("key", "revision", "created", "view", "labels"),
        *("head", "content", "_fields", "_kept"),
    )

    def __init__(
        self,
        record: Record,
        view: View,
        *,
        labels: Selectable,
        fields: "Selectable | _KeyFields",
    ) -> None:
        self.key = record.key
        self.revision = revision = record.revision
        # One integer for both, since nearly all objects are created and never changed.
        self.created = revision if record.created == revision else record.created
        self.view = view
        self.head = head = view.common_head(record.value)
        """The first bytes of the stored value, if other objects have the same."""
        self.content = record.value[len(head) :]
        """The stored value after *head*."""
        self.labels = labels
        self._fields: Selectable | _KeyFields = fields
        self._kept: _Kept | None = None

    def __repr__(self) -> str:
        return f"Entry({self.key!r}, revision={self.revision})"

    @property
    def record(self) -> Record:
        """The object as it is stored."""
        return Record(self.key, self.head + self.content, self.revision, self.created)

    @property
    def size(self) -> int:
        """The length of the stored value."""
        return len(self.head) + len(self.content)

    @property
    def fields(self) -> Selectable:
        """The selectable fields: the same mapping every time, which later states share."""
        fields = self._fields = self.selectable_fields()
        return fields

    def selectable_fields(self) -> Selectable:
        """Return the selectable fields, to look at once: nothing is kept."""
        fields = self._fields
        if not isinstance(fields, _KeyFields):
            return fields
        parent, _, name = self.key.rpartition("/")
        if fields is _KeyFields.NAME:
            return {_NAME: name}
        return {_NAME: name, _NAMESPACE: parent.rpartition("/")[2]}

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
        """Return the bytes of a form, None if the object has to be encoded in it."""
        kept = self._kept
        while kept is not None:
            if kept[0] == form:
                return kept[1]
            kept = kept[2]
        if not self.head:
            return None
        opening = self.view.opening(self.key, self.head, form)
        return None if opening is None else b'%b%d",%b' % (opening, self.revision, self.content)

    def encode_anew(self, form: Hashable) -> bytes:
        """Encode the object in a form; keeps nothing, so any thread may call it."""
        # Copy: an encoder may return a slice of a buffer many times its size (orjson's has at least
        # 8 KiB), which must not be kept alive.
        record = self.view.source(self, form) if self.view.converts else self.record
        return memoryview(self.view.encode(record, form)).tobytes()

    def keep(self, form: Hashable, encoded: bytes) -> None:
        """Keep the bytes of a form, unless it is transient or composed from the stored bytes."""
        if getattr(form, "transient", False) or self.encoded(form) is not None:
            return
        self._kept = form, encoded, self._kept

    def with_revision(self, revision: int) -> "Entry":
        """Return the last state of an object that was deleted at *revision*."""
        deleted = Record(self.key, self.head + self.content, revision, self.created)
        return Entry(deleted, self.view, labels=self.labels, fields=self._fields)


class LabelSets:
    """Sets of labels that objects of one resource have in common, each kept once."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, str], ...], Selectable] = {}

    def share(self, labels: Selectable) -> Selectable:
        """Return a mapping that equals *labels*, the same one as before if possible."""
        if not labels:
            return _NOTHING
        pairs = tuple(labels.items())
        known = self._known.get(pairs)
        if known is None:
            if len(self._known) >= _KNOWN_SETS:
                self._known.clear()
            known = _interned(labels)
            self._known[tuple(known.items())] = known
        return known


def make_entry(
    record: Record,
    view: View,
    *,
    previous: Entry | None = None,
    label_sets: LabelSets | None = None,
) -> Entry:
    """Create the entry of *record*; labels and fields equal to those of *previous* are shared."""
    known_labels = previous.labels if previous is not None else None
    try:
        labels, fields = view.selectable(record)
        if labels != known_labels:
            known_labels = label_sets.share(labels) if label_sets is not None else _interned(labels)
        shared_fields = _share_fields(record.key, fields, previous)
    except Exception:
        # One unreadable object must not stop the feed of all others: it matches no selector that
        # requires a value, and encoding it raises the error.
        log.exception("%s at revision %d cannot be decoded", record.key, record.revision)
        known_labels = shared_fields = _NOTHING
    return Entry(record, view, labels=known_labels or _NOTHING, fields=shared_fields)


def _share_fields(
    key: str, fields: Selectable, previous: Entry | None
) -> "Selectable | _KeyFields":
    known = previous._fields if previous is not None else None
    if isinstance(known, Mapping) and fields == known:
        return known
    return _key_fields(key, fields) or _interned(fields)


def _key_fields(key: str, fields: Selectable) -> _KeyFields | None:
    """Return how to read *fields* from the key of an object, None if there are others."""
    count = len(fields)
    if count not in (1, 2):
        return None
    parent, _, name = key.rpartition("/")
    if fields.get(_NAME) != name:
        return None
    if count == 1:
        return _KeyFields.NAME
    if fields.get(_NAMESPACE) != parent.rpartition("/")[2]:
        return None
    return _KeyFields.NAME_AND_NAMESPACE


def _interned(pairs: Selectable) -> Selectable:
    return {intern(key): intern(value) for key, value in pairs.items()} if pairs else _NOTHING
