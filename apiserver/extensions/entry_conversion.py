"""Entry conversion: has the webhook of a definition convert stored objects, each of them once.

A converted document is kept in its cache entry, as the JSON that a GET in that version returns, and
every other form (a Table, metadata) is made from it. So it lives as long as its revision is cached,
and all watchers of a version share it. Requests that need the same object at the same time wait for
one call.
"""

import asyncio
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, cast

import orjson

from apimachinery.codec import CorruptObject
from apimachinery.document_head import stored_form
from apimachinery.meta.types import ObjectMeta
from apimachinery.meta.unstructured import dump_content
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.schema import GroupVersion
from apimachinery.structural.custom_kind import CustomKind, CustomStorageCodec, NotConverted
from apiserver.extensions.conversion_review import NotConvertible
from apiserver.extensions.webhook_conversion import WebhookConverter, batches
from apiserver.storage.cache.entry import Entry
from apiserver.storage.interface import Record
from apiserver.storage.objects import Unconverted
from apiserver.time_slices import TimeSlices
from apiserver.views.resource_view import Form
from apiserver.workload import Workload

Document = dict[str, Any]
_Flight = tuple[str, int, str]
"""The key and revision of an object, and the version that it is being converted to."""

_FROM_INVALID: Final = "request to convert CR from an invalid group/version: "


class ConvertedRecord(Record):
    """An object as the webhook has converted it: in another version than it is stored in."""


class EntryConversion:
    """Converts the stored objects of one custom kind to its other versions."""

    def __init__(
        self, kind: CustomKind, storage: CustomStorageCodec, converter: WebhookConverter
    ) -> None:
        """*storage* decodes a stored object in the version it is stored in."""
        self._kind = kind
        self._storage = storage
        self._converter = converter
        self._flights: dict[_Flight, asyncio.Future[None]] = {}

    def version_of(self, value: bytes) -> str:
        """Return the version in which an object is stored."""
        return stored_form(value).api_version.rpartition("/")[2]

    def source(self, entry: Entry, form: Hashable) -> Record:
        """Return the record to encode in *form*. Raises NotConverted."""
        return self.source_in(entry, cast(Form, form).version)

    def source_in(self, entry: Entry, version: GroupVersion) -> Record:
        """Return the record of an entry in *version*. Raises NotConverted."""
        record = entry.record
        if self.version_of(record.value) == version.version:
            return record
        document = entry.encoded(_plain(version))
        if document is None:
            raise NotConverted(f"{entry.key} has to be converted to {version}")
        return ConvertedRecord(record.key, document, record.revision, record.created)

    async def convert(
        self, entries: Iterable[Entry], version: GroupVersion, workload: Workload
    ) -> None:
        """Have every entry converted that is not yet in *version*. Raises Unconverted."""
        pending = [entry for entry in entries if self._lacks(entry, version)]
        while pending:
            flights = [self._flights.get(_flight(entry, version)) for entry in pending]
            own = [entry for entry, flight in zip(pending, flights, strict=True) if not flight]
            if own:
                await self._convert_all(own, version, workload)
            for flight in filter(None, flights):
                # The request that calls the webhook may be cancelled; then this one calls it.
                with suppress(asyncio.CancelledError):
                    await asyncio.shield(flight)
                _pass_on_cancellation()
            pending = [entry for entry in pending if self._lacks(entry, version)]

    async def convert_record(
        self, record: Record, version: GroupVersion, workload: Workload
    ) -> Record:
        """Return an object in *version*. Raises Unconverted."""
        source = self.version_of(record.value)
        if source in (version.version, ""):  # what is no object cannot be decoded in any version
            return record
        (document,) = await self._documents([record], source, version, workload)
        return ConvertedRecord(record.key, document, record.revision, record.created)

    async def to_stored(self, value: bytes, workload: Workload) -> bytes:
        """Return the bytes to store for an object in the version of a request."""
        kind, source = self._kind, self.version_of(value)
        target = kind.storage_version
        if source == target:
            return value
        document = await workload.run(orjson.loads, value)
        try:
            (converted,) = await self._converter.convert(
                [document], target, workload=workload, size=len(value)
            )
            return await workload.run(self._encode, converted, target)
        except NotConvertible as error:
            raise Unconverted(str(error)) from error

    async def convert_document(
        self, document: Document, version: str, workload: Workload
    ) -> Document:
        """Return a document of a request in another version. Raises NotConvertible."""
        (converted,) = await self._converter.convert([document], version, workload=workload)
        return cast(Document, orjson.loads(self._encode(converted, version)))

    def _lacks(self, entry: Entry, version: GroupVersion) -> bool:
        if entry.encoded(_plain(version)) is not None:
            return False
        return self.version_of(entry.head + entry.content) not in (version.version, "")

    async def _convert_all(
        self, entries: Sequence[Entry], version: GroupVersion, workload: Workload
    ) -> None:
        """Convert entries that nobody else is converting."""
        loop = asyncio.get_running_loop()
        flights = {_flight(entry, version): loop.create_future() for entry in entries}
        self._flights |= flights
        try:
            by_source: dict[str, list[Entry]] = {}
            for entry in entries:
                by_source.setdefault(self.version_of(entry.record.value), []).append(entry)
            for source, group in by_source.items():
                for batch in batches([entry.size for entry in group]):
                    await self._convert_batch(group[batch], source, version, workload)
        except BaseException as error:
            for flight in flights.values():
                if isinstance(error, Unconverted):
                    flight.set_exception(error)
                    flight.exception()  # nobody may be waiting for it
                else:
                    flight.cancel()
            raise
        finally:
            for key, flight in flights.items():
                del self._flights[key]
                if not flight.done():
                    flight.set_result(None)

    async def _convert_batch(
        self, entries: Sequence[Entry], source: str, version: GroupVersion, workload: Workload
    ) -> None:
        records = [entry.record for entry in entries]
        documents = await self._documents(records, source, version, workload)
        form = _plain(version)
        for entry, document in zip(entries, documents, strict=True):
            entry.keep(form, document)

    async def _documents(
        self, records: Sequence[Record], source: str, version: GroupVersion, workload: Workload
    ) -> list[bytes]:
        """Return stored objects in another version, with their revisions. Raises Unconverted."""
        size, time = sum(len(record.value) for record in records), TimeSlices()
        try:
            if source not in self._kind.schemas:
                raise NotConvertible(f"{_FROM_INVALID}{self._kind.version(source)}")
            stored: list[Document] = []
            for record in records:
                stored.append(await workload.run(self._load, record, source))
                await time.yield_loop()
            converted = await self._converter.convert(
                stored, version.version, workload=workload, size=size
            )
            encoded: list[bytes] = []
            for document, record in zip(converted, records, strict=True):
                encoded.append(
                    await workload.run(self._encode, document, version.version, record.revision)
                )
                await time.yield_loop()
            return encoded
        except (NotConvertible, CorruptObject) as error:
            failed = [(record.key, record.revision) for record in records]
            raise Unconverted(str(error), failed) from error

    def _load(self, record: Record, version: str) -> Document:
        _, document = self._storage.load_stored(record.value)
        api_version = str(self._kind.version(version))
        return {"apiVersion": api_version, "kind": self._kind.kind, **document}

    def _encode(self, document: Document, version: str, revision: int = 0) -> bytes:
        """Return the canonical bytes of a converted document. Raises NotConvertible."""
        content = {**document}
        del content["apiVersion"], content["kind"]
        try:
            encoded = dump_content(content.pop("metadata"))
            metadata = decode_json(ObjectMeta, encoded, find_unknown=False).object
        except DecodeError as error:
            raise NotConvertible(str(error)) from None
        if revision:
            metadata.resource_version = str(revision)
        self._kind.schemas[version].prune(content)
        return self._kind.new_object(version, metadata, content).to_json()


def _plain(version: GroupVersion) -> Form:
    return Form(version)


def _flight(entry: Entry, version: GroupVersion) -> _Flight:
    return entry.key, entry.revision, version.version


def _pass_on_cancellation() -> None:
    """Raise CancelledError if this task is cancelled, not what it has waited for."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
