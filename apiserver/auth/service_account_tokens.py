"""Tokens of service accounts: making them, and knowing whose one is.

A token is a signed statement and is stored nowhere. It is believed while its times hold and while
the account it speaks of, and the secret it may be bound to, are still those that it was made for.
The signature of a token is checked once and remembered; everything that can change is looked at for
every request, in the watch cache, so a deleted account is out as soon as the cache knows.
"""

import hashlib
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from apiserver.auth.authentication import InvalidCredentials, RequestCredentials
from apiserver.auth.static_tokens import bearer_token
from apiserver.auth.token_keys import InvalidSignature, TokenKeys, unverified_issuer
from apiserver.auth.user import AUTHENTICATED, User
from apiserver.auth.x509 import CREDENTIAL_ID

ALL_ACCOUNTS: Final = "system:serviceaccounts"
LEEWAY: Final = 60.0
"""How far clocks may be apart, and how long ago a deletion may have begun, in seconds."""
REMEMBERED: Final = 4096
"""Tokens whose signatures are known; the one longest unused is forgotten for another."""

_PRIVATE: Final = "kubernetes.io"


class Reference(NamedTuple):
    """An object by its name, and which of those that had the name."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class ServiceAccountIdentity:
    """Which object there is, and since when it is being deleted, in seconds of the epoch."""

    uid: str
    deleted: float | None = None


class Identities(Protocol):
    """Finds accounts and secrets."""

    async def account(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None: ...

    async def secret(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        """The object that has this name; with *newest* no write that was acknowledged is missed."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """Whose token it is, and which of those who were asked for it is meant for."""

    user: User
    audiences: tuple[str, ...]


class ServiceAccountTokens:
    """Makes tokens of service accounts, and accepts them as bearer tokens.

    *issuers* are the names that are accepted for the server, the first is written into new tokens;
    *audiences* are whom a token must be meant for to be accepted here.
    """

    def __init__(
        self,
        keys: TokenKeys,
        identities: Identities,
        *,
        issuers: Sequence[str],
        audiences: Sequence[str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.audiences = tuple(audiences)
        self._keys = keys
        self._identities = identities
        self._issuer = issuers[0]
        self._issuers = frozenset(issuers)
        self._clock = clock
        self._known: OrderedDict[bytes, _Token] = OrderedDict()

    async def secret_uid(self, namespace: str, name: str) -> str | None:
        """The uid of a secret that a token is to be bound to, None if there is no such secret."""
        found = await self._identities.secret(namespace, name, newest=True)
        return found.uid if found else None

    def issue(
        self,
        account: Reference,
        *,
        namespace: str,
        audiences: Sequence[str],
        seconds: int,
        secret: Reference | None = None,
    ) -> str:
        """A token of an account that is good for some time, and as long as *secret* exists."""
        now = int(self._clock())
        private: dict[str, Any] = {"namespace": namespace, "serviceaccount": account._asdict()}
        if secret is not None:
            private["secret"] = secret._asdict()
        return self._keys.sign(
            {
                "aud": list(audiences),
                "exp": now + seconds,
                "iat": now,
                "iss": self._issuer,
                "jti": str(uuid.uuid4()),
                _PRIVATE: private,
                "nbf": now,
                "sub": username(namespace, account.name),
            }
        )

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        token = bearer_token(credentials.authorization)
        found = await self.recognise(token, self.audiences) if token else None
        return found.user if found else None

    async def recognise(self, text: str, audiences: Sequence[str]) -> Recognised | None:
        """Whose token it is, if it is meant for one of *audiences*; None for other tokens.

        Raises InvalidCredentials, with the reason, for one that is not good or not any more.
        """
        token = self._token(text)
        if token is None:
            return None
        meant = tuple(each for each in token.audiences if each in audiences)
        if not meant:
            raise InvalidCredentials(
                f"token audiences {_quoted(token.audiences)} is invalid for the target audiences"
                f" {_quoted(audiences)}"
            )
        now = self._clock()
        token.check_times(now)
        await self._check_account(token, now)
        await self._check_secret(token, now)
        return Recognised(token.user, meant)

    def _token(self, text: str) -> "_Token | None":
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
        known = self._known.get(digest)
        if known is not None:
            self._known.move_to_end(digest)
            return known
        if unverified_issuer(text) not in self._issuers:
            return None
        try:
            token = _Token.of(self._keys.claims_of(text))
        except InvalidSignature as error:
            raise InvalidCredentials(str(error)) from None
        self._known[digest] = token
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return token

    async def _check_account(self, token: "_Token", now: float) -> None:
        namespace, (name, uid) = token.namespace, token.account
        found = await self._identities.account(namespace, name, newest=False)
        if found is None or found.uid != uid:
            # It may be so new that the cache has not heard of it.
            found = await self._identities.account(namespace, name, newest=True)
        if found is None:
            raise InvalidCredentials(f'serviceaccounts "{name}" not found')
        if _is_gone(found, now):
            raise InvalidCredentials(f"service account {namespace}/{name} has been deleted")
        if found.uid != uid:
            raise InvalidCredentials(
                f"service account UID ({found.uid}) does not match claim ({uid})"
            )

    async def _check_secret(self, token: "_Token", now: float) -> None:
        if token.secret is None:
            return
        namespace, (name, uid) = token.namespace, token.secret
        found = await self._identities.secret(namespace, name, newest=False)
        if found is None or found.uid != uid:
            found = await self._identities.secret(namespace, name, newest=True)
        if found is None or _is_gone(found, now):
            raise InvalidCredentials("service account token has been invalidated")
        if found.uid != uid:
            raise InvalidCredentials(
                f"secret UID ({found.uid}) does not match service account secret ref claim ({uid})"
            )


def username(namespace: str, name: str) -> str:
    """What the user is called that an account is."""
    return f"system:serviceaccount:{namespace}:{name}"


@dataclass(frozen=True, slots=True)
class _Token:
    """A token whose signature is genuine, and what it says."""

    user: User
    namespace: str
    account: Reference
    secret: Reference | None
    audiences: tuple[str, ...]
    issued: float
    not_before: float
    expires: float

    @classmethod
    def of(cls, claims: Mapping[str, Any]) -> "_Token":
        try:
            private = claims[_PRIVATE]
            namespace = _text(private["namespace"])
            account = _reference(private["serviceaccount"])
            secret = private.get("secret")
            audiences = claims["aud"]
            token = cls(
                _user(namespace, account, claims.get("jti")),
                namespace,
                account,
                None if secret is None else _reference(secret),
                (audiences,) if isinstance(audiences, str) else tuple(map(_text, audiences)),
                float(claims.get("iat", 0)),
                float(claims.get("nbf", 0)),
                float(claims["exp"]),
            )
        except (LookupError, TypeError, ValueError, AttributeError):
            raise InvalidCredentials("the token is not one of a service account") from None
        if private.keys() & {"pod", "node", "validatingWebhook", "mutatingWebhook"}:
            # Whoever signed it meant it to end with something that does not exist here.
            raise InvalidCredentials("service account token has been invalidated")
        return token

    def check_times(self, now: float) -> None:
        if now - LEEWAY > self.expires:
            raise InvalidCredentials("service account token has expired")
        if now + LEEWAY < self.not_before:
            raise InvalidCredentials("service account token is not valid yet")
        if now + LEEWAY < self.issued:
            raise InvalidCredentials(
                "service account token claims could not be validated due to unexpected"
                " validation error"
            )


def _user(namespace: str, account: Reference, credential: Any) -> User:
    extra = {CREDENTIAL_ID: (f"JTI={credential}",)} if isinstance(credential, str) else {}
    groups = (ALL_ACCOUNTS, f"{ALL_ACCOUNTS}:{namespace}", AUTHENTICATED)
    return User(username(namespace, account.name), account.uid, groups, extra)


def _reference(claim: Any) -> Reference:
    return Reference(_text(claim["name"]), _text(claim["uid"]))


def _text(claim: Any) -> str:
    if not isinstance(claim, str) or not claim:
        raise TypeError("expected a text")
    return claim


def _is_gone(found: ServiceAccountIdentity, now: float) -> bool:
    return found.deleted is not None and found.deleted < now - LEEWAY


def _quoted(names: Sequence[str]) -> str:
    quoted = (f'"{name}"' for name in names)
    return f"[{' '.join(quoted)}]"
