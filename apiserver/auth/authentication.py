"""Authentication: runs the authenticators of a server to identify the user of a request.

An authenticator handles one kind of credentials. It returns the user, returns None if the request
has no credentials of its kind, or raises InvalidCredentials if they are wrong. The first user wins.
If credentials are wrong and no other authenticator accepts them, the request is rejected even where
anonymous requests are allowed: its sender expects to be authenticated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Protocol

from apimachinery.errors import Unauthorized
from apiserver.auth.user import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User

Headers = Iterable[tuple[bytes, bytes]]
"""The headers of a request as in ASGI: lower-case names; repeated headers are separate items."""


MOST_USERS: Final = 1024
"""Users that are kept with their groups; when there are more, all are completed anew."""


class InvalidCredentials(Exception):
    """The credentials are of a supported kind but wrong."""


@dataclass(frozen=True)
class RequestCredentials:
    """The credentials of a request, or of several of one connection that have the same headers."""

    authorization: str = ""
    """The Authorization header."""
    certificate: str = ""
    """The client's own TLS certificate as PEM; the TLS layer has verified its chain."""
    authorities: tuple[str, ...] = ()
    """The rest of the certificate chain, up to one of our authorities."""

    @cached_property
    def token(self) -> str | None:
        """The bearer token of the Authorization header, None if there is none."""
        return bearer_token(self.authorization)

    @cached_property
    def token_digest(self) -> bytes:
        """The SHA-256 digest of the token, by which authenticators look it up."""
        return token_digest(self.token or "")


class Authenticator(Protocol):
    """Authenticates requests by one kind of credentials."""

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        """Return the user, or None without credentials of this kind. Raises InvalidCredentials."""


class Authentication:
    """Runs all authenticators, in order."""

    def __init__(self, authenticators: Sequence[Authenticator], *, anonymous: bool = True) -> None:
        self._authenticators = tuple(authenticators)
        self._anonymous = anonymous
        self._completed: dict[int, tuple[User, User]] = {}
        """Users with the group of all authenticated users, by the identity of the first."""

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
                return self._complete(user)
        if failed or not self._anonymous:
            raise Unauthorized
        return ANONYMOUS

    def _complete(self, user: User) -> User:
        """Add the group of all authenticated users."""
        if AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
            return user
        known = self._completed.get(id(user))
        if known is not None:
            return known[1]
        completed = replace(user, groups=(*user.groups, AUTHENTICATED))
        if len(self._completed) >= MOST_USERS:
            self._completed.clear()
        # While the first is kept, no other user has its identity.
        self._completed[id(user)] = user, completed
        return completed


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


def token_digest(token: str) -> bytes:
    """Return the SHA-256 digest of a bearer token."""
    return sha256(token.encode("utf-8", "surrogateescape")).digest()


def bearer_token(authorization: str) -> str | None:
    """Return the bearer token of an Authorization header, None if there is none."""
    scheme, _, rest = authorization.strip().partition(" ")
    if scheme.lower() != "bearer":
        return None
    # Two spaces make the token empty, which counts as none; anything after a third word is ignored.
    return rest.partition(" ")[0] or None
