"""What a reflector knows of a server: how to list a collection and how to watch it.

`client.watches.stream_watcher.ListWatch` is one, a scripted server of a test another. Nothing else
of a client is known here.
"""

from collections.abc import Awaitable
from typing import Protocol, TypeVar

from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import Status
from apimachinery.meta.types import Object
from apimachinery.watch import ObjectEvent
from client.paging import Page

T = TypeVar("T", bound=Object)
T_co = TypeVar("T_co", bound=Object, covariant=True)


class EventStream(Protocol[T_co]):
    """An open watch: read by one, and let go of with `stop`."""

    async def __anext__(self) -> ObjectEvent[T_co | Status]:
        """The next event; StopAsyncIteration when the server ended the watch."""

    def stop(self) -> None:
        """Let go of the stream; may be repeated."""


class ListerWatcher(Protocol[T]):
    """A collection that can be listed, a page at a time, and watched."""

    def list(self, options: ListOptions, /) -> Awaitable[Page[T]]:
        """One page; APIError or ConnectionError when it cannot be had."""

    def watch(self, options: ListOptions, /) -> Awaitable[EventStream[T]]:
        """An open watch; APIError or ConnectionError when it cannot be opened."""
