"""Groups: the groups that one server process serves, installed and removed while it runs.

Documents derived from all groups together (discovery, OpenAPI) compare `revision` to detect when
they have to be built again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from apimachinery.codec import Codec
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource, GroupVersionKind, GroupVersionResource
from apimachinery.scheme import Scheme
from apiserver.admission.plugins import NO_PLUGINS, Admission
from apiserver.context import context_for
from apiserver.endpoint import Endpoint
from apiserver.evolution.judgement import Judgement, StoredKind
from apiserver.evolution.shape_learning import ShapeLearner
from apiserver.evolution.start import ShapeStart
from apiserver.group import Group
from apiserver.group_check import register_groups
from apiserver.installed_group import (
    BuiltInGroup,
    Foundation,
    InstalledGroup,
    InstallError,
    MakeOwnership,
)
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.interface import Backend

__all__ = ["Groups", "InstallError", "InstalledGroup", "MakeOwnership"]


class Groups:
    """The groups of one server process."""

    def __init__(
        self,
        backend: Backend,
        cache: WatchCache,
        *,
        scheme: Scheme | None = None,
        registered: Iterable[Group] = (),
        admission: Admission = NO_PLUGINS,
        ownership: MakeOwnership | None = None,
    ) -> None:
        """Describe the groups; *registered* are groups that *scheme* has already."""
        self.backend = backend
        self.scheme = scheme or Scheme()
        self.codec = Codec(self.scheme)
        self.revision = 0
        """Incremented whenever a group is installed, replaced or removed."""
        self.changed = asyncio.Event()
        """Set at the next change, and then replaced by a new event."""
        self.refresh: Callable[[], Awaitable[None]] | None = None
        """Installs groups that were defined a moment ago; None on a server without extensions."""
        self._cache = cache
        self._installed: dict[str, InstalledGroup] = {}
        self._registered = {group.name for group in registered}
        self._shapes: ShapeLearner | None = None
        self._deferred: frozenset[GroupResource] = frozenset()
        """Resources of stable groups that were never stored when the server started."""
        # Admission plugins may look up stores, but only while they serve a request.
        self._foundation = Foundation(
            backend,
            cache,
            self.codec,
            admission,
            ownership,
            self.store,
        )

    def __iter__(self) -> Iterator[InstalledGroup]:
        """Iterate over built-in groups in the order of installation, then over others by name.

        So every worker lists the groups in the same order, whenever it learned of them.
        """
        return iter(sorted(self._installed.values(), key=_order))

    def register(self, groups: Sequence[Group]) -> None:
        """Register groups that are to be installed. Raises InstallError with all their problems."""
        if problems := register_groups(groups, self.scheme):
            raise InstallError("\n".join(problems))
        self._registered.update(group.name for group in groups)

    def install(self, group: Group) -> None:
        """Serve a group from now on. Raises InstallError if its name is taken."""
        if group.name in self._installed:
            raise InstallError(f"group {group.name!r} is installed already")
        if group.name not in self._registered:
            group.add_to_scheme(self.scheme)
            self._registered.add(group.name)
        installed = BuiltInGroup(group)
        self._serve(installed)
        if self._shapes is not None:
            self._use_shapes(installed, self._shapes)

    def stored_kinds(self) -> Iterator[tuple[StoredKind, ResourceStore[Any]]]:
        """Yield the resources of built-in groups that are stored, each with its store."""
        for installed in self:
            if installed.is_built_in:
                yield from _kinds_of(installed)

    async def defer_shapes(self, start: ShapeStart) -> None:
        """Leave out of the checks what stable groups have never stored; its first write is noted.

        Raises StorageError.
        """
        stable = [installed for installed in self if installed.group.stable]
        if stable:
            resources = {kind.resource for group in stable for kind, _ in _kinds_of(group)}
            self._deferred = frozenset(resources - await start.stored_resources())

    async def check_shapes(self, start: ShapeStart) -> list[Judgement]:
        """Compare the stored classes with the shapes in the store. Raises UnsafeStart."""
        return await start.check(kind for kind, _ in self._compared_kinds())

    def _compared_kinds(self) -> Iterator[tuple[StoredKind, ResourceStore[Any]]]:
        for kind, store in self.stored_kinds():
            if kind.resource not in self._deferred:
                yield kind, store

    async def register_shapes(self, start: ShapeStart) -> ShapeLearner:
        """Check the shapes, catalogue them, and have every store read objects of other shapes.

        Before the cache is filled. Returns what learns of shapes that are catalogued later. Raises
        UnsafeStart.
        """
        learner = ShapeLearner(start)
        stores = {kind.resource: store for kind, store in self.stored_kinds()}
        for kind, store in self.stored_kinds():
            if kind.resource in self._deferred:
                _defer_shape(learner, kind, store)
        for judgement in await self.check_shapes(start):
            await start.register(judgement)
            store = stores[judgement.kind.resource]
            _follow_shapes(learner, judgement.kind, store)
            store.cached.collection.starts_empty = await start.serve(judgement)
        self._shapes = learner
        return learner

    def expire_watches(self, resources: Container[str], revision: int) -> None:
        """Have clients list resources again that looked otherwise on other servers.

        They may have watched there and resume here. *resources* are names with their groups.
        """
        for kind, store in self.stored_kinds():
            if kind.name in resources:
                store.cached.collection.expire(revision)

    def shapes(self) -> dict[str, str]:
        """Return the fingerprint of the shape in which each resource is stored."""
        return {kind.name: kind.tree.fingerprint for kind, _ in self._compared_kinds()}

    def replace(self, group: InstalledGroup) -> None:
        """Serve a group in place of the one with the same name, if there is one.

        The stores that *group* retains keep their cached objects and their watches.
        """
        before = self._installed.get(group.group.name)
        for store in before.stores.values() if before is not None else ():
            if not group.retains(store):
                self._cache.unregister(store.cached)
        self._serve(group)

    def remove(self, name: str) -> None:
        """Stop serving a group and end its watches; its objects stay in storage."""
        installed = self._installed.get(name)
        if installed is None:
            raise InstallError(f"group {name!r} is not installed")
        for other in self:
            if any(r.stored_as and r.stored_as.group == name for r in other.group.resources):
                raise InstallError(f"group {name!r}: {other.group.name!r} shows objects of it")
        del self._installed[name]
        for store in installed.stores.values():
            self._cache.unregister(store.cached)
        self._notify()

    @property
    def revision_reached(self) -> int:
        """The revision that the cache of the groups' objects has reached."""
        return self._cache.revision

    async def advanced(self, revision: int, *, seconds: float) -> bool:
        """Return whether the cache reaches a later revision within *seconds*."""
        return await self._cache.wait(revision + 1, seconds=seconds)

    def version(self, group: str, version: str) -> dict[str, Endpoint] | None:
        """Return the endpoints of one version by resource, None if it is not served."""
        installed = self._installed.get(group)
        return installed.versions.get(version) if installed else None

    def resource_of(self, kind: GroupVersionKind) -> str:
        """Return the name of the resource of a kind, empty if none is served."""
        endpoints = self.version(kind.group, kind.version) or {}
        return next((e.resource.name for e in endpoints.values() if e.kind == kind), "")

    def versioned(self, resource: GroupResource) -> GroupVersionResource:
        """Return a resource in the first version that has it.

        Raises KeyError if its group is not installed.
        """
        version = self._installed[resource.group].version_of(resource.resource)
        return version.with_resource(resource.resource)

    def store(self, resource: GroupResource) -> ResourceStore[Any]:
        """Return the store of a resource. Raises KeyError if there is none."""
        return self._installed[resource.group].stores[resource.resource]

    async def filled(self, *, seconds: float) -> bool:
        """Wait until every resource is cached; return False if that takes longer than *seconds*."""
        try:
            async with asyncio.timeout(seconds):
                for installed in self:
                    for store in installed.stores.values():
                        await store.cached.collection.filled.wait()
        except TimeoutError:
            return False
        return True

    async def create(self, resource: GroupResource, obj: Object) -> Object:
        """Create an internal object as the server itself."""
        meta = obj.metadata
        context = context_for(
            "create", self.versioned(resource), namespace=meta.namespace, name=meta.name
        )
        created: Object = await self.store(resource).create(obj, context)
        return created

    def _use_shapes(self, group: InstalledGroup, learner: ShapeLearner) -> None:
        """Have the stores of a group that is installed later use the shapes of their objects."""
        for kind, store in _kinds_of(group):
            learner.start.use_shapes(kind)
            _defer_shape(learner, kind, store)

    def _serve(self, group: InstalledGroup) -> None:
        group.assemble(self._foundation)
        self._installed[group.group.name] = group
        self._notify()

    def _notify(self) -> None:
        self.revision += 1
        self.changed.set()
        self.changed = asyncio.Event()


def _kinds_of(installed: InstalledGroup) -> Iterator[tuple[StoredKind, ResourceStore[Any]]]:
    for resource in installed.group.resources:
        store = installed.stores.get(resource.name)
        if store is not None:
            rules, codec = store.rules, store.objects.codec
            yield StoredKind(rules.resource, resource.cls, codec, rules.namespaced), store


def _defer_shape(learner: ShapeLearner, kind: StoredKind, store: ResourceStore[Any]) -> None:
    """Have a store catalogue the shape of its objects before it writes the first one."""
    _follow_shapes(learner, kind, store)
    store.objects.before_first_write = partial(learner.register, kind)


def _follow_shapes(learner: ShapeLearner, kind: StoredKind, store: ResourceStore[Any]) -> None:
    store.view.know_shapes()
    learner.follow(kind, store.cached.collection.keys.prefix, store.view.know_shapes)


def _order(installed: InstalledGroup) -> str:
    return "" if installed.is_built_in else installed.group.name
