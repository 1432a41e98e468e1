"""WebhookConnections: calls webhooks over HTTPS, on connections that are kept alive.

Each address with its CA certificates has connections of its own. Their number is bounded, and so
is that of the calls that wait for one, which the server rejects when there are too many: a slow
webhook delays only the requests that it must see. Addresses that are not used any more are
forgotten, the longest unused first.
"""

import asyncio
import posixpath
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote as percent_encode
from urllib.parse import unquote

from apimachinery.fieldpath import quote
from apimachinery.urls import MalformedURL, ParsedURL, parse_url
from apiserver.controlplane.webhook_calls.webhook_services import NoServiceAddress, ServiceAddresses
from apiserver.controlplane.webhook_calls.webhook_transport_errors import (
    DEADLINE_EXCEEDED,
    go_message,
)
from apiserver.webhook_call import (
    MAX_ANSWER,
    UnusableTarget,
    WebhookCallError,
    WebhookService,
    WebhookTarget,
)
from client.auth.auth_info import AuthInfo
from client.config import Config
from client.errors import ConfigError, CredentialError
from client.transport.error_responses import error_from_response
from client.transport.request import Request
from client.transport.retry import MAX_RETRIES, retry_delay_after_response
from client.transport.tls import TLS
from client.transport.transport import Headers, Response, TransportError

if TYPE_CHECKING:
    pass

CONNECTIONS: Final = 64
"""Connections to one address, and so calls at a time."""
WAITING: Final = 1024
"""Calls that wait for a connection to one address."""
ADDRESSES: Final = 200
"""Addresses whose connections are kept."""
CONNECT_TIMEOUT: Final = 30.0
LONGEST_MESSAGE: Final = 10_000
"""Characters of the message of a webhook's error, which is logged for every call."""
USER_AGENT: Final = "kube-apiserver-admission"

_HEADERS: Final = (
    ("User-Agent", USER_AGENT),
    ("Accept", "application/json, */*"),
    ("Content-Type", "application/json"),
)
_UNESCAPED: Final = "/:@!$&'()*+,;=~-._"


class WebhookUsers(Protocol):
    """The configured credentials of one admission plugin."""

    def user_of(self, host: str) -> AuthInfo:
        """Return the credentials for `host:port`. Raises ConfigError."""


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """An address to connect to, and what the TLS and HTTP of the connection name."""

    address: str
    """`host:port`, where the port may be missing."""
    server_name: str
    """The name in the certificate if it is not that of the address."""
    ca_bundle: bytes
    plugin: str
    host: str
    """`host:port` as credentials are configured for it."""
    trusts_environment: bool
    """Whether to use the proxy of the environment."""

    @property
    def dialed(self) -> str:
        return self.address if self.server_name else self.host

    @property
    def verified_name(self) -> str:
        return self.server_name or self.host.rpartition(":")[0].strip("[]")


class _Connections:
    """The connections to one endpoint."""

    def __init__(self, endpoint: _Endpoint, user: AuthInfo) -> None:
        # Imported late: a server without webhooks needs no HTTP client.
        from client.transport.network import NetworkTransport

        self.calls = 0
        self.credentials = user.credentials()
        self._places = asyncio.Semaphore(CONNECTIONS)
        config = Config(
            f"https://{endpoint.address}",
            tls=TLS(ca=endpoint.ca_bundle, server_name=endpoint.server_name),
            trust_env=endpoint.trusts_environment,
            disable_compression=True,
            connect_timeout=CONNECT_TIMEOUT,
        )
        self.transport: NetworkTransport = NetworkTransport(config, redirects=False)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for one of the connections."""
        if self.calls >= CONNECTIONS + WAITING:
            raise WebhookCallError(f"{WAITING} calls are already waiting for a connection")
        self.calls += 1
        try:
            async with self._places:
                yield
        finally:
            self.calls -= 1


class WebhookConnections:
    """Implements `WebhookCaller` on the transport of the client."""

    def __init__(
        self, services: ServiceAddresses, *, users: Mapping[str, WebhookUsers] | None = None
    ) -> None:
        """*users* are the configured credentials by the name of the plugin."""
        self._services = services
        self._users = users or {}
        self._connections: OrderedDict[_Endpoint, _Connections] = OrderedDict()

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
        """Post a JSON document and return the answer. Raises WebhookCallError."""
        url = _url_of(target)
        path = _path(url.path)
        shown = f"https://{url.host}{path}" + (f"?{query}" if query else "")
        request = Request(
            "create",
            "POST",
            f"{path}?{query}" if query else path,
            headers=(*_HEADERS, ("Host", url.host)),
            body=document,
        )
        call = _Call(request, shown, max_answer)
        try:
            async with asyncio.timeout(timeout):
                endpoint = await self._endpoint(target, url, plugin, shown)
                connections = await self._connections_to(endpoint)
                async with connections.place():
                    return await call.send(connections, endpoint)
        except TimeoutError as error:
            if isinstance(error, TransportError):
                raise
            raise call.error(DEADLINE_EXCEEDED) from None

    async def aclose(self) -> None:
        """Close every connection."""
        while self._connections:
            _, connections = self._connections.popitem()
            await connections.transport.aclose()

    async def _endpoint(
        self, target: WebhookTarget, url: ParsedURL, plugin: str, shown: str
    ) -> _Endpoint:
        service = target.service
        if service is None:
            host = url.host if _has_port(url.host) else f"{url.host}:443"
            return _Endpoint(url.host, "", target.ca_bundle, plugin, host, True)
        try:
            address = await self._services.resolve(service)
        except NoServiceAddress as error:
            raise WebhookCallError(f"Post {quote(shown)}: {error}") from None
        return _Endpoint(str(address), service.host, target.ca_bundle, plugin, url.host, False)

    async def _connections_to(self, endpoint: _Endpoint) -> _Connections:
        known = self._connections.get(endpoint)
        if known is not None:
            self._connections.move_to_end(endpoint)
            return known
        users = self._users.get(endpoint.plugin)
        try:
            user = users.user_of(endpoint.host) if users else AuthInfo()
            opened = self._connections[endpoint] = _Connections(endpoint, user)
        except ConfigError as error:
            raise UnusableTarget(str(error)) from None
        await self._forget_unused()
        return opened

    async def _forget_unused(self) -> None:
        surplus = len(self._connections) - ADDRESSES
        unused = [key for key, known in self._connections.items() if not known.calls][:-1]
        for key in unused[: max(surplus, 0)]:
            await self._connections.pop(key).transport.aclose()


class _Call:
    """One call, with as many attempts as the webhook asks for."""

    def __init__(self, request: Request, url: str, max_answer: int) -> None:
        self._request = request
        self._url = url
        self._max_answer = max_answer
        self._answering = False

    def error(self, reason: str) -> WebhookCallError:
        """Return the error of a call that ended before the answer was complete."""
        if self._answering:
            return WebhookCallError(
                "unexpected error when reading response body. Please retry."
                f" Original error: {reason}"
            )
        return WebhookCallError(f"Post {quote(self._url)}: {reason}")

    async def send(self, connections: _Connections, endpoint: _Endpoint) -> bytes:
        for attempt in range(MAX_RETRIES + 1):
            self._answering = False
            status, headers, body = await self._exchange(connections, endpoint)
            if 200 <= status <= 206:
                return self._checked(status, headers, body)
            delay = retry_delay_after_response(status, headers)
            if delay is None or attempt == MAX_RETRIES:
                error = error_from_response(self._request, status, headers, body)
                raise WebhookCallError(error.message[:LONGEST_MESSAGE], status=error)
            await asyncio.sleep(delay)
        raise AssertionError("the last attempt has returned or raised")

    async def _exchange(
        self, connections: _Connections, endpoint: _Endpoint
    ) -> tuple[int, Headers, bytes]:
        transport = connections.transport
        try:
            identity = await connections.credentials.identity()
            await transport.prepare(identity.certificate)
        except ConfigError as error:
            raise UnusableTarget(_certificate_problem(error)) from None
        except CredentialError as error:
            raise self.error(str(error)) from None
        try:
            request = self._request.with_headers(identity.headers)
            response = await transport.open(request, identity.certificate)
            self._answering = True
            try:
                body = await self._read(response)
            except BaseException:
                response.close()
                raise
        except TransportError as error:
            reason = go_message(error, address=endpoint.dialed, server_name=endpoint.verified_name)
            raise self.error(reason) from error
        return response.status, response.headers, body

    async def _read(self, response: Response) -> bytes:
        """Read the answer; raise WebhookCallError if it is too large."""
        if encoding := response.headers.get("content-encoding"):
            # It was not asked for, and a few bytes could become more than memory has.
            raise self.error(f"the answer has the content encoding {quote(encoding)}")
        size, chunks = 0, []
        while chunk := await response.chunk():
            size += len(chunk)
            if size > self._max_answer:
                raise self.error(f"the answer is larger than {self._max_answer} bytes")
            chunks.append(chunk)
        return b"".join(chunks)

    def _checked(self, status: int, headers: Headers, body: bytes) -> bytes:
        if not body:
            media_type = headers.get("content-type")
            raise WebhookCallError(
                f"0-length response with status code: {status} and content type: {media_type}"
            )
        return body


def _url_of(target: WebhookTarget) -> ParsedURL:
    """Return the URL of a webhook; that of a service names it as its certificate does."""
    if target.service is not None:
        return _service_url(target.service)
    if not target.url:
        raise UnusableTarget("webhook configuration must have either service or URL")
    try:
        return parse_url(target.url)
    except MalformedURL as error:
        raise UnusableTarget(f"Unparsable URL: {error}") from None


def _service_url(service: WebhookService) -> ParsedURL:
    host = f"{service.host}:{service.port}"
    return ParsedURL("https", None, host, service.path, "", "")


def _path(path: str) -> str:
    """Return the path of a URL as Go's client sends it: without empty and relative segments."""
    clean = posixpath.normpath("/" + unquote(path).lstrip("/"))
    return percent_encode(clean, safe=_UNESCAPED)


def _has_port(host: str) -> bool:
    return host.rpartition("]")[2].partition(":")[2] != ""


def _certificate_problem(error: ConfigError) -> str:
    text = str(error)
    if text.startswith("certificate-authority: "):
        return "unable to load root certificates: unable to parse bytes as PEM block"
    return text
