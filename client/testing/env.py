"""Environment: a server, clients of it, and managers, for one test.

The server is the real one on a store in memory, or a cluster somewhere: the tests are the same.
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
"""Adds controllers to a manager; it may be async."""


class Environment:
    """What a test has to do with; made by `environment`."""

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
        """Either *server*, one in this process, or the *kubeconfig* of another."""
        self.scheme = scheme
        self.clock = clock
        self.config = config
        self.faults = Faults(resource_of)
        """What shall go wrong for `client`, `sync_client` and managers."""
        self._faulty = FaultyTransport(transport, self.faults, clock)
        self.client = AsyncClient(config, scheme=scheme, transport=self._faulty, clock=clock)
        # Without faults and in real time: what the test itself looks at must be true.
        self.observer = AsyncClient(config, scheme=scheme, transport=transport)
        """A client for which nothing goes wrong."""
        self._stack = AsyncExitStack()
        self._kubeconfig = kubeconfig
        self._sync: Client | None = None
        self._server = server
        if isinstance(clock, FakeClock):
            clock.busy_while(lambda: self._faulty.busy)

    @property
    def namespace(self) -> str:
        """Where the test's objects are, unless it says otherwise."""
        return self.config.namespace

    @property
    def requests(self) -> int:
        """How many requests `client`, `sync_client` and managers have made, watches apart."""
        return self._faulty.requests

    async def get(self, cls: type[T], name: str, *, namespace: str | None = None) -> T:
        """An object as the server has it; NotFound if there is none."""
        return await self.observer.of(cls, namespace=namespace).get(name)

    async def find(self, cls: type[T], name: str, *, namespace: str | None = None) -> T | None:
        """The same, with None if there is none."""
        try:
            return await self.get(cls, name, namespace=namespace)
        except NotFound:
            return None

    async def list(self, cls: type[T], *, namespace: str | None = None) -> Sequence[T]:
        """All objects of a class in a namespace."""
        return [obj async for obj in self.observer.of(cls, namespace=namespace).list()]

    @asynccontextmanager
    async def manager(
        self, setup: Setup, *, name: str = "test", **options: Any
    ) -> AsyncIterator[ManagerUnderTest]:
        """A manager with what *setup* adds to it, running for the time of the block.

        *options* are those of `Manager`. What ends the manager with an error is raised.
        """
        made = ManagerUnderTest(
            self.client,
            transport=self._faulty,
            observer=self.observer,
            name=name,
            clock=self.clock,
            **{"namespace": self._watched(), **options},
        )
        outcome = setup(made)
        if isawaitable(outcome):
            await outcome
        async with made:
            yield made

    @property
    def sync_client(self) -> Client:
        """A client for code that runs in another thread, as by `asyncio.to_thread`.

        Not for the test's own thread: there it would wait for a server that waits for it.
        """
        if self._sync is None:
            bridge = BridgeTransport(self._faulty, asyncio.get_running_loop())
            self._sync = Client(self.config, scheme=self.scheme, transport=bridge)
            self._stack.push_async_callback(asyncio.to_thread, self._sync.close)
        return self._sync

    async def kubeconfig(self) -> Path:
        """A file for kubectl or any other client; the server listens on a port from now on."""
        if self._kubeconfig is None:
            assert self._server is not None
            # Imported late: most tests need neither sockets nor certificates.
            from client.testing.network_server import listening

            folder = self._stack.enter_context(TemporaryDirectory(prefix="env-"))
            self._kubeconfig = await self._stack.enter_async_context(
                listening(self._server, Path(folder))
            )
        return self._kubeconfig

    async def aclose(self) -> None:
        await self._faulty.aclose()
        await self._stack.aclose()

    def _watched(self) -> str:
        """In a cluster others have objects as well, and they are none of the test's business."""
        return ALL_NAMESPACES if self._server is not None else self.namespace


@asynccontextmanager
async def environment(
    groups: "Sequence[Group]" = (), *, clock: Clock | None = None
) -> AsyncIterator[Environment]:
    """An environment whose server is in this process, and has the standard groups and *groups*."""
    from client.testing.app_server import InMemoryServer

    server = InMemoryServer(groups)
    async with ASGITransport(server.app) as transport:
        env = Environment(
            transport,
            Config("https://apiserver", auth=AuthInfo(token=server.token), user_agent="tests"),
            server.app.groups.scheme,
            clock=clock or SystemClock(),
            resource_of=_resources(server.app.groups.scheme, server.resources()),
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
    """An environment in a cluster that serves *groups*: a namespace of its own, deleted after."""
    from client.transport.network import NetworkTransport

    scheme = Scheme()
    known = {group.name: group for group in (*groups, *_standard())}
    for group in known.values():
        group.add_to_scheme(scheme)
    own = replace(config, namespace=f"test-{uuid.uuid4().hex[:12]}")
    transport = NetworkTransport(own)
    env = Environment(
        transport,
        own,
        scheme,
        clock=clock or SystemClock(),
        resource_of=_resources(scheme, {}),
        kubeconfig=kubeconfig,
    )
    namespaces = env.observer.kind("Namespace", "v1")
    try:
        await namespaces.create({"metadata": {"name": own.namespace}})
        try:
            yield env
        finally:
            await env.aclose()
            with suppress(NotFound):
                await namespaces.delete(own.namespace)
    finally:
        await transport.aclose()


def _standard() -> "Sequence[Group]":
    from apiserver.controlplane.standard_server import standard_groups

    return standard_groups()


def _resources(
    scheme: Scheme, known: dict[str, dict[str, str]]
) -> Callable[[type[Object]], GroupResource]:
    def resource_of(cls: type[Object]) -> GroupResource:
        kind = scheme.kind_of(cls)
        plural = known.get(kind.group, {}).get(kind.kind) or guess_plural(kind.kind)
        return GroupResource(kind.group, plural)

    return resource_of
