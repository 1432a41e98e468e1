"""Tokens of users: signed, good for a while, and kept nowhere.

Where a client certificate does not get through (a proxy that ends TLS, plain HTTP) a user needs a
token. It says who its bearer is and until when, under a signature by the server's own secret: no
list of tokens has to be kept, and a new secret ends all of them.
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
from apiserver.auth.static_tokens import bearer_token
from apiserver.auth.user import User
from apiserver.auth.x509 import CREDENTIAL_ID

PREFIX: Final = "apiserver."
_PURPOSE: Final = b"tokens of users, version 1"


def _utc_now() -> datetime:
    return datetime.now(UTC)


def signing_key(secret: str) -> bytes:
    """The key that belongs to a secret; who has it can become anybody."""
    return hmac.digest(secret.encode(), _PURPOSE, hashlib.sha256)


def issue_token(key: bytes, user: str, groups: tuple[str, ...], *, expires: datetime) -> str:
    """A token by which its bearer is *user* until then."""
    claims = {
        "user": user,
        "groups": groups,
        "expires": int(expires.timestamp()),
        "id": secrets.token_hex(8),
    }
    payload = _encoded(orjson.dumps(claims))
    return f"{PREFIX}{payload}.{_signature(key, payload)}"


class SignedTokenAuthenticator:
    """Accepts what `issue_token` has made with the same key, until its end."""

    def __init__(self, key: bytes, *, clock: Callable[[], datetime] = _utc_now) -> None:
        self._key = key
        self._clock = clock

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        token = bearer_token(credentials.authorization)
        if token is None or not token.startswith(PREFIX):
            return None
        payload, _, signature = token.removeprefix(PREFIX).partition(".")
        expected = _signature(self._key, payload)
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode()):
            raise InvalidCredentials("the token is not one of this server's")
        claims = _claims(payload)
        if claims["expires"] <= self._clock().timestamp():
            raise InvalidCredentials("the token has expired")
        return User(
            claims["user"],
            groups=tuple(claims["groups"]),
            extra={CREDENTIAL_ID: (f"JTI={claims['id']}",)},
        )


def _claims(payload: str) -> dict[str, Any]:
    """What a token says; its signature is right, so that it is as it was made."""
    try:
        claims: dict[str, Any] = orjson.loads(base64.urlsafe_b64decode(payload + "=="))
    except (binascii.Error, ValueError) as error:
        raise InvalidCredentials("the token cannot be read") from error
    return claims


def _signature(key: bytes, payload: str) -> str:
    text = payload.encode("utf-8", "surrogateescape")
    return _encoded(hmac.digest(key, text, hashlib.sha256))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
