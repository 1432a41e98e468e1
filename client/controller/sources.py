"""Sources: where a controller hears of changes.

A source is run by the controller for as long as it works. It says when it has told everything that
there was at the start; workers do not begin before all sources have. One that fails ends the
controller with its error.
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
"""Seconds until a kind that the server does not have is looked for again."""


class SourceScope(Protocol):
    """What a source may use of its controller."""

    @property
    def name(self) -> str: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def caches(self) -> Caches: ...

    @property
    def queue(self) -> Queue[NamespacedName]: ...


class Source(Protocol):
    """Puts names into the controller's queue."""

    @property
    def name(self) -> str:
        """What it is called in the log."""

    @property
    def idle(self) -> bool:
        """Whether everything that it has heard of is in the queue."""

    async def warm_up(self, scope: SourceScope) -> None:
        """Prepare what takes long, before there is anything to work on."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        """Work until cancelled; call *synced* when what was there at the start has been told."""


class Kind(Generic[T]):
    """The objects of a class, from the manager's cache."""

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
        self._told: _Told[T] | None = None

    @property
    def name(self) -> str:
        return f"kind {self._cls.__kind__}"

    @property
    def idle(self) -> bool:
        return self._told is None or self._told.idle

    async def warm_up(self, scope: SourceScope) -> None:
        await scope.caches.served(self._cls, self._retry(scope))
        await scope.caches.synced(self._cls)

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        await scope.caches.served(self._cls, self._retry(scope))
        await self._tell(self._handler, scope, synced)

    async def _tell(
        self, handler: ChangeHandler[T], scope: SourceScope, synced: Callable[[], None]
    ) -> None:
        informer = scope.caches.reader(self._cls).informer
        told = self._told = _Told(handler, self._predicates, scope)
        registration = informer.add_handler(told)
        told.pending = lambda: registration.pending
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
                "%s: %s: %s; if a resource definition is to bring it, install that first;"
                " looking again in %gs",
                scope.name,
                self.name,
                error,
                UNKNOWN_KIND_RETRY,
            )
            await scope.clock.sleep(UNKNOWN_KIND_RETRY)

        return wait


class Owned(Kind[T]):
    """The objects of a class that have an owner of another class: the owner is to be reconciled."""

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
        # An owner without a namespace may own objects in any: only the server knows which it is.
        owner = await scope.caches.served(self._owner, retry)
        await scope.caches.served(self._cls, retry)
        owners = OwnerMap(
            owner.kind.group_kind,
            namespaced=owner.scope is Scope.NAMESPACED,
            only_controller=self._only_controller,
        )
        await self._tell(Mapped(owners), scope, synced)


class Channel(Generic[T]):
    """Objects that the program itself sends, when something outside of the cluster happened.

    It holds so many that wait; `send` waits when it is full. One channel is for one controller.
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
        self._waiting: asyncio.Queue[T] = asyncio.Queue(size)
        self._busy = False

    @property
    def name(self) -> str:
        return "channel"

    @property
    def idle(self) -> bool:
        return self._waiting.empty() and not self._busy

    async def send(self, obj: T) -> None:
        """Have what concerns *obj* reconciled."""
        await self._waiting.put(obj)

    async def warm_up(self, scope: SourceScope) -> None:
        """There is nothing to prepare."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        synced()
        while True:
            obj = await self._waiting.get()
            self._busy = True
            try:
                await _pass_on(ExternalObject(obj), self._handler, self._predicates, scope.queue)
            finally:
                self._busy = False


class Stream:
    """Names from anywhere: a message queue, a webhook, a timer, as an asynchronous iterator."""

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
        """There is nothing to prepare."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        synced()
        async for name in self._names():
            scope.queue.add(name)


class _Told(Handler[T]):
    """The informer's handler: makes changes of notifications and passes them on."""

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
        await self._tell(CreatedObject(obj, is_in_initial_list))

    async def on_update(self, old: T, new: T) -> None:
        await self._tell(UpdatedObject(old, new))

    async def on_delete(self, deleted: DeletedObject[T]) -> None:
        await self._tell(RemovedObject(deleted.key, deleted.object, deleted.final_state_unknown))

    async def _tell(self, change: Change[T]) -> None:
        self._busy = True
        try:
            await _pass_on(change, self._handler, self._predicates, self._scope.queue)
        finally:
            self._busy = False


async def _pass_on(
    change: Change[T],
    handler: ChangeHandler[T],
    predicates: Sequence[Predicate[T]],
    queue: Queue[NamespacedName],
) -> None:
    if all(predicate(change) for predicate in predicates):
        await handler.handle(change, queue)
