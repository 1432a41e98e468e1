"""Credentials: who is asking, as headers and a client certificate for each request.

They may change while a client lives: a token file is written anew, a plugin's token runs out. So
every request asks for the identity of the moment, and a 401 asks for a newer one.
"""

import asyncio
import base64
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote

from client.errors import CredentialError
from client.runtime.clock import Clock, SystemClock
from client.transport.request import Pairs
from client.transport.tls import ClientCertificate

log = logging.getLogger("apimachinery.client.credentials")

TOKEN_PERIOD: Final = 60.0
"""Seconds after which a token file is read again."""
_EXTRA_KEY: Final = "!#$&'*+-.^_`|~"


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """What one request says about who sends it."""

    headers: Pairs = ()
    certificate: ClientCertificate | None = None

    def __repr__(self) -> str:
        return f"Identity({', '.join(name for name, _ in self.headers)})"


class Credentials(Protocol):
    """Where the identity of a request comes from."""

    async def identity(self) -> ClientIdentity:
        """The identity to use now; raises CredentialError."""

    async def renew(self, refused: ClientIdentity) -> ClientIdentity | None:
        """Another identity after *refused* was answered with 401, or None if there is none."""


class StaticCredentials:
    """An identity that never changes."""

    def __init__(self, identity: ClientIdentity) -> None:
        self._identity = identity

    async def identity(self) -> ClientIdentity:
        return self._identity

    async def renew(self, refused: ClientIdentity) -> ClientIdentity | None:
        return None


class AnonymousCredentials(StaticCredentials):
    """No identity at all."""

    def __init__(self) -> None:
        super().__init__(ClientIdentity())


class TokenFileCredentials:
    """A bearer token in a file that somebody renews, as in every pod."""

    def __init__(
        self,
        path: str | Path,
        *,
        fallback: str = "",
        certificate: ClientCertificate | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._path = Path(path)
        self._token = fallback
        self._certificate = certificate
        self._clock = clock or SystemClock()
        self._read_at: float | None = None

    async def identity(self) -> ClientIdentity:
        now = self._clock.monotonic()
        if self._read_at is None or now - self._read_at >= TOKEN_PERIOD:
            await self._read()
        return ClientIdentity(bearer_header(self._token), self._certificate)

    async def renew(self, refused: ClientIdentity) -> ClientIdentity | None:
        await self._read()
        fresh = ClientIdentity(bearer_header(self._token), self._certificate)
        return fresh if fresh != refused else None

    async def _read(self) -> None:
        try:
            text = (await asyncio.to_thread(self._path.read_text)).strip()
        except (OSError, UnicodeDecodeError) as error:
            self._keep(f'failed to read token file "{self._path}": {error}')
        else:
            if text:
                self._token = text
            else:
                self._keep(f'read empty token from file "{self._path}"')
        self._read_at = self._clock.monotonic()

    def _keep(self, problem: str) -> None:
        """Go on with the last token that was good; it may well outlive the trouble."""
        if not self._token:
            raise CredentialError(problem)
        log.warning("%s; going on with the last token", problem)


@dataclass(frozen=True, slots=True)
class Impersonation:
    """Somebody else to act as, if one may."""

    user: str = ""
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def headers(self) -> Pairs:
        if not self.user:
            return ()
        made = [("Impersonate-User", self.user)]
        if self.uid:
            made.append(("Impersonate-Uid", self.uid))
        made += [("Impersonate-Group", group) for group in self.groups]
        for key, values in self.extra.items():
            # What cannot stand in a header's name is written as in a URL.
            name = f"Impersonate-Extra-{quote(key, safe=_EXTRA_KEY)}"
            made += [(name, value) for value in values]
        return tuple(made)


def bearer_header(token: str) -> Pairs:
    return (("Authorization", f"Bearer {token}"),)


def basic_auth_header(username: str, password: str) -> Pairs:
    text = base64.b64encode(f"{username}:{password}".encode()).decode()
    return (("Authorization", f"Basic {text}"),)
