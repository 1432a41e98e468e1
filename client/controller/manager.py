"""Manager: runs the controllers of one program with shared caches, events and metrics.

    mgr = Manager(client, name="gadget-controller", leader_election=True)

    @mgr.controller(Gadget, owns=[ConfigMap], workers=4)
    async def reconcile(ctx: Context[Gadget]) -> Result | None: ...

    await mgr.start(signals=True)

It starts the HTTP servers of probes and metrics, the webhooks, the caches, the runnables that need
no leader, the warm-up, the leader election and, as the leader, the controllers. It stops in the
opposite order and releases the lease last.
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

from apimachinery.extras import name_missing_extra
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
from client.webhooks.admission_request import AddDefaulter, AddValidator
from client.webhooks.webhook_options import DefaulterOptions, WebhookOptions
from client.webhooks.webhook_settings import InvalidWebhookSettings, WebhookSettings
from client.webhooks.webhooks import ServesWebhooks, Webhooks
from client.workqueue.rate_limiters import RateLimiter

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.controller.manager")

RESYNC: Final = 10 * 60 * 60.0
"""Seconds after which controllers reconcile all objects again."""
GRACE: Final = 30.0
"""Seconds for which runnables may continue after `stop` before they are cancelled."""
SYNC_TIMEOUT: Final = 120.0


class ManagerStopped(RuntimeError):
    """The manager was started already or has ended: it cannot be started or extended."""


class ControllerOptions(TypedDict, total=False):
    """Optional settings of a controller."""

    rate_limiter: RateLimiter[NamespacedName] | None
    """The delays of retries; by default 5 ms, doubled with each failure up to 1000 s."""
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
        webhooks: WebhookSettings | None = None,
        metrics: MetricsSink | None = None,
        resync: float = RESYNC,
        transform: Transform[Any] | None = None,
        grace: float = GRACE,
        clock: Clock | None = None,
    ) -> None:
        """*name* identifies the program: its lease, its events and its field managers.

        *namespace* is the scope of the caches. *probes* and *metrics_address* are addresses
        (`host:port`) to listen on; if empty, no server is started. *webhooks* are needed if
        there are any.
        """
        self.name = name
        self.client = client
        self.clock = clock or SystemClock()
        self.metrics = metrics or _default_metrics(metrics_address)
        options = InformerOptions(resync=resync)
        self._informers = InformerFactory(
            client, namespace=namespace, transform=transform, options=options, clock=self.clock
        )
        self.caches = Caches(client, self._informers)
        self.events = EventRecorder(client, name, kind_of=self.caches.kind_of, clock=self.clock)
        self.controllers: dict[str, Controller[Any]] = {}
        self.webhooks = Webhooks(client.scheme, metrics=self.metrics)
        self._webhook_settings = webhooks
        self._health_checks: dict[str, Check] = {}
        self._ready_checks: dict[str, Check] = {}
        self._grace = grace
        self._servers: dict[str, HTTPServer | ServesWebhooks] = {}
        self._servers.update(self._http_servers(probes, metrics_address))
        self._failure: BaseException | None = None
        self._leaderless_group = RunnableGroup("leaderless", self.clock, self._fail)
        self._leader_group = RunnableGroup("leader", self.clock, self._fail)
        self._elector = self._leader_elector(leader_election, lease_namespace)
        self._ending = asyncio.Event()
        self._may_release_lease = asyncio.Event()
        self._started = asyncio.Event()
        self._elected = asyncio.Event()
        self._stopped = False
        self._task: asyncio.Task[None] | None = None

    # Controllers, runnables and checks

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
        """Decorate a reconciler of the objects of *cls*.

        It is called when such an object changes and all *predicates* accept the change, when an
        object of a class in *owns* changes, and for the names that the sources in *watches*
        enqueue. *source* replaces the manager's cache of *cls* as the source of its changes;
        *predicates* do not apply to it. Raises ValueError if a controller with this name exists.
        """

        def add(reconcile: Reconcile[T]) -> Reconcile[T]:
            controller_name = name or cls.__kind__.lower()
            sources: list[Source] = [source or Kind(cls, predicates=predicates)]
            sources += [Owned(owned, cls) for owned in owns]
            self._check_name(controller_name)
            self.controllers[controller_name] = controller = Controller(
                cls,
                reconcile,
                name=controller_name,
                sources=[*sources, *watches],
                client=ControllerClient(self.client, self.caches, f"{self.name}/{controller_name}"),
                caches=self.caches,
                events=self.events,
                clock=self.clock,
                metrics=self.metrics,
                workers=workers,
                **options,
            )
            self.add(controller, needs_leader=needs_leader)
            return reconcile

        return add

    def defaulter(self, cls: type[T], **options: Unpack[DefaulterOptions]) -> AddDefaulter[T]:
        """Decorate a function that changes objects before they are stored; see `Webhooks`."""
        return self.webhooks.defaulter(cls, **options)

    def validator(self, cls: type[T], **options: Unpack[WebhookOptions]) -> AddValidator[T]:
        """Decorate a function that yields the errors of objects; see `Webhooks`."""
        return self.webhooks.validator(cls, **options)

    def converter(self, *classes: type[Object]) -> None:
        """Convert custom resources between versions; see `Webhooks`."""
        self.webhooks.converter(*classes)

    def add(
        self,
        runnable: Runnable | Callable[[], Awaitable[object]],
        *,
        needs_leader: bool = True,
    ) -> None:
        """Run a component beside the controllers; a function is cancelled when the manager stops.

        It may be added while the manager runs. An exception that it raises ends the manager. Raises
        ManagerStopped if the manager is stopping.
        """
        if self._stopped or self._ending.is_set():
            raise ManagerStopped(f"manager {self.name} is stopping, nothing can be added")
        group = self._leader_group if needs_leader else self._leaderless_group
        group.add(runnable if not callable(runnable) else Function(runnable))

    def add_health_check(self, name: str, check: Check) -> None:
        """Make /healthz and /livez fail while *check* raises an exception."""
        self._health_checks[name] = check

    def add_ready_check(self, name: str, check: Check) -> None:
        """Make /readyz fail while *check* raises an exception."""
        self._ready_checks[name] = check

    # State

    @property
    def is_leader(self) -> bool:
        """Whether the controllers run, as the leader or without leader election."""
        return self._elected.is_set() and not self._ending.is_set()

    @property
    def failure(self) -> BaseException | None:
        """The first error, which ended the manager; None if there was none."""
        return self._failure

    @property
    def ports(self) -> dict[str, int]:
        """The ports of the servers "probes", "metrics" and "webhooks" while the manager runs."""
        return {name: server.port for name, server in self._servers.items()}

    async def wait_elected(self) -> None:
        """Return when this manager was elected leader, or runs without leader election."""
        await self._elected.wait()

    # Running

    async def start(self, *, signals: bool = False) -> None:
        """Run until `stop`, or until a component fails, and raise its error.

        With *signals*, SIGTERM and SIGINT stop the manager, and a second signal skips the grace
        period. Raises LeadershipLost if the lease is lost; the program should then exit.
        """
        if self._stopped or self._started.is_set():
            raise ManagerStopped(f"manager {self.name} was already started")
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
        """End `start`; may be called repeatedly."""
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
            if self.webhooks.routes:
                self._add_webhook_serving()
            for server in self._servers.values():
                await server.start()
            async with self._informers:
                try:
                    if await done_before(self._prepare(), self._ending):
                        election = self._start_election()
                        self._started.set()
                        await self._ending.wait()
                finally:
                    self._ending.set()
                    await self._stop_runnables()
        finally:
            for server in reversed(self._servers.values()):
                await server.stop()
            # Last: the next leader must not start before this one has stopped working.
            await self._release_lease(election)

    async def _prepare(self) -> None:
        """Do everything that precedes the election."""
        await self._informers.wait_synced(SYNC_TIMEOUT)
        self._leaderless_group.add(Function(self.events.run, "event recorder"))
        self._leaderless_group.start()
        for controller in [*self.controllers.values()]:
            await controller.warm_up()

    def _start_election(self) -> "asyncio.Task[None] | None":
        if self._elector is None:
            self._leader_group.start()
            self._elected.set()
            return None
        task = asyncio.create_task(self._elector.run(self._lead), name=f"election {self.name}")
        task.add_done_callback(self._on_election_done)
        return task

    async def _lead(self) -> None:
        self._leader_group.start()
        self._elected.set()
        try:
            await self._may_release_lease.wait()
        except asyncio.CancelledError:
            # The lease is lost, and another leader may start at any time: stop without grace.
            await self._leader_group.stop(0)
            raise

    def _on_election_done(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)

    async def _stop_runnables(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._leader_group.stop(self._grace))
            tasks.create_task(self._leaderless_group.stop(self._grace))

    async def _release_lease(self, election: "asyncio.Task[None] | None") -> None:
        if election is None:
            return
        if self._elected.is_set():
            self._may_release_lease.set()
        else:
            election.cancel()
        await asyncio.wait((election,))

    def _fail(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure = error
        self._ending.set()

    # Construction of its parts

    def _leader_elector(
        self, election: bool | LeaderElection, lease_namespace: str
    ) -> LeaderElector | None:
        if election is False:
            return None
        if election is True:
            election = LeaderElection(self.name, f"{socket.gethostname()}_{uuid.uuid4()}")
        namespace = lease_namespace or os.environ.get("POD_NAMESPACE", "")
        return LeaderElector(
            leases(self.client, namespace or self.client.config.namespace),
            election,
            on_leading=lambda leads: self.metrics.set(LEADER, int(leads), {"name": self.name}),
            clock=self.clock,
        )

    def _http_servers(self, probes: str, metrics_address: str) -> dict[str, HTTPServer]:
        servers = {}
        if probes:
            healthz = health("healthz", self._health_checks)
            readyz = health("readyz", self._ready_checks)
            routes = {"/healthz": healthz, "/livez": healthz, "/readyz": readyz}
            servers["probes"] = HTTPServer(probes, routes)
        if metrics_address:
            servers["metrics"] = HTTPServer(metrics_address, {"/metrics": self._metrics_page()})
        return servers

    def _add_webhook_serving(self) -> None:
        serving = self._servers["webhooks"] = self._webhook_serving(self._webhook_settings)
        self.add_health_check("webhooks", serving.check_alive)
        self.add_ready_check("webhooks", serving.check_ready)
        self.add(serving.keep_certificates, needs_leader=False)
        self.add(serving.keep_configurations)

    def _webhook_serving(self, settings: WebhookSettings | None) -> ServesWebhooks:
        # Imported late: a program without webhooks needs no certificates.
        with name_missing_extra("webhooks"):
            from client.webhooks.webhook_serving import WebhookServing

        if settings is None:
            raise InvalidWebhookSettings("there are webhooks: Manager(webhooks=WebhookSettings(…))")
        return WebhookServing(
            self.client,
            self.webhooks.routes,
            settings,
            name=self.name,
            clock=self.clock,
            metrics=self.metrics,
        )

    def _metrics_page(self) -> Route:
        from client.monitoring.prometheus import CONTENT_TYPE, PrometheusMetrics

        def render() -> bytes:
            assert isinstance(self.metrics, PrometheusMetrics)
            for controller in self.controllers.values():
                controller.queue.metrics.report_running()
            return self.metrics.exposition()

        if not isinstance(self.metrics, PrometheusMetrics):
            raise TypeError(
                "metrics_address needs PrometheusMetrics: pass them as metrics, or omit metrics"
            )
        return page(render, CONTENT_TYPE)

    def _check_name(self, name: str) -> None:
        if name in self.controllers:
            raise ValueError(
                f"controller with name {name} already exists. Controller names must be unique to"
                " avoid multiple controllers reporting the same metric"
            )


def _default_metrics(address: str) -> MetricsSink:
    if not address:
        return NoMetricsSink()
    # Imported late: a program that serves no metrics does not need prometheus_client.
    from client.monitoring.prometheus import PrometheusMetrics

    return PrometheusMetrics()


def _stop_on_signals(stack: AsyncExitStack, stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    current = asyncio.current_task()
    signalled = False

    def on_signal() -> None:
        nonlocal signalled
        if signalled and current is not None:
            current.cancel()
        signalled = True
        stop()

    for signal in (SIGTERM, SIGINT):
        loop.add_signal_handler(signal, on_signal)
        stack.callback(loop.remove_signal_handler, signal)
