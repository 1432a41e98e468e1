"""Controller: takes names from a queue and has them reconciled, a few at a time.

    sources -> queue -> workers -> reconcile
                 ^                     |
                 +--- later, again ----+

One name is never reconciled twice at once, and a change during a reconcile leads to another.
"""

import asyncio
import logging
import uuid
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

from apimachinery.meta.types import Object
from client.controller.caches import Caches
from client.controller.context import Context, ControllerClient
from client.controller.reconciler import NamespacedName, Reconcile, Result, Terminal
from client.controller.sources import Source
from client.events.recorder import EventRecorder
from client.monitoring.controller_metrics import ControllerMetrics, MetricsSink, OfQueues
from client.runtime.background import is_own_cancellation, race, within
from client.runtime.clock import Clock
from client.workqueue.priority_queue import PriorityQueue
from client.workqueue.rate_limiters import RateLimiter
from client.workqueue.workqueue import QueueShutDown

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.controller")

SYNC_TIMEOUT: Final = 120.0


class CacheSyncTimeout(TimeoutError):
    """A controller's caches were not filled in time; the message names them."""


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
        """With *warm_up* caches are filled before the program leads, so that it can begin at once.

        *reconcile_timeout* seconds after its start a reconcile is cancelled and counts as failed.
        """
        if workers < 1:
            raise ValueError(f"controller {name}: workers={workers} must be at least 1")
        self.name = name
        self.workers = workers
        self.client = client
        self.caches = caches
        self.clock = clock
        self.reconciles = 0
        """How many have begun."""
        self.queue: PriorityQueue[NamespacedName] = PriorityQueue(
            name, rate_limiter=rate_limiter, metrics=OfQueues(metrics), clock=clock
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

    # How it is doing

    @property
    def active(self) -> frozenset[NamespacedName]:
        """What is being reconciled now."""
        return frozenset(self._active)

    @property
    def failing(self) -> frozenset[NamespacedName]:
        """What failed the last time and will be tried again."""
        return frozenset(self._failing)

    @property
    def idle(self) -> bool:
        """Whether nothing is being done, nothing waits for its turn and nothing is on its way."""
        waiting = bool(self._active) or len(self.queue) > 0
        return not waiting and all(source.idle for source in self._sources)

    @property
    def synced(self) -> bool:
        """Whether every source has told what was there at the start."""
        return len(self._synced) == len(self._sources) and all(
            event.is_set() for event in self._synced.values()
        )

    # Its life

    async def warm_up(self) -> None:
        """Fill the caches that will be needed, if that was asked for."""
        if not self._warm_up:
            return
        for source in self._sources:
            await source.warm_up(self)

    async def run(self) -> None:
        """Start the sources, wait until their caches are filled, and work until `stop`."""
        self._metrics.start(self.workers)
        try:
            async with asyncio.TaskGroup() as tasks:
                sources = self._start_sources(tasks)
                await self._wait_synced()
                log.info("controller %s: starting %d workers", self.name, self.workers)
                async with asyncio.TaskGroup() as workers:
                    for number in range(self.workers):
                        workers.create_task(self._work(), name=f"{self.name} worker {number}")
                for source in sources:
                    source.cancel()
        except BaseExceptionGroup as group:
            raise _first(group) from None
        finally:
            self.queue.shut_down()

    def stop(self) -> None:
        """Let what is being reconciled come to its end, and begin nothing new."""
        self._stopping.set()
        self.queue.shut_down()

    def _start_sources(self, tasks: asyncio.TaskGroup) -> "list[asyncio.Task[None]]":
        started = []
        for source in self._sources:
            ready = self._synced[source] = asyncio.Event()
            running = self._run_source(source, ready)
            started.append(tasks.create_task(running, name=f"{self.name} {source.name}"))
        return started

    async def _run_source(self, source: Source, ready: asyncio.Event) -> None:
        try:
            await source.run(self, ready.set)
        except asyncio.CancelledError as error:
            if is_own_cancellation(error):
                raise
            # A controller that no longer hears of anything must not look well.
            raise RuntimeError(f"{self.name}: {source.name} was cancelled by itself") from error

    async def _wait_synced(self) -> None:
        try:
            await within(self.clock, self._sync_timeout, self._all_synced())
        except TimeoutError:
            late = [source.name for source, ready in self._synced.items() if not ready.is_set()]
            raise CacheSyncTimeout(
                f"failed to wait for {self.name} caches to sync {', '.join(late)}: timed out"
                " waiting for cache to be synced"
            ) from None

    async def _all_synced(self) -> None:
        for ready in self._synced.values():
            await race(ready.wait(), self._stopping.wait())

    # Its work

    async def _work(self) -> None:
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
        self._metrics.active(len(self._active))
        self.reconciles += 1
        start = self.clock.monotonic()
        ended = "error"
        try:
            ended = await self._once(request, priority)
        finally:
            self._active.discard(request)
            self._metrics.active(len(self._active))
            self._metrics.ended(ended, self.clock.monotonic() - start)

    async def _once(self, request: NamespacedName, priority: int) -> str:
        """Reconcile one name, and see to it that it comes back when it must; how it ended."""
        ctx = self._context(request, priority)
        try:
            result = await self._call(ctx)
        except Terminal as error:
            ctx.log.error("terminal error, not tried again: %s", error, exc_info=error)
            self._metrics.failed(terminal=True)
            self._failing.discard(request)
            return "error"
        except (Exception, asyncio.CancelledError) as error:
            if is_own_cancellation(error):
                raise
            # Whatever it is, the name must be tried again.
            ctx.log.error("reconciler error: %s", error, exc_info=error)
            self._metrics.failed(timed_out=isinstance(error, ReconcileTimeout))
            self._failing.add(request)
            self.queue.add_rate_limited(request, priority=priority)
            return "error"
        self._failing.discard(request)
        if result is not None and result.requeue:
            self.queue.add_rate_limited(request, priority=priority)
            return "requeue_after"
        self.queue.forget(request)
        if result is not None and result.seconds > 0:
            again = priority if result.priority is None else result.priority
            self.queue.add_after(request, result.seconds, priority=again)
            return "requeue_after"
        return "success"

    async def _call(self, ctx: Context[T]) -> Result | None:
        calling = self._reconcile(ctx)
        if self._reconcile_timeout is None:
            result = await calling
        else:
            result = await _bounded(self.clock, self._reconcile_timeout, calling)
        if result is not None and not isinstance(result, Result):
            raise TypeError(f"a reconciler returns a Result or None, not {result!r}"[:200])
        return result

    def _context(self, request: NamespacedName, priority: int) -> Context[T]:
        reconcile_id = str(uuid.uuid4())
        extra: dict[str, Any] = {
            "controller": self.name,
            "namespace": request.namespace,
            # `name` is taken by the logging module itself.
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
            log=_Log(log, extra),
            reconcile_id=reconcile_id,
            priority=priority,
        )


class ReconcileTimeout(TimeoutError):
    """A reconcile took longer than it may."""


class _Log(logging.LoggerAdapter[logging.Logger]):
    """Says in each line which object it is about."""

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        extra = dict(self.extra or {})
        kwargs["extra"] = {**extra, **kwargs.get("extra", {})}
        about = NamespacedName(str(extra["namespace"]), str(extra["object_name"]))
        return f"{extra['controller']} {about}: {msg}", kwargs


async def _bounded(clock: Clock, seconds: float, calling: Any) -> Any:
    task = asyncio.ensure_future(calling)
    try:
        return await within(clock, seconds, task)
    except TimeoutError:
        if task.done() and not task.cancelled():
            raise  # its own
        raise ReconcileTimeout(f"not finished within {seconds:g}s") from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error itself, out of however many groups."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
