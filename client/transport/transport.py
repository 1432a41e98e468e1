"""What a transport is: something that carries a `Request` to a server and a `Response` back.

There are two, `network` for the network and `in_process` for an application in the same process;
everything above them (credentials, retries, decoding) is written once. They raise TransportError
and nothing else, so that nobody above needs to know which library failed.
"""

from collections.abc import Iterable
from typing import Protocol

from apimachinery.serialization.media_types import strip_parameters
from client.transport.request import Request
from client.transport.tls import ClientCertificate


class TransportError(ConnectionError):
    """The server could not be asked, or its answer did not arrive."""


class ConnectionRefused(TransportError, ConnectionRefusedError):
    """Nobody listens where the server should be."""


class ConnectionLost(TransportError, ConnectionResetError):
    """The connection ended before the answer did."""


class RequestTimeout(TransportError, TimeoutError):
    """The answer did not come in time."""


class Headers:
    """The headers of an answer: names in any case, values in order."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = [(name.lower(), value) for name, value in pairs]

    def get(self, name: str, default: str = "") -> str:
        """The first value of a header."""
        wanted = name.lower()
        return next((value for found, value in self._pairs if found == wanted), default)

    def all(self, name: str) -> list[str]:
        wanted = name.lower()
        return [value for found, value in self._pairs if found == wanted]

    @property
    def media_type(self) -> str:
        """The type of the body, without its parameters."""
        return strip_parameters(self.get("content-type"))


class Response(Protocol):
    """An answer whose head has arrived and whose body may still be coming."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Headers: ...

    async def read(self) -> bytes:
        """The whole body; the response is closed afterwards."""

    async def chunk(self) -> bytes:
        """The next part of the body as it arrives; empty at its end."""

    def close(self) -> None:
        """Let go of the connection; a waiting `chunk` ends. May be called again."""


class Transport(Protocol):
    """Carries requests."""

    async def open(
        self, request: Request, certificate: ClientCertificate | None = None
    ) -> Response:
        """Send *request* and return when the head of the answer is there.

        Raises TransportError. Cancelling it lets go of the connection.
        """

    async def aclose(self) -> None:
        """Close every connection."""
