"""Who is asking: authenticators, and how their answers become one user or a refusal.

An authenticator knows one kind of credentials. It answers with a user, with None when the request
carries nothing it understands, or raises InvalidCredentials when it understands them and they are
wrong. The first user wins. Wrong credentials that nobody else accepts are a refusal even where
anonymous callers are welcome: their sender believes to be somebody.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from apimachinery.errors import Unauthorized
from apiserver.auth.user import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User

Headers = Iterable[tuple[bytes, bytes]]
"""The headers of a request as ASGI gives them: names in lower case, repeated ones apart."""


class InvalidCredentials(Exception):
    """The credentials are of a known kind and are wrong."""


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """What a request carries to say who sent it."""

    authorization: str = ""
    """The Authorization header."""
    certificate: str = ""
    """The client's own TLS certificate as PEM; the TLS layer has verified its chain."""
    authorities: tuple[str, ...] = ()
    """The rest of that chain, up to one of our authorities."""


class Authenticator(Protocol):
    """Knows one kind of credentials."""

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        """The user, None for no credentials of this kind, or InvalidCredentials."""


class Authentication:
    """All authenticators together, in the order in which they are asked."""

    def __init__(self, authenticators: Sequence[Authenticator], *, anonymous: bool = True) -> None:
        self._authenticators = tuple(authenticators)
        self._anonymous = anonymous

    async def user_of(self, credentials: RequestCredentials) -> User:
        """Who sent the request; raises Unauthorized when that is not to be known."""
        failed = False
        for authenticator in self._authenticators:
            try:
                user = await authenticator.authenticate(credentials)
            except InvalidCredentials:
                failed = True
                continue
            if user is not None:
                return _authenticated(user)
        if failed or not self._anonymous:
            raise Unauthorized
        return ANONYMOUS


def credentials_of(scope: dict[str, Any]) -> RequestCredentials:
    """What the ASGI *scope* of a request says of its sender."""
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


def _authenticated(user: User) -> User:
    if AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))
