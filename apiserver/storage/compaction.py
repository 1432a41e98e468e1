"""Compaction: drop the history of a store once it is older than a few minutes.

Every server of a store runs a Compactor, without coordinating with the others. Each one compacts
only to a revision that it has itself seen to be old enough, and compacting twice to the same
revision does nothing, so they cannot conflict.
"""

import logging
from typing import Final

from apiserver.storage.clock import MonotonicClock, SystemMonotonicClock
from apiserver.storage.interface import Backend, StorageError

log = logging.getLogger(__name__)

INTERVAL: Final = 300.0
"""Seconds between two compactions, and the minimum time for which history is kept."""


class Compactor:
    """Periodically compacts a store to the revision it had one interval ago."""

    def __init__(
        self, backend: Backend, *, interval: float = INTERVAL, clock: MonotonicClock | None = None
    ) -> None:
        if interval <= 0:
            raise ValueError(f"interval {interval!r}: must be a positive number of seconds")
        self._backend = backend
        self._interval = interval
        self._clock = clock or SystemMonotonicClock()
        self._candidate: int | None = None
        """The revision to compact to at the next tick, when it is one interval old."""
        self._compacted = 0

    async def run(self) -> None:
        """Compact until cancelled; if the store is unavailable, retry after the next interval."""
        while True:
            await self.tick()
            await self._clock.sleep(self._interval)

    async def tick(self) -> None:
        """Compact to the revision seen one interval ago and record the current one for the next
        tick.
        """
        try:
            current = await self._backend.current_revision()
            if self._candidate is not None and self._compacted < self._candidate <= current:
                await self._backend.compact(self._candidate)
                self._compacted = self._candidate
                log.debug("compacted to revision %d", self._candidate)
        except StorageError as error:
            # Keep the candidate: it only gets older, so the next tick can retry it.
            log.warning("failed to compact the store: %s", error)
        else:
            self._candidate = current
            # A store restored from a backup restarts at an earlier revision.
            self._compacted = min(self._compacted, current)
