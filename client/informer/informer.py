"""SharedInformer: one cache of a collection, and everybody who wants to know of its changes.

A reflector fills a queue, a processor empties it into the store and tells the handlers, each in a
task of its own. All of it runs inside `run`, and ends with it.
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
from client.informer.event_handlers import Functions, Handler, Outcome
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
    """How informers behave, whatever they are informers of."""

    resync: float = 0
    """Seconds after which handlers are told everything again, unless they ask otherwise."""
    in_order: bool = True
    """Whether every change is processed in order; else the changes of an object may be merged."""
    use_watch_list: bool = True
    """Whether the first state is streamed, if the server can do so."""
    page_size: int = 0
    """The page size of lists; 0 is the best for the server."""
    internal_error_retry: float = 0
    """For how many seconds a watch is opened again after internal errors, without a list."""
    compact: bool = True
    """Whether objects are made over to take less memory, after any other transform."""
    high_water: int = HIGH_WATER
    """So many notifications may wait for a handler before the log says so."""
    on_error: ErrorHandler | None = None
    """Told when listing or watching failed."""
    detector: MutationDetector | None = None
    """Finds those who change cached objects; for tests."""


class SharedInformer(Generic[T]):
    """A cache of a collection that tells handlers what changes in it."""

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
        """*expected* and *kind* are what objects must be to be cached; *resource* is for errors."""
        self.resource = resource or GroupResource()
        self.name = f"informer of {self.resource.resource or 'objects'}"
        self.store: Store[T] = Store({NAMESPACE: namespace_of})
        self.lister = Lister(self.store, self.resource)
        self._source = source
        self._expected = expected
        self._kind = kind
        self._options = options or InformerOptions()
        self._clock = clock or SystemClock()
        made = _transform_of(transform, self._options)
        self._queue: DeltaQueue[T] = (
            FIFO(made) if self._options.in_order else DeltaFIFO(self.store, made)
        )
        self._resyncs: Resyncs[T] = Resyncs(self._options.resync)
        self._processor = Processor(self.store, self._resyncs, self._options.detector)
        self._reflector: Reflector[T] | None = None
        self._waiting = ConditionWaiters()
        self._state = _NOT_STARTED
        self._tasks: asyncio.TaskGroup | None = None
        self._stopping = asyncio.Event()

    # Before or after the start

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        """Index the cache by what *function* returns for an object; the name must be new."""
        self.store.add_index(name, function)

    def add_handler(
        self, handler: Handler[T], *, resync: float | None = None, threaded: bool = False
    ) -> Registration[T]:
        """Tell *handler* of changes, and first of everything that is there already.

        It is told in order and one at a time; between two handlers nothing is promised. *resync*
        seconds apart it is told everything again, 0 for never. A *threaded* handler is called in a
        thread of its own and may block; one that is not holds up the event loop.
        """
        if self._state == _STOPPED:
            raise InformerStopped(f"{self.name} was stopped already, no handler can be added")
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
        """Call *function* for every object that is new; a decorator, and a handler of its own."""
        self.add_handler(Functions(add=function))
        return function

    def on_update(self, function: Callable[[T, T], Outcome]) -> Callable[[T, T], Outcome]:
        """Call *function* with every object before and after a change."""
        self.add_handler(Functions(update=function))
        return function

    def on_delete(
        self, function: Callable[[DeletedObject[T]], Outcome]
    ) -> Callable[[DeletedObject[T]], Outcome]:
        """Call *function* for every object that is gone."""
        self.add_handler(Functions(delete=function))
        return function

    # How far it is

    @property
    def running(self) -> bool:
        return self._state == _RUNNING

    @property
    def stopped(self) -> bool:
        return self._state == _STOPPED

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the cache; handlers may not have been told of it yet."""
        return self._queue.has_synced

    @property
    def resource_version(self) -> str:
        """The state of the collection that the cache is in."""
        return self.store.resource_version

    @property
    def last_sync_resource_version(self) -> str:
        """The newest state that was seen; the cache may not be there yet."""
        return self._reflector.last_sync_resource_version if self._reflector else ""

    async def wait_synced(self, timeout: float | None = None) -> None:
        """Return when it `has_synced`; TimeoutError after *timeout* seconds."""
        await within(self._clock, timeout, self._waiting.until(lambda: self.has_synced))

    async def wait_version(self, resource_version: str, timeout: float | None = None) -> None:
        """Return when the cache shows everything up to *resource_version*, such as one's own write.

        TimeoutError after *timeout* seconds.
        """
        if not is_valid(resource_version):
            raise InvalidResourceVersion(
                f"resource version is not well formed: {resource_version!r}"
            )
        reached = self._waiting.until(
            lambda: has_reached(self.store.resource_version, resource_version)
        )
        await within(self._clock, timeout, reached)

    # Its life

    async def run(self) -> None:
        """Fill the cache and tell the handlers, until `stop` or cancellation.

        Ends with an error only for what would make the cache lie: IndexFailed, and CacheMutated
        if that is looked for.
        """
        if self._state != _NOT_STARTED:
            log.warning("%s has been started already, a second start is not possible", self.name)
            return
        self._state = _RUNNING
        try:
            async with asyncio.TaskGroup() as tasks:
                self._start(tasks)
                await self._stopping.wait()
                raise _Stop
        except BaseExceptionGroup as group:
            serious = group.split(_Stop)[1]
            if serious is not None:
                raise serious.exceptions[0] from None
        finally:
            self._end()

    def stop(self) -> None:
        """Let `run` end; may be repeated."""
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
            should_resync=lambda: self._resyncs.look(self._clock.monotonic()),
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
            synced = self._queue.has_synced
            await self._queue.pop(self._processor.process)
            self._waiting.check()
            if not synced and self._queue.has_synced:
                for registration in self._processor.registrations:
                    registration.check_synced()
            # A producer that never waits must not keep readers and handlers from their turn.
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


def _transform_of(given: Transform[T] | None, options: InformerOptions) -> Transform[T] | None:
    if not options.compact:
        return given
    return compact if given is None else chain(given, compact)


class _Stop(Exception):
    """Ends the tasks of an informer."""
