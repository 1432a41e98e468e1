"""Processor: applies batches of deltas to the store and then notifies the handlers.

It never waits: a reader sees the store before or after a batch, never in between. When a handler is
notified of a change, the store already contains it, and possibly newer ones.
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

from apimachinery.meta.types import Object
from client.cache.deltas import (
    Bookmark,
    Delta,
    DeltaBatch,
    DeltaType,
    ObjectChange,
    ReplacedAll,
    SyncAll,
)
from client.cache.keys import DeletedObject
from client.cache.store import IndexFailed, Store
from client.informer.mutation_detector import MutationDetector
from client.informer.registration import (
    AddNotification,
    Notification,
    Registration,
    UpdateNotification,
)
from client.informer.resync import Resyncs

T = TypeVar("T", bound=Object)


class Processor(Generic[T]):
    """The store of an informer and the registrations of its handlers."""

    def __init__(
        self, store: Store[T], resyncs: Resyncs[T], detector: MutationDetector | None = None
    ) -> None:
        self.store = store
        self.registrations: list[Registration[T]] = []
        self._resyncs = resyncs
        self._detector = detector

    def process(self, batch: DeltaBatch[T]) -> None:
        """Apply a batch in one step.

        Raises IndexFailed if an index function raised; the other deltas of the batch have then been
        applied and their handlers notified.
        """
        notifications: list[Notification[T]] = []
        failure: IndexFailed | None = None
        for delta in batch.deltas:
            try:
                notifications += self._apply(delta, initial=batch.is_in_initial_list)
            except IndexFailed as error:
                failure = error
        if batch.resource_version:
            self.store.resource_version = batch.resource_version
        for notification in notifications:
            self._notify_handlers(notification)
        if failure is not None:
            raise failure

    def replay(self, registration: Registration[T]) -> None:
        """Notify a handler that was added later of all cached objects."""
        for obj in self.store.objects():
            registration.notify(AddNotification(obj, is_in_initial_list=True))

    def _apply(self, delta: Delta[T], *, initial: bool) -> list[Notification[T]]:
        if isinstance(delta, ObjectChange):
            return [self._change(delta, initial=initial)]
        if isinstance(delta, ReplacedAll):
            return list(self._replace_all(delta, initial=initial))
        if isinstance(delta, SyncAll):
            return [UpdateNotification(obj, obj) for obj in self.store.objects()]
        assert isinstance(delta, Bookmark)
        return []

    def _change(self, change: ObjectChange[T], *, initial: bool) -> Notification[T]:
        obj = change.object
        if isinstance(obj, DeletedObject):
            self.store.remove(change.key)
            return obj
        if change.type is DeltaType.DELETED:
            self.store.remove(change.key)
            return DeletedObject(change.key, obj)
        old = self.store.put(change.key, obj)
        return AddNotification(obj, initial) if old is None else UpdateNotification(old, obj)

    def _replace_all(self, delta: ReplacedAll[T], *, initial: bool) -> Iterator[Notification[T]]:
        objects = delta.objects
        previous = self.store.replace_all(objects, delta.resource_version)
        for key, old in previous.items():
            if key not in objects:
                yield DeletedObject(key, old, final_state_unknown=True)
        for key, obj in objects.items():
            before = previous.get(key)
            if before is None:
                yield AddNotification(obj, initial)
            else:
                yield UpdateNotification(before, obj)

    def _notify_handlers(self, notification: Notification[T]) -> None:
        if self._detector is not None:
            self._detect_mutations(notification)
        if isinstance(notification, UpdateNotification) and _is_unchanged(notification):
            # Only handlers that are due for a resync are notified of unchanged objects.
            for registration in self.registrations:
                if self._resyncs.is_due(registration):
                    registration.notify(notification)
            return
        for registration in self.registrations:
            registration.notify(notification)

    def _detect_mutations(self, notification: Notification[T]) -> None:
        assert self._detector is not None
        if isinstance(notification, AddNotification):
            self._detector.add(notification.object)
        elif isinstance(notification, UpdateNotification):
            self._detector.add(notification.new)


def _is_unchanged(update: UpdateNotification[T]) -> bool:
    return update.old.metadata.resource_version == update.new.metadata.resource_version
