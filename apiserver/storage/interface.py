"""Storage interface: bytes under keys, with one revision counter for the whole store.

A backend handles bytes; it does not interpret objects, versions or resources. Every accepted write
gets the next revision of the whole store, and a watch reports writes in exactly that order.
Everything above (resourceVersion, consistent lists, watches without gaps) depends on these two
guarantees, so one conformance suite in `tests/apiserver/storage/` runs against every backend.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol, Self


@dataclass(frozen=True, slots=True)
class Record:
    """The value of a key at some revision."""

    key: str
    value: bytes
    revision: int
    """The revision of the write that stored this value."""
    created: int
    """The revision of the write that created the key."""


@dataclass(frozen=True, slots=True)
class KeyPage:
    """A page of records in the order of their keys, all from one snapshot of the store."""

    records: list[Record]
    revision: int
    """The revision of the store at which the snapshot was taken."""
    remaining: int = 0
    """The number of keys of the prefix after the last record."""


@dataclass(frozen=True, slots=True)
class StoredChange:
    """One write: *value* is None for a deletion, *previous* is None for a creation."""

    key: str
    value: bytes | None
    previous: bytes | None
    revision: int
    created: int
    """The revision that created the key; for a deletion, that of the deleted key."""


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Changes in the order of their revisions, and the revision that the feed has reached.

    After this batch, every change of the prefix up to *revision* has been delivered; an empty batch
    reports progress only. Changes of one revision are never split over two batches.
    """

    changes: tuple[StoredChange, ...]
    revision: int


class Feed(Protocol):
    """An open watch. Iteration raises Compacted if the next change has been compacted.

    When a backend is unavailable for a while, the feed resumes without losing a change. Only
    Compacted ends a feed with an error; iteration stops normally when its `async with` or the
    backend is closed. Cancelling a wait for a batch loses nothing, but only one task may wait at a
    time.
    """

    def __aiter__(self) -> Self: ...

    async def __anext__(self) -> ChangeBatch: ...

    async def request_progress(self) -> bool:
        """Request a batch that reports the feed's revision, even if nothing changes.

        Returns False if this backend cannot report progress reliably: do not wait for the batch.
        """


KEEP_TTL: Final = -1
"""The time to live of an update that leaves the expiry of its key as it is."""


class Backend(Protocol):
    """A store of bytes. Every method may raise Unavailable."""

    async def get(self, key: str) -> Record | None:
        """Return the newest record of *key*, linearizable: it reflects every acknowledged write."""

    async def range(
        self, prefix: str, *, start: str = "", limit: int = 0, revision: int | None = None
    ) -> KeyPage:
        """List the records whose keys begin with *prefix* and are not less than *start*.

        Records are ordered by the UTF-8 bytes of their keys, which is the order of Python strings.

        With *revision*, records are read as of that revision; raises Compacted or FutureRevision if
        it cannot be read. Without, the read is linearizable. A *limit* of 0 means no limit.
        """

    async def create(self, key: str, value: bytes, *, ttl: int | None = None) -> int:
        """Store a new key and return its revision. Raises KeyExists.

        After *ttl* seconds the backend deletes the key, as a client's delete would.
        """

    async def update(
        self,
        key: str,
        value: bytes,
        *,
        revision: int,
        ttl: int | None = None,
        replaced_bytes: int = 0,
    ) -> int:
        """Replace the value of *key* if it is still at *revision*. Raises RevisionConflict.

        An update without *ttl* makes the key permanent, even if it was created with one; with
        KEEP_TTL the key expires when it would have expired without the update. *replaced_bytes* is
        the size of the value at *revision*: one that exceeds the limit may stay that large.
        """

    async def delete(self, key: str, *, revision: int) -> int:
        """Delete *key* if it is still at *revision* and return the revision of the deletion.

        Raises RevisionConflict.
        """

    def watch(self, prefix: str, *, after: int) -> AbstractAsyncContextManager[Feed]:
        """Watch every change of *prefix* with a revision greater than *after*, in order."""

    async def current_revision(self) -> int:
        """Return the revision of the newest write acknowledged before this call, or a newer one."""

    async def compact(self, revision: int) -> None:
        """Delete the history before *revision*; the newest record of every key is kept.

        Reads and watches at an older revision then raise Compacted. Compacting again to a revision
        that is already compacted does nothing.
        """

    async def check_integrity(self) -> None:
        """Raise Damaged if the store is known to be damaged; it is not searched for damage."""

    async def check_members(self) -> list[str]:
        """Check each member of the store; return their problems, empty for a healthy member."""

    async def close(self) -> None:
        """End all feeds and release all resources. Acknowledged writes are already durable."""


class StorageError(Exception):
    """The base class of the errors that a backend raises."""


class KeyExists(StorageError):
    def __init__(self, key: str) -> None:
        super().__init__(f"key {key!r} already exists")
        self.key = key


class RevisionConflict(StorageError):
    """The key is not at the expected revision; *current* is its record, None if there is none."""

    def __init__(self, key: str, *, expected: int, current: Record | None) -> None:
        state = f"is at {current.revision}" if current else "does not exist"
        super().__init__(f"key {key!r} {state}, expected revision {expected}")
        self.key = key
        self.expected = expected
        self.current = current


class Compacted(StorageError):
    """The requested revision is compacted; *oldest* is the oldest revision that can be read."""

    def __init__(self, revision: int, *, oldest: int) -> None:
        super().__init__(f"revision {revision} is compacted; the oldest available is {oldest}")
        self.revision = revision
        self.oldest = oldest


class FutureRevision(StorageError):
    """The requested revision is greater than the store's current revision."""

    def __init__(self, revision: int, *, current: int) -> None:
        super().__init__(f"revision {revision} is in the future; the newest is {current}")
        self.revision = revision
        self.current = current


class Unavailable(StorageError):
    """The store is unreachable or cannot answer now.

    *uncertain* is set if a write may have taken effect although it failed.
    """

    def __init__(self, message: str, *, uncertain: bool = False) -> None:
        super().__init__(message)
        self.uncertain = uncertain


class Full(Unavailable):
    """The store is out of space; nothing of the request was written."""


class Damaged(Unavailable):
    """A part of the store is lost; it takes no writes until an operator has restored it."""


class ValueTooLarge(StorageError):
    """The value exceeds the store's size limit; retrying cannot succeed."""
