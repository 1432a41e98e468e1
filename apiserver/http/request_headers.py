"""Request headers: what the steps of a request look up in its headers.

The connection passes the same tuple of headers for requests whose headers are equal. What was read
from it is kept with the connection, so that only the first of such requests is searched, and the
digest of its token computed. Whether the token is still valid is checked for every request.
"""

from typing import Any, Final

from falcon import SINGLETON_HEADERS

from apiserver.auth.authentication import RequestCredentials, read_credentials
from apiserver.http.client_connection import ClientConnection

KEPT_BYTES: Final = 4096
"""The size of headers up to which they are kept; an idle connection must not hold long ones."""

KEY: Final = "apiserver.headers"
"""The key of the headers that were read in the ASGI scope of a request."""

_IMPERSONATE: Final = b"impersonate-"


class RequestHeaders:
    """The headers of one request, or of several that have the same."""

    __slots__ = ("audit_id", "by_name", "credentials", "impersonates", "source", "user_agent")

    def __init__(self, scope: dict[str, Any], headers: dict[bytes, bytes]) -> None:
        self.source: object = scope["headers"]
        self.by_name = headers
        """Repeated headers are joined, as far as they may be."""
        self.credentials: RequestCredentials = read_credentials(scope)
        self.audit_id = headers.get(b"audit-id", b"").decode("latin-1")
        self.user_agent = headers.get(b"user-agent", b"").decode("latin-1")
        self.impersonates = any(name.startswith(_IMPERSONATE) for name in headers)


def headers_of(scope: dict[str, Any], connection: ClientConnection) -> RequestHeaders:
    """Return the headers of a request, as they were read for the one before if they are equal."""
    found: RequestHeaders | None = scope.get(KEY)
    if found is None:
        scope[KEY] = found = _known_headers(scope["headers"], connection) or _read(scope)
        size = sum(map(len, found.by_name.values()))
        kept = isinstance(found.source, tuple) and size <= KEPT_BYTES
        connection.headers = found if kept else None
    return found


def _known_headers(source: object, connection: ClientConnection) -> RequestHeaders | None:
    known = connection.headers
    return known if isinstance(known, RequestHeaders) and known.source is source else None


def _read(scope: dict[str, Any]) -> RequestHeaders:
    by_name: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in by_name and name.decode("latin-1") not in SINGLETON_HEADERS:
            by_name[name] += b"," + value
        else:
            by_name[name] = value
    return RequestHeaders(scope, by_name)
