"""Request bodies: read them within limits of size, time and memory.

A body is read before its request takes a seat, so a slow client must be bounded otherwise. Each
period must bring some progress, or the rest of the body. The bytes of all bodies in memory are
limited, and so are those of one user: a user's unfinished bodies use up the user's own share. If
the bodies of many users use up everything, the user with the most has to give way.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from apimachinery.errors import APIError, RequestEntityTooLarge
from apiserver.http.concurrency import Overloaded
from apiserver.http.deadlines import Deadline, Deadlines
from apiserver.http.request_limits import Limits

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

REQUEST_TIMEOUT: Final = 408


class Disconnected(Exception):
    """The client disconnected before its request was complete; there is no response."""


class UserBodies:
    """The bodies of one user."""

    __slots__ = ("readers", "size")

    def __init__(self) -> None:
        self.readers: dict[BodyReader, None] = {}
        self.size = 0


class RequestBodies:
    """The bodies that one worker has in memory, by user."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.size = 0
        self.deadlines = Deadlines()
        self._users: dict[str, UserBodies] = {}

    def add(self, reader: "BodyReader", size: int) -> None:
        """Count *size* more bytes of a body. Raises Overloaded if its user has too many."""
        user = self._users.get(reader.user)
        if user is None:
            user = self._users[reader.user] = UserBodies()
        user.readers[reader] = None
        if len(user.readers) > 1 and user.size + size > self.limits.user_bodies:
            raise Overloaded
        while self.size + size > self.limits.all_bodies:
            self._make_room(user)
        self.size += size
        user.size += size
        reader.size += size

    def remove(self, reader: "BodyReader") -> None:
        """Forget a body; may be repeated."""
        user = self._users.get(reader.user)
        if user is None or reader not in user.readers:
            return
        del user.readers[reader]
        if not user.readers:
            del self._users[reader.user]
        self.size -= reader.size
        user.size -= reader.size
        reader.size = 0

    def _make_room(self, user: UserBodies) -> None:
        """Evict the newest unfinished body of the user with the most bytes."""
        largest = max(self._users.values(), key=lambda other: other.size)
        unfinished = [reader for reader in largest.readers if not reader.complete]
        if largest is user or not unfinished:
            raise Overloaded
        unfinished[-1].evict()


class BodyReader:
    """Reads the body of one request."""

    __slots__ = ("_bodies", "_deadline", "_evicted", "complete", "size", "user")

    def __init__(self, bodies: RequestBodies, user: str) -> None:
        self._bodies = bodies
        self._deadline: Deadline | None = None
        self._evicted = False
        self.user = user
        self.size = 0
        self.complete = False

    async def read(self, receive: Receive) -> bytes:
        """Return the whole body.

        Raises RequestEntityTooLarge as soon as the limit is exceeded, Overloaded if there is no
        memory for it, APIError with code 408 if the client is too slow, and Disconnected.
        """
        deadline = self._deadline = self._bodies.deadlines.begin(self._bodies.limits.body_seconds)
        try:
            parts = await self._read_parts(receive, deadline)
        except asyncio.CancelledError:
            if not deadline.end():
                raise
            if self._evicted:
                raise Overloaded from None
            raise self._too_slow() from None
        finally:
            deadline.end()
        self.complete = True
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _read_parts(self, receive: Receive, deadline: Deadline) -> list[bytes]:
        limits, parts = self._bodies.limits, []
        period, more = 0, True
        while more:
            message = await receive()
            if self._evicted:
                raise Overloaded
            if message["type"] != "http.request":
                raise Disconnected
            part = message.get("body", b"")
            more = message.get("more_body", False)
            if part:
                if self.size + len(part) > limits.body_bytes:
                    raise RequestEntityTooLarge.of(limits.body_bytes)
                self._bodies.add(self, len(part))
                parts.append(part)
                period += len(part)
            if more and period >= limits.body_progress:
                period = 0
                deadline.postpone(limits.body_seconds)
        return parts

    def evict(self) -> None:
        """Give the memory of an unfinished body to another user."""
        self._evicted = True
        self._bodies.remove(self)
        if self._deadline is not None:
            self._deadline.expire()

    def release(self) -> None:
        """Note that the body is not needed any more."""
        if self.size or not self.complete:
            self._bodies.remove(self)

    def _too_slow(self) -> APIError:
        seconds = self._bodies.limits.body_seconds
        return APIError(
            f"the request body was not received in time: less than"
            f" {self._bodies.limits.body_progress} bytes in {seconds:g} s",
            reason="Timeout",
            code=REQUEST_TIMEOUT,
        )
