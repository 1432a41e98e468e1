"""ResourceView: encode the stored objects of one resource in the forms that clients request.

The watch cache keeps the encoded bytes, so each object is encoded once per form. The most common
form needs no decoding: if a version has the same class as the stored object, and the object was
stored in today's shape, its document is the stored one with another head (kind, apiVersion and
resourceVersion). Objects of another shape are upgraded here, when a form is first requested.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, cast

import orjson

from apimachinery.codec import Codec, dump_json
from apimachinery.meta.types import Object, ObjectMeta, PartialObjectMetadata
from apimachinery.model.decoding import decode_json
from apimachinery.protobuf import frame as frame_protobuf
from apimachinery.scalars.time import now
from apimachinery.schema import GroupVersion
from apimachinery.serialization.media_types import PROTOBUF
from apimachinery.storage_codec import EVERYTHING, StorageCodec, StoredObject
from apimachinery.watch import INITIAL_EVENTS_END
from apiserver.storage.cache.entry import Entry, Selectable, json_frame
from apiserver.storage.interface import Record
from apiserver.storage.record_reading import read_record
from apiserver.views.incomplete_objects import IncompleteObjects, without_paths
from apiserver.views.selectable_fields import SelectableFields
from apiserver.views.table import (
    AGE,
    NAME,
    UNKNOWN,
    Cells,
    Column,
    definition,
    encode_cells,
    whole_table,
    write_ages,
)
from apiserver.workload import Workload

META: Final = "meta.k8s.io"

Media = Literal["json", "protobuf"]
Transform = Literal["", "partial", "table", "row"]
IncludeObject = Literal["Metadata", "Object", "None"]

_METADATA: Final = b'"metadata":{'


@dataclass(frozen=True, slots=True)
class Form:
    """The form of an encoded object: its version, media type, and whether it is a Table row.

    The transform "table" is a whole Table with the object as its only row, as GET and watch send
    it; "row" is a row of the one Table of a list; "partial" is PartialObjectMetadata.
    """

    version: GroupVersion
    media: Media = "json"
    transform: Transform = ""
    include_object: IncludeObject = "Metadata"
    """How much of the object its row includes."""
    columns: bool = True
    """Whether a Table defines its columns; only the first event of a watch does."""
    meta: str = "v1"
    """The version of meta.k8s.io of a Table or a PartialObjectMetadata."""

    @property
    def transient(self) -> bool:
        """Whether the cache encodes the form anew: garbage collection reads metadata of all."""
        return self.transform == "partial"

    def __eq__(self, other: object) -> bool:
        # Nearly always it is the same instance, and every object of every list is compared.
        if self is other:
            return True
        return isinstance(other, Form) and _key(self) == _key(other)

    def __hash__(self) -> int:
        return hash(_key(self))


def _key(form: Form) -> tuple[Hashable, ...]:
    transform = form.transform, form.include_object, form.columns, form.meta
    return form.version, form.media, *transform


class ResourceView:
    """Implements `View` for the objects of one kind."""

    converts = False

    def __init__(
        self,
        cls: type[Object],
        *,
        group: str,
        codec: Codec,
        storage: StorageCodec,
        fields: Mapping[str, str] | None = None,
        columns: Iterable[Column] = (),
        list_kind: str = "",
        now: Callable[[], datetime] = now,
    ) -> None:
        self.kind = cls.__kind__
        self.list_kind = list_kind or f"{self.kind}List"
        self._cls = cls
        self._codec = codec
        self._storage = storage
        self._fields = SelectableFields(cls, fields or {})
        self._columns = whole_table(columns)
        self._cells = Cells(self.kind, self._columns)
        self._reads_metadata_only = all(column.metadata_only for column in self._columns)
        self._definitions = b"[%b]" % b",".join(
            dump_json(definition(column)) for column in self._columns
        )
        self._now = now
        self.problems = IncompleteObjects()
        """The cached objects that could not be decoded completely."""
        self._verbatim: tuple[bytes, ...] | None = None
        self._opening: tuple[bytes, Hashable, bytes | None] = b"", None, None
        """The last arguments of `opening` and what it returned."""
        self._heads: dict[GroupVersion, bytes] = {}
        self._stored_class: dict[GroupVersion, bool] = {}
        self._encoders: Mapping[Transform, Callable[[Record, Form], bytes]] = {
            "": self._document,
            "partial": self._partial,
            "table": self._table,
            "row": self._row,
        }

    # The interface of the watch cache

    def know_shapes(self) -> None:
        """Recompute which stored shapes are served verbatim: the codec has learned of others."""
        self._verbatim = None
        self._opening = b"", None, None

    def forget(self, key: str) -> None:
        """Forget the problems of an object that is deleted."""
        self.problems.forget(key)

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        """Return the labels and the selectable fields of a stored object."""
        if self.problems:
            self.problems.replaced(record)
        try:
            document = orjson.loads(record.value)
        except orjson.JSONDecodeError:
            document = None
        selectable = selectable_metadata(document)
        if selectable is None:
            return self._salvaged_metadata(record)
        labels, fields = selectable
        if self._fields:
            if self._verbatim_content(record.value) is None:
                document = orjson.loads(dump_json(self._read(record).object))
            fields.update(self._fields.read(document))
        return labels, fields

    def source(self, entry: Entry, form: Hashable) -> Record:
        return entry.record

    async def convert(self, entries: Sequence[Entry], form: Form, workload: Workload) -> None:
        """Have entries converted before they are encoded in *form*, if that takes a while.

        Raises StorageError.
        """

    def common_head(self, value: bytes) -> bytes:
        """Return the head up to the resourceVersion of an object that is served as it is stored."""
        for head in self._verbatim_starts():
            if value.startswith(head) and value[len(head) : len(head) + 1] == b'"':
                return head
        return b""

    def opening(self, key: str, head: bytes, form: Hashable) -> bytes | None:
        """Return the head of *form* up to the resourceVersion, for an object with a common head."""
        if self.problems and key in self.problems:
            return None
        last = self._opening
        if form is last[1] and head is last[0]:
            return last[2]
        opening = self._make_opening(head, cast(Form, form))
        self._opening = head, form, opening
        return opening

    def encode(self, record: Record, form: Hashable) -> bytes:
        """Encode *record* in a form; `complete` fills in the ages of Table cells."""
        form = cast(Form, form)
        return self._encoders[form.transform](record, form)

    def bookmark(self, revision: int, form: Hashable, *, initial_events_end: bool) -> bytes:
        """Encode the object of a bookmark event."""
        form = cast(Form, form)
        metadata = ObjectMeta(resource_version=str(revision))
        if initial_events_end:
            metadata.annotations = {INITIAL_EVENTS_END: "true"}
        if form.transform != "table":
            return self._metadata_only(metadata, form, partial=form.transform == "partial")
        # A bookmark has nothing but a revision, so the cells of its row are empty.
        cells = encode_cells([None for _ in self._columns])
        plain = Form(form.version, meta=form.meta)
        partial = self._metadata_only(metadata, plain, partial=True)
        row = b'{"cells":%b,"object":%b}' % (cells, partial)
        return self._table_of(row, str(revision), form)

    def frame(self, event_type: str, encoded: bytes, form: Hashable) -> bytes:
        """Encode a whole event of a watch stream."""
        form = cast(Form, form)
        if form.media == "protobuf":
            return frame_protobuf(self._codec.protobuf.encode_watch_event(event_type, encoded))
        return json_frame(event_type, self.complete(encoded, form))

    # The interface of handlers

    def complete(self, encoded: bytes, form: Form) -> bytes:
        """Return the encoded object with current ages, ready to be sent."""
        if form.transform in ("table", "row"):
            return write_ages(encoded, self._now())
        return encoded

    def item(self, encoded: bytes, form: Form) -> bytes:
        """Return an item of a list, without kind and apiVersion."""
        if form.media == "protobuf":
            return self._codec.protobuf.read_envelope(encoded).raw
        if form.transform:
            return self.complete(encoded, form)
        return b"{" + encoded[len(self._head(form.version)) :]

    def stored_items(self, entries: Sequence[Entry], form: Form) -> list[bytes] | None:
        """Return the items of a list like `item`, composed from what is stored.

        None if one of the objects must be encoded.
        """
        head = entries[0].head if entries else b""
        if not head or self.problems or self.opening("", head, form) is None:
            return None
        if any(entry.head is not head for entry in entries):
            return None
        return [
            b'{"metadata":{"resourceVersion":"%d",%b' % (entry.revision, entry.content)
            for entry in entries
        ]

    def encode_written(self, obj: Object, stored: bytes | None, form: Form) -> bytes:
        """Encode the response to a write, from the *stored* bytes if possible."""
        if stored is not None and not form.transform:
            document = self._from_stored(stored, obj.metadata.resource_version, form)
            if document is not None:
                return document
        return self.encode_object(obj, form)

    def encode_object(self, obj: Object, form: Form) -> bytes:
        """Encode an object that is not necessarily stored in this state."""
        match form.transform:
            case "":
                return self._encode(obj, form)
            case "partial":
                versioned = cast(Object, self._codec.in_version(obj, form.version))
                return self._metadata_only(versioned.metadata, form, partial=True)
            case "row":
                return self._row_of(obj, self._include_object(obj, form))
            case _:
                row = self._row_of(obj, self._include_object(obj, form))
                table = self._table_of(row, obj.metadata.resource_version, form)
                return self.complete(table, form)

    @property
    def column_definitions(self) -> bytes:
        """The columnDefinitions of a Table as JSON."""
        return self._definitions

    # Forms

    def _salvaged_metadata(self, record: Record) -> tuple[Selectable, Selectable]:
        """Return the labels and fields of an object whose stored metadata has wrong types."""
        metadata = self._read(record).object.metadata
        fields = {"metadata.name": metadata.name}
        if metadata.namespace:
            fields["metadata.namespace"] = metadata.namespace
        return metadata.labels, fields

    def _document(self, record: Record, form: Form) -> bytes:
        if record.key not in self.problems:
            document = self._from_stored(record.value, str(record.revision), form)
            if document is not None:
                return document
        stored = self._read(record)
        return (
            self._incomplete(stored, form) if stored.problem else self._encode(stored.object, form)
        )

    def _incomplete(self, stored: StoredObject, form: Form) -> bytes:
        """Encode the metadata of an object, and what else could be decoded of it."""
        if EVERYTHING in stored.left_out:
            return self._metadata_only(stored.object.metadata, form, partial=False)
        encoded = self._encode(stored.object, form)
        if form.media != "json":
            return encoded
        # The metadata has the name in any case, and what else of it decodes.
        return without_paths(
            encoded, (path for path in stored.left_out if not path.startswith("metadata"))
        )

    def _from_stored(self, value: bytes, version: str, form: Form) -> bytes | None:
        """Return the stored bytes with another head, None if they must be decoded."""
        if form.media != "json" or not self._is_stored_class(form.version):
            return None
        content = self._verbatim_content(value)
        if content is None or content[:1] != b'"':
            return None
        head = self._head(form.version)
        return b'%b"metadata":{"resourceVersion":"%b",%b' % (head, version.encode(), content)

    def _verbatim_content(self, value: bytes) -> bytes | None:
        """Return the stored bytes after the head and `"metadata":{`, None if they are of a shape
        that must be upgraded."""
        # Nearly always it is the first, the head of today's shape.
        for head in self._verbatim_starts():
            if value.startswith(head):
                return value[len(head) :]
        return None

    def _verbatim_starts(self) -> tuple[bytes, ...]:
        starts = self._verbatim
        if starts is None:
            starts = self._verbatim = self._verbatim_heads()
        return starts

    def _make_opening(self, head: bytes, form: Form) -> bytes | None:
        if form.media != "json" or form.transform or not self._is_stored_class(form.version):
            return None
        if head not in self._verbatim_starts():
            return None
        return b'%b"metadata":{"resourceVersion":"' % self._head(form.version)

    def _verbatim_heads(self) -> tuple[bytes, ...]:
        if self._storage.stored_class(self._cls) is not self._cls:
            return ()
        return tuple(head + _METADATA for head in self._storage.verbatim_heads(self._cls))

    def _partial(self, record: Record, form: Form) -> bytes:
        if (
            form.media == "json"
            and self._is_stored_class(form.version)
            and self._verbatim_content(record.value) is not None
        ):
            try:
                metadata = orjson.loads(record.value)["metadata"]
            except orjson.JSONDecodeError:
                return self.encode_object(self._read(record).object, form)
            metadata["resourceVersion"] = str(record.revision)
            return self._metadata_document(orjson.dumps(metadata), form)
        stored = self._read(record)
        if EVERYTHING in stored.left_out:
            return self._metadata_only(stored.object.metadata, form, partial=True)
        return self.encode_object(stored.object, form)

    def _metadata_document(self, metadata: bytes, form: Form) -> bytes:
        return b'%b"metadata":%b}' % (_PARTIAL[form.meta], metadata)

    def _row(self, record: Record, form: Form) -> bytes:
        included = self._include(record, form)
        if self._reads_metadata_only and len(record.value) > _LARGE_OBJECT:
            partial = _partial_object(record)
            if partial is not None:
                return self._row_of(partial, included)
        stored = self._read(record)
        if EVERYTHING not in stored.left_out:
            return self._row_of(stored.object, included)
        cells = encode_cells(
            column.cell(stored.object) if column in (NAME, AGE) else UNKNOWN
            for column in self._columns
        )
        return b'{"cells":%b,"object":%b}' % (cells, included)

    def _table(self, record: Record, form: Form) -> bytes:
        return self._table_of(self._row(record, form), str(record.revision), form)

    def _row_of(self, obj: Object, included: bytes) -> bytes:
        return b'{"cells":%b,"object":%b}' % (self._cells.encode(obj), included)

    def _include(self, record: Record, form: Form) -> bytes:
        part = _INCLUDED[form.include_object]
        if part is None:
            return b"null"
        return self.encode(record, Form(form.version, transform=part, meta=form.meta))

    def _include_object(self, obj: Object, form: Form) -> bytes:
        part = _INCLUDED[form.include_object]
        if part is None:
            return b"null"
        return self.encode_object(obj, Form(form.version, transform=part, meta=form.meta))

    def _table_of(self, row: bytes, version: str, form: Form) -> bytes:
        return b'%b"metadata":%b,"columnDefinitions":%b,"rows":[%b]}' % (
            _TABLE[form.meta],
            b'{"resourceVersion":"%b"}' % version.encode() if version else b"{}",
            self._definitions if form.columns else b"null",
            row,
        )

    def _metadata_only(self, metadata: ObjectMeta, form: Form, *, partial: bool) -> bytes:
        kind = "PartialObjectMetadata" if partial else self.kind
        version = GroupVersion(META, form.meta) if partial else form.version
        if form.media == "protobuf":
            # The field number of metadata is the same in every kind, so this message fits all.
            raw = self._codec.protobuf.encode_raw(PartialObjectMetadata(metadata=metadata))
            return self._codec.protobuf.wrap(raw, api_version=str(version), kind=kind)
        return b'%b"metadata":%b}' % (_head(kind, version), dump_json(metadata))

    def _encode(self, obj: Object, form: Form) -> bytes:
        if form.media == "protobuf":
            return self._codec.encode(obj, form.version, media_type=PROTOBUF)
        return self._codec.encode(obj, form.version)

    def _read(self, record: Record) -> StoredObject:
        stored = read_record(self._storage, self._cls, record)
        if stored.problem:
            self.problems.add(record, stored.problem)
        return stored

    def _is_stored_class(self, version: GroupVersion) -> bool:
        same = self._stored_class.get(version)
        if same is None:
            cls = self._codec.scheme.class_of(version.with_kind(self.kind))
            same = self._stored_class[version] = cls is self._cls
        return same

    def _head(self, version: GroupVersion) -> bytes:
        head = self._heads.get(version)
        if head is None:
            head = self._heads[version] = _head(self.kind, version)
        return head


def _head(kind: str, version: GroupVersion) -> bytes:
    """Return the head of every document of a kind; names of kinds and versions need no escapes."""
    return f'{{"kind":"{kind}","apiVersion":"{version}",'.encode()


_METAS: Final = {name: GroupVersion(META, name) for name in ("v1", "v1beta1")}
_TABLE: Final = {name: _head("Table", version) for name, version in _METAS.items()}
_PARTIAL: Final = {
    name: _head("PartialObjectMetadata", version) for name, version in _METAS.items()
}
_INCLUDED: Final[Mapping[IncludeObject, Transform | None]] = {
    "Metadata": "partial",
    "Object": "",
    "None": None,
}


def selectable_metadata(document: Any) -> tuple[Selectable, dict[str, str]] | None:
    """Return the labels and the fields in the metadata of a document, None if a type is wrong."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    if not isinstance(metadata, dict):
        return None
    name, namespace = metadata.get("name"), metadata.get("namespace", "")
    labels = metadata.get("labels", {})
    if type(name) is not str or type(namespace) is not str or type(labels) is not dict:
        return None
    for value in labels.values():
        if type(value) is not str:
            return None
    fields = {"metadata.name": name}
    if namespace:
        fields["metadata.namespace"] = namespace
    return labels, fields


_LARGE_OBJECT: Final = 16 * 1024
"""The size of stored objects of which a row decodes only the metadata, if its columns can do so."""


def _partial_object(record: Record) -> PartialObjectMetadata | None:
    """Return the metadata of a stored object, None if it needs the care of a whole decoding."""
    try:
        metadata = orjson.loads(record.value)["metadata"]
        metadata["resourceVersion"] = str(record.revision)
        decoded = decode_json(ObjectMeta, orjson.dumps(metadata), find_unknown=False)
    except (ValueError, KeyError, TypeError):
        return None
    return PartialObjectMetadata(metadata=decoded.object)
