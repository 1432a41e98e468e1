"""Authentication: runs the authenticators of a server to identify the user of a request.

An authenticator handles one kind of credentials. It returns the user, returns None if the request
has no credentials of its kind, or raises InvalidCredentials if they are wrong. The first user wins.
If credentials are wrong and no other authenticator accepts them, the request is rejected even where
anonymous requests are allowed: its sender expects to be authenticated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from apimachinery.errors import Unauthorized
from apiserver.auth.user import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User

Headers = Iterable[tuple[bytes, bytes]]
"""The headers of a request as in ASGI: lower-case names; repeated headers are separate items."""


class InvalidCredentials(Exception):
    """The credentials are of a supported kind but wrong."""


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """The credentials of a request."""

    authorization: str = ""
    """The Authorization header."""
    certificate: str = ""
    """The client's own TLS certificate as PEM; the TLS layer has verified its chain."""
    authorities: tuple[str, ...] = ()
    """The rest of the certificate chain, up to one of our authorities."""


class Authenticator(Protocol):
    """Authenticates requests by one kind of credentials."""

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        """Return the user, or None without credentials of this kind. Raises InvalidCredentials."""


class Authentication:
    """Runs all authenticators, in order."""

    def __init__(self, authenticators: Sequence[Authenticator], *, anonymous: bool = True) -> None:
        self._authenticators = tuple(authenticators)
        self._anonymous = anonymous

    async def authenticate(self, credentials: RequestCredentials) -> User:
        """Return the user of a request. Raises Unauthorized if it cannot be authenticated."""
        failed = False
        for authenticator in self._authenticators:
            try:
                user = await authenticator.authenticate(credentials)
            except InvalidCredentials:
                failed = True
                continue
            if user is not None:
                return _with_authenticated_group(user)
        if failed or not self._anonymous:
            raise Unauthorized
        return ANONYMOUS


def read_credentials(scope: dict[str, Any]) -> RequestCredentials:
    """Read the credentials of a request from its ASGI *scope*."""
    authorization = ""
    for name, value in scope["headers"]:
        if name == b"authorization":
            authorization = value.decode("latin-1")
            break
    extensions = scope.get("extensions")
    tls = extensions.get("tls") if extensions else None
    chain = tls.get("client_cert_chain") if tls else None
    if not chain:
        return RequestCredentials(authorization)
    return RequestCredentials(authorization, chain[0], tuple(chain[1:]))


def _with_authenticated_group(user: User) -> User:
    if AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))


def bearer_token(authorization: str) -> str | None:
    """Return the bearer token of an Authorization header, None if there is none."""
    scheme, _, rest = authorization.strip().partition(" ")
    if scheme.lower() != "bearer":
        return None
    # Two spaces make the token empty, which counts as none; anything after a third word is ignored.
    return rest.partition(" ")[0] or None
