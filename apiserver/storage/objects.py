"""Objects in the store: internal objects <-> bytes, and changing one that others change too.

A backend knows bytes and revisions, the registry knows objects and rules; here is what lies
between: the revision is the resourceVersion, a write that changes no byte is not made, and a change
is tried on the newest state until it can be stored.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar, cast

from apimachinery.codec import StorageCodec
from apimachinery.errors import APIError
from apimachinery.meta.types import Object, Preconditions
from apimachinery.model.decoding import DecodeError
from apimachinery.scheme import NotRegistered
from apiserver.storage.cache.collection import CollectionListing
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.read_revision import At, Freshness
from apiserver.storage.cache.watch_cache import CachedResource
from apiserver.storage.interface import Backend, KeyExists, Record, RevisionConflict, StorageError

T = TypeVar("T", bound=Object)

INVALID_OBJECT: Final = 4
"""The number by which Kubernetes calls an object that is not as it should be."""


class Unreadable(StorageError):
    """What is stored under a key is not an object of a known kind."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"object {key!r} cannot be read: {why}")
        self.key = key


class PreconditionFailed(StorageError):
    """The object is not the one that was meant; the message is the wire's."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(
            f"StorageError: invalid object, Code: {INVALID_OBJECT}, Key: {key},"
            f" ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {why}"
        )
        self.key = key


@dataclass(frozen=True, slots=True)
class Put(Generic[T]):
    """Store *object* in place of what there is, or as a new one."""

    object: T
    ttl: int | None = None


@dataclass(frozen=True, slots=True)
class Remove(Generic[T]):
    """Delete what there is; *object* is what the answer shows of it."""

    object: T


@dataclass(frozen=True, slots=True)
class Keep(Generic[T]):
    """Leave what there is as it is."""

    object: T


Intent: TypeAlias = Put[T] | Remove[T] | Keep[T]
Change: TypeAlias = Callable[[T | None], Awaitable[Intent[T]]]
"""From the object as it is, or None, to what is to be done. It may run more than once, on objects
that are its own to keep, and raises APIError if nothing is to be done."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What a change has come to; *revision* is that of the write, 0 if there was none."""

    object: T
    revision: int = 0
    created: bool = False
    removed: bool = False
    stored: bytes | None = None
    """The bytes of the object in the store, None if it is not there as it is here."""


class ObjectStorage(Generic[T]):
    """The stored objects of one resource. What a backend raises passes through."""

    def __init__(
        self, backend: Backend, codec: StorageCodec, cached: CachedResource | None = None
    ) -> None:
        self._backend = backend
        self._codec = codec
        self._cached = cached

    async def get(self, key: str) -> T | None:
        """The newest state of an object, from the store itself."""
        record = await self._backend.get(key)
        return self.decode(record) if record else None

    async def list(
        self, selection: EntrySelection, *, at: At = Freshness.NEWEST
    ) -> tuple[list[T], CollectionListing]:
        """The objects that match, decoded, with the listing they are from."""
        assert self._cached is not None, "only a cached resource can be listed"
        listing = await self._cached.list(selection, at=at)
        return [self.decode(entry.record) for entry in listing.entries], listing

    def decode(self, record: Record) -> T:
        """The object of a record, with its resourceVersion."""
        try:
            obj = self._codec.decode(record.value)
        except (DecodeError, NotRegistered) as error:
            raise Unreadable(record.key, str(error)) from error
        obj.metadata.resource_version = str(record.revision)
        return cast(T, obj)

    async def create(
        self, key: str, obj: T, *, ttl: int | None = None, dry_run: bool = False
    ) -> Outcome[T]:
        """Store a new object, or raise KeyExists; a dry run leaves it without a resourceVersion."""
        if dry_run:
            if await self._backend.get(key) is not None:
                raise KeyExists(key)
            return Outcome(_at(obj, None), created=True)
        value = self._codec.encode(obj)
        revision = await self._backend.create(key, value, ttl=ttl)
        return Outcome(_at(obj, revision), revision, created=True, stored=value)

    async def change(self, key: str, change: Change[T], *, dry_run: bool = False) -> Outcome[T]:
        """Carry out what *change* makes of the newest state, again if somebody was faster.

        The first try may be on the state the cache knows. A write proves that it was the newest;
        nothing else does, so neither an error nor "no change" is believed before the store has
        confirmed it.
        """
        record = None if dry_run else self._remembered(key)
        confirmed = record is None
        if record is None:
            record = await self._backend.get(key)
        while True:
            try:
                intent = await change(self.decode(record) if record else None)
                if dry_run:
                    return _tried(intent, record)
                return await self._carry_out(key, intent, record, confirmed=confirmed)
            except RevisionConflict as conflict:
                record = conflict.current
            except KeyExists:
                record = await self._backend.get(key)
            except (APIError, Unreadable):
                newest = record if confirmed else await self._backend.get(key)
                if newest == record:
                    raise
                record = newest
            confirmed = True

    async def _carry_out(
        self, key: str, intent: Intent[T], record: Record | None, *, confirmed: bool
    ) -> Outcome[T]:
        if isinstance(intent, Remove):
            assert record is not None, "only what is there can be removed"
            revision = await self._backend.delete(key, revision=record.revision)
            return Outcome(intent.object, revision, removed=True)
        if record is None:
            assert isinstance(intent, Put), "only what is there can be kept"
            return await self.create(key, intent.object, ttl=intent.ttl)
        if isinstance(intent, Put):
            value = self._codec.encode(intent.object)
            if value != record.value:
                revision = await self._backend.update(
                    key, value, revision=record.revision, ttl=intent.ttl
                )
                return Outcome(_at(intent.object, revision), revision, stored=value)
        if not confirmed:
            newest = await self._backend.get(key)
            if newest != record:
                raise RevisionConflict(key, expected=record.revision, current=newest)
        return Outcome(_at(intent.object, record.revision))

    def _remembered(self, key: str) -> Record | None:
        """What the cache knows of a key, which may be old; None if it knows nothing."""
        if self._cached is None or not self._cached.collection.filled.is_set():
            return None
        entry = self._cached.collection.entry(key)
        return entry.record if entry else None


def check_preconditions(key: str, obj: Object | None, preconditions: Preconditions) -> None:
    """Raise PreconditionFailed if the object, which may not exist, is not the one meant."""
    uid = obj.metadata.uid if obj else ""
    if preconditions.uid is not None and preconditions.uid != uid:
        why = f"UID in precondition: {preconditions.uid}, UID in object meta: {uid}"
        raise PreconditionFailed(key, why)
    version = obj.metadata.resource_version if obj else ""
    if preconditions.resource_version not in (None, version):
        why = (
            f"ResourceVersion in precondition: {preconditions.resource_version},"
            f" ResourceVersion in object meta: {version}"
        )
        raise PreconditionFailed(key, why)


def _at(obj: T, revision: int | None) -> T:
    obj.metadata.resource_version = "" if revision is None else str(revision)
    return obj


def _tried(intent: Intent[T], record: Record | None) -> Outcome[T]:
    """What would have come of it: as if written, at the revision that is still stored."""
    revision = record.revision if record else None
    if isinstance(intent, Remove):
        return Outcome(intent.object, removed=True)
    return Outcome(_at(intent.object, revision), created=record is None)
