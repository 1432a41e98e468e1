"""Object storage: encodes internal objects to bytes and retries conflicting updates.

Between the backend, which handles bytes and revisions, and the registry, which applies the rules of
a resource. The revision is the resourceVersion, an update that changes no byte is not written, and
a change is retried on the newest state until it can be stored. A change that would lose stored
values, which this code cannot decode or has no fields for, is refused.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

from apimachinery.errors import APIError
from apimachinery.meta.types import Object, Preconditions
from apimachinery.serialization.document_size import MAX_VALUES, has_many_values
from apimachinery.storage_codec import StorageCodec, StoredObject
from apiserver.storage.cache.collection import CollectionListing
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.read_revision import At, Freshness
from apiserver.storage.cache.watch_cache import CachedResource
from apiserver.storage.interface import (
    Backend,
    KeyExists,
    Record,
    RevisionConflict,
    StorageError,
    ValueTooLarge,
)
from apiserver.storage.record_reading import (
    differs_beyond_metadata,
    has_metadata,
    read_record,
    splice_metadata,
)
from apiserver.workload import Workload

T = TypeVar("T", bound=Object)

INVALID_OBJECT: Final = 4
"""Kubernetes' error code for an object that fails its preconditions."""


class Unreadable(StorageError):
    """The value stored under a key cannot be decoded as an object of a registered kind."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"object {key!r} cannot be read: {reason}")
        self.key = key


class Unconverted(StorageError):
    """Objects could not be converted from or to the version that they are stored in."""

    def __init__(self, reason: str, objects: Sequence[tuple[str, int]] = ()) -> None:
        """*objects* are the keys and revisions of the stored objects, if they were to be read."""
        super().__init__(reason)
        self.reason = reason
        self.objects = objects


class WrittenUnconverted(StorageError):
    """An object was written, but could not be converted for the response."""


class WouldLoseFields(StorageError):
    """A write that would lose stored values for which this code has no fields."""

    def __init__(self, key: str, paths: tuple[str, ...], *, is_newer: bool) -> None:
        names = f"{', '.join(paths[:5])}{', ...' if len(paths) > 5 else ''}"
        advice = (
            "a newer release of the server has stored it: send the write to that release, or update"
            " this server"
            if is_newer
            else "declare what became of them with Scheme.add_upgrade"
        )
        super().__init__(
            f"object {key!r} has fields that this server does not know, or reads otherwise, and a"
            f" write would lose: {names}; {advice}"
        )
        self.key = key
        self.paths = paths
        self.is_newer = is_newer
        """Whether a newer release has stored them, which can carry out the write."""


class PreconditionFailed(StorageError):
    """The object's UID or resourceVersion differs; the message is the one of Kubernetes."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(
            f"StorageError: invalid object, Code: {INVALID_OBJECT}, Key: {key},"
            f" ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {reason}"
        )
        self.key = key


@dataclass(frozen=True, slots=True)
class Put(Generic[T]):
    """Store *object*, replacing the current one if there is one."""

    object: T
    ttl: int | None = None


@dataclass(frozen=True, slots=True)
class Remove(Generic[T]):
    """Delete the current object; *object* is the state to return in the response."""

    object: T


@dataclass(frozen=True, slots=True)
class Keep(Generic[T]):
    """Write nothing; *object* is the state to return in the response."""

    object: T


Intent: TypeAlias = Put[T] | Remove[T] | Keep[T]
Change: TypeAlias = Callable[[T | None], Awaitable[Intent[T]]]
"""Maps the current object, or None, to the intended write. It may run more than once, each time on
an object that it may keep and modify. Raises APIError to refuse the change.
"""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """The result of a change; *revision* is that of the write, 0 if nothing was written."""

    object: T
    revision: int = 0
    created: bool = False
    removed: bool = False
    stored: bytes | None = None
    """The stored bytes of *object*, None if *object* was not written."""


class ObjectStorage(Generic[T]):
    """The stored objects of one resource. Errors of the backend propagate unchanged."""

    def __init__(
        self,
        backend: Backend,
        codec: StorageCodec,
        cached: CachedResource | None = None,
        *,
        cls: type[T],
    ) -> None:
        self.codec = codec
        self.before_first_write: Callable[[], Awaitable[None]] | None = None
        """Awaited once before anything is written: it catalogues the shape of the objects."""
        self.to_stored: Callable[[bytes, Workload], Awaitable[bytes]] | None = None
        """Converts an encoded object to the version in which it is stored, if that takes a while.

        Raises Unconverted.
        """
        self._backend = backend
        self._cached = cached
        self._cls = cls

    async def get(self, key: str) -> T | None:
        """Return the newest state of an object, read from the backend."""
        record = await self._backend.get(key)
        return self.decode(record) if record else None

    async def in_version(self, record: Record, workload: Workload) -> Record:
        """Return a record as `decode` takes it, in the version of this storage."""
        return record

    async def object_in_version(self, obj: T, workload: Workload) -> T:
        """Return an object in the version of this storage. Raises InternalError."""
        return obj

    async def list(
        self, selection: EntrySelection, *, at: At = Freshness.NEWEST
    ) -> tuple[list[T], CollectionListing]:
        """List the matching objects, decoded, with the listing that they are from."""
        assert self._cached is not None, "only a cached resource can be listed"
        listing = await self._cached.list(selection, at=at)
        return [self.decode(entry.record) for entry in listing.entries], listing

    def decode(self, record: Record) -> T:
        """Decode a record and set the resourceVersion. Raises Unreadable."""
        stored = read_record(self.codec, self._cls, record)
        if stored.problem:
            raise Unreadable(record.key, stored.problem)
        return cast(T, stored.object)

    async def create(
        self,
        key: str,
        obj: T,
        *,
        ttl: int | None = None,
        dry_run: bool = False,
        workload: Workload | None = None,
    ) -> Outcome[T]:
        """Store a new object. Raises KeyExists. A dry run sets no resourceVersion."""
        workload = workload or Workload()
        if dry_run:
            if await self._backend.get(key) is not None:
                raise KeyExists(key)
            if self.codec.storing_changes:
                value = await workload.run(self._encode_object, obj, heavy=workload.is_heavy)
                if self.to_stored is not None:
                    value = await self.to_stored(value, workload)
                obj = await self._as_stored(obj, value, workload)
            return Outcome(_set_version(obj, None), created=True)
        value = await workload.run(self._encode_object, obj, heavy=workload.is_heavy)
        if self.to_stored is not None:
            value = await self.to_stored(value, workload)
        if self.before_first_write is not None:
            await self._prepare_to_write()
        revision = await self._backend.create(key, value, ttl=ttl)
        obj = await self._as_stored(obj, value, workload)
        return Outcome(_set_version(obj, revision), revision, created=True, stored=value)

    async def change(
        self,
        key: str,
        change: Change[T],
        *,
        dry_run: bool = False,
        workload: Workload | None = None,
    ) -> Outcome[T]:
        """Write what *change* returns for the newest state; retry it if another write came first.

        The first attempt may use the cached state. Only a successful write proves that this state
        was the newest, so an error or "no change" is reported only after the backend confirms it.
        *workload* is that of the request; the stored object is added to it.
        """
        workload = workload or Workload()
        record = None if dry_run else self._cached_record(key)
        confirmed = record is None
        if record is None:
            record = await self._backend.get(key)
        while True:
            try:
                stored = await self._read_for_change(record, workload) if record else None
                kept = stored.kept if stored else None
                intent = await change(cast(T, stored.object) if stored else None)
                if dry_run:
                    return await self._try(intent, record, kept, workload)
                return await self._execute(key, intent, record, kept, workload, confirmed=confirmed)
            except RevisionConflict as conflict:
                record = conflict.current
            except KeyExists:
                record = await self._backend.get(key)
            except (APIError, Unreadable, Unconverted, WouldLoseFields):
                newest = record if confirmed else await self._backend.get(key)
                if newest == record:
                    raise
                record = newest
            confirmed = True

    async def _try(
        self, intent: Intent[T], record: Record | None, kept: "_Kept | None", workload: Workload
    ) -> Outcome[T]:
        """Return the outcome as if written, at the revision that is still stored."""
        value = await workload.run(self._encode, intent, record, kept, workload.is_heavy)
        if isinstance(intent, Remove):
            return Outcome(intent.object, removed=True)
        obj = intent.object
        if isinstance(intent, Put):
            if self.to_stored is not None:
                value = await self.to_stored(value, workload)
            obj = await self._as_stored(obj, value, workload)
        revision = record.revision if record else None
        return Outcome(_set_version(obj, revision), created=record is None)

    async def _execute(
        self,
        key: str,
        intent: Intent[T],
        record: Record | None,
        kept: "_Kept | None",
        workload: Workload,
        *,
        confirmed: bool,
    ) -> Outcome[T]:
        if isinstance(intent, Remove):
            assert record is not None, "only an existing object can be removed"
            revision = await self._backend.delete(key, revision=record.revision)
            return Outcome(intent.object, revision, removed=True)
        if record is None:
            assert isinstance(intent, Put), "only an existing object can be kept"
            return await self.create(key, intent.object, ttl=intent.ttl, workload=workload)
        if isinstance(intent, Put):
            value = await workload.run(self._encode, intent, record, kept, workload.is_heavy)
            if self.to_stored is not None:
                value = await self.to_stored(value, workload)
            if value != record.value:
                if self.before_first_write is not None:
                    await self._prepare_to_write()
                revision = await self._backend.update(
                    key,
                    value,
                    revision=record.revision,
                    ttl=intent.ttl,
                    replaced_bytes=len(record.value),
                )
                obj = await self._as_stored(intent.object, value, workload)
                return Outcome(_set_version(obj, revision), revision, stored=value)
        if not confirmed:
            newest = await self._backend.get(key)
            if newest != record:
                raise RevisionConflict(key, expected=record.revision, current=newest)
        return Outcome(_set_version(intent.object, record.revision))

    async def _as_stored(self, obj: T, value: bytes, workload: Workload) -> T:
        """Return the object that reading *value*, just stored, would return."""
        if not self.codec.storing_changes:
            return obj
        return cast(T, await workload.run(self.codec.decode, value))

    async def _read_for_change(self, record: Record, workload: Workload) -> "ForChange":
        workload.add(record.value)
        return await workload.run(self._decode_for_change, record)

    def _decode_for_change(self, record: Record) -> "ForChange":
        """Decode a record for a change. Raises Unreadable if not even its metadata is readable."""
        stored = read_record(self.codec, self._cls, record)
        if stored.is_complete:
            return ForChange(stored.object, None)
        if not has_metadata(record):
            raise Unreadable(record.key, stored.problem)
        return ForChange(stored.object, _Kept(stored, self.codec.encode(stored.object)))

    def _encode(
        self, intent: Intent[T], record: Record | None, kept: "_Kept | None", heavy: bool
    ) -> bytes:
        """Return the bytes to store. Raises WouldLoseFields, Unreadable.

        Of an object that could not be read completely only the metadata may change.
        """
        if not isinstance(intent, Put):
            return b""
        value = self._encode_object(intent.object, record, heavy=heavy)
        if kept is None or record is None:
            return value
        if not differs_beyond_metadata(kept.before, value):
            return splice_metadata(record.value, intent.object.metadata)
        lost = kept.stored.lost
        if kept.stored.problem:
            if not self.codec.is_newer(record.value):
                raise Unreadable(record.key, kept.stored.problem)
            lost = (*lost, *kept.stored.left_out)
        raise WouldLoseFields(record.key, lost, is_newer=self.codec.is_newer(record.value))

    def _encode_object(self, obj: T, record: Record | None = None, *, heavy: bool) -> bytes:
        """Return the bytes to store. Raises ValueTooLarge.

        An object may have more values than the document it was created from, such as its
        managedFields. One with too many could be stored, but not be sent back to be updated. If the
        *record* that it replaces already has too many, it stays usable: it can still be deleted.
        """
        if heavy and _owned_fields(obj) > MAX_VALUES // 2:
            # Each is a key and a value. Encoding all of them would take long, in a single call.
            _refuse_many_values(record)
        value = self.codec.encode(obj)
        if has_many_values(value):
            _refuse_many_values(record)
        return value

    async def _prepare_to_write(self) -> None:
        if self.before_first_write is not None:
            await self.before_first_write()
            self.before_first_write = None

    def _cached_record(self, key: str) -> Record | None:
        """Return the cached record of *key*, which may be stale, or None if it is not cached."""
        if self._cached is None or not self._cached.collection.filled.is_set():
            return None
        entry = self._cached.collection.entry(key)
        return entry.record if entry else None


@dataclass(frozen=True, slots=True)
class _Kept:
    """An object that was not read completely, and its bytes as this code would write them."""

    stored: StoredObject
    before: bytes


@dataclass(frozen=True, slots=True)
class ForChange:
    object: Object
    kept: _Kept | None


def check_preconditions(key: str, obj: Object | None, preconditions: Preconditions) -> None:
    """Raise PreconditionFailed if the object, None if missing, does not meet *preconditions*."""
    uid = obj.metadata.uid if obj else ""
    if preconditions.uid is not None and preconditions.uid != uid:
        reason = f"UID in precondition: {preconditions.uid}, UID in object meta: {uid}"
        raise PreconditionFailed(key, reason)
    version = obj.metadata.resource_version if obj else ""
    if preconditions.resource_version not in (None, version):
        reason = (
            f"ResourceVersion in precondition: {preconditions.resource_version},"
            f" ResourceVersion in object meta: {version}"
        )
        raise PreconditionFailed(key, reason)


def _set_version(obj: T, revision: int | None) -> T:
    obj.metadata.resource_version = "" if revision is None else str(revision)
    return obj


def _owned_fields(obj: Object) -> int:
    """Return the number of fields that the managers of an object own, counted for each."""
    count = 0
    pending: list[Mapping[str, Any]] = [
        entry.fields_v1 for entry in obj.metadata.managed_fields if entry.fields_v1
    ]
    while pending:
        fields = pending.pop()
        count += len(fields)
        pending += filter(None, fields.values())
    return count


def _refuse_many_values(record: Record | None) -> None:
    if record is None or not has_many_values(record.value):
        raise ValueTooLarge(f"limit is {MAX_VALUES} values, managedFields included")
