"""AutoStoppingWatch: stops a watch as soon as the program drops its last reference to it.

    async for event in gadgets.watch():
        break

leaves a watch that the program can no longer stop. The generator in a `ResumingWatch` references
the watch itself, so the connection would stay open until the next garbage collection. The wrapper
in this module is referenced by the loop only, and stops the watch when the loop is left.
"""

import asyncio
from contextlib import suppress
from typing import TypeVar

from apimachinery.meta.types import Object
from apimachinery.watch import ObjectEvent
from client.interface import Watch

ObjectT = TypeVar("ObjectT", bound=Object)


class AutoStoppingWatch(Watch[ObjectT]):
    """Wraps a watch and stops it when the wrapper is deleted."""

    def __init__(self, inner: Watch[ObjectT]) -> None:
        self._inner = inner
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def resource_version(self) -> str:
        return self._inner.resource_version

    def stop(self) -> None:
        self._loop = None
        self._inner.stop()

    async def __anext__(self) -> ObjectEvent[ObjectT]:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return await self._inner.__anext__()

    def __del__(self) -> None:
        if self._loop is not None:
            # The last reference may be dropped in another thread, as with the synchronous client.
            with suppress(RuntimeError):  # the loop is closed, and with it every connection
                self._loop.call_soon_threadsafe(self._inner.stop)
