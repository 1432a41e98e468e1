"""AsyncClient: one server, and from it a client for every class, kind or resource.

It owns the connections; `async with` or `aclose` ends them. Everything about a class that is not
in the class is found through the scheme (its kind) and discovery (its resource and scope).
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
from client.subresource import Binding, FindTarget, ResourceTarget
from client.transport.request import ALL_NAMESPACES, Pairs, Request, ResourceLocation
from client.transport.request_rate import RequestRateLimiter, TokenBucket, Unlimited
from client.transport.sender import Reply, Sender
from client.transport.transport import Transport
from client.transport.warnings import WarningHandler

ObjectT = TypeVar("ObjectT", bound=Object)

AddToScheme: TypeAlias = Callable[[Scheme], object]
"""Registers classes as kinds: the `add_to_scheme` of a group."""


class AsyncClient:
    """A client of one server."""

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
        """*transport* replaces the network, as with an application in this process."""
        if config is None and transport is None:
            raise ConfigError("a client needs a config or a transport; from_env() finds a config")
        self.config = config or Config("https://apiserver")
        self.scheme = scheme or Scheme()
        ticking = clock or SystemClock()
        self.sender = Sender(
            transport or _network(self.config),
            credentials=self.config.auth.credentials(ticking),
            headers=_headers(self.config),
            limiter=limiter or _limiter(self.config, ticking),
            timeout=self.config.timeout,
            watch_idle_timeout=self.config.watch_idle_timeout,
            max_retries=self.config.max_retries,
            warn=warn,
            observe=observe,
            clock=ticking,
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
        """A client of the server that kubectl would talk to from here.

        *kinds* say which class is which kind, each a group's `add_to_scheme`; a *scheme* that has
        them already is as good.
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
        """The objects of a class.

        Without *namespace* they are in the one of the configuration; ALL_NAMESPACES means all.
        With *resource*, its plural name, and *namespaced* nothing is asked of discovery.
        """
        kind = self._finder.kind_of(cls, api_version)
        if not resource:
            return self._bound(cls, DiscoveredTarget(self._finder, kind), namespace)
        location = ResourceLocation(kind.group_version.with_resource(resource), namespaced)
        return self._bound(cls, FixedTarget(ResourceTarget(location, kind)), namespace)

    def resource(
        self, name: str, *, namespace: str | None = None
    ) -> RESTResourceClient[Unstructured]:
        """The objects of a resource named as for kubectl: `gadgets.v1.gadgets.example.io`, `gd`."""
        return self._bound(Unstructured, DiscoveredTarget(self._finder, name), namespace)

    def kind(
        self, kind: str, api_version: str, *, namespace: str | None = None
    ) -> RESTResourceClient[Unstructured]:
        """The objects of a kind for which there is no class."""
        wanted = parse_api_version(api_version).with_kind(kind)
        return self._bound(Unstructured, DiscoveredTarget(self._finder, wanted), namespace)

    @overload
    def of_document(self, document: ObjectT) -> RESTResourceClient[ObjectT]: ...

    @overload
    def of_document(self, document: Document) -> RESTResourceClient[Unstructured]: ...

    def of_document(self, document: Object | Document) -> Any:
        """The objects like *document*, by the kind and apiVersion it names."""
        cls = type(document) if isinstance(document, Object) else Unstructured
        return self._bound(cls, DiscoveredTarget(self._finder, kind_of_document(document)), None)

    async def request(self, request: Request) -> Reply:
        """Send any request, for paths that are no resource's."""
        return await self.sender.send(request)

    async def aclose(self) -> None:
        """Close every connection; may be repeated."""
        await self.sender.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _bound(
        self, cls: type[ObjectT], find: FindTarget, namespace: str | None
    ) -> RESTResourceClient[ObjectT]:
        chosen = self.config.namespace if namespace is None else namespace
        binding = Binding(
            self.sender,
            find,
            namespace="" if chosen == ALL_NAMESPACES else chosen,
            fixed=namespace is not None,
        )
        return RESTResourceClient(binding, cls)


def build_scheme(kinds: Iterable[AddToScheme], scheme: Scheme | None) -> Scheme:
    """*scheme*, or a new one, with the classes of *kinds* registered in it."""
    made = scheme if scheme is not None else Scheme()
    for add_to_scheme in kinds:
        add_to_scheme(made)
    return made


def _network(config: Config) -> Transport:
    # Imported late: whoever has a transport of their own need not load an HTTP library.
    from client.transport.network import NetworkTransport

    return NetworkTransport(config)


def _headers(config: Config) -> Pairs:
    agent = config.user_agent or default_user_agent()
    return (("User-Agent", agent), *config.impersonate.headers())


def _limiter(config: Config, clock: Clock) -> RequestRateLimiter:
    return TokenBucket(config.qps, config.burst, clock=clock) if config.qps > 0 else Unlimited()
