"""Environment: a server with its clients and managers, for one test.

The server is the real one on a store in memory, or that of a cluster; the tests are the same.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from inspect import isawaitable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from apimachinery.errors import NotFound
from apimachinery.extras import name_missing_extra
from apimachinery.meta.types import Object
from apimachinery.resources import guess_plural
from apimachinery.schema import GroupResource
from apimachinery.scheme import Scheme
from client.auth.auth_info import AuthInfo
from client.client import AsyncClient
from client.config import Config
from client.controller.manager import Manager
from client.runtime.clock import Clock, SystemClock
from client.sync import Client
from client.testing.bridge import BridgeTransport
from client.testing.fake_clock import FakeClock
from client.testing.faults import Faults
from client.testing.faulty_transport import FaultyTransport
from client.testing.settling import ManagerUnderTest
from client.transport.in_process import ASGITransport
from client.transport.request import ALL_NAMESPACES
from client.transport.transport import Transport

if TYPE_CHECKING:
    from apiserver.group import Group
    from client.testing.app_server import InMemoryServer

T = TypeVar("T", bound=Object)

Setup: TypeAlias = Callable[[Manager], object]
"""Adds controllers to a manager; may be async."""


class Environment:
    """The server, clients and faults of one test; created by `environment`."""

    def __init__(
        self,
        transport: Transport,
        config: Config,
        scheme: Scheme,
        *,
        clock: Clock,
        resource_of: Callable[[type[Object]], GroupResource],
        server: "InMemoryServer | None" = None,
        kubeconfig: Path | None = None,
    ) -> None:
        """Take either *server*, in this process, or the *kubeconfig* of another one."""
        self.scheme = scheme
        self.clock = clock
        self.config = config
        self.faults = Faults(resource_of)
        """Plans faults for `client`, `sync_client` and managers."""
        self._faulty = FaultyTransport(transport, self.faults, clock)
        self.client = AsyncClient(config, scheme=scheme, transport=self._faulty, clock=clock)
        # Without faults and in real time: the test itself must read the true state.
        self.observer = AsyncClient(config, scheme=scheme, transport=transport)
        """A client without faults."""
        self._stack = AsyncExitStack()
        self._kubeconfig = kubeconfig
        self._sync: Client | None = None
        self._server = server
        if isinstance(clock, FakeClock):
            clock.busy_while(lambda: self._faulty.busy)

    @property
    def namespace(self) -> str:
        """The default namespace of the test's objects."""
        return self.config.namespace

    @property
    def requests(self) -> int:
        """Requests that `client`, `sync_client` and managers have sent, without watches."""
        return self._faulty.requests

    async def get(self, cls: type[T], name: str, *, namespace: str | None = None) -> T:
        """Read an object from the server; raises NotFound if it does not exist."""
        return await self.observer.of(cls, namespace=namespace).get(name)

    async def find(self, cls: type[T], name: str, *, namespace: str | None = None) -> T | None:
        """Read an object from the server; return None if it does not exist."""
        try:
            return await self.get(cls, name, namespace=namespace)
        except NotFound:
            return None

    async def list(self, cls: type[T], *, namespace: str | None = None) -> Sequence[T]:
        """Read all objects of a class in a namespace."""
        return [obj async for obj in self.observer.of(cls, namespace=namespace).list()]

    @asynccontextmanager
    async def manager(
        self, setup: Setup, *, name: str = "test", **options: Any
    ) -> AsyncIterator[ManagerUnderTest]:
        """Run a manager with the controllers that *setup* adds, for the duration of the block.

        The server of the test calls its webhooks in this process, and through sockets only if the
        option *webhooks* says where. *options* are those of `Manager`. An error that ends the
        manager is raised.
        """
        manager = ManagerUnderTest(
            self.client,
            transport=self._faulty,
            observer=self.observer,
            name=name,
            clock=self.clock,
            webhook_calls=self._server.webhook_calls if self._server is not None else None,
            **{"namespace": self._namespace_to_watch(), **options},
        )
        pending = setup(manager)
        if isawaitable(pending):
            await pending
        async with manager:
            yield manager

    @property
    def sync_client(self) -> Client:
        """A client for code in another thread, such as by `asyncio.to_thread`.

        In the test's own thread it would block the event loop that the server runs on.
        """
        if self._sync is None:
            bridge = BridgeTransport(self._faulty, asyncio.get_running_loop())
            self._sync = Client(self.config, scheme=self.scheme, transport=bridge)
            self._stack.push_async_callback(asyncio.to_thread, self._sync.close)
        return self._sync

    async def kubeconfig(self) -> Path:
        """Open a port and return a kubeconfig for kubectl or any other client."""
        if self._kubeconfig is None:
            assert self._server is not None
            # Imported late: most tests need neither sockets nor certificates.
            from client.testing.network_server import listen

            folder = self._stack.enter_context(TemporaryDirectory(prefix="env-"))
            self._kubeconfig = await self._stack.enter_async_context(
                listen(self._server, Path(folder))
            )
        return self._kubeconfig

    async def aclose(self) -> None:
        await self._faulty.aclose()
        await self._stack.aclose()

    def _namespace_to_watch(self) -> str:
        """Return the namespace to watch: in a cluster only the test's own, since it is shared."""
        return ALL_NAMESPACES if self._server is not None else self.namespace


@asynccontextmanager
async def environment(
    groups: "Sequence[Group]" = (), *, clock: Clock | None = None
) -> AsyncIterator[Environment]:
    """Start an environment with a server in this process, with the standard groups and *groups*."""
    with name_missing_extra():
        from client.testing.app_server import InMemoryServer

    server = InMemoryServer(groups)
    async with ASGITransport(server.app) as transport:
        env = Environment(
            transport,
            Config("https://apiserver", auth=AuthInfo(token=server.token), user_agent="tests"),
            server.app.groups.scheme,
            clock=clock or SystemClock(),
            resource_of=_resource_lookup(server.app.groups.scheme, server.resources()),
            server=server,
        )
        try:
            yield env
        finally:
            await env.aclose()


@asynccontextmanager
async def cluster_environment(
    config: Config,
    groups: "Sequence[Group]" = (),
    *,
    clock: Clock | None = None,
    kubeconfig: Path | None = None,
) -> AsyncIterator[Environment]:
    """Start an environment in a cluster that serves *groups*, in a temporary namespace."""
    from client.transport.network import NetworkTransport

    scheme = Scheme()
    by_name = {group.name: group for group in (*groups, *_standard_groups())}
    for group in by_name.values():
        group.add_to_scheme(scheme)
    isolated = replace(config, namespace=f"test-{uuid.uuid4().hex[:12]}")
    transport = NetworkTransport(isolated)
    env = Environment(
        transport,
        isolated,
        scheme,
        clock=clock or SystemClock(),
        resource_of=_resource_lookup(scheme, {}),
        kubeconfig=kubeconfig,
    )
    namespaces = env.observer.kind("Namespace", "v1")
    try:
        await namespaces.create({"metadata": {"name": isolated.namespace}})
        try:
            yield env
        finally:
            await env.aclose()
            with suppress(NotFound):
                await namespaces.delete(isolated.namespace)
    finally:
        await transport.aclose()


def _standard_groups() -> "Sequence[Group]":
    from apiserver.controlplane.standard_server import standard_groups

    return standard_groups()


def _resource_lookup(
    scheme: Scheme, plurals: dict[str, dict[str, str]]
) -> Callable[[type[Object]], GroupResource]:
    def resource_of(cls: type[Object]) -> GroupResource:
        kind = scheme.kind_of(cls)
        plural = plurals.get(kind.group, {}).get(kind.kind) or guess_plural(kind.kind)
        return GroupResource(kind.group, plural)

    return resource_of
