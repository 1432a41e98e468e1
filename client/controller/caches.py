"""Caches of a manager's controllers: one informer for each class that they read.

The first read of a class starts its informer. Reads include the controllers' own writes at once
(`client.controller.own_writes`) and return copies, which a reconciler may modify.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, cast

from apimachinery.errors import APIError
from apimachinery.mapper import Mapping, NoMatch
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersion, GroupVersionKind
from apimachinery.scheme import NotRegistered
from client.cache.keys import join_key
from client.cache.store import NAMESPACE
from client.client import AsyncClient
from client.controller.own_writes import OwnWrites
from client.controller.owners import (
    CONTROLLER_UID,
    ORPHANS,
    index_controller_uid,
    index_orphans,
)
from client.informer.factory import InformerFactory
from client.informer.informer import SharedInformer
from client.informer.lister import selected, selector_of
from client.interface import Labels, ResourceClient
from client.transport.transport import TransportError

T = TypeVar("T", bound=Object)

Retry: TypeAlias = Callable[[Exception], Awaitable[None]]
"""Waits before a failed lookup is retried; called with its error."""


class Reader(Generic[T]):
    """Reads the cached objects of one class, never older than the controllers' own writes."""

    def __init__(self, cls: type[T], informer: SharedInformer[T]) -> None:
        self.cls = cls
        self.informer = informer
        self.writes: OwnWrites[T] = OwnWrites(lambda: informer.resource_version)
        self._has_orphans = False
        """Whether there is an index of orphans, which few controllers need."""

    def get(self, namespace: str, name: str) -> T | None:
        key = join_key(namespace, name)
        newest = self.writes.newest(key, self.informer.store.get(key))
        return newest.deep_copy() if newest is not None else None

    def list(self, namespace: str = "", labels: Labels = "") -> Sequence[T]:
        """Return the objects of a namespace, or of all namespaces, that match *labels*."""
        selector = selector_of(labels)
        store = self.informer.store
        cached = store.by_index(NAMESPACE, namespace) if namespace else store.objects()
        newest = self.writes.merge(cached)
        # Own writes may be in other namespaces.
        in_namespace = (o for o in newest if not namespace or o.metadata.namespace == namespace)
        return [obj.deep_copy() for obj in selected(in_namespace, selector)]

    def controlled_by(self, uid: str) -> Sequence[T]:
        """Return the objects whose controlling owner has this uid."""
        newest = self.writes.merge(self.informer.store.by_index(CONTROLLER_UID, uid))
        return [obj.deep_copy() for obj in newest if uid in index_controller_uid(obj)]

    def orphans(self, namespace: str) -> Sequence[T]:
        """Return the objects of a namespace that no owner controls."""
        if not self._has_orphans:
            self.informer.add_index(ORPHANS, index_orphans)
            self._has_orphans = True
        newest = self.writes.merge(self.informer.store.by_index(ORPHANS, namespace))
        return [obj.deep_copy() for obj in newest if namespace in index_orphans(obj)]


class Caches:
    """The readers of one manager."""

    def __init__(self, client: AsyncClient, informers: InformerFactory) -> None:
        self._client = client
        self._informers = informers
        self._readers: dict[type[Object], Reader[Any]] = {}

    def reader(self, cls: type[T]) -> Reader[T]:
        """Return the reader of a class; the informer of a new one starts with the manager."""
        reader = self._readers.get(cls)
        if reader is None:
            informer = self._informers.of(cls)
            informer.add_index(CONTROLLER_UID, index_controller_uid)
            reader = self._readers[cls] = Reader(cls, informer)
        return cast(Reader[T], reader)

    async def synced(self, cls: type[T]) -> Reader[T]:
        """Return the reader of a class when its cache has synced; start its informer if needed."""
        reader = self.reader(cls)
        if not reader.informer.has_synced:
            self._informers.start()
            await reader.informer.wait_synced()
        return reader

    def start(self) -> None:
        """Start the informers that do not run yet."""
        self._informers.start()

    def __iter__(self) -> Iterator[Reader[Any]]:
        return iter(tuple(self._readers.values()))

    def client_of(
        self, cls: type[T], *, namespace: str | None = None, field_manager: str
    ) -> ResourceClient[T]:
        """Return a client of a class; the reader of the class, if any, records its writes."""
        client = self._client.of(cls, namespace=namespace)
        reader = self._readers.get(cls)
        if reader is not None:
            client = client.notifying(reader.writes.observe)
        return client.as_manager(field_manager)

    def kind_of(self, cls: type[Object]) -> GroupVersionKind:
        """Return the kind of a class, from the scheme or else from the class itself.

        Raises NotRegistered if neither has one.
        """
        try:
            return self._client.scheme.kind_of(cls)
        except NotRegistered:
            version = cls.model_fields["api_version"].default
            if not version:
                raise
            return GroupVersion.parse(version).with_kind(cls.__kind__)

    async def served(self, cls: type[Object], retry: Retry) -> Mapping:
        """Return the resource of a class as soon as the server serves it.

        *retry* is awaited with the error of each failed lookup.
        """
        while True:
            try:
                return await self._client.discovery.mapping(self.kind_of(cls))
            except (NoMatch, APIError, TransportError) as error:
                await retry(error)
