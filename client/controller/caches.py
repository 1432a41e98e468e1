"""Caches: what the controllers of a manager read, one informer for each class.

Whoever asks for a class that nobody asked for before starts its informer. Reading shows own writes
at once (`client.controller.own_writes`), and returns copies: a reconciler may change what it read.
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
from client.controller.own_writes import Writes
from client.controller.owners import CONTROLLER_UID, index_controller_uid
from client.informer.factory import InformerFactory
from client.informer.informer import SharedInformer
from client.informer.lister import selected, selector_of
from client.interface import Labels, ResourceClient
from client.transport.transport import TransportError

T = TypeVar("T", bound=Object)

Retry: TypeAlias = Callable[[Exception], Awaitable[None]]


class Reader(Generic[T]):
    """The cached objects of one class, never older than this program's own writes."""

    def __init__(self, cls: type[T], informer: SharedInformer[T]) -> None:
        self.cls = cls
        self.informer = informer
        self.writes: Writes[T] = Writes(lambda: informer.resource_version)

    def get(self, namespace: str, name: str) -> T | None:
        key = join_key(namespace, name)
        found = self.writes.newest(key, self.informer.store.get(key))
        return found.deep_copy() if found is not None else None

    def list(self, namespace: str = "", labels: Labels = "") -> Sequence[T]:
        """The objects of a namespace, or of all, with these labels."""
        selector = selector_of(labels)
        store = self.informer.store
        cached = store.by_index(NAMESPACE, namespace) if namespace else store.objects()
        newest = self.writes.over(cached)
        here = (o for o in newest if not namespace or o.metadata.namespace == namespace)
        return [obj.deep_copy() for obj in selected(here, selector)]

    def controlled_by(self, uid: str) -> Sequence[T]:
        """The objects whose controller has this uid."""
        newest = self.writes.over(self.informer.store.by_index(CONTROLLER_UID, uid))
        return [obj.deep_copy() for obj in newest if uid in index_controller_uid(obj)]


class Caches:
    """The readers of one manager."""

    def __init__(self, client: AsyncClient, informers: InformerFactory) -> None:
        self._client = client
        self._informers = informers
        self._readers: dict[type[Object], Reader[Any]] = {}

    def reader(self, cls: type[T]) -> Reader[T]:
        """The reader of a class, made if need be; its informer starts with the manager."""
        found = self._readers.get(cls)
        if found is None:
            informer = self._informers.of(cls)
            informer.add_index(CONTROLLER_UID, index_controller_uid)
            found = self._readers[cls] = Reader(cls, informer)
        return cast(Reader[T], found)

    async def synced(self, cls: type[T]) -> Reader[T]:
        """The reader of a class as soon as its cache is filled; starts it if need be."""
        reader = self.reader(cls)
        if not reader.informer.has_synced:
            self._informers.start()
            await reader.informer.wait_synced()
        return reader

    def start(self) -> None:
        """Start the informers that are new."""
        self._informers.start()

    def __iter__(self) -> Iterator[Reader[Any]]:
        return iter(tuple(self._readers.values()))

    def noting(
        self, cls: type[T], *, namespace: str | None = None, field_manager: str
    ) -> ResourceClient[T]:
        """The client of a class, whose writes the cache of that class notes if there is one."""
        client = self._client.of(cls, namespace=namespace)
        reader = self._readers.get(cls)
        if reader is not None:
            client = client.notifying(reader.writes.observe)
        return client.as_manager(field_manager)

    def kind_of(self, cls: type[Object]) -> GroupVersionKind:
        """The kind of a class, as registered or as the class itself says."""
        try:
            return self._client.scheme.kind_of(cls)
        except NotRegistered:
            version = cls.model_fields["api_version"].default
            if not version:
                raise
            return GroupVersion.parse(version).with_kind(cls.__kind__)

    async def served(self, cls: type[Object], retry: Retry) -> Mapping:
        """Where a class is served, as soon as it is; *retry* waits in between."""
        while True:
            try:
                return await self._client.discovery.mapping(self.kind_of(cls))
            except (NoMatch, APIError, TransportError) as error:
                await retry(error)
