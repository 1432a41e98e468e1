"""The certificate authority of webhooks: one for all replicas of a program, kept in a Secret.

It is replaced long before it expires, in steps that never refuse a call: the next authority is
announced in the bundle that servers trust; once they all have it, it signs; and the previous one
stays in the bundle until it expires, for the replicas that have not noticed yet.
"""

import base64
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from apimachinery.certificates import (
    CLOCK_SKEW,
    CertificateAuthority,
    CertificateError,
    KeyPair,
    drop_expired,
    parse_certificate,
)
from apimachinery.errors import AlreadyExists, Conflict, NotFound
from apimachinery.meta.unstructured import Unstructured
from client.client import AsyncClient
from client.interface import ResourceClient
from client.runtime.clock import Clock

log = logging.getLogger("apimachinery.controller.webhook")

RENEWAL: Final = timedelta(days=730)
"""The next authority is announced when the present one has less time left than this: longer than
the life of the certificates that it has signed."""
PROPAGATION: Final = timedelta(hours=1)
"""Time between the announcement of an authority and its first signature."""


@dataclass(frozen=True, slots=True)
class AuthorityState:
    """The content of the Secret."""

    signing: KeyPair
    bundle: bytes
    """The PEM certificates that servers trust, that of the signing authority first."""
    next: KeyPair | None = None
    """The announced authority."""

    @property
    def announced_at(self) -> datetime | None:
        if self.next is None:
            return None
        return parse_certificate(self.next.certificate).not_valid_before_utc + CLOCK_SKEW


def first_state(now: datetime, *, trusted: bytes = b"") -> AuthorityState:
    """Return a new authority; *trusted* certificates stay in the bundle."""
    pair = _new_authority(now)
    return AuthorityState(pair, _bundle(now, pair.certificate, trusted))


def announce(state: AuthorityState, now: datetime) -> AuthorityState:
    """Return the state with a next authority, if it is time to announce one.

    Certificates that have expired leave the bundle.
    """
    signing = CertificateAuthority.load(state.signing)
    if state.next is None and signing.not_after - now < RENEWAL:
        state = replace(state, next=_new_authority(now))
    announced = state.next.certificate if state.next is not None else b""
    return replace(state, bundle=_bundle(now, state.signing.certificate, announced, state.bundle))


def promote(state: AuthorityState, now: datetime) -> AuthorityState:
    """Return the state in which the next authority signs, if servers have known it long enough."""
    announced_at = state.announced_at
    if state.next is None or announced_at is None or now - announced_at < PROPAGATION:
        return state
    return AuthorityState(state.next, _bundle(now, state.next.certificate, state.bundle))


def to_data(state: AuthorityState) -> dict[str, str]:
    """Return the `data` of the Secret."""
    parts = {
        "ca.crt": state.bundle,
        "signing.crt": state.signing.certificate,
        "signing.key": state.signing.key,
    }
    if state.next is not None:
        parts.update({"next.crt": state.next.certificate, "next.key": state.next.key})
    return {name: base64.b64encode(value).decode() for name, value in parts.items()}


def from_data(data: Mapping[str, str]) -> AuthorityState:
    """Return the state in the `data` of the Secret. Raises CertificateError."""
    try:
        parts = {name: base64.b64decode(value, validate=True) for name, value in data.items()}
        following = None
        if "next.crt" in parts:
            following = KeyPair(parts["next.crt"], parts["next.key"])
            CertificateAuthority.load(following)
        state = AuthorityState(
            KeyPair(parts["signing.crt"], parts["signing.key"]), parts["ca.crt"], following
        )
    except (KeyError, ValueError, TypeError) as error:
        raise CertificateError(f"the Secret has no authority: {error!r}") from None
    CertificateAuthority.load(state.signing)
    return state


class WebhookAuthority:
    """The authority in its Secret, which any replica may read and write.

    Two replicas that write at the same time agree by the resourceVersion: the second one reads
    what the first one wrote.
    """

    def __init__(self, client: AsyncClient, clock: Clock, *, namespace: str, secret: str) -> None:
        self.namespace = namespace
        self.secret = secret
        self._client = client
        self._clock = clock
        self._state: AuthorityState | None = None

    async def load(self) -> AuthorityState:
        """Return the state in the Secret, which is created if it does not exist.

        A Secret that was deleted is restored, so that servers need not trust another authority.
        """
        while True:
            try:
                stored = await self._secrets().get(self.secret)
            except NotFound:
                state = self._usable(self._state) or first_state(self._clock.now())
                try:
                    await self._secrets().create(self._document(state))
                except AlreadyExists:
                    continue
                self._state = state
                return state
            found = await self._read(stored)
            if found is not None:
                self._state = found
                return found

    async def write(self, state: AuthorityState, previous: AuthorityState) -> AuthorityState:
        """Write a change of *previous*, and return what the Secret contains then."""
        stored = await self._secrets().get(self.secret)
        if _try_read(stored) == previous:
            stored["data"] = to_data(state)
            try:
                await self._secrets().update(stored)
            except Conflict:
                log.debug("another replica has changed Secret %s", self.secret)
        return await self.load()

    async def _read(self, stored: Unstructured) -> AuthorityState | None:
        """Return the state of a Secret; replace one that is unusable, and return None then."""
        state = _try_read(stored)
        if self._usable(state):
            return state
        log.warning("Secret %s has no usable authority: a new one is created", self.secret)
        trusted = state.bundle if state is not None else b""
        stored["data"] = to_data(first_state(self._clock.now(), trusted=trusted))
        try:
            await self._secrets().update(stored)
        except (Conflict, NotFound):
            log.debug("another replica has changed Secret %s", self.secret)
        return None

    def _usable(self, state: AuthorityState | None) -> AuthorityState | None:
        if state is None:
            return None
        expires = CertificateAuthority.load(state.signing).not_after
        return state if expires > self._clock.now() else None

    def _secrets(self) -> ResourceClient[Unstructured]:
        return self._client.kind("Secret", "v1", namespace=self.namespace)

    def _document(self, state: AuthorityState) -> dict[str, object]:
        return {"metadata": {"name": self.secret}, "type": "Opaque", "data": to_data(state)}


def _try_read(stored: Unstructured) -> AuthorityState | None:
    try:
        return from_data(stored.get("data") or {})
    except CertificateError as error:
        log.debug("%s", error)
        return None


def _new_authority(now: datetime) -> KeyPair:
    return CertificateAuthority.create(now=now, name="webhook-ca").pair


def _bundle(now: datetime, *parts: bytes) -> bytes:
    """Join certificates, each once, without those that have expired."""
    separator = b"-----END CERTIFICATE-----\n"
    certificates = dict.fromkeys(
        certificate + separator
        for part in parts
        for certificate in drop_expired(part, now=now).split(separator)
        if certificate.strip()
    )
    return b"".join(certificates)
