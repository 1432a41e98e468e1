"""Credentials: the headers and the client certificate that authenticate each request.

They may change during the lifetime of a client: a token file is rotated, a token of an exec plugin
expires. The sender therefore obtains the current identity for every request, and renews it when
the server responds with 401.
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
_HEADER_NAME_SYMBOLS: Final = "!#$&'*+-.^_`|~"
"""The symbols that RFC 9110 permits in a header name, except `%`, which starts an escape."""


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """The headers and the client certificate that authenticate one request."""

    headers: Pairs = ()
    certificate: ClientCertificate | None = None

    def __repr__(self) -> str:
        return f"Identity({', '.join(name for name, _ in self.headers)})"


class Credentials(Protocol):
    """Provides the identity for each request."""

    async def identity(self) -> ClientIdentity:
        """Return the current identity; raises CredentialError if there is none."""

    async def renew(self, refused: ClientIdentity) -> ClientIdentity | None:
        """Return a new identity after a 401 for *refused*, or None if there is no other."""


class StaticCredentials:
    """An identity that never changes."""

    def __init__(self, identity: ClientIdentity) -> None:
        self._identity = identity

    async def identity(self) -> ClientIdentity:
        return self._identity

    async def renew(self, refused: ClientIdentity) -> ClientIdentity | None:
        return None


class AnonymousCredentials(StaticCredentials):
    """No credentials: the server treats the client as system:anonymous."""

    def __init__(self) -> None:
        super().__init__(ClientIdentity())


class TokenFileCredentials:
    """A bearer token in a file that is rotated, such as a pod's service account token."""

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
        renewed = ClientIdentity(bearer_header(self._token), self._certificate)
        return renewed if renewed != refused else None

    async def _read(self) -> None:
        try:
            text = (await asyncio.to_thread(self._path.read_text)).strip()
        except (OSError, UnicodeDecodeError) as error:
            self._keep_token(f'failed to read token file "{self._path}": {error}')
        else:
            if text:
                self._token = text
            else:
                self._keep_token(f'read empty token from file "{self._path}"')
        self._read_at = self._clock.monotonic()

    def _keep_token(self, problem: str) -> None:
        """Keep using the last token, which may still be valid; raise if there is none."""
        if not self._token:
            raise CredentialError(problem)
        log.warning("%s; continuing with the last token", problem)


@dataclass(frozen=True, slots=True)
class Impersonation:
    """The user to impersonate, which requires the permission to do so."""

    user: str = ""
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def headers(self) -> Pairs:
        if not self.user:
            return ()
        headers = [("Impersonate-User", self.user)]
        if self.uid:
            headers.append(("Impersonate-Uid", self.uid))
        headers += [("Impersonate-Group", group) for group in self.groups]
        for key, values in self.extra.items():
            # Characters that are not valid in a header name are percent-encoded.
            name = f"Impersonate-Extra-{quote(key, safe=_HEADER_NAME_SYMBOLS)}"
            headers += [(name, value) for value in values]
        return tuple(headers)


def bearer_header(token: str) -> Pairs:
    return (("Authorization", f"Bearer {token}"),)


def basic_auth_header(username: str, password: str) -> Pairs:
    text = base64.b64encode(f"{username}:{password}".encode()).decode()
    return (("Authorization", f"Basic {text}"),)
