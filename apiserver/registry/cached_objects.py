"""CachedObjects: decoded objects of one resource, for admission that depends on other objects.

Admission reads the same few objects for every write: the default class, the service account of a
namespace. They come from the watch cache, and each state of an object is decoded once.
"""

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, cast

from apimachinery.errors import BadRequest, NotFound
from apimachinery.meta.options import ListOptions
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.storage.cache.read_revision import Freshness

T = TypeVar("T", bound=Object)

MAX_DECODED: Final = 1024
"""Decoded objects that are kept; when there are more, all are decoded again."""

_AS_CACHED: Final = ListOptions(resource_version="0")


class CachedObjects(Generic[T]):
    """The objects of one resource; they are shared and must not be modified."""

    def __init__(
        self,
        find_store: Callable[[GroupResource], ResourceStore[Any]],
        resource: GroupResource,
        cls: type[T],
    ) -> None:
        self._find_store = find_store
        self._resource = resource
        self._cls = cls
        self._decoded: dict[str, tuple[int, T]] = {}

    async def find(self, name: str, *, namespace: str = "") -> T | None:
        """Return an object as the cache has it, or if it has none, the newest state.

        Returns None if there is none, or if the server does not serve the resource.
        """
        return await self._get(name, namespace, Freshness.ANY) or await self.newest(
            name, namespace=namespace
        )

    async def newest(self, name: str, *, namespace: str = "") -> T | None:
        """Return the newest state of an object, None if it does not exist."""
        return await self._get(name, namespace, Freshness.NEWEST)

    async def all(self, *, namespace: str | None = None, newest: bool = False) -> list[T]:
        """Return all objects, or those of a namespace, ordered by their names."""
        try:
            store = self._find_store(self._resource)
        except KeyError:
            return []
        selection = EntrySelection(namespace=namespace)
        page = await store.list(selection, None if newest else _AS_CACHED)
        return [self._decode(store, entry) for entry in page.entries]

    async def _get(self, name: str, namespace: str, at: Freshness) -> T | None:
        try:
            store = self._find_store(self._resource)
            entry = await store.get(name, namespace=namespace, at=at)
        except (KeyError, NotFound, BadRequest):  # BadRequest: no object can have that name
            return None
        return self._decode(store, entry)

    def _decode(self, store: ResourceStore[Any], entry: Entry) -> T:
        known = self._decoded.get(entry.key)
        if known is not None and known[0] == entry.revision:
            return known[1]
        if len(self._decoded) >= MAX_DECODED:
            self._decoded.clear()
        obj = cast(T, store.decode(entry))
        self._decoded[entry.key] = entry.revision, obj
        return obj
