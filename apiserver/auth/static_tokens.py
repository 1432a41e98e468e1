"""Bearer tokens: a fixed set, and those of a CSV file that may change while the server runs.

Tokens are looked up by their SHA-256, so neither the time a look-up takes nor a copy of the
server's memory says anything about one.
"""

import csv
import hashlib
import hmac
import io
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from apiserver.auth.authentication import InvalidCredentials, RequestCredentials
from apiserver.auth.user import User

log = logging.getLogger(__name__)

REREAD_INTERVAL: Final = 1.0
"""The least number of seconds between two looks at a token file."""


class InvalidTokenFile(Exception):
    """A token file cannot be used; the message names the file, the line and the rule."""


class TokenSet:
    """Tokens, each with its user."""

    def __init__(self, users: Mapping[str, User]) -> None:
        digests = {_digest(token): user for token, user in users.items()}
        self._users = {digest: (digest, user) for digest, user in digests.items()}

    def user_of(self, token: str) -> User | None:
        digest = _digest(token)
        known, user = self._users.get(digest, (b"", None))
        return user if hmac.compare_digest(known, digest) else None


class TokenAuthenticator:
    """Accepts a fixed set of bearer tokens."""

    def __init__(self, users: Mapping[str, User]) -> None:
        self._tokens = TokenSet(users)

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        return _accepted(self._tokens, credentials)


class TokenFileAuthenticator:
    """Accepts the tokens of a file, and follows it when it changes.

    A file that has become unreadable or malformed is reported, and the last good one counts.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._looked = clock()
        self._stamp = _stamp(path)
        self._tokens = TokenSet(read_tokens(path))

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        if credentials.authorization:
            self._follow()
        return _accepted(self._tokens, credentials)

    def _follow(self) -> None:
        now = self._clock()
        if now - self._looked < REREAD_INTERVAL:
            return
        self._looked = now
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._tokens = TokenSet(read_tokens(self._path))
        except InvalidTokenFile as error:
            log.error("%s; the tokens read before stay in force", error)
        else:
            log.info("read tokens again from %s", self._path)


def bearer_token(authorization: str) -> str | None:
    """The token of an Authorization header, None if it holds none."""
    scheme, _, rest = authorization.strip().partition(" ")
    if scheme.lower() != "bearer":
        return None
    # Two spaces make an empty token, which is none; what follows a third word is not looked at.
    return rest.partition(" ")[0] or None


def read_tokens(path: Path) -> dict[str, User]:
    """Read lines of token, user, uid and, optionally, groups in one field with commas."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidTokenFile(f"token file {path}: cannot be read: {error}") from error
    users: dict[str, User] = {}
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if row:
                _add(users, row, f"token file {path}: line {reader.line_num}")
    except csv.Error as error:
        raise InvalidTokenFile(f"token file {path}: line {reader.line_num}: {error}") from error
    return users


def _add(users: dict[str, User], row: list[str], where: str) -> None:
    if len(row) < 3:
        raise InvalidTokenFile(f"{where}: expected at least token, user and uid, got {len(row)}")
    token, name, uid = row[:3]
    if not token:
        log.warning("%s: has no token and is left out", where)
        return
    if not name:
        raise InvalidTokenFile(f"{where}: the user has no name")
    if token in users:
        log.warning("%s: the same token stood before; this line counts", where)
    groups = row[3].split(",") if len(row) > 3 and row[3] else []
    users[token] = User(name, uid, tuple(group.strip() for group in groups if group.strip()))


def _accepted(tokens: TokenSet, credentials: RequestCredentials) -> User | None:
    token = bearer_token(credentials.authorization)
    if token is None:
        return None
    user = tokens.user_of(token)
    if user is None:
        raise InvalidCredentials("invalid bearer token")
    return user


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
