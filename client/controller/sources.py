"""Sources: watch for changes and enqueue the names to reconcile.

A controller runs its sources for as long as it runs itself. A source reports when it has delivered
the initial objects; workers do not start before all sources have. An error of a source ends the
controller.
"""

import asyncio
import logging
from collections.abc import AsyncIterable, Callable, Sequence
from typing import Final, Generic, Protocol, TypeVar

from apimachinery.meta.types import Object
from apimachinery.resources import Scope
from client.cache.keys import DeletedObject
from client.controller.caches import Caches, Retry
from client.controller.changes import (
    Change,
    CreatedObject,
    ExternalObject,
    RemovedObject,
    UpdatedObject,
)
from client.controller.enqueue_handlers import ChangeHandler, ForObject, Mapped
from client.controller.owners import OwnerMap
from client.controller.predicates import Predicate
from client.controller.reconciler import NamespacedName
from client.informer.event_handlers import Handler
from client.runtime.clock import Clock
from client.workqueue.workqueue import Queue

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.controller")

CHANNEL_SIZE: Final = 1024
UNKNOWN_KIND_RETRY: Final = 10.0
"""Seconds until a kind that the server does not serve is looked up again."""


class SourceScope(Protocol):
    """The part of a controller that its sources use."""

    @property
    def name(self) -> str: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def caches(self) -> Caches: ...

    @property
    def queue(self) -> Queue[NamespacedName]: ...


class Source(Protocol):
    """Enqueues names for a controller."""

    @property
    def name(self) -> str:
        """The name of the source in log messages and errors."""

    @property
    def idle(self) -> bool:
        """Whether no change is pending that is not in the queue yet."""

    async def warm_up(self, scope: SourceScope) -> None:
        """Fill caches before the controller starts."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        """Enqueue names until cancelled; call *synced* when the initial objects were delivered."""


class Kind(Generic[T]):
    """Watches the objects of a class through the manager's cache."""

    def __init__(
        self,
        cls: type[T],
        handler: ChangeHandler[T] | None = None,
        *,
        predicates: Sequence[Predicate[T]] = (),
    ) -> None:
        self._cls = cls
        self._handler: ChangeHandler[T] = handler or ForObject()
        self._predicates = tuple(predicates)
        self._informer_handler: _InformerHandler[T] | None = None

    @property
    def name(self) -> str:
        return f"kind {self._cls.__kind__}"

    @property
    def idle(self) -> bool:
        return self._informer_handler is None or self._informer_handler.idle

    async def warm_up(self, scope: SourceScope) -> None:
        await scope.caches.served(self._cls, self._retry(scope))
        await scope.caches.synced(self._cls)

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        await scope.caches.served(self._cls, self._retry(scope))
        await self._handle_changes(self._handler, scope, synced)

    async def _handle_changes(
        self, handler: ChangeHandler[T], scope: SourceScope, synced: Callable[[], None]
    ) -> None:
        informer = scope.caches.reader(self._cls).informer
        informer_handler = _InformerHandler(handler, self._predicates, scope)
        self._informer_handler = informer_handler
        registration = informer.add_handler(informer_handler)
        informer_handler.pending = lambda: registration.pending
        scope.caches.start()
        try:
            await registration.wait_synced()
            synced()
            await asyncio.Event().wait()
        finally:
            registration.remove()

    def _retry(self, scope: SourceScope) -> Retry:
        async def wait(error: Exception) -> None:
            log.error(
                "%s: %s: %s; if the kind is a custom resource, install its"
                " CustomResourceDefinition first; retrying in %gs",
                scope.name,
                self.name,
                error,
                UNKNOWN_KIND_RETRY,
            )
            await scope.clock.sleep(UNKNOWN_KIND_RETRY)

        return wait


class Owned(Kind[T]):
    """Watches the objects of a class and enqueues their owners of another class."""

    def __init__(
        self,
        cls: type[T],
        owner: type[Object],
        *,
        predicates: Sequence[Predicate[T]] = (),
        only_controller: bool = True,
    ) -> None:
        super().__init__(cls, predicates=predicates)
        self._owner = owner
        self._only_controller = only_controller

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        retry = self._retry(scope)
        # A cluster-scoped owner may own objects in any namespace; the scope comes from discovery.
        owner = await scope.caches.served(self._owner, retry)
        await scope.caches.served(self._cls, retry)
        owners = OwnerMap(
            owner.kind.group_kind,
            namespaced=owner.scope is Scope.NAMESPACED,
            only_controller=self._only_controller,
        )
        await self._handle_changes(Mapped(owners), scope, synced)


class Channel(Generic[T]):
    """Receives objects that the program itself sends after events outside the cluster.

    The channel is bounded by *size*; `send` waits while it is full. It serves one controller.
    """

    def __init__(
        self,
        handler: ChangeHandler[T] | None = None,
        *,
        predicates: Sequence[Predicate[T]] = (),
        size: int = CHANNEL_SIZE,
    ) -> None:
        self._handler: ChangeHandler[T] = handler or ForObject()
        self._predicates = tuple(predicates)
        self._pending: asyncio.Queue[T] = asyncio.Queue(size)
        self._busy = False

    @property
    def name(self) -> str:
        return "channel"

    @property
    def idle(self) -> bool:
        return self._pending.empty() and not self._busy

    async def send(self, obj: T) -> None:
        """Enqueue the names that the handler maps *obj* to; wait while the channel is full."""
        await self._pending.put(obj)

    async def warm_up(self, scope: SourceScope) -> None:
        """Do nothing: there is no cache to fill."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        synced()
        while True:
            obj = await self._pending.get()
            self._busy = True
            try:
                await _enqueue(ExternalObject(obj), self._handler, self._predicates, scope.queue)
            finally:
                self._busy = False


class Stream:
    """Enqueues names from an asynchronous iterator: a message queue, a webhook, a timer."""

    def __init__(
        self,
        names: Callable[[], AsyncIterable[NamespacedName]],
        *,
        name: str = "stream",
    ) -> None:
        self._names = names
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def idle(self) -> bool:
        return True

    async def warm_up(self, scope: SourceScope) -> None:
        """Do nothing: there is no cache to fill."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        synced()
        async for name in self._names():
            scope.queue.add(name)


class _InformerHandler(Handler[T]):
    """Turns the notifications of an informer into changes and enqueues their names."""

    def __init__(
        self,
        handler: ChangeHandler[T],
        predicates: Sequence[Predicate[T]],
        scope: SourceScope,
    ) -> None:
        self._handler = handler
        self._predicates = predicates
        self._scope = scope
        self._busy = False
        self.pending: Callable[[], int] = lambda: 0

    @property
    def name(self) -> str:
        return f"controller {self._scope.name}"

    @property
    def idle(self) -> bool:
        return not self._busy and not self.pending()

    async def on_add(self, obj: T, is_in_initial_list: bool) -> None:
        await self._handle(CreatedObject(obj, is_in_initial_list))

    async def on_update(self, old: T, new: T) -> None:
        await self._handle(UpdatedObject(old, new))

    async def on_delete(self, deleted: DeletedObject[T]) -> None:
        await self._handle(RemovedObject(deleted.key, deleted.object, deleted.final_state_unknown))

    async def _handle(self, change: Change[T]) -> None:
        self._busy = True
        try:
            await _enqueue(change, self._handler, self._predicates, self._scope.queue)
        finally:
            self._busy = False


async def _enqueue(
    change: Change[T],
    handler: ChangeHandler[T],
    predicates: Sequence[Predicate[T]],
    queue: Queue[NamespacedName],
) -> None:
    if all(predicate(change) for predicate in predicates):
        await handler.handle(change, queue)
