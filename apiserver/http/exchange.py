"""Exchange: one request on its way through the server, and what has been found out about it.

It is made where the request comes in, before the framework sees it, and read where it leaves: the
log, the metrics and the error answers need what the steps in between have learned. It also holds
the server's own `receive`, because a body is read only when a handler asks for it, with a limit.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from dataclasses import replace
from random import getrandbits
from time import perf_counter
from typing import Any, Final

from apimachinery.errors import BadRequest, RequestEntityTooLarge
from apimachinery.serialization.serializer import MAX_BYTES
from apiserver.auth.authorization import Authorizer, require
from apiserver.auth.user import ANONYMOUS, User
from apiserver.http.negotiation import PLAIN, Accepted
from apiserver.http.request_info import Query, RequestInfo

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

KEY: Final = "apiserver.exchange"
"""Where the scope of a request holds its exchange."""

DRAIN: Final = "apiserver.drain"
"""Where the lifespan state holds a function that ends all streams."""

_LONGEST_ID: Final = 64


class Disconnected(Exception):
    """The client has gone before its request was complete; there is nobody to answer."""


class Exchange:
    """What is known of one request."""

    __slots__ = (
        "_opened",
        "accepted",
        "authorizer",
        "code",
        "info",
        "query",
        "receive",
        "request_id",
        "route",
        "started",
        "user",
        "user_agent",
        "warnings",
        "watcher",
    )

    def __init__(self, info: RequestInfo, query: Query, receive: Receive) -> None:
        self.info = info
        self.query = query
        self.receive = receive
        self.started = perf_counter()
        self.request_id = ""
        self.user: User = ANONYMOUS
        self.authorizer: Authorizer | None = None
        self.user_agent = ""
        self.accepted: Accepted = PLAIN
        """The form of the answer; errors are told in the same one."""
        self.warnings: list[str] = []
        self.code = 0
        """The status of the answer, 0 before there is one."""
        self.route: Any = None
        """The endpoint that serves it, None for a path that has none."""
        self.watcher = ""
        """What a client that watches calls itself."""
        self._opened: AsyncExitStack | None = None

    def parameter(self, name: str) -> str:
        """The first value of a query parameter, empty if there is none."""
        values = self.query.get(name)
        return values[0] if values else ""

    async def permit(self, verb: str) -> None:
        """Raise Forbidden unless the user may also do *verb* to what they ask for."""
        if self.authorizer is not None:
            await require(self.authorizer, self.user, replace(self.info, verb=verb))

    @property
    def opened(self) -> AsyncExitStack:
        """What is to be closed when the request is over, however it ends."""
        if self._opened is None:
            self._opened = AsyncExitStack()
        return self._opened

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.aclose()

    async def read_body(self, *, length: str | None, limit: int = MAX_BYTES) -> bytes:
        """The whole body, or RequestEntityTooLarge as soon as it is known to be longer."""
        if length is not None and length.isdecimal() and int(length[:20]) > limit:
            raise RequestEntityTooLarge.of(limit)
        parts, size, more = [], 0, True
        while more:
            message = await self.receive()
            if message["type"] != "http.request":
                raise Disconnected
            part = message.get("body", b"")
            size += len(part)
            if size > limit:
                raise RequestEntityTooLarge.of(limit)
            parts.append(part)
            more = message.get("more_body", False)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def request_id_of(sent: str | None) -> str:
    """The id a client gave its request, or a new one."""
    if sent:
        return sent[:_LONGEST_ID]
    digits = f"{getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def require_utf8(text: str) -> str:
    """Refuse a text that no UTF-8 could have said."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadRequest("the URL is not valid UTF-8") from None
    return text
