"""A watch that ends when nobody holds it any more.

    async for event in gadgets.watch():
        break

leaves a watch behind that nobody can stop. What fetches its events holds itself, so that it would
stay open until the garbage collector comes by; this stands in front of it, is held by the loop
alone, and stops it as soon as the loop is left.
"""

import asyncio
from contextlib import suppress
from typing import TypeVar

from apimachinery.meta.types import Object
from apimachinery.watch import ObjectEvent
from client.interface import Watch

ObjectT = TypeVar("ObjectT", bound=Object)


class AutoStoppingWatch(Watch[ObjectT]):
    """Another watch, for as long as this is held."""

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
            # The last to hold it may be another thread, as with the synchronous client.
            with suppress(RuntimeError):  # the loop is closed, and everything in it
                self._loop.call_soon_threadsafe(self._inner.stop)
