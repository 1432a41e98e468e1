"""DeltaQueue: the queue between a reflector, which fills it, and an informer, which drains it.

This base class waits for deltas and for room, and tracks whether the first list was processed.
`FIFO` and `DeltaFIFO` decide what is queued and in which order it is popped.

When 2,000 entries wait, the reflector has to wait as well, and with it the server, which may close
a watch whose client is too slow.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Sized
from typing import Final, Generic, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.cache.deltas import DeltaBatch, Transform

T = TypeVar("T", bound=Object)

Process: TypeAlias = Callable[[DeltaBatch[T]], None]

MAX_PENDING: Final = 2000
"""The number of waiting entries at which a reflector has to wait."""


class FIFOClosed(Exception):
    """Raised by `pop` when the queue was closed and is empty."""


class DeltaQueue(ABC, Generic[T]):
    """Deltas that wait for an informer; there is one caller of `pop` at a time."""

    _items: Sized

    def __init__(self, transform: Transform[T] | None = None) -> None:
        self._transform = transform
        self._arrived = asyncio.Event()
        self._popped = asyncio.Event()
        self._closed = False
        # Whether a list or any other change has arrived yet.
        self._populated = False
        # The number of entries of the first list that have not been processed.
        self._initial = 0

    # Called by the reflector

    @abstractmethod
    def add(self, obj: T) -> None: ...

    @abstractmethod
    def update(self, obj: T) -> None: ...

    @abstractmethod
    def delete(self, obj: T) -> None: ...

    @abstractmethod
    def replace(self, objects: Sequence[T], resource_version: str) -> None:
        """Enqueue a list: these objects and no others exist."""

    @abstractmethod
    def resync(self) -> None:
        """Have the informer notify its handlers of every object again."""

    @abstractmethod
    def bookmark(self, resource_version: str) -> None:
        """Enqueue a bookmark: nothing else changed up to *resource_version*."""

    async def wait_for_room(self) -> None:
        """Return when fewer than MAX_PENDING entries wait, or when the queue is closed."""
        while len(self._items) >= MAX_PENDING and not self._closed:
            self._popped.clear()
            await self._popped.wait()

    # Called by the informer

    @property
    def has_synced(self) -> bool:
        """Whether the whole first list was popped, or another change arrived before any list."""
        return self._populated and not self._initial

    @abstractmethod
    async def pop(self, process: Process[T]) -> None:
        """Wait for a batch and call *process* with it. Raises FIFOClosed if there will be none."""

    def close(self) -> None:
        """Wake all waiting callers; batches that are queued can still be popped."""
        self._closed = True
        self._arrived.set()
        self._popped.set()

    def __len__(self) -> int:
        return len(self._items)

    @abstractmethod
    def _is_empty(self) -> bool:
        """Return whether `pop` has to wait."""

    async def _wait_for_deltas(self) -> None:
        while self._is_empty():
            if self._closed:
                raise FIFOClosed
            self._arrived.clear()
            await self._arrived.wait()

    def _apply_transform(self, obj: T) -> T:
        return obj if self._transform is None else self._transform(obj)
