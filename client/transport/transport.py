"""Transport: sends a `Request` to a server and returns its `Response`.

There are two transports, `NetworkTransport` and `ASGITransport` for an application in the same
process; credentials, retries and decoding are built on top of either. Transports raise only
TransportErrors, so that callers do not depend on the errors of an HTTP library.
"""

from collections.abc import Iterable
from typing import Protocol

from apimachinery.serialization.media_types import strip_parameters
from client.transport.request import Request
from client.transport.tls import ClientCertificate


class TransportError(ConnectionError):
    """The request could not be sent, or its response did not arrive."""


class ConnectionRefused(TransportError, ConnectionRefusedError):
    """No process listens on the server's address."""


class ConnectionLost(TransportError, ConnectionResetError):
    """The connection was lost before the response was complete."""


class RequestTimeout(TransportError, TimeoutError):
    """The response did not arrive in time."""


class Headers:
    """The headers of a response; names are case-insensitive, values are kept in order."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = [(name.lower(), value) for name, value in pairs]

    def get(self, name: str, default: str = "") -> str:
        """Return the first value of a header."""
        lowered = name.lower()
        return next((value for header, value in self._pairs if header == lowered), default)

    def all(self, name: str) -> list[str]:
        lowered = name.lower()
        return [value for header, value in self._pairs if header == lowered]

    @property
    def media_type(self) -> str:
        """The media type of the body, without its parameters."""
        return strip_parameters(self.get("content-type"))


class Response(Protocol):
    """A response whose headers have arrived; its body is read as it arrives."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Headers: ...

    async def read(self) -> bytes:
        """Read the whole body and close the response."""

    async def chunk(self) -> bytes:
        """Read the next chunk of the body as it arrives; an empty one marks the end."""

    def close(self) -> None:
        """Release the connection and end a pending `chunk`; idempotent."""


class Transport(Protocol):
    """Sends requests to one server."""

    async def open(
        self, request: Request, certificate: ClientCertificate | None = None
    ) -> Response:
        """Send *request* and return its response as soon as the headers have arrived.

        Raises TransportError. Cancellation releases the connection.
        """

    async def aclose(self) -> None:
        """Close every connection."""
