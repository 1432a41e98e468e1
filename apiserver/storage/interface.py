"""What the server asks of a store: bytes under keys, and one revision number for all of them.

A backend knows nothing of objects, versions or resources. Every accepted write gets the next
revision of the whole store, and a watch reports writes in exactly that order. Everything above
(resourceVersion, list consistency, watches that never lie) rests on those two sentences, so the
one conformance suite in `tests/apiserver/storage/` runs over every backend.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, Self


@dataclass(frozen=True, slots=True)
class Record:
    """A key as it is at some revision."""

    key: str
    value: bytes
    revision: int
    """The revision of the write that made this value."""
    created: int
    """The revision of the write that made the key exist."""


@dataclass(frozen=True, slots=True)
class KeyPage:
    """Some records in the order of their keys, all from one snapshot of the store."""

    records: list[Record]
    revision: int
    """The revision of the whole store that this is a snapshot of."""
    remaining: int = 0
    """How many more keys of the prefix follow the last record."""


@dataclass(frozen=True, slots=True)
class StoredChange:
    """One write: *value* is None for a deletion, *previous* is None for a creation."""

    key: str
    value: bytes | None
    previous: bytes | None
    revision: int
    created: int
    """The revision at which the key came to exist; for a deletion, of the key that is gone."""


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Changes in the order of their revisions, and how far the feed has come.

    Every change of the prefix up to *revision* has been delivered once this batch is; an empty
    batch is progress alone. Changes of one revision never span two batches.
    """

    changes: tuple[StoredChange, ...]
    revision: int


class Feed(Protocol):
    """A running watch. Iterating raises Compacted when the next change is no longer known.

    A backend that goes away and comes back resumes by itself and loses nothing; only Compacted
    ends a feed, and iteration just stops when its `async with` or the backend is closed. A wait
    for a batch that is cancelled loses nothing; two at once are not allowed.
    """

    def __aiter__(self) -> Self: ...

    async def __anext__(self) -> ChangeBatch: ...

    async def request_progress(self) -> bool:
        """Ask for a batch that tells how far the feed has come, even if nothing changes.

        False means that this backend cannot be trusted to answer: do not wait for it.
        """


class Backend(Protocol):
    """A store of bytes. Every method may raise Unavailable."""

    async def get(self, key: str) -> Record | None:
        """The newest record of *key*, linearizable: it shows every write acknowledged before."""

    async def range(
        self, prefix: str, *, start: str = "", limit: int = 0, revision: int | None = None
    ) -> KeyPage:
        """Records whose keys begin with *prefix* and are not less than *start*, ordered by key.

        The order is that of the keys' UTF-8, which is that of Python's strings.

        With *revision* they are as they were then (Compacted, FutureRevision); without, newest and
        linearizable. *limit* 0 means all of them.
        """

    async def create(self, key: str, value: bytes, *, ttl: int | None = None) -> int:
        """Store a new key and return its revision, or raise KeyExists.

        After *ttl* seconds the key is deleted as if somebody had deleted it.
        """

    async def update(self, key: str, value: bytes, *, revision: int, ttl: int | None = None) -> int:
        """Replace the value if the key is still at *revision*, or raise Conflict.

        A key updated without *ttl* stays for ever, whatever it was created with.
        """

    async def delete(self, key: str, *, revision: int) -> int:
        """Delete the key if it is still at *revision* and return the deletion's own revision."""

    def watch(self, prefix: str, *, after: int) -> AbstractAsyncContextManager[Feed]:
        """Every change of *prefix* with a revision greater than *after*, in order."""

    async def current_revision(self) -> int:
        """The revision of the newest write acknowledged before this was called, or newer."""

    async def compact(self, revision: int) -> None:
        """Forget history older than *revision*; the newest record of every key stays.

        Reads at and watches after a revision older than *revision* then raise Compacted.
        Compacting to a revision already compacted does nothing.
        """

    async def close(self) -> None:
        """End all feeds and release what the backend holds. Acknowledged writes are safe before."""


class StorageError(Exception):
    """The root of what a backend raises."""


class KeyExists(StorageError):
    def __init__(self, key: str) -> None:
        super().__init__(f"key {key!r} exists already")
        self.key = key


class RevisionConflict(StorageError):
    """The key is not at the expected revision; *current* is what it is now, None if it is gone."""

    def __init__(self, key: str, *, expected: int, current: Record | None) -> None:
        found = f"is at {current.revision}" if current else "does not exist"
        super().__init__(f"key {key!r} {found}, expected revision {expected}")
        self.key = key
        self.expected = expected
        self.current = current


class Compacted(StorageError):
    """The revision asked for is forgotten; *oldest* is the oldest that can still be read."""

    def __init__(self, revision: int, *, oldest: int) -> None:
        super().__init__(f"revision {revision} is compacted, the oldest known is {oldest}")
        self.revision = revision
        self.oldest = oldest


class FutureRevision(StorageError):
    """The revision asked for has not happened yet."""

    def __init__(self, revision: int, *, current: int) -> None:
        super().__init__(f"revision {revision} is in the future, the newest is {current}")
        self.revision = revision
        self.current = current


class Unavailable(StorageError):
    """The store cannot be reached or cannot answer now; whether a write happened is not known
    only if *uncertain* is set."""

    def __init__(self, message: str, *, uncertain: bool = False) -> None:
        super().__init__(message)
        self.uncertain = uncertain


class Full(Unavailable):
    """The store has no room for what was to be written, and has written nothing of it."""


class ValueTooLarge(StorageError):
    """The store does not take values of that size, and will not however often it is asked."""
