"""Serving certificates of webhooks: loaded when the program starts, and again when they change.

A new certificate comes with a TLS context of its own, which the next connection gets; open
connections are not disturbed. A context that has loaded certificates with several types of keys
keeps one of each, so that the previous one would still be served beside another type.
"""

import logging
import ssl
from datetime import datetime
from pathlib import Path
from typing import Final

from apimachinery.certificates import (
    CertificateAuthority,
    CertificateError,
    KeyPair,
    needs_renewal,
    parse_certificate,
)
from client.monitoring.controller_metrics import MetricsSink
from client.monitoring.webhook_metrics import (
    CERTIFICATE_ERRORS,
    CERTIFICATE_EXPIRY,
    CERTIFICATE_READS,
)
from client.runtime.clock import Clock
from client.transport.tls import load_key_pair
from client.webhooks.webhook_authority import AuthorityState, WebhookAuthority

log = logging.getLogger("apimachinery.controller.webhook")

CERTIFICATE_FILE: Final = "tls.crt"
KEY_FILE: Final = "tls.key"


class ServingTLS:
    """The TLS context of a server, whose certificate can be replaced."""

    def __init__(self, metrics: MetricsSink, *, client_ca: str | Path = "") -> None:
        self.context = _server_context(client_ca)
        """That of the listening server; connections get the one of the newest certificate."""
        self.context.sni_callback = self._choose
        self.expires: datetime | None = None
        """When the certificate expires; None before one is loaded."""
        self._metrics = metrics
        self._client_ca = client_ca
        self._loaded: KeyPair | None = None
        self._newest: ssl.SSLContext | None = None

    def load(self, pair: KeyPair) -> None:
        """Use another certificate from now on. Raises CertificateError."""
        if pair == self._loaded:
            return
        self._metrics.count(CERTIFICATE_READS, {})
        try:
            expires = parse_certificate(pair.certificate).not_valid_after_utc
            newest = _server_context(self._client_ca)
            load_key_pair(newest, pair.certificate, pair.key)
        except (CertificateError, ssl.SSLError, ValueError, OSError) as error:
            self._metrics.count(CERTIFICATE_ERRORS, {})
            raise CertificateError(f"the serving certificate cannot be used: {error}") from None
        self._loaded, self.expires, self._newest = pair, expires, newest
        self._metrics.set(CERTIFICATE_EXPIRY, expires.timestamp(), {})
        log.info("serving with a certificate that expires %s", f"{expires:%Y-%m-%d %H:%M}")

    def _choose(self, connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        """Give a connection its certificate; called in each handshake, with a name or without."""
        if self._newest is not None:
            connection.context = self._newest


class CertificateFolder:
    """Certificates that another program writes to a folder, such as cert-manager."""

    interval = 10.0
    """Seconds between two looks."""

    def __init__(self, folder: Path, tls: ServingTLS) -> None:
        self._folder = folder
        self._tls = tls

    async def refresh(self) -> None:
        """Load the files if they have changed. Raises CertificateError."""
        try:
            certificate = (self._folder / CERTIFICATE_FILE).read_bytes()
            key = (self._folder / KEY_FILE).read_bytes()
        except OSError as error:
            raise CertificateError(f"the serving certificate cannot be read: {error}") from None
        self._tls.load(KeyPair(certificate, key))


class IssuedCertificates:
    """Certificates by the authority of the program: each replica issues its own, in memory."""

    interval = 60.0

    def __init__(
        self, authority: WebhookAuthority, hosts: tuple[str, ...], clock: Clock, tls: ServingTLS
    ) -> None:
        self.authority = authority
        self._hosts = hosts
        self._clock = clock
        self._tls = tls
        self._pair: KeyPair | None = None

    async def refresh(self) -> None:
        """Issue another certificate if it is time for one, or if another authority signs.

        Raises CertificateError, or an error of the client.
        """
        self.issue(await self.authority.load())

    def issue(self, state: AuthorityState) -> None:
        """Issue another certificate by this state of the authority, if it is time for one."""
        now, authority = self._clock.now(), CertificateAuthority.load(state.signing)
        pair = self._pair
        if pair is None or needs_renewal(pair.certificate, authority, self._hosts, now=now):
            pair = authority.issue_serving(self._hosts, now=now)
        self._tls.load(pair)
        self._pair = pair


def _server_context(client_ca: str | Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if client_ca:
        context.load_verify_locations(cafile=client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
