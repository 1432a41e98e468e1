"""WebhookServing: everything by which a manager offers its webhooks to servers.

Every replica serves and issues its certificate; only the leader writes configurations and replaces
the authority. What fails is logged and tried again: a webhook that answers with yesterday's
certificate is better than none.
"""

import logging
import os
from pathlib import Path
from typing import Final

from apimachinery.certificates import CertificateError
from apimachinery.errors import APIError
from client.client import AsyncClient
from client.errors import CredentialError
from client.monitoring.controller_metrics import MetricsSink
from client.runtime.clock import Clock
from client.webhooks.serving_certificates import (
    CertificateFolder,
    IssuedCertificates,
    ServingTLS,
)
from client.webhooks.webhook_authority import WebhookAuthority, announce, promote
from client.webhooks.webhook_configurations import WebhookConfigurations
from client.webhooks.webhook_routes import WebhookRoutes
from client.webhooks.webhook_server import WebhookServer
from client.webhooks.webhook_settings import WebhookSettings

log = logging.getLogger("apimachinery.controller.webhook")

CONFIGURATION_INTERVAL: Final = 300.0
"""Seconds after which the leader writes the configurations again, and looks at the authority."""
RETRY: Final = 5.0


class WebhookServing:
    """Serves the webhooks of one manager."""

    def __init__(
        self,
        client: AsyncClient,
        routes: WebhookRoutes,
        settings: WebhookSettings,
        *,
        name: str,
        clock: Clock,
        metrics: MetricsSink,
    ) -> None:
        self._clock = clock
        namespace = os.environ.get("POD_NAMESPACE", "") or client.config.namespace
        reach = settings.reach(namespace)
        self.configurations = WebhookConfigurations(client, name, routes, reach, settings)
        self._configures = settings.configure
        self._drain = settings.drain
        self._stopping = False
        self._tls = ServingTLS(metrics, client_ca=settings.client_ca)
        self._authority: WebhookAuthority | None = None
        self._certificates: CertificateFolder | IssuedCertificates
        if settings.certificates:
            self._certificates = CertificateFolder(Path(settings.certificates), self._tls)
        else:
            secret = settings.secret or f"{name}-webhook-certificates"
            owner = reach.namespace or namespace
            authority = WebhookAuthority(client, clock, namespace=owner, secret=secret)
            self._authority = authority
            self._certificates = IssuedCertificates(authority, reach.hosts, clock, self._tls)
        self._server = WebhookServer(settings.address, routes, self._tls.context)

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return self._server.port

    async def start(self) -> None:
        """Load a certificate and listen. Raises CertificateError, or an error of the client."""
        await self._certificates.refresh()
        await self._server.start()
        if self._authority is not None:
            state = await self._authority.load()
            try:
                await self.configurations.repair(state.bundle, state.signing.certificate)
            except _EXPECTED as error:
                log.warning("the webhook configurations were not checked: %s", error)

    async def stop(self) -> None:
        self._stopping = True
        if self._drain > 0 and self._server.is_serving:
            self._server.drain()
            await self._clock.sleep(self._drain)
        await self._server.stop()

    def check_alive(self) -> None:
        """Raise an exception if the server does not listen."""
        if not self._server.is_serving:
            raise RuntimeError("the webhook server does not listen")

    def check_ready(self) -> None:
        """Raise an exception if calls would fail."""
        self.check_alive()
        if self._stopping:
            raise RuntimeError("the webhook server is being stopped")
        expires = self._tls.expires
        if expires is None or expires <= self._clock.now():
            raise RuntimeError("the webhook server has no valid certificate")

    async def keep_certificates(self) -> None:
        """Renew the serving certificate in time; every replica does this."""
        while True:
            await self._clock.sleep(self._certificates.interval)
            try:
                await self._certificates.refresh()
            except _EXPECTED as error:
                log.error("the serving certificate was not renewed: %s", error)

    async def keep_configurations(self) -> None:
        """Write the configurations and replace the authority in time; the leader does this."""
        while True:
            try:
                await self._configure()
            except _EXPECTED as error:
                log.error("the webhook configurations were not written: %s", error)
                await self._clock.sleep(RETRY)
            else:
                await self._clock.sleep(CONFIGURATION_INTERVAL)

    async def _configure(self) -> None:
        authority = self._authority
        if authority is None:
            if self._configures:
                await self.configurations.apply()
            return
        state = await authority.load()
        if (announced := announce(state, self._clock.now())) != state:
            state = await authority.write(announced, state)
        await self.configurations.apply(state.bundle)
        # Only now: servers must trust an authority before it signs.
        if (promoted := promote(state, self._clock.now())) != state:
            log.info("another certificate authority signs from now on")
            await authority.write(promoted, state)


_EXPECTED: Final = (APIError, CredentialError, CertificateError, LookupError, OSError)
