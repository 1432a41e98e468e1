"""Request body: the ASGI `receive` of one request.

What has arrived waits here until the application takes it. While more than 256 KiB wait, nothing is
read from the socket.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from apiserver.connections.body_framing import BodyFraming

MAX_WAITING: Final = 256 * 1024
"""Bytes that wait for the application, from which reading is paused."""

Message = dict[str, Any]


class RequestBody:
    """The body of one request, and the end of its connection."""

    __slots__ = ("_on_ask", "_on_taken", "_parts", "_taken", "_waiter", "framing", "lost", "size")

    def __init__(
        self,
        framing: BodyFraming | None,
        *,
        on_ask: Callable[[], None] | None = None,
        on_taken: Callable[[], None],
    ) -> None:
        """Without *framing* the body is empty.

        *on_ask* is called when the application waits for a body of which nothing has arrived, and
        *on_taken* when it has taken something.
        """
        self.framing = framing
        self._on_ask = on_ask
        self._on_taken = on_taken
        self._parts: deque[bytes] = deque()
        self.size = 0
        """Bytes that wait for the application."""
        self._taken = False
        self.lost = False
        self._waiter: asyncio.Future[None] | None = None

    @property
    def complete(self) -> bool:
        """Whether all of it has arrived."""
        return self.framing is None or self.framing.complete

    def feed(self, received: bytearray) -> None:
        """Take what *received* has of this body. Raises MalformedRequest."""
        assert self.framing is not None
        part = self.framing.take(received)
        if part:
            self.expect_nothing()
            self._parts.append(part)
            self.size += len(part)
        if part or self.framing.complete:
            self._wake()

    def expect_nothing(self) -> None:
        """Note that the client does not wait for permission to send the body."""
        self._on_ask = None

    def disconnect(self) -> None:
        """Note that the connection is lost."""
        self.lost = True
        self._on_ask = None
        self._wake()

    async def receive(self) -> Message:
        """Return the next part of the body, and after its end wait for the disconnect."""
        while not self.lost:
            if self._parts:
                return self._next_part()
            if self.complete and not self._taken:
                self._taken = True
                return {"type": "http.request", "body": b"", "more_body": False}
            if self._on_ask is not None:
                on_ask, self._on_ask = self._on_ask, None
                on_ask()
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return {"type": "http.disconnect"}

    def _next_part(self) -> Message:
        part = self._parts.popleft()
        self.size -= len(part)
        self._on_taken()
        self._taken = not self._parts and self.complete
        return {"type": "http.request", "body": part, "more_body": not self._taken}

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
