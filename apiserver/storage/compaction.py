"""Forgetting: the history of a store is kept for some minutes and not for ever.

Every server on a store runs this and none of them asks the others. Each forgets only what it has
itself seen to be old enough, and forgetting something twice does nothing, so they cannot disagree.
"""

import logging
from typing import Final

from apiserver.storage.clock import MonotonicClock, SystemMonotonicClock
from apiserver.storage.interface import Backend, StorageError

log = logging.getLogger(__name__)

INTERVAL: Final = 300.0
"""Seconds between two compactions, and the least time for which history is kept."""


class Compactor:
    """Compacts a store, now and then, to the revision it had one interval ago."""

    def __init__(
        self, backend: Backend, *, interval: float = INTERVAL, clock: MonotonicClock | None = None
    ) -> None:
        if interval <= 0:
            raise ValueError(f"interval {interval!r}: must be a positive number of seconds")
        self._backend = backend
        self._interval = interval
        self._clock = clock or SystemMonotonicClock()
        self._old: int | None = None
        """A revision that is at least one interval old at the next tick."""
        self._compacted = 0

    async def run(self) -> None:
        """Run until cancelled; a store that cannot be reached is tried again the next time."""
        while True:
            await self.tick()
            await self._clock.sleep(self._interval)

    async def tick(self) -> None:
        """Forget what was old enough one interval ago, and remember what will be in one."""
        try:
            current = await self._backend.current_revision()
            if self._old is not None and self._compacted < self._old <= current:
                await self._backend.compact(self._old)
                self._compacted = self._old
                log.debug("compacted to revision %d", self._old)
        except StorageError as error:
            # What was remembered is only getting older: nothing is lost by trying it again.
            log.warning("the store could not be compacted: %s", error)
        else:
            self._old = current
            # A store put back from a backup begins again from an earlier revision.
            self._compacted = min(self._compacted, current)
