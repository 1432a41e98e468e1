"""ResourceView: how the stored objects of one resource look from outside.

The watch cache keeps what is made here, so each object is encoded once for each form it is served
in. The commonest form takes no decoding at all: where a version has the very class that is stored,
its document is the stored one with another beginning.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, cast

import orjson

from apimachinery.codec import Codec, StorageCodec, dump_json
from apimachinery.errors import StorageReadError
from apimachinery.meta.types import Object, ObjectMeta, PartialObjectMetadata
from apimachinery.model.decoding import DecodeError
from apimachinery.protobuf import frame as frame_protobuf
from apimachinery.scalars.time import now
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import NotRegistered
from apimachinery.serialization.media_types import PROTOBUF
from apimachinery.watch import INITIAL_EVENTS_END
from apiserver.storage.cache.entry import Selectable, json_frame
from apiserver.storage.interface import Record
from apiserver.views.table import Column, definition, encode_cells, whole_table, write_ages

META: Final = "meta.k8s.io"

Media = Literal["json", "protobuf"]
Transform = Literal["", "partial", "table", "row"]
IncludeObject = Literal["Metadata", "Object", "None"]

_METADATA: Final = b'"metadata":{'


@dataclass(frozen=True, slots=True)
class Form:
    """A way in which objects are served: in a version, as a document, a row or metadata alone.

    A *table* is a whole table with the object as its only row, as GET and watch answer; a *row*
    is what a list puts into its one table.
    """

    version: GroupVersion
    media: Media = "json"
    transform: Transform = ""
    include_object: IncludeObject = "Metadata"
    """How much of the object is in its row."""
    columns: bool = True
    """Whether a table defines its columns; after the first event of a watch it does not."""
    meta: str = "v1"
    """The version of meta.k8s.io, for a table or metadata alone."""

    def __eq__(self, other: object) -> bool:
        # Nearly always it is the same one, and this is asked for every object of every list.
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
        self._fields = {label: path.split(".") for label, path in (fields or {}).items()}
        self._columns = whole_table(columns)
        self._definitions = b"[%b]" % b",".join(
            dump_json(definition(column)) for column in self._columns
        )
        self._now = now
        self._internal = _head(self.kind, GroupVersion(group, INTERNAL)) + _METADATA
        self._heads: dict[GroupVersion, bytes] = {}
        self._stored_class: dict[GroupVersion, bool] = {}
        self._makers: Mapping[Transform, Callable[[Record, Form], bytes]] = {
            "": self._document,
            "partial": self._partial,
            "table": self._table,
            "row": self._row,
        }

    # What the watch cache asks

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        """The labels and the selectable fields of a stored object."""
        document = orjson.loads(record.value)
        metadata = document["metadata"]
        fields = {"metadata.name": metadata["name"]}
        if "namespace" in metadata:
            fields["metadata.namespace"] = metadata["namespace"]
        if self._fields:
            if not record.value.startswith(self._internal):
                document = orjson.loads(dump_json(self._decode(record)))
            fields.update(self._selected(document))
        return metadata.get("labels", {}), fields

    def encode(self, record: Record, form: Hashable) -> bytes:
        """*record* in a form; ages in it are still to be written, see `finished`."""
        form = cast(Form, form)
        return self._makers[form.transform](record, form)

    def bookmark(self, revision: int, form: Hashable, *, initial_events_end: bool) -> bytes:
        """The object of a bookmark."""
        form = cast(Form, form)
        metadata = ObjectMeta(resource_version=str(revision))
        if initial_events_end:
            metadata.annotations = {INITIAL_EVENTS_END: "true"}
        if form.transform != "table":
            return self._metadata_only(metadata, form, partial=form.transform == "partial")
        # Nothing is known about it but its revision, which is all that a bookmark is for.
        cells = encode_cells([None for _ in self._columns])
        plain = Form(form.version, meta=form.meta)
        partial = self._metadata_only(metadata, plain, partial=True)
        row = b'{"cells":%b,"object":%b}' % (cells, partial)
        return self._around(row, str(revision), form)

    def frame(self, event_type: str, encoded: bytes, form: Hashable) -> bytes:
        """A whole event of a watch stream."""
        form = cast(Form, form)
        if form.media == "protobuf":
            return frame_protobuf(self._codec.protobuf.encode_watch_event(event_type, encoded))
        return json_frame(event_type, self.finished(encoded, form))

    # What handlers ask beside

    def finished(self, encoded: bytes, form: Form) -> bytes:
        """What can be sent: the encoded object, with the ages of this moment."""
        if form.transform in ("table", "row"):
            return write_ages(encoded, self._now())
        return encoded

    def item(self, encoded: bytes, form: Form) -> bytes:
        """What stands in a list, whose items need not repeat of what kind they are."""
        if form.media == "protobuf":
            return self._codec.protobuf.read_envelope(encoded).raw
        if form.transform:
            return self.finished(encoded, form)
        return b"{" + encoded[len(self._head(form.version)) :]

    def encode_written(self, obj: Object, stored: bytes | None, form: Form) -> bytes:
        """An object that has just been stored as *stored*, if it was: the answer to a write."""
        if stored is not None and not form.transform:
            document = self._from_stored(stored, obj.metadata.resource_version, form)
            if document is not None:
                return document
        return self.encode_object(obj, form)

    def encode_object(self, obj: Object, form: Form) -> bytes:
        """An object that need not be in the store as it is here."""
        match form.transform:
            case "":
                return self._written(obj, form)
            case "partial":
                versioned = cast(Object, self._codec.in_version(obj, form.version))
                return self._metadata_only(versioned.metadata, form, partial=True)
            case _:
                row = self._row_of(obj, self._included_of(obj, form))
                table = self._around(row, obj.metadata.resource_version, form)
                return self.finished(table, form)

    @property
    def column_definitions(self) -> bytes:
        """The JSON of the definitions of the columns."""
        return self._definitions

    # Forms

    def _selected(self, document: Any) -> dict[str, str]:
        return {label: _text(document, path) for label, path in self._fields.items()}

    def _document(self, record: Record, form: Form) -> bytes:
        found = self._from_stored(record.value, str(record.revision), form)
        return self._written(self._decode(record), form) if found is None else found

    def _from_stored(self, value: bytes, version: str, form: Form) -> bytes | None:
        """The document of stored bytes, if it takes no more than another beginning."""
        if form.media != "json" or not self._is_stored_class(form.version):
            return None
        rest = value[len(self._internal) :]
        if not value.startswith(self._internal) or rest[:1] != b'"':
            return None
        head = self._head(form.version)
        return b'%b"metadata":{"resourceVersion":"%b",%b' % (head, version.encode(), rest)

    def _partial(self, record: Record, form: Form) -> bytes:
        if (
            form.media == "json"
            and self._is_stored_class(form.version)
            and record.value.startswith(self._internal)
        ):
            metadata = _loads(record)["metadata"]
            metadata["resourceVersion"] = str(record.revision)
            return self._metadata_document(orjson.dumps(metadata), form)
        return self.encode_object(self._decode(record), form)

    def _metadata_document(self, metadata: bytes, form: Form) -> bytes:
        return b'%b"metadata":%b}' % (_PARTIAL[form.meta], metadata)

    def _row(self, record: Record, form: Form) -> bytes:
        return self._row_of(self._decode(record), self._included(record, form))

    def _table(self, record: Record, form: Form) -> bytes:
        return self._around(self._row(record, form), str(record.revision), form)

    def _row_of(self, obj: Object, included: bytes) -> bytes:
        cells = encode_cells(column.cell(obj) for column in self._columns)
        return b'{"cells":%b,"object":%b}' % (cells, included)

    def _included(self, record: Record, form: Form) -> bytes:
        part = _INCLUDED[form.include_object]
        if part is None:
            return b"null"
        return self.encode(record, Form(form.version, transform=part, meta=form.meta))

    def _included_of(self, obj: Object, form: Form) -> bytes:
        part = _INCLUDED[form.include_object]
        if part is None:
            return b"null"
        return self.encode_object(obj, Form(form.version, transform=part, meta=form.meta))

    def _around(self, row: bytes, version: str, form: Form) -> bytes:
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
            # Every kind has its metadata in the same place, so this is a message of any of them.
            raw = self._codec.protobuf.encode_raw(PartialObjectMetadata(metadata=metadata))
            return self._codec.protobuf.wrap(raw, api_version=str(version), kind=kind)
        return b'%b"metadata":%b}' % (_head(kind, version), dump_json(metadata))

    def _written(self, obj: Object, form: Form) -> bytes:
        if form.media == "protobuf":
            return self._codec.encode(obj, form.version, media_type=PROTOBUF)
        return self._codec.encode(obj, form.version)

    def _decode(self, record: Record) -> Object:
        try:
            obj = self._storage.decode(record.value)
        except (DecodeError, NotRegistered) as error:
            raise StorageReadError(f"object {record.key!r} cannot be read: {error}") from error
        obj.metadata.resource_version = str(record.revision)
        return obj

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
    """What every document of a kind begins with; names of kinds and versions need no escapes."""
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


def _loads(record: Record) -> Any:
    try:
        return orjson.loads(record.value)
    except orjson.JSONDecodeError as error:
        raise StorageReadError(f"object {record.key!r} cannot be read: {error}") from error


def _text(document: Any, path: list[str]) -> str:
    """A field as selectors see it: a text, empty if there is no such field."""
    for step in path:
        document = document.get(step) if isinstance(document, dict) else None
    match document:
        case None | dict() | list():
            return ""
        case bool():
            return "true" if document else "false"
        case _:
            return str(document)
