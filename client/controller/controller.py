"""Controller: workers that take names from a queue and reconcile them.

    sources -> queue -> workers -> reconcile
                 ^                     |
                 +------ requeue ------+

A name is never reconciled by two workers at once; a change during a reconcile leads to another one.
"""

import asyncio
import logging
import uuid
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

from apimachinery.errors import APIError, Conflict
from apimachinery.meta.types import Object
from client.controller.caches import Caches
from client.controller.context import Context, ControllerClient
from client.controller.reconciler import NamespacedName, Reconcile, Result, Temporary, Terminal
from client.controller.sources import Source
from client.events.recorder import EventRecorder
from client.monitoring.controller_metrics import (
    ControllerMetrics,
    MetricsSink,
    QueueMetricsProvider,
)
from client.runtime.background import is_own_cancellation, race, within
from client.runtime.clock import Clock
from client.workqueue.priority_queue import PriorityQueue
from client.workqueue.rate_limiters import RateLimiter
from client.workqueue.workqueue import QueueShutDown

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.controller")

SYNC_TIMEOUT: Final = 120.0


class CacheSyncTimeout(TimeoutError):
    """The caches of a controller did not sync in time; the message names its sources."""


class Controller(Generic[T]):
    """Reconciles the objects of one class."""

    def __init__(
        self,
        cls: type[T],
        reconcile: Reconcile[T],
        *,
        name: str,
        sources: Sequence[Source],
        client: ControllerClient,
        caches: Caches,
        events: EventRecorder,
        clock: Clock,
        metrics: MetricsSink,
        workers: int = 1,
        rate_limiter: RateLimiter[NamespacedName] | None = None,
        sync_timeout: float = SYNC_TIMEOUT,
        reconcile_timeout: float | None = None,
        warm_up: bool = False,
    ) -> None:
        """With *warm_up* the caches are filled before the leader election, for a faster start.

        A reconcile that takes longer than *reconcile_timeout* seconds is cancelled and fails.
        """
        if workers < 1:
            raise ValueError(f"controller {name}: workers={workers} must be at least 1")
        self.name = name
        self.workers = workers
        self.client = client
        self.caches = caches
        self.clock = clock
        self.reconciles = 0
        """The number of reconciles that were started."""
        self.queue: PriorityQueue[NamespacedName] = PriorityQueue(
            name, rate_limiter=rate_limiter, metrics=QueueMetricsProvider(metrics), clock=clock
        )
        self._cls = cls
        self._reconcile = reconcile
        self._sources = tuple(sources)
        self._events = events
        self._metrics = ControllerMetrics(metrics, name)
        self._sync_timeout = sync_timeout
        self._reconcile_timeout = reconcile_timeout
        self._warm_up = warm_up
        self._synced: dict[Source, asyncio.Event] = {}
        self._active: set[NamespacedName] = set()
        self._failing: set[NamespacedName] = set()
        self._stopping = asyncio.Event()

    # State

    @property
    def active(self) -> frozenset[NamespacedName]:
        """The names that are being reconciled."""
        return frozenset(self._active)

    @property
    def failing(self) -> frozenset[NamespacedName]:
        """The names whose last reconcile failed and will be retried."""
        return frozenset(self._failing)

    @property
    def idle(self) -> bool:
        """Whether no name is active or queued and no source has a pending change."""
        busy = bool(self._active) or len(self.queue) > 0
        return not busy and all(source.idle for source in self._sources)

    @property
    def synced(self) -> bool:
        """Whether every source has delivered its initial objects."""
        return len(self._synced) == len(self._sources) and all(
            event.is_set() for event in self._synced.values()
        )

    # Running

    async def warm_up(self) -> None:
        """Fill the caches of the sources, if the controller was created with *warm_up*."""
        if not self._warm_up:
            return
        for source in self._sources:
            await source.warm_up(self)

    async def run(self) -> None:
        """Start the sources, wait until their caches have synced, and run the workers until `stop`.

        Raises CacheSyncTimeout if the caches do not sync in time.
        """
        self._metrics.start(self.workers)
        try:
            async with asyncio.TaskGroup() as tasks:
                sources = self._start_sources(tasks)
                await self._wait_synced()
                log.info("controller %s: starting %d workers", self.name, self.workers)
                async with asyncio.TaskGroup() as workers:
                    for number in range(self.workers):
                        workers.create_task(self._run_worker(), name=f"{self.name} worker {number}")
                for source in sources:
                    source.cancel()
        except BaseExceptionGroup as group:
            raise _first_error(group) from None
        finally:
            self.queue.shut_down()

    def stop(self) -> None:
        """Let active reconciles finish and start no new ones."""
        self._stopping.set()
        self.queue.shut_down()

    def _start_sources(self, tasks: asyncio.TaskGroup) -> "list[asyncio.Task[None]]":
        source_tasks = []
        for source in self._sources:
            synced = self._synced[source] = asyncio.Event()
            running = self._run_source(source, synced)
            source_tasks.append(tasks.create_task(running, name=f"{self.name} {source.name}"))
        return source_tasks

    async def _run_source(self, source: Source, synced: asyncio.Event) -> None:
        try:
            await source.run(self, synced.set)
        except asyncio.CancelledError as error:
            if is_own_cancellation(error):
                raise
            # The source cancelled itself: without it the controller would miss changes silently.
            raise RuntimeError(f"{self.name}: {source.name} cancelled itself") from error

    async def _wait_synced(self) -> None:
        try:
            await within(self.clock, self._sync_timeout, self._all_synced())
        except TimeoutError:
            unsynced = [
                source.name for source, synced in self._synced.items() if not synced.is_set()
            ]
            raise CacheSyncTimeout(
                f"failed to wait for {self.name} caches to sync {', '.join(unsynced)}: timed out"
                " waiting for cache to be synced"
            ) from None

    async def _all_synced(self) -> None:
        for synced in self._synced.values():
            await race(synced.wait(), self._stopping.wait())

    # Workers

    async def _run_worker(self) -> None:
        while True:
            try:
                request, priority = await self.queue.get_with_priority()
            except QueueShutDown:
                return
            try:
                if not self._stopping.is_set():
                    await self._handle(request, priority)
            finally:
                self.queue.done(request)

    async def _handle(self, request: NamespacedName, priority: int) -> None:
        self._active.add(request)
        self._metrics.set_active(len(self._active))
        self.reconciles += 1
        start = self.clock.monotonic()
        outcome = "error"
        try:
            outcome = await self._reconcile_and_requeue(request, priority)
        finally:
            self._active.discard(request)
            self._metrics.set_active(len(self._active))
            self._metrics.count_reconcile(outcome, self.clock.monotonic() - start)

    async def _reconcile_and_requeue(self, request: NamespacedName, priority: int) -> str:
        """Reconcile one name, requeue it if necessary, and return the outcome for the metrics."""
        ctx = self._context(request, priority)
        try:
            result = await self._call_reconciler(ctx)
        except Terminal as error:
            ctx.log.error("terminal error, not retried: %s", error, exc_info=error)
            self._metrics.count_failure(terminal=True)
            self._failing.discard(request)
            return "error"
        except (Exception, asyncio.CancelledError) as error:
            if is_own_cancellation(error):
                raise
            # Any error of a reconciler, even its own cancellation, is retried.
            trace = None if _is_passing(error) else error
            ctx.log.error("reconciler error: %s", error, exc_info=trace)
            self._metrics.count_failure(timed_out=isinstance(error, ReconcileTimeout))
            self._failing.add(request)
            self.queue.add_rate_limited(request, priority=priority)
            return "error"
        self._failing.discard(request)
        if result is not None and result.requeue:
            self.queue.add_rate_limited(request, priority=priority)
            return "requeue_after"
        self.queue.forget(request)
        if result is not None and result.seconds > 0:
            next_priority = priority if result.priority is None else result.priority
            self.queue.add_after(request, result.seconds, priority=next_priority)
            return "requeue_after"
        return "success"

    async def _call_reconciler(self, ctx: Context[T]) -> Result | None:
        reconciling = self._reconcile(ctx)
        if self._reconcile_timeout is None:
            result = await reconciling
        else:
            result = await _with_timeout(self.clock, self._reconcile_timeout, reconciling)
        if result is not None and not isinstance(result, Result):
            raise TypeError(f"a reconciler must return a Result or None, not {result!r}"[:200])
        return result

    def _context(self, request: NamespacedName, priority: int) -> Context[T]:
        reconcile_id = str(uuid.uuid4())
        extra: dict[str, Any] = {
            "controller": self.name,
            "namespace": request.namespace,
            # The logging module reserves `name`.
            "object_name": request.name,
            "reconcile_id": reconcile_id,
        }
        return Context(
            self._cls,
            request,
            client=self.client,
            caches=self.caches,
            events=self._events,
            clock=self.clock,
            log=_ContextLogger(log, extra),
            reconcile_id=reconcile_id,
            priority=priority,
        )


def _is_passing(error: BaseException) -> bool:
    """Return whether a retry is what is expected, so that a traceback would tell nothing."""
    if isinstance(error, Temporary):
        return True
    return isinstance(error, APIError) and (error.retry_after > 0 or isinstance(error, Conflict))


class ReconcileTimeout(TimeoutError):
    """A reconcile took longer than its timeout."""


class _ContextLogger(logging.LoggerAdapter[logging.Logger]):
    """Prefixes each message with the controller and the object."""

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        extra = dict(self.extra or {})
        kwargs["extra"] = {**extra, **kwargs.get("extra", {})}
        request = NamespacedName(str(extra["namespace"]), str(extra["object_name"]))
        return f"{extra['controller']} {request}: {msg}", kwargs


async def _with_timeout(clock: Clock, seconds: float, reconciling: Any) -> Any:
    task = asyncio.ensure_future(reconciling)
    try:
        return await within(clock, seconds, task)
    except TimeoutError:
        if task.done() and not task.cancelled():
            raise  # the reconciler's own TimeoutError
        raise ReconcileTimeout(f"not finished within {seconds:g}s") from None


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error inside nested exception groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
