"""Service account tokens: issue and verify them.

A token is a signed JWT and is not stored. It is valid between its times, and while the account that
it names, and the secret that it may be bound to, still exist with the same UIDs. The signature of a
token is verified once and cached; everything that can change is checked for every request against
the watch cache, so the tokens of a deleted account are rejected as soon as the cache has the
deletion.
"""

import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from apiserver.auth.authentication import InvalidCredentials, RequestCredentials, token_digest
from apiserver.auth.token_keys import InvalidSignature, TokenKeys, unverified_issuer
from apiserver.auth.user import (
    AUTHENTICATED,
    CREDENTIAL_ID,
    User,
    service_account_groups,
    service_account_username,
)

LEEWAY: Final = 60.0
"""The tolerated clock skew, and the grace period of a deletion, in seconds."""
MAX_VERIFIED: Final = 4096
"""The maximum number of tokens whose verified claims are cached; evicts the least recently used."""

_PRIVATE: Final = "kubernetes.io"


class Reference(NamedTuple):
    """The name and UID of an object."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class ServiceAccountIdentity:
    """The UID of an account or secret, and its deletion time in seconds since the epoch."""

    uid: str
    deleted: float | None = None


class Identities(Protocol):
    """Looks up service accounts and secrets."""

    async def account(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None: ...

    async def secret(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        """Look up a secret; with *newest*, the lookup is linearizable."""


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """The user of a token, and those requested audiences that it is valid for."""

    user: User
    audiences: tuple[str, ...]


class ServiceAccountTokens:
    """Issues tokens for service accounts, and accepts them as bearer tokens.

    *issuers* are the accepted issuer names of the server, of which new tokens get the first;
    *audiences* are those that the server accepts.
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
        self._verified: OrderedDict[bytes, _Token] = OrderedDict()

    async def secret_uid(self, namespace: str, name: str) -> str | None:
        """Return the UID of the secret to bind a token to, None if it does not exist."""
        identity = await self._identities.secret(namespace, name, newest=True)
        return identity.uid if identity else None

    def issue(
        self,
        account: Reference,
        *,
        namespace: str,
        audiences: Sequence[str],
        seconds: int,
        secret: Reference | None = None,
    ) -> str:
        """Issue a token for an account, valid for *seconds* and while *secret* exists."""
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
                "sub": service_account_username(namespace, account.name),
            }
        )

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        text = credentials.token
        token = self._token(text, credentials.token_digest) if text else None
        verified = await self._check(token, self.audiences) if token else None
        return verified.user if verified else None

    async def verify(self, text: str, audiences: Sequence[str]) -> VerifiedToken | None:
        """Return the user and audiences of a token; None if the server did not issue it.

        Raises InvalidCredentials, with the reason, if the token is not valid or none of *audiences*
        is accepted by it.
        """
        token = self._token(text, token_digest(text))
        return await self._check(token, audiences) if token else None

    async def _check(self, token: "_Token", audiences: Sequence[str]) -> VerifiedToken:
        accepted = tuple(name for name in token.audiences if name in audiences)
        if not accepted:
            raise InvalidCredentials(
                f"token audiences {_quoted(token.audiences)} is invalid for the target audiences"
                f" {_quoted(audiences)}"
            )
        now = self._clock()
        token.check_times(now)
        await self._check_account(token, now)
        await self._check_secret(token, now)
        return VerifiedToken(token.user, accepted)

    def _token(self, text: str, digest: bytes) -> "_Token | None":
        verified = self._verified.get(digest)
        if verified is not None:
            self._verified.move_to_end(digest)
            return verified
        if unverified_issuer(text) not in self._issuers:
            return None
        try:
            token = _Token.of(self._keys.verify(text))
        except InvalidSignature as error:
            raise InvalidCredentials(str(error)) from None
        self._verified[digest] = token
        if len(self._verified) > MAX_VERIFIED:
            self._verified.popitem(last=False)
        return token

    async def _check_account(self, token: "_Token", now: float) -> None:
        namespace, (name, uid) = token.namespace, token.account
        identity = await self._identities.account(namespace, name, newest=False)
        if identity is None or identity.uid != uid:
            # The account may be newer than the cache: read the store.
            identity = await self._identities.account(namespace, name, newest=True)
        if identity is None:
            raise InvalidCredentials(f'serviceaccounts "{name}" not found')
        if _is_deleted(identity, now):
            raise InvalidCredentials(f"service account {namespace}/{name} has been deleted")
        if identity.uid != uid:
            raise InvalidCredentials(
                f"service account UID ({identity.uid}) does not match claim ({uid})"
            )

    async def _check_secret(self, token: "_Token", now: float) -> None:
        if token.secret is None:
            return
        namespace, (name, uid) = token.namespace, token.secret
        identity = await self._identities.secret(namespace, name, newest=False)
        if identity is None or identity.uid != uid:
            identity = await self._identities.secret(namespace, name, newest=True)
        if identity is None or _is_deleted(identity, now):
            raise InvalidCredentials("service account token has been invalidated")
        if identity.uid != uid:
            raise InvalidCredentials(
                f"secret UID ({identity.uid}) does not match"
                f" service account secret ref claim ({uid})"
            )


@dataclass(frozen=True, slots=True)
class _Token:
    """The claims of a token whose signature is verified."""

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
            namespace = _nonempty_string(private["namespace"])
            account = _reference(private["serviceaccount"])
            secret = private.get("secret")
            audiences = claims["aud"]
            token = cls(
                _user(namespace, account, claims.get("jti")),
                namespace,
                account,
                None if secret is None else _reference(secret),
                (audiences,)
                if isinstance(audiences, str)
                else tuple(map(_nonempty_string, audiences)),
                float(claims.get("iat", 0)),
                float(claims.get("nbf", 0)),
                float(claims["exp"]),
            )
        except (LookupError, TypeError, ValueError, AttributeError):
            raise InvalidCredentials("the token is not a service account token") from None
        if private.keys() & {"pod", "node", "validatingWebhook", "mutatingWebhook"}:
            # Such a token must become invalid with a kind of object that this server does not have.
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
    groups = (*service_account_groups(namespace), AUTHENTICATED)
    return User(service_account_username(namespace, account.name), account.uid, groups, extra)


def _reference(claim: Any) -> Reference:
    return Reference(_nonempty_string(claim["name"]), _nonempty_string(claim["uid"]))


def _nonempty_string(claim: Any) -> str:
    if not isinstance(claim, str) or not claim:
        raise TypeError("expected a non-empty string")
    return claim


def _is_deleted(identity: ServiceAccountIdentity, now: float) -> bool:
    return identity.deleted is not None and identity.deleted < now - LEEWAY


def _quoted(names: Sequence[str]) -> str:
    quoted = (f'"{name}"' for name in names)
    return f"[{' '.join(quoted)}]"
