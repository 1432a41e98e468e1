"""ListerWatcher: the two requests that a reflector needs, a list and a watch of one collection.

A client provides it as `client.watches.stream_watcher.ListWatch`, a test as a scripted server; the
reflector depends on no other part of the client.
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
    """An open watch; it has one reader, which closes it with `stop`."""

    async def __anext__(self) -> ObjectEvent[T_co | Status]:
        """Return the next event. Raises StopAsyncIteration if the server ended the watch."""

    def stop(self) -> None:
        """Close the stream; may be called repeatedly."""


class ListerWatcher(Protocol[T]):
    """A collection that can be listed, page by page, and watched."""

    def list(self, options: ListOptions, /) -> Awaitable[Page[T]]:
        """Return one page. Raises APIError or ConnectionError if the request fails."""

    def watch(self, options: ListOptions, /) -> Awaitable[EventStream[T]]:
        """Open a watch. Raises APIError or ConnectionError if the request fails."""
