"""Exchange: the state of one request while the server handles it.

The gate creates it before the framework receives the request, and each step adds to it: the log,
the metrics and the error responses read it. It also keeps the ASGI `receive`, because the body is
read only when a handler requires it, with limits. A write takes its seat after that.
"""

from collections.abc import MutableMapping
from contextlib import AsyncExitStack
from dataclasses import replace
from random import getrandbits
from time import perf_counter
from typing import Any, Final

from apimachinery.errors import BadRequest, RequestEntityTooLarge
from apiserver.auth.authorization import Authorizer, require
from apiserver.auth.user import ANONYMOUS, User
from apiserver.http.client_connection import ClientConnection
from apiserver.http.concurrency import Seat
from apiserver.http.negotiation import PLAIN, Accepted
from apiserver.http.request_bodies import BodyReader, Receive, RequestBodies
from apiserver.http.request_info import Query, RequestInfo
from apiserver.workload import Workload

Scope = MutableMapping[str, Any]

KEY: Final = "apiserver.exchange"
"""The key of the exchange in the ASGI scope of a request."""

DRAIN: Final = "apiserver.drain"
"""The key of a function in the lifespan state that ends all streams."""

CLIENT_CLOSED_REQUEST: Final = 499
"""The code, as in nginx, that logs and metrics have for a request without a recipient."""

LOOP_PAUSED: Final = "apiserver.loop-paused"
"""The key of a function in the lifespan state that records a pause of the event loop."""

GROUP_PACKAGES: Final = "apiserver.group-packages"
"""The key of the Python packages of groups in the lifespan state."""

_MAX_ID_LENGTH: Final = 64


class Exchange:
    """The state of one request."""

    __slots__ = (
        "_body",
        "_opened",
        "accepted",
        "authorizer",
        "bodies",
        "code",
        "connection",
        "info",
        "query",
        "receive",
        "rejected",
        "request_id",
        "route",
        "seat",
        "seconds",
        "started",
        "user",
        "user_agent",
        "warnings",
        "watcher",
        "workload",
    )

    def __init__(
        self,
        info: RequestInfo,
        query: Query,
        receive: Receive,
        connection: ClientConnection | None = None,
    ) -> None:
        self.info = info
        self.connection = connection or ClientConnection()
        self.query = query
        self.receive = receive
        self.started = perf_counter()
        self.request_id = ""
        self.user: User = ANONYMOUS
        self.authorizer: Authorizer | None = None
        self.user_agent = ""
        self.accepted: Accepted = PLAIN
        """The negotiated form of the response; errors are sent in the same form."""
        self.warnings: list[str] = []
        self.code = 0
        """The HTTP status of the response, 0 before it is set."""
        self.route: Any = None
        """The endpoint that serves the request, None if the path has none."""
        self.watcher = ""
        """The name that a watching client gives itself."""
        self.workload = Workload()
        """Runs the steps of the request whose cost depends on the size of its documents."""
        self.seat: Seat | None = None
        """The place among the requests that are executed; None for the server's own requests."""
        self.seconds = 60.0
        """How long the request may take."""
        self.rejected = False
        """Whether it was rejected because too many requests were executed."""
        self.bodies: RequestBodies | None = None
        """The bodies in memory, with which this one is counted."""
        self._body: BodyReader | None = None
        self._opened: AsyncExitStack | None = None

    def parameter(self, name: str) -> str:
        """Return the first value of a query parameter, empty if there is none."""
        values = self.query.get(name)
        return values[0] if values else ""

    async def permit(self, verb: str) -> None:
        """Raise Forbidden unless the user may also do *verb* to the requested object."""
        if self.authorizer is not None:
            await require(self.authorizer, self.user, replace(self.info, verb=verb))

    @property
    def opened(self) -> AsyncExitStack:
        """The resources to close when the request ends, however it ends."""
        if self._opened is None:
            self._opened = AsyncExitStack()
        return self._opened

    async def close(self) -> None:
        """Close what was opened, and give the seat back."""
        seat, self.seat = self.seat, None
        if seat is not None:
            seat.release()
        if self._body is not None:
            self._body.release()
        if self._opened is not None:
            await self._opened.aclose()

    async def read_body(self, *, length: str | None) -> bytes:
        """Read the whole body, then take a seat. Raises as `BodyReader.read` and `take_seat`."""
        bodies = self.bodies or RequestBodies()
        limit = bodies.limits.body_bytes
        if length is not None and length.isdecimal() and int(length[:20]) > limit:
            raise RequestEntityTooLarge.of(limit)
        self._body = BodyReader(bodies, self.user.name)
        body = await self._body.read(self.receive)
        await self.take_seat()
        return body

    async def take_seat(self) -> None:
        """Wait until the request may be executed. Raises Overloaded."""
        seat = self.seat
        if seat is not None and not seat.take():
            await seat.wait(self.seconds / 4)

    def release_seat(self) -> None:
        """Let other requests be executed, while this one only waits."""
        if self.seat is not None:
            self.seat.release()


def choose_request_id(client_id: str | None) -> str:
    """Return the ID that the client gave its request, or a new one.

    The ID is logged and sent back in a header; one with other characters than printable ASCII
    is replaced.
    """
    if client_id and client_id.isascii() and client_id.isprintable():
        return client_id[:_MAX_ID_LENGTH]
    digits = f"{getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def require_utf8(text: str) -> str:
    """Return *text*. Raises BadRequest if it was not valid UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadRequest("the URL is not valid UTF-8") from None
    return text
