"""Serving certificates of webhooks: loaded when the program starts, and again when they change.

A new certificate goes into the TLS context that the server already uses: it takes effect with the
next connection, and open connections are not disturbed.
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
        self.context = _server_context()
        self.expires: datetime | None = None
        """When the certificate expires; None before one is loaded."""
        self._metrics = metrics
        self._loaded: KeyPair | None = None
        if client_ca:
            self.context.load_verify_locations(cafile=client_ca)
            self.context.verify_mode = ssl.CERT_REQUIRED

    def load(self, pair: KeyPair) -> None:
        """Use another certificate from now on. Raises CertificateError."""
        if pair == self._loaded:
            return
        self._metrics.count(CERTIFICATE_READS, {})
        try:
            expires = parse_certificate(pair.certificate).not_valid_after_utc
            # Tried elsewhere first: half of a wrong pair would break the server.
            load_key_pair(_server_context(), pair.certificate, pair.key)
            load_key_pair(self.context, pair.certificate, pair.key)
        except (CertificateError, ssl.SSLError, ValueError, OSError) as error:
            self._metrics.count(CERTIFICATE_ERRORS, {})
            raise CertificateError(f"the serving certificate cannot be used: {error}") from None
        self._loaded, self.expires = pair, expires
        self._metrics.set(CERTIFICATE_EXPIRY, expires.timestamp(), {})
        log.info("serving with a certificate that expires %s", f"{expires:%Y-%m-%d %H:%M}")


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


def _server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
