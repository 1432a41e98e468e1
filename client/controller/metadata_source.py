"""MetadataSource: the metadata of a collection as a source of reconcile requests, without a cache.

An informer keeps every object of its collection in memory. A controller that reads the live object
before it acts needs only a notification, so this source lists and watches metadata
(PartialObjectMetadata) and keeps no more than a uid and a name for each object it tracks. It keeps
those to notice deletions that happened while it was not watching.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Final, NamedTuple

from apimachinery.errors import APIError, Expired, Gone
from apimachinery.meta.types import ObjectMeta, PartialObjectMetadata
from apimachinery.scheme import list_class
from apimachinery.watch import EventType
from client.controller.reconciler import NamespacedName
from client.controller.sources import SourceScope
from client.interface import ResourceClient, SelectionArguments
from client.reflector.backoff import Backoff
from client.runtime.clock import Clock
from client.transport.transport import TransportError

log = logging.getLogger("apimachinery.controller")

TURN: Final = 100
"""Objects of a page reported before other tasks run."""

_METADATA_LIST: Final = list_class(PartialObjectMetadata)
"""Kept because pydantic drops generic classes without a reference, and building one is slow."""


class MetadataChange(NamedTuple):
    """The newest metadata of an object; of a deleted one perhaps only uid, namespace and name."""

    metadata: ObjectMeta
    deleted: bool


class MetadataFeed:
    """Lists and watches the metadata of one collection, as often as necessary.

    Only objects for which *tracks* returns true are reported and remembered, until they are
    deleted or *tracks* returns false. Every deletion that is watched is reported.
    """

    def __init__(
        self,
        collection: ResourceClient[Any],
        *,
        tracks: Callable[[ObjectMeta], bool] = lambda _: True,
        clock: Clock,
        name: str,
        **selection: Any,
    ) -> None:
        self._collection: ResourceClient[PartialObjectMetadata] = collection.metadata
        self._tracks = tracks
        self._backoff = Backoff(clock)
        self._name = name
        self._selection: SelectionArguments = selection  # type: ignore[assignment]
        self._tracked: dict[str, NamespacedName] = {}
        """Uid -> name of every object that was reported and not deleted since."""

    async def changes(self) -> AsyncIterator[MetadataChange | None]:
        """Yield the existing objects, then None, then each change.

        All of this is repeated when the watch cannot resume and the collection is listed again.
        """
        while True:
            try:
                async for change in self._list_and_watch():
                    yield change
            except (Expired, Gone) as error:
                log.debug("%s: listing again: %s", self._name, error)
            except (APIError, TransportError) as error:
                log.warning("%s: list or watch failed, retrying: %s", self._name, error)
                await self._backoff.wait()

    async def _list_and_watch(self) -> AsyncIterator[MetadataChange | None]:
        version = ""
        missing = dict(self._tracked)
        async for page in self._collection.list(**self._selection).pages():
            # All pages show the state of the first; the watch continues from there.
            version = version or page.resource_version
            for position, obj in enumerate(page.items):
                if position % TURN == TURN - 1:
                    await asyncio.sleep(0)
                missing.pop(obj.metadata.uid, None)
                if self._update_tracked(obj.metadata):
                    yield MetadataChange(obj.metadata, deleted=False)
        for uid, (namespace, name) in missing.items():
            del self._tracked[uid]
            yield MetadataChange(ObjectMeta(namespace=namespace, name=name, uid=uid), deleted=True)
        yield None
        async with self._collection.watch(since=version, **self._selection) as watch:
            async for event in watch:
                metadata = event.object.metadata
                if event.type is EventType.DELETED:
                    self._tracked.pop(metadata.uid, None)
                    yield MetadataChange(metadata, deleted=True)
                elif self._update_tracked(metadata):
                    yield MetadataChange(metadata, deleted=False)

    def _update_tracked(self, metadata: ObjectMeta) -> bool:
        """Start or stop tracking an object, and return whether to report it."""
        if self._tracks(metadata):
            self._tracked[metadata.uid] = NamespacedName(metadata.namespace, metadata.name)
            return True
        # An object that is no longer tracked is reported one last time.
        return self._tracked.pop(metadata.uid, None) is not None


class MetadataSource:
    """Enqueues the names that *requests* returns for each change of a collection's metadata.

    Without *requests* the changed object itself is reconciled. *selection* narrows the collection
    by labels or fields. Objects for which *tracks* returns false are not reported, but for their
    deletion while it is watched.
    """

    def __init__(
        self,
        collection: ResourceClient[Any],
        requests: Callable[[MetadataChange], Iterable[NamespacedName]] | None = None,
        *,
        name: str,
        tracks: Callable[[ObjectMeta], bool] = lambda _: True,
        **selection: Any,
    ) -> None:
        self.name = f"metadata of {name}"
        self._collection = collection
        self._requests = requests or _changed_object
        self._tracks = tracks
        self._selection = selection

    @property
    def idle(self) -> bool:
        return True

    async def warm_up(self, scope: SourceScope) -> None:
        """Do nothing: there is no cache to fill."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        feed = MetadataFeed(
            self._collection,
            tracks=self._tracks,
            clock=scope.clock,
            name=self.name,
            **self._selection,
        )
        async for change in feed.changes():
            if change is None:
                synced()
                continue
            for request in self._requests(change):
                scope.queue.add(request)


def _changed_object(change: MetadataChange) -> Iterable[NamespacedName]:
    return (NamespacedName(change.metadata.namespace, change.metadata.name),)
