"""AsyncClient: the connection to one server, and the source of a client for every resource.

It owns the connections; `async with` or `aclose` closes them. For a class, the scheme provides the
kind, and discovery provides the resource and its scope.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar, overload

from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.scheme import Scheme
from client.config import Config, default_user_agent
from client.discovery import Discovery
from client.errors import ConfigError
from client.object_codec import Document
from client.resource import RESTResourceClient
from client.resource_lookup import (
    DiscoveredTarget,
    FixedTarget,
    ResourceFinder,
    kind_of_document,
    parse_api_version,
)
from client.runtime.clock import Clock, SystemClock
from client.subresource import ClientSettings, FindTarget, ResourceTarget
from client.transport.request import ALL_NAMESPACES, Pairs, Request, ResourceLocation
from client.transport.request_rate import RequestRateLimiter, TokenBucket, Unlimited
from client.transport.sender import Reply, Sender
from client.transport.transport import Transport
from client.transport.warnings import WarningHandler

ObjectT = TypeVar("ObjectT", bound=Object)

AddToScheme: TypeAlias = Callable[[Scheme], object]
"""Registers the classes of an API group in a scheme: the group's `add_to_scheme`."""


class AsyncClient:
    """An asynchronous client of one server."""

    def __init__(
        self,
        config: Config | None = None,
        *,
        scheme: Scheme | None = None,
        transport: Transport | None = None,
        limiter: RequestRateLimiter | None = None,
        warn: WarningHandler | None = None,
        observe: Callable[[Request, int], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Create a client; raises ConfigError if *config* and *transport* are both missing.

        *transport* replaces the network, as `ASGITransport` does. *warn* handles the warnings of
        the server; without it they are logged. *observe* is called with each request and the
        status code of its response.
        """
        if config is None and transport is None:
            raise ConfigError("a client needs a config or a transport; from_env() loads a config")
        self.config = config or Config("https://apiserver")
        self.scheme = scheme or Scheme()
        clock = clock or SystemClock()
        self.sender = Sender(
            transport or _network_transport(self.config),
            credentials=self.config.auth.credentials(clock),
            headers=_default_headers(self.config),
            limiter=limiter or _rate_limiter(self.config, clock),
            timeout=self.config.timeout,
            watch_idle_timeout=self.config.watch_idle_timeout,
            max_retries=self.config.max_retries,
            warn=warn,
            observe=observe,
            clock=clock,
        )
        self.discovery = Discovery(self.sender)
        self._finder = ResourceFinder(self.discovery, self.scheme)

    @classmethod
    def from_env(
        cls,
        *kinds: AddToScheme,
        scheme: Scheme | None = None,
        kubeconfig: str | Path = "",
        context: str = "",
        namespace: str = "",
    ) -> Self:
        """Create a client for the server that kubectl would use (see `Config.from_env`).

        *kinds* are the `add_to_scheme` functions of the API groups in use. They are not needed for
        groups that are already registered in *scheme*.
        """
        config = Config.from_env(kubeconfig=kubeconfig, context=context, namespace=namespace)
        return cls(config, scheme=build_scheme(kinds, scheme))

    def of(
        self,
        cls: type[ObjectT],
        *,
        namespace: str | None = None,
        resource: str = "",
        namespaced: bool = True,
        api_version: str = "",
    ) -> RESTResourceClient[ObjectT]:
        """Return a client for the objects of a class.

        *namespace* defaults to that of the configuration; ALL_NAMESPACES means all. With the
        plural name *resource*, and *namespaced*, no discovery request is sent. Raises
        NotRegistered if the class is not in the scheme and has no default apiVersion.
        """
        kind = self._finder.kind_of(cls, api_version)
        if not resource:
            return self._bind(cls, DiscoveredTarget(self._finder, kind), namespace)
        location = ResourceLocation(kind.group_version.with_resource(resource), namespaced)
        return self._bind(cls, FixedTarget(ResourceTarget(location, kind)), namespace)

    def resource(
        self, name: str, *, namespace: str | None = None
    ) -> RESTResourceClient[Unstructured]:
        """Return a client for a resource named as for kubectl: `deploy`, `deployments.v1.apps`."""
        return self._bind(Unstructured, DiscoveredTarget(self._finder, name), namespace)

    def kind(
        self, kind: str, api_version: str, *, namespace: str | None = None
    ) -> RESTResourceClient[Unstructured]:
        """Return a client for the objects of a kind that has no class."""
        gvk = parse_api_version(api_version).with_kind(kind)
        return self._bind(Unstructured, DiscoveredTarget(self._finder, gvk), namespace)

    @overload
    def of_document(self, document: ObjectT) -> RESTResourceClient[ObjectT]: ...

    @overload
    def of_document(self, document: Document) -> RESTResourceClient[Unstructured]: ...

    def of_document(self, document: Object | Document) -> Any:
        """Return a client for the kind and apiVersion of *document*."""
        cls = type(document) if isinstance(document, Object) else Unstructured
        return self._bind(cls, DiscoveredTarget(self._finder, kind_of_document(document)), None)

    async def request(self, request: Request) -> Reply:
        """Send any request, for example to a path that belongs to no resource."""
        return await self.sender.send(request)

    async def aclose(self) -> None:
        """Close every connection; idempotent."""
        await self.sender.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _bind(
        self, cls: type[ObjectT], find_target: FindTarget, namespace: str | None
    ) -> RESTResourceClient[ObjectT]:
        effective = self.config.namespace if namespace is None else namespace
        binding = ClientSettings(
            self.sender,
            find_target,
            namespace="" if effective == ALL_NAMESPACES else effective,
            namespace_explicit=namespace is not None,
        )
        return RESTResourceClient(binding, cls)


def build_scheme(kinds: Iterable[AddToScheme], scheme: Scheme | None) -> Scheme:
    """Register *kinds* in *scheme*, or in a new scheme, and return it."""
    scheme = scheme if scheme is not None else Scheme()
    for add_to_scheme in kinds:
        add_to_scheme(scheme)
    return scheme


def _network_transport(config: Config) -> Transport:
    # Imported late: a client with another transport does not need aiohttp.
    from client.transport.network import NetworkTransport

    return NetworkTransport(config)


def _default_headers(config: Config) -> Pairs:
    agent = config.user_agent or default_user_agent()
    return (("User-Agent", agent), *config.impersonate.headers())


def _rate_limiter(config: Config, clock: Clock) -> RequestRateLimiter:
    return TokenBucket(config.qps, config.burst, clock=clock) if config.qps > 0 else Unlimited()
