"""Static bearer tokens: a fixed set, or a CSV file that is reloaded when it changes.

Tokens are looked up by their SHA-256 digest, so neither the duration of a lookup nor a dump of the
server's memory reveals a token.
"""

import csv
import hmac
import io
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from apiserver.auth.authentication import InvalidCredentials, RequestCredentials, token_digest
from apiserver.auth.user import User

log = logging.getLogger(__name__)

REREAD_INTERVAL: Final = 1.0
"""The minimum number of seconds between two checks of a token file."""


class InvalidTokenFile(Exception):
    """A token file is invalid; the message names the file, the line and the rule."""


class TokenSet:
    """Maps tokens to users."""

    def __init__(self, users: Mapping[str, User]) -> None:
        digests = {token_digest(token): user for token, user in users.items()}
        self._users = {digest: (digest, user) for digest, user in digests.items()}

    def find_user(self, digest: bytes) -> User | None:
        """Return the user of the token with this digest."""
        stored, user = self._users.get(digest, (b"", None))
        return user if hmac.compare_digest(stored, digest) else None


class TokenAuthenticator:
    """Accepts a fixed set of bearer tokens."""

    def __init__(self, users: Mapping[str, User]) -> None:
        self._tokens = TokenSet(users)

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        return _authenticate(self._tokens, credentials)


class TokenFileAuthenticator:
    """Accepts the tokens of a file, and reloads it when it changes.

    If the file becomes unreadable or malformed, this is logged and the last valid tokens stay in
    use.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._checked = clock()
        self._stamp = _stamp(path)
        self._tokens = TokenSet(read_tokens(path))

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        if credentials.authorization:
            self._reload_if_changed()
        return _authenticate(self._tokens, credentials)

    def _reload_if_changed(self) -> None:
        now = self._clock()
        if now - self._checked < REREAD_INTERVAL:
            return
        self._checked = now
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._tokens = TokenSet(read_tokens(self._path))
        except InvalidTokenFile as error:
            log.error("%s; keeping the tokens read before", error)
        else:
            log.info("reloaded the tokens of %s", self._path)


def read_tokens(path: Path) -> dict[str, User]:
    """Read a CSV file of token, user, UID and optional comma-separated groups.

    Raises InvalidTokenFile.
    """
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


def _add(users: dict[str, User], row: list[str], location: str) -> None:
    if len(row) < 3:
        raise InvalidTokenFile(f"{location}: expected at least token, user and uid, got {len(row)}")
    token, name, uid = row[:3]
    if not token:
        log.warning("%s: ignored, the token is empty", location)
        return
    if not name:
        raise InvalidTokenFile(f"{location}: the user name is empty")
    if token in users:
        log.warning("%s: duplicate token, this line replaces the earlier one", location)
    groups = row[3].split(",") if len(row) > 3 and row[3] else []
    users[token] = User(name, uid, tuple(group.strip() for group in groups if group.strip()))


def _authenticate(tokens: TokenSet, credentials: RequestCredentials) -> User | None:
    if credentials.token is None:
        return None
    user = tokens.find_user(credentials.token_digest)
    if user is None:
        raise InvalidCredentials("invalid bearer token")
    return user


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
