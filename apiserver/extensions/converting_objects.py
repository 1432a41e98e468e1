"""ConvertingObjects: the stored objects of a custom kind whose versions a webhook converts.

What is read for a request comes out in the version of the request, and what a request writes goes
in in the storage version. Both wait for the webhook before or after the pure steps of decoding and
encoding, and only if the versions differ.
"""

import orjson

from apimachinery.codec import dump_json
from apimachinery.errors import InternalError
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.unstructured import dump_content
from apimachinery.schema import GroupVersion
from apimachinery.structural.custom_kind import ConvertedCodec, CustomResource, CustomStorageCodec
from apiserver.extensions.conversion_review import NotConvertible
from apiserver.extensions.entry_conversion import ConvertedRecord, EntryConversion
from apiserver.storage.cache.watch_cache import CachedResource
from apiserver.storage.interface import Backend, Record
from apiserver.storage.objects import ForChange, ObjectStorage, Unconverted, WrittenUnconverted
from apiserver.workload import Workload


class ConvertingObjects(ObjectStorage[CustomResource]):
    """Reads objects in one version, and stores them in the storage version."""

    def __init__(
        self,
        backend: Backend,
        codec: CustomStorageCodec,
        converted: ConvertedCodec,
        cached: CachedResource,
        *,
        cls: type[CustomResource],
        version: GroupVersion,
        conversion: EntryConversion,
    ) -> None:
        super().__init__(backend, codec, cached, cls=cls)
        self._version = version
        self._conversion = conversion
        self._converted: ObjectStorage[CustomResource] = ObjectStorage(
            backend, converted, cached, cls=cls
        )
        self.to_stored = conversion.to_stored

    async def get(self, key: str) -> CustomResource | None:
        record = await self._backend.get(key)
        return self.decode(await self.in_version(record, Workload())) if record else None

    async def in_version(self, record: Record, workload: Workload) -> Record:
        """Return a record in the version of this storage. Raises Unconverted."""
        entry = self._cached.collection.entry(record.key) if self._cached else None
        if entry is not None and entry.revision == record.revision:
            # The result is kept for those who read the object, or they have kept it.
            await self._conversion.convert((entry,), self._version, workload)
            return self._conversion.source_in(entry, self._version)
        return await self._conversion.convert_record(record, self._version, workload)

    async def object_in_version(self, obj: CustomResource, workload: Workload) -> CustomResource:
        version = str(self._version)
        if not isinstance(obj, CustomResource) or obj.api_version == version:
            return obj
        document = await workload.run(orjson.loads, dump_json(obj))
        try:
            converted = await self._conversion.convert_document(
                document, self._version.version, workload
            )
        except NotConvertible as error:
            raise InternalError.of(str(error)) from error
        return await workload.run(decode_leniently, self._cls, dump_content(converted))

    def decode(self, record: Record) -> CustomResource:
        if isinstance(record, ConvertedRecord):
            return self._converted.decode(record)
        return super().decode(record)

    async def _as_stored(
        self, obj: CustomResource, value: bytes, workload: Workload
    ) -> CustomResource:
        if not self.codec.storing_changes:
            return obj
        record = Record(obj.metadata.name, value, 0, 0)
        try:
            converted = await self._conversion.convert_record(record, self._version, workload)
        except Unconverted as error:
            # Not what tells the caller to try again: the object is stored.
            raise WrittenUnconverted(error.reason) from error
        return await workload.run(self.decode, converted)

    async def _read_for_change(self, record: Record, workload: Workload) -> ForChange:
        return await super()._read_for_change(await self.in_version(record, workload), workload)

    def _decode_for_change(self, record: Record) -> ForChange:
        if isinstance(record, ConvertedRecord):
            return ForChange(self._converted.decode(record), None)
        return super()._decode_for_change(record)
