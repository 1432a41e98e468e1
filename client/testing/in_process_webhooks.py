"""In-process webhooks: the server of a test calls the webhooks of its managers without sockets.

A manager registers its webhooks under a host of its own; the server's calls to this host become
calls of their routes, and all others go to the network. While the manager does not run, calls fail
as they do when nobody listens.
"""

import asyncio
from typing import Final

from apimachinery.errors import from_status
from apimachinery.fieldpath import quote
from apimachinery.meta.status import Status
from apimachinery.model.decoding import decode_json
from apimachinery.urls import MalformedURL, parse_url
from apiserver.webhook_call import MAX_ANSWER, WebhookCaller, WebhookCallError, WebhookTarget
from client.client import AsyncClient
from client.webhooks.webhook_configurations import WebhookConfigurations
from client.webhooks.webhook_routes import WebhookRequest, WebhookRoutes
from client.webhooks.webhook_settings import InvalidWebhookSettings, WebhookSettings

DOMAIN: Final = ".webhooks.test"


class InProcessWebhooks:
    """Implements `WebhookCaller` for the managers of one test."""

    def __init__(self) -> None:
        self._network: WebhookCaller | None = None
        self._replicas: dict[str, list[WebhookRoutes]] = {}

    def intercept(self, network: WebhookCaller) -> WebhookCaller:
        """Return this caller, which leaves the webhooks of others to *network*."""
        self._network = network
        return self

    def serve(self, host: str, routes: WebhookRoutes) -> None:
        """Answer the calls to a host, with the replicas that do already."""
        self._replicas.setdefault(host, []).append(routes)

    def end(self, host: str, routes: WebhookRoutes) -> None:
        """Let the other replicas answer; without any, the calls to a host fail."""
        if routes in self._replicas.get(host, ()):
            self._replicas[host].remove(routes)

    async def post(
        self,
        target: WebhookTarget,
        document: bytes,
        *,
        timeout: float,
        query: str = "",
        plugin: str = "",
        max_answer: int = MAX_ANSWER,
    ) -> bytes:
        try:
            url = parse_url(target.url)
        except MalformedURL:
            url = None
        if url is None or not url.host.endswith(DOMAIN):
            assert self._network is not None
            return await self._network.post(
                target,
                document,
                timeout=timeout,
                query=query,
                plugin=plugin,
                max_answer=max_answer,
            )
        shown = f"Post {quote(target.url + (f'?{query}' if query else ''))}"
        replicas = self._replicas.get(url.host)
        if not replicas:
            raise WebhookCallError(f"{shown}: dial tcp: connect: connection refused")
        routes = replicas[-1]

        async def read(limit: int) -> bytes:
            return document

        request = WebhookRequest("POST", url.path, query, "application/json", "the test's server")
        try:
            async with asyncio.timeout(timeout):
                answer = await routes.answer(request, read)
        except TimeoutError:
            raise WebhookCallError(f"{shown}: context deadline exceeded") from None
        if answer.code != 200:
            error = from_status(decode_json(Status, answer.body).object)
            raise WebhookCallError(error.message, status=error)
        return answer.body


class InProcessServing:
    """Offers the webhooks of a manager to the server of a test; takes the place of WebhookServing.

    The configurations are written, and known to the server, before the manager has started.
    """

    port = 0

    def __init__(
        self, client: AsyncClient, routes: WebhookRoutes, calls: InProcessWebhooks, *, name: str
    ) -> None:
        self._host = f"{name}{DOMAIN}"
        self._routes = routes
        self._calls = calls
        self._client = client
        settings = WebhookSettings(url=f"https://{self._host}")
        reach = settings.reach("")
        self._configurations = WebhookConfigurations(client, name, routes, reach, settings)

    async def start(self) -> None:
        self._calls.serve(self._host, self._routes)
        try:
            written = await self._configurations.apply()
        except LookupError as error:
            raise InvalidWebhookSettings(
                f"{error}: add apis.admissionregistration.install:ADMISSIONREGISTRATION to the"
                " groups of the test's server"
            ) from None
        for obj in written:
            # Answered from the cache that admission reads, once it is as new as this.
            resource = self._client.kind(obj.kind, obj.api_version)
            await resource.get(obj.metadata.name, resource_version=obj.metadata.resource_version)

    async def stop(self) -> None:
        self._calls.end(self._host, self._routes)

    def check_alive(self) -> None: ...

    def check_ready(self) -> None: ...

    async def keep_certificates(self) -> None: ...

    async def keep_configurations(self) -> None: ...
