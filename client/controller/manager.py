"""Manager: the controllers of one program, and what they share.

    mgr = Manager(client, name="gadget-controller", leader_election=True)

    @mgr.controller(Gadget, owns=[ConfigMap], workers=4)
    async def reconcile(ctx: Context[Gadget]) -> Result | None: ...

    await mgr.start(signals=True)

It starts in this order: probes and metrics, caches, what needs no leader, warm-up, the election,
and as the leader the controllers. It stops in the opposite order, and lets go of the lease last.
"""

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from signal import SIGINT, SIGTERM
from typing import Any, Final, Self, TypedDict, TypeVar, Unpack

from apimachinery.meta.types import Object
from client.cache.deltas import Transform
from client.client import AsyncClient
from client.controller.caches import Caches
from client.controller.context import ControllerClient
from client.controller.controller import Controller
from client.controller.predicates import Predicate
from client.controller.reconciler import NamespacedName, Reconcile
from client.controller.runnables import Function, Runnable, RunnableGroup
from client.controller.sources import Kind, Owned, Source
from client.events.recorder import EventRecorder
from client.informer.factory import InformerFactory
from client.informer.informer import InformerOptions
from client.leaderelection.leader_election import LeaderElection, LeaderElector
from client.leaderelection.lease import leases
from client.monitoring.controller_metrics import LEADER, MetricsSink, NoMetricsSink
from client.monitoring.probes import Check, HTTPServer, Route, health, page
from client.runtime.background import done_before
from client.runtime.clock import Clock, SystemClock
from client.transport.request import ALL_NAMESPACES
from client.workqueue.rate_limiters import RateLimiter

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.controller.manager")

RESYNC: Final = 10 * 60 * 60.0
"""Seconds after which controllers look at everything again."""
GRACE: Final = 30.0
"""Seconds that everything has to end, after it was asked to stop."""
SYNC_TIMEOUT: Final = 120.0


class ManagerStopped(RuntimeError):
    """The manager has ended, and nothing can be added to it or started again."""


class ControllerOptions(TypedDict, total=False):
    """What may be said of a controller."""

    rate_limiter: RateLimiter[NamespacedName] | None
    """How failures are spread out; from 5 ms doubling up to 1000 s unless given."""
    sync_timeout: float
    reconcile_timeout: float | None
    warm_up: bool


class Manager:
    """Runs controllers."""

    def __init__(
        self,
        client: AsyncClient,
        *,
        name: str,
        namespace: str = ALL_NAMESPACES,
        leader_election: bool | LeaderElection = False,
        lease_namespace: str = "",
        probes: str = "",
        metrics_address: str = "",
        metrics: MetricsSink | None = None,
        resync: float = RESYNC,
        transform: Transform[Any] | None = None,
        grace: float = GRACE,
        clock: Clock | None = None,
    ) -> None:
        """*name* is the program's: of its lease, its events and its fields.

        *namespace* is what the caches cover. *probes* and *metrics_address* are addresses
        (`host:port`) to listen on; without them nothing listens.
        """
        self.name = name
        self.client = client
        self.clock = clock or SystemClock()
        self.metrics = metrics or _metrics(metrics_address)
        options = InformerOptions(resync=resync)
        self._informers = InformerFactory(
            client, namespace=namespace, transform=transform, options=options, clock=self.clock
        )
        self.caches = Caches(client, self._informers)
        self.events = EventRecorder(client, name, kind_of=self.caches.kind_of, clock=self.clock)
        self.controllers: dict[str, Controller[Any]] = {}
        self._health: dict[str, Check] = {}
        self._ready: dict[str, Check] = {}
        self._grace = grace
        self._servers = self._http(probes, metrics_address)
        self._failure: BaseException | None = None
        self._others = RunnableGroup("others", self.clock, self._fail)
        self._leaders = RunnableGroup("leader", self.clock, self._fail)
        self._elector = self._election(leader_election, lease_namespace)
        self._ending = asyncio.Event()
        self._release = asyncio.Event()
        self._started = asyncio.Event()
        self._elected = asyncio.Event()
        self._stopped = False
        self._task: asyncio.Task[None] | None = None

    # What it runs

    def controller(
        self,
        cls: type[T],
        *,
        name: str = "",
        source: Source | None = None,
        owns: Sequence[type[Object]] = (),
        watches: Sequence[Source] = (),
        predicates: Sequence[Predicate[T]] = (),
        workers: int = 1,
        needs_leader: bool = True,
        **options: Unpack[ControllerOptions],
    ) -> Callable[[Reconcile[T]], Reconcile[T]]:
        """A decorator: the function reconciles the objects of *cls*.

        It is called when one of them changes, if all *predicates* agree; when an object of a class
        that it *owns* does; and for whatever the other sources in *watches* tell. *source* replaces
        the manager's cache of *cls* as the source of its changes; predicates do not apply to it.
        """

        def add(reconcile: Reconcile[T]) -> Reconcile[T]:
            chosen = name or cls.__kind__.lower()
            sources: list[Source] = [source or Kind(cls, predicates=predicates)]
            sources += [Owned(each, cls) for each in owns]
            self._check_name(chosen)
            self.controllers[chosen] = made = Controller(
                cls,
                reconcile,
                name=chosen,
                sources=[*sources, *watches],
                client=ControllerClient(self.client, self.caches, f"{self.name}/{chosen}"),
                caches=self.caches,
                events=self.events,
                clock=self.clock,
                metrics=self.metrics,
                workers=workers,
                **options,
            )
            self.add(made, needs_leader=needs_leader)
            return reconcile

        return add

    def add(
        self,
        runnable: Runnable | Callable[[], Awaitable[object]],
        *,
        needs_leader: bool = True,
    ) -> None:
        """Run something beside the controllers; a function is cancelled when the manager stops.

        It may be added while the manager runs. What it raises ends the manager.
        """
        if self._stopped or self._ending.is_set():
            raise ManagerStopped(f"manager {self.name} is stopping, nothing can be added")
        made = runnable if not callable(runnable) else Function(runnable)
        (self._leaders if needs_leader else self._others).add(made)

    def add_health_check(self, name: str, check: Check) -> None:
        """Have /healthz and /livez fail whenever *check* raises."""
        self._health[name] = check

    def add_ready_check(self, name: str, check: Check) -> None:
        """Have /readyz fail whenever *check* raises."""
        self._ready[name] = check

    # How it is doing

    @property
    def is_leader(self) -> bool:
        """Whether the controllers run: as the leader, or because there is no election."""
        return self._elected.is_set() and not self._ending.is_set()

    @property
    def failure(self) -> BaseException | None:
        """What ended the manager, if something did."""
        return self._failure

    @property
    def ports(self) -> dict[str, int]:
        """Where "probes" and "metrics" listen, while the manager runs."""
        return {name: server.port for name, server in self._servers.items()}

    async def wait_elected(self) -> None:
        """Return when this manager leads."""
        await self._elected.wait()

    # Its life

    async def start(self, *, signals: bool = False) -> None:
        """Run until `stop`, or until something fails: that is then raised.

        With *signals* SIGTERM and SIGINT stop it, and a second one does so without grace. Losing
        the leadership raises LeadershipLost; a program should end then.
        """
        if self._stopped or self._started.is_set():
            raise ManagerStopped(f"manager {self.name} was started already")
        try:
            async with AsyncExitStack() as stack:
                if signals:
                    _stop_on_signals(stack, self.stop)
                await self._run()
        except Exception as error:
            self._fail(error)
        finally:
            self._stopped = True
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Let `start` end; may be repeated."""
        self._ending.set()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.start(), name=f"manager {self.name}")
        started = asyncio.ensure_future(self._started.wait())
        try:
            await asyncio.wait((self._task, started), return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            self._task.cancel()
            await asyncio.wait((self._task,))
            raise
        finally:
            started.cancel()
        if self._task.done():
            self._task.result()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self.stop()
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait((self._task,))
            raise

    async def _run(self) -> None:
        election: asyncio.Task[None] | None = None
        try:
            for server in self._servers.values():
                await server.start()
            async with self._informers:
                try:
                    if await done_before(self._prepare(), self._ending):
                        election = self._begin_to_lead()
                        self._started.set()
                        await self._ending.wait()
                finally:
                    self._ending.set()
                    await self._stop_runnables()
        finally:
            for server in self._servers.values():
                await server.stop()
            # Only now: whoever leads next must find nobody at work.
            await self._let_go(election)

    async def _prepare(self) -> None:
        """Everything that is done before the election."""
        await self._informers.wait_synced(SYNC_TIMEOUT)
        self._others.add(Function(self.events.run, "event recorder"))
        self._others.start()
        for controller in [*self.controllers.values()]:
            await controller.warm_up()

    def _begin_to_lead(self) -> "asyncio.Task[None] | None":
        if self._elector is None:
            self._leaders.start()
            self._elected.set()
            return None
        task = asyncio.create_task(self._elector.run(self._lead), name=f"election {self.name}")
        task.add_done_callback(self._election_ended)
        return task

    async def _lead(self) -> None:
        self._leaders.start()
        self._elected.set()
        try:
            await self._release.wait()
        except asyncio.CancelledError:
            # The leadership is lost: there is no time for an orderly end.
            await self._leaders.stop(0)
            raise

    def _election_ended(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)

    async def _stop_runnables(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._leaders.stop(self._grace))
            tasks.create_task(self._others.stop(self._grace))

    async def _let_go(self, election: "asyncio.Task[None] | None") -> None:
        if election is None:
            return
        if self._elected.is_set():
            self._release.set()
        else:
            election.cancel()
        await asyncio.wait((election,))

    def _fail(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure = error
        self._ending.set()

    # Its parts

    def _election(
        self, wanted: bool | LeaderElection, lease_namespace: str
    ) -> LeaderElector | None:
        if wanted is False:
            return None
        if wanted is True:
            wanted = LeaderElection(self.name, f"{socket.gethostname()}_{uuid.uuid4()}")
        where = lease_namespace or os.environ.get("POD_NAMESPACE", "")
        return LeaderElector(
            leases(self.client, where or self.client.config.namespace),
            wanted,
            on_leading=lambda leads: self.metrics.set(LEADER, int(leads), {"name": self.name}),
            clock=self.clock,
        )

    def _http(self, probes: str, metrics_address: str) -> dict[str, HTTPServer]:
        servers = {}
        if probes:
            lives = health("healthz", self._health)
            routes = {"/healthz": lives, "/livez": lives, "/readyz": health("readyz", self._ready)}
            servers["probes"] = HTTPServer(probes, routes)
        if metrics_address:
            servers["metrics"] = HTTPServer(metrics_address, {"/metrics": self._metrics_page()})
        return servers

    def _metrics_page(self) -> Route:
        from client.monitoring.prometheus import CONTENT_TYPE, PrometheusMetrics

        def make() -> bytes:
            assert isinstance(self.metrics, PrometheusMetrics)
            for controller in self.controllers.values():
                controller.queue.metrics.report_running()
            return self.metrics.exposition()

        if not isinstance(self.metrics, PrometheusMetrics):
            raise TypeError("metrics_address: what is served must be PrometheusMetrics")
        return page(make, CONTENT_TYPE)

    def _check_name(self, name: str) -> None:
        if name in self.controllers:
            raise ValueError(
                f"controller with name {name} already exists. Controller names must be unique to"
                " avoid multiple controllers reporting the same metric"
            )


def _metrics(address: str) -> MetricsSink:
    if not address:
        return NoMetricsSink()
    # Imported late: only who serves numbers needs the library.
    from client.monitoring.prometheus import PrometheusMetrics

    return PrometheusMetrics()


def _stop_on_signals(stack: AsyncExitStack, stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    current = asyncio.current_task()
    asked = False

    def signalled() -> None:
        nonlocal asked
        if asked and current is not None:
            current.cancel()
        asked = True
        stop()

    for number in (SIGTERM, SIGINT):
        loop.add_signal_handler(number, signalled)
        stack.callback(loop.remove_signal_handler, number)
