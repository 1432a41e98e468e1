"""What the actions of `apiserver storage` share: an open store, and a progress line."""

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from apiserver.storage.backends import open_backend
from apiserver.storage.interface import Backend


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Backend]:
    """Open the store at *url* and close it afterwards. Raises StorageError."""
    backend = await open_backend(url)
    try:
        yield backend
    finally:
        await backend.close()


class Progress:
    """A progress line on standard error, overwritten in place, if it is a terminal."""

    def __init__(self) -> None:
        self._shown = 0.0

    def show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if sys.stderr.isatty() and (done == total or now - self._shown > 0.2):
            self._shown = now
            end = "\n" if done == total else ""
            print(f"\r{done} of {total} objects", end=end, file=sys.stderr, flush=True)


class ObjectProgress:
    """The progress of a run over *total* objects, one by one."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def one(self) -> None:
        """Count one object; servers may have created more than there were at first."""
        self._done += 1
        if self._done < self._total:
            self._progress.show(self._done, self._total)

    def end(self) -> None:
        if self._total:
            self._progress.show(self._total, self._total)
