"""User tokens: signed bearer tokens that expire and are not stored.

For users whose client certificate does not reach the server (a proxy that terminates TLS, plain
HTTP). A token names its user and expiry, signed with the server's secret: no list of tokens has to
be kept, and a new secret revokes all of them.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from apiserver.auth.authentication import InvalidCredentials, RequestCredentials
from apiserver.auth.user import CREDENTIAL_ID, User

PREFIX: Final = "apiserver."
_PURPOSE: Final = b"tokens of users, version 1"


def _utc_now() -> datetime:
    return datetime.now(UTC)


def signing_key(secret: str) -> bytes:
    """Derive the signing key from a secret; its holder can impersonate any user."""
    return hmac.digest(secret.encode(), _PURPOSE, hashlib.sha256)


def issue_token(key: bytes, user: str, groups: tuple[str, ...], *, expires: datetime) -> str:
    """Issue a token for *user*, valid until *expires*."""
    claims = {
        "user": user,
        "groups": groups,
        "expires": int(expires.timestamp()),
        "id": secrets.token_hex(8),
    }
    payload = _encode_base64(orjson.dumps(claims))
    return f"{PREFIX}{payload}.{_signature(key, payload)}"


class SignedTokenAuthenticator:
    """Accepts tokens that `issue_token` created with the same key, until they expire."""

    def __init__(self, key: bytes, *, clock: Callable[[], datetime] = _utc_now) -> None:
        self._key = key
        self._clock = clock

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        token = credentials.token
        if token is None or not token.startswith(PREFIX):
            return None
        payload, _, signature = token.removeprefix(PREFIX).partition(".")
        expected = _signature(self._key, payload)
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode()):
            raise InvalidCredentials("the token was not issued by this server")
        claims = _claims(payload)
        if claims["expires"] <= self._clock().timestamp():
            raise InvalidCredentials("the token has expired")
        return User(
            claims["user"],
            groups=tuple(claims["groups"]),
            extra={CREDENTIAL_ID: (f"JTI={claims['id']}",)},
        )


def _claims(payload: str) -> dict[str, Any]:
    """Decode the claims of a token whose signature is verified."""
    try:
        claims: dict[str, Any] = orjson.loads(base64.urlsafe_b64decode(payload + "=="))
    except (binascii.Error, ValueError) as error:
        raise InvalidCredentials("the token cannot be decoded") from error
    return claims


def _signature(key: bytes, payload: str) -> str:
    text = payload.encode("utf-8", "surrogateescape")
    return _encode_base64(hmac.digest(key, text, hashlib.sha256))


def _encode_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
