"""SharedInformer: a cache of one collection, shared by all handlers that watch it.

A reflector fills a queue; a processor drains it into the store and notifies the handlers, each in a
task of its own. All tasks run inside `run` and end with it.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource, GroupVersionKind
from client.cache.delta_fifo import DeltaFIFO
from client.cache.delta_queue import DeltaQueue
from client.cache.deltas import Transform
from client.cache.fifo import FIFO
from client.cache.keys import DeletedObject
from client.cache.resource_versions import InvalidResourceVersion, has_reached, is_valid
from client.cache.store import NAMESPACE, IndexFunction, Store, namespace_of
from client.informer.event_handlers import Handler, HandlerFunctions, Outcome
from client.informer.lister import Lister
from client.informer.mutation_detector import MutationDetector
from client.informer.processor import Processor
from client.informer.registration import HIGH_WATER, Registration
from client.informer.resync import Resyncs
from client.informer.transforms import chain, compact
from client.reflector.list_watch import ListerWatcher
from client.reflector.reflector import ErrorHandler, Reflector
from client.runtime.background import within
from client.runtime.clock import Clock, SystemClock
from client.runtime.waiting import ConditionWaiters, InformerStopped

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.client.informer")

_NOT_STARTED: Final = "not started"
_RUNNING: Final = "running"
_STOPPED: Final = "stopped"


@dataclass(frozen=True, slots=True)
class InformerOptions:
    """Settings that are independent of the collection."""

    resync: float = 0
    """The default resync period of handlers in seconds; 0 is never."""
    in_order: bool = True
    """Whether changes are processed in order (`FIFO`) or grouped by object (`DeltaFIFO`)."""
    use_watch_list: bool = True
    """Whether the existing objects are streamed by a watch, if the server supports it."""
    page_size: int = 0
    """The page size of lists; 0 chooses the one that suits the server best."""
    internal_error_retry: float = 0
    """Seconds for which a watch is resumed after internal errors, instead of listing again."""
    compact: bool = True
    """Whether `transforms.compact` reduces the memory of objects, after any other transform."""
    high_water: int = HIGH_WATER
    """The number of pending notifications of a handler above which a warning is logged."""
    on_error: ErrorHandler | None = None
    """Called with the error of every failed list and watch."""
    detector: MutationDetector | None = None
    """Detects modifications of cached objects; for tests."""


class SharedInformer(Generic[T]):
    """A cache of a collection that notifies handlers of changes."""

    def __init__(
        self,
        source: ListerWatcher[T],
        *,
        resource: GroupResource | None = None,
        expected: type[T] | None = None,
        kind: GroupVersionKind | None = None,
        transform: Transform[T] | None = None,
        options: InformerOptions | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Objects of another class than *expected* or another kind than *kind* are not cached.

        *resource* is named in errors.
        """
        self.resource = resource or GroupResource()
        self.name = f"informer of {self.resource.resource or 'objects'}"
        self.store: Store[T] = Store({NAMESPACE: namespace_of})
        self.lister = Lister(self.store, self.resource)
        self._source = source
        self._expected = expected
        self._kind = kind
        self._options = options or InformerOptions()
        self._clock = clock or SystemClock()
        complete = _with_compaction(transform, self._options)
        self._queue: DeltaQueue[T] = (
            FIFO(complete) if self._options.in_order else DeltaFIFO(self.store, complete)
        )
        self._resyncs: Resyncs[T] = Resyncs(self._options.resync)
        self._processor = Processor(self.store, self._resyncs, self._options.detector)
        self._reflector: Reflector[T] | None = None
        self._waiting = ConditionWaiters()
        self._state = _NOT_STARTED
        self._tasks: asyncio.TaskGroup | None = None
        self._stopping = asyncio.Event()

    # Handlers and indices, added before or after the start

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        """Index the cache by the values of *function*. Raises IndexExists if the name is taken."""
        self.store.add_index(name, function)

    def add_handler(
        self, handler: Handler[T], *, resync: float | None = None, threaded: bool = False
    ) -> Registration[T]:
        """Notify *handler* of all cached objects as added, and then of every change.

        A handler receives its notifications in order, one at a time; there is no order between two
        handlers. Every *resync* seconds all objects are repeated, with 0 never. A *threaded*
        handler is called in a thread and may block; any other blocks the event loop. Raises
        InformerStopped if the informer has ended.
        """
        if self._state == _STOPPED:
            raise InformerStopped(f"{self.name} was stopped, no handler can be added")
        number = len(self._processor.registrations)
        registration = Registration(
            handler,
            name=f"{self.name}, handler {number} ({handler.name})",
            clock=self._clock,
            threaded=threaded,
            informer_synced=lambda: self.has_synced,
            on_remove=self._forget,
            high_water=self._options.high_water,
        )
        self._resyncs.add(registration, resync, self._clock.monotonic())
        self._processor.registrations.append(registration)
        if self._tasks is not None:
            self._processor.replay(registration)
            self._tasks.create_task(registration.run(), name=registration.name)
        return registration

    def on_add(self, function: Callable[[T], Outcome]) -> Callable[[T], Outcome]:
        """Register *function* as a handler of added objects; usable as a decorator."""
        self.add_handler(HandlerFunctions(add=function))
        return function

    def on_update(self, function: Callable[[T, T], Outcome]) -> Callable[[T, T], Outcome]:
        """Register *function* as a handler of updates: called with the old and the new object."""
        self.add_handler(HandlerFunctions(update=function))
        return function

    def on_delete(
        self, function: Callable[[DeletedObject[T]], Outcome]
    ) -> Callable[[DeletedObject[T]], Outcome]:
        """Register *function* as a handler of deleted objects."""
        self.add_handler(HandlerFunctions(delete=function))
        return function

    # State

    @property
    def running(self) -> bool:
        return self._state == _RUNNING

    @property
    def stopped(self) -> bool:
        return self._state == _STOPPED

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the cache; handlers may not have been notified of it yet."""
        return self._queue.has_synced

    @property
    def resource_version(self) -> str:
        """The resourceVersion of the collection that the cache reflects."""
        return self.store.resource_version

    @property
    def last_sync_resource_version(self) -> str:
        """The newest resourceVersion that the reflector observed; the cache may be behind it."""
        return self._reflector.last_sync_resource_version if self._reflector else ""

    async def wait_synced(self, timeout: float | None = None) -> None:
        """Return when the informer `has_synced`. Raises TimeoutError after *timeout* seconds."""
        await within(self._clock, timeout, self._waiting.until(lambda: self.has_synced))

    async def wait_version(self, resource_version: str, timeout: float | None = None) -> None:
        """Return when the cache includes *resource_version*, such as that of the caller's write.

        Raises TimeoutError after *timeout* seconds.
        """
        if not is_valid(resource_version):
            raise InvalidResourceVersion(
                f"resource version is not well formed: {resource_version!r}"
            )
        reached = self._waiting.until(
            lambda: has_reached(self.store.resource_version, resource_version)
        )
        await within(self._clock, timeout, reached)

    # Running

    async def run(self) -> None:
        """Update the cache and notify the handlers, until `stop` or cancellation.

        Raises only errors that make the cache unreliable: IndexFailed, and CacheMutated with a
        detector.
        """
        if self._state != _NOT_STARTED:
            log.warning("%s was already started and cannot be started again", self.name)
            return
        self._state = _RUNNING
        try:
            async with asyncio.TaskGroup() as tasks:
                self._start(tasks)
                await self._stopping.wait()
                raise _Stop
        except BaseExceptionGroup as group:
            failures = group.split(_Stop)[1]
            if failures is not None:
                raise failures.exceptions[0] from None
        finally:
            self._end()

    def stop(self) -> None:
        """End `run`; may be called repeatedly."""
        self._stopping.set()

    def _start(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks
        self._resyncs.start()
        self._reflector = Reflector(
            self._source,
            self._queue,
            name=self.name,
            expected=self._expected,
            kind=self._kind,
            use_watch_list=self._options.use_watch_list,
            page_size=self._options.page_size,
            resync=self._resyncs.check_period,
            should_resync=lambda: self._resyncs.check(self._clock.monotonic()),
            on_error=self._options.on_error,
            internal_error_retry=self._options.internal_error_retry,
            clock=self._clock,
        )
        for registration in self._processor.registrations:
            tasks.create_task(registration.run(), name=registration.name)
        tasks.create_task(self._process(), name=f"{self.name}, processor")
        tasks.create_task(self._reflector.run(), name=f"{self.name}, reflector")
        if self._options.detector is not None:
            tasks.create_task(self._options.detector.run(), name=f"{self.name}, mutation detector")

    async def _process(self) -> None:
        while True:
            had_synced = self._queue.has_synced
            await self._queue.pop(self._processor.process)
            self._waiting.check()
            if not had_synced and self._queue.has_synced:
                for registration in self._processor.registrations:
                    registration.check_synced()
            # `pop` does not yield while deltas wait: readers and handlers must get their turn.
            await asyncio.sleep(0)

    def _forget(self, registration: Registration[T]) -> None:
        self._resyncs.remove(registration)
        if registration in self._processor.registrations:
            self._processor.registrations.remove(registration)

    def _end(self) -> None:
        self._state = _STOPPED
        self._tasks = None
        self._queue.close()
        self._waiting.end(f"{self.name} was stopped")
        for registration in [*self._processor.registrations]:
            registration.end(f"{self.name} was stopped")


def _with_compaction(
    transform: Transform[T] | None, options: InformerOptions
) -> Transform[T] | None:
    if not options.compact:
        return transform
    return compact if transform is None else chain(transform, compact)


class _Stop(Exception):
    """Raised inside the task group to cancel the other tasks of an informer."""
