"""CustomView: encode stored custom resources in each version, by its current schema.

Defaults are applied on reading, so an object that was stored before its schema got a default has
it, too. This happens once for each form in which a cache entry is served.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

import orjson

from apimachinery.codec import CorruptObject
from apimachinery.meta.unstructured import dump_content
from apimachinery.schema import GroupVersion
from apimachinery.storage_codec import StoredObject
from apimachinery.structural.custom_kind import (
    ConvertedCodec,
    CustomCodec,
    CustomResource,
    CustomStorageCodec,
)
from apiserver.extensions.entry_conversion import ConvertedRecord, EntryConversion
from apiserver.storage.cache.entry import Entry, Selectable
from apiserver.storage.interface import Record
from apiserver.storage.record_reading import read_record
from apiserver.views.resource_view import Form, ResourceView, selectable_metadata
from apiserver.views.table import Column
from apiserver.workload import Workload


class CustomView(ResourceView):
    """The objects of one custom resource in one version."""

    def __init__(
        self,
        cls: type[CustomResource],
        *,
        group: str,
        list_kind: str,
        codec: CustomCodec,
        storage: CustomStorageCodec,
        fields: Mapping[str, str],
        columns: tuple[Column, ...],
        converted: ConvertedCodec | None = None,
        conversion: EntryConversion | None = None,
    ) -> None:
        """*converted* reads what *conversion* has converted; None if no webhook converts."""
        super().__init__(
            cls,
            group=group,
            codec=codec,
            storage=storage,
            fields=fields,
            columns=columns,
            list_kind=list_kind,
        )
        self._stored = storage
        self._converted = converted
        self._conversion = conversion
        self.converts = conversion is not None

    async def convert(self, entries: Sequence[Entry], form: Form, workload: Workload) -> None:
        if self._conversion is not None:
            await self._conversion.convert(entries, form.version, workload)

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        if not self._fields:
            return super().selectable(record)
        if self.problems:
            self.problems.replaced(record)
        document = self._load(record)
        selectable = selectable_metadata(document)
        if selectable is None or document is None:
            return self._salvaged_metadata(record)
        labels, fields = selectable
        fields.update(self._fields.read(document))
        return labels, fields

    def item(self, encoded: bytes, form: Form) -> bytes:
        """Return an item of a list; items of custom kinds keep their kind and apiVersion."""
        if form.media == "protobuf":
            return super().item(encoded, form)
        return self.complete(encoded, form)

    def _document(self, record: Record, form: Form) -> bytes:
        document = self._load(record)
        if document is None:
            return self._incomplete(self._read(record), form)
        metadata = document.pop("metadata")
        head = self._head(form.version)
        content = dump_content(document)[1:]
        separator = b"," if document else b""
        return b'%b"metadata":%b%b%b' % (head, self._metadata(metadata, record), separator, content)

    def _from_stored(self, value: bytes, version: str, form: Form) -> bytes | None:
        return None  # the stored bytes may lack defaults of the current schema

    def _partial(self, record: Record, form: Form) -> bytes:
        if form.media == "protobuf":
            return self.encode_object(self._read(record).object, form)
        try:
            # Not the whole object: decoding a large one by its schema takes long.
            metadata = orjson.loads(record.value)["metadata"]
            return self._metadata_document(self._metadata(metadata, record), form)
        except (ValueError, KeyError, TypeError):
            return self._metadata_only(self._read(record).object.metadata, form, partial=True)

    def _metadata(self, metadata: dict[str, Any], record: Record) -> bytes:
        metadata["resourceVersion"] = str(record.revision)
        return dump_content(metadata)

    def _verbatim_heads(self) -> tuple[bytes, ...]:
        return ()

    def _load(self, record: Record) -> dict[str, Any] | None:
        """Return the stored document in this version, None if it cannot be decoded."""
        try:
            return self._codec_of(record).load(record.value)
        except CorruptObject:
            return None

    def _read(self, record: Record) -> StoredObject:
        if isinstance(record, ConvertedRecord):
            return read_record(self._codec_of(record), self._cls, record)
        return super()._read(record)

    def _codec_of(self, record: Record) -> CustomStorageCodec:
        if self._converted is not None and isinstance(record, ConvertedRecord):
            return self._converted
        return self._stored


class VersionViews:
    """Implements `View` for a collection whose objects are served in several versions."""

    def __init__(
        self,
        views: Mapping[GroupVersion, CustomView],
        stored: CustomView,
        conversion: EntryConversion | None = None,
    ) -> None:
        """*stored* is the view of the storage version, for selectors and unknown versions."""
        self._views = views
        self._stored = stored
        self._conversion = conversion
        self.converts = conversion is not None

    def source(self, entry: Entry, form: Hashable) -> Record:
        return self._conversion.source(entry, form) if self._conversion else entry.record

    def selectable(self, record: Record) -> tuple[Selectable, Selectable]:
        """Return the labels and fields in the version that is stored, if a webhook converts."""
        if self._conversion is None:
            return self._stored.selectable(record)
        version = self._conversion.version_of(record.value)
        matching = (view for known, view in self._views.items() if known.version == version)
        return next(matching, self._stored).selectable(record)

    def forget(self, key: str) -> None:
        for view in self._views.values():
            view.forget(key)

    def common_head(self, value: bytes) -> bytes:
        return self._stored.common_head(value)

    def opening(self, key: str, head: bytes, form: Hashable) -> bytes | None:
        return self._view_in(form).opening(key, head, form)

    def encode(self, record: Record, form: Hashable) -> bytes:
        return self._view_in(form).encode(record, form)

    def bookmark(self, revision: int, form: Hashable, *, initial_events_end: bool) -> bytes:
        return self._view_in(form).bookmark(revision, form, initial_events_end=initial_events_end)

    def frame(self, event_type: str, encoded: bytes, form: Hashable) -> bytes:
        return self._view_in(form).frame(event_type, encoded, form)

    def _view_in(self, form: Hashable) -> CustomView:
        return self._views.get(cast(Form, form).version, self._stored)
