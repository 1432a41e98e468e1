"""Groups: from what a group says about itself to stores and endpoints, while the server runs.

A group can be added and removed at any time. What is derived from all of them together (discovery,
OpenAPI) asks for `revision` to know whether it has to be made again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from apimachinery.codec import Codec
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource, GroupVersion, GroupVersionResource
from apimachinery.scheme import Scheme
from apiserver.admission.chain import NO_ADMISSION, Chain
from apiserver.context import context_for
from apiserver.endpoint import Endpoint
from apiserver.group import Assembled, Foundation, Group, Resource
from apiserver.managed_fields.ownership import Ownership
from apiserver.registry.store import ResourceStore
from apiserver.registry.store_builder import assemble_store
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.interface import Backend

MakeOwnership = Callable[[Codec, Group, Any], Ownership]


class InstallError(Exception):
    """A group that cannot be installed beside those that are."""


class Installed:
    """One group, its own stores by resource and its endpoints by version and resource."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.stores: dict[str, ResourceStore[Any]] = {}
        self.assembled: dict[str, Assembled] = {}
        self.versions: dict[str, dict[str, Endpoint]] = {name: {} for name in group.versions}

    @property
    def order(self) -> str:
        return self.group.name if self.assembled else ""

    def add_assembled(self, resource: Resource, assembled: Assembled) -> None:
        """Serve a resource that is defined at run time, in the versions it has."""
        self.assembled[resource.name] = assembled
        self.stores[resource.name] = assembled.store
        for version, found in (resource.in_versions or {}).items():
            self.versions[version][resource.name] = Endpoint(
                self.group,
                found,
                version,
                codec=assembled.codec,
                store=assembled.versions[version],
            )

    def version_of(self, resource: str) -> GroupVersion:
        """The first version that has a resource."""
        if resource in self.assembled:
            return GroupVersion(self.group.name, self.assembled[resource].version)
        found = (name for name, endpoints in self.versions.items() if resource in endpoints)
        return GroupVersion(self.group.name, next(found, self.group.versions[0]))


class Groups:
    """The groups of one server process."""

    def __init__(
        self,
        backend: Backend,
        cache: WatchCache,
        *,
        scheme: Scheme | None = None,
        admission: Callable[["Groups"], Chain] | None = None,
        ownership: MakeOwnership | None = None,
    ) -> None:
        self.scheme = scheme or Scheme()
        self.codec = Codec(self.scheme)
        self.revision = 0
        """Raised whenever a group comes or goes."""
        self.changed = asyncio.Event()
        """Set at the next change; after that there is another one."""
        self.refresh: Callable[[], Awaitable[None]] | None = None
        """Looks for groups that were defined a moment ago, if any can be while the server runs."""
        self._backend = backend
        self._cache = cache
        self._installed: dict[str, Installed] = {}
        self._registered: set[str] = set()
        self._ownership = ownership
        # Plugins may ask for stores, but only once there are requests.
        self._admission = admission(self) if admission else NO_ADMISSION

    def __iter__(self) -> Iterator[Installed]:
        """All groups: as they were installed, and those defined at run time by name.

        So every worker shows them in the same order, whenever it came to know them.
        """
        return iter(sorted(self._installed.values(), key=lambda found: found.order))

    def install(self, group: Group) -> None:
        """Serve a group from now on; raises InstallError if its name is taken."""
        if group.name in self._installed:
            raise InstallError(f"group {group.name!r} is installed already")
        if group.name not in self._registered:
            group.add_to_scheme(self.scheme)
            self._registered.add(group.name)
        self._put(group, {})

    def replace(self, group: Group) -> None:
        """Serve a group whose resources have changed, or which is new.

        A resource that is assembled as before goes on as it is, with its watches.
        """
        before = self._installed.get(group.name)
        kept: dict[str, Assembled] = {}
        if before is not None:
            was, becomes = (
                {found.name: found.assemble for found in each.resources}
                for each in (before.group, group)
            )
            for name, assembled in before.assembled.items():
                if becomes.get(name) == was[name]:
                    kept[name] = assembled
                else:
                    self._cache.unregister(assembled.store.cached)
        self._put(group, kept)

    def remove(self, name: str) -> None:
        """Stop serving a group; its objects stay in the store and its watches end."""
        installed = self._installed.get(name)
        if installed is None:
            raise InstallError(f"group {name!r} is not installed")
        for other in self:
            if any(r.stored_as and r.stored_as.group == name for r in other.group.resources):
                raise InstallError(f"group {name!r}: {other.group.name!r} shows objects of it")
        del self._installed[name]
        for store in installed.stores.values():
            self._cache.unregister(store.cached)
        self._change()

    def _put(self, group: Group, kept: Mapping[str, Assembled]) -> None:
        installed = Installed(group)
        for resource in group.resources:
            if resource.assemble is not None:
                assembled = kept.get(resource.name) or resource.assemble(self._foundation())
                installed.add_assembled(resource, assembled)
                continue
            store = self._store_for(group, resource)
            if store is not None and resource.stored_as is None:
                installed.stores[resource.name] = store
            for version in group.versions:
                self._add_endpoint(installed, resource, version, store)
        self._installed[group.name] = installed
        self._change()

    def _change(self) -> None:
        self.revision += 1
        self.changed.set()
        self.changed = asyncio.Event()

    def _foundation(self) -> Foundation:
        return Foundation(self._backend, self._cache, self._admission, self._ownership)

    def version(self, group: str, version: str) -> dict[str, Endpoint] | None:
        """The endpoints of one version by resource, None if it is not served."""
        installed = self._installed.get(group)
        return installed.versions.get(version) if installed else None

    def versioned(self, resource: GroupResource) -> GroupVersionResource:
        """A resource in the first version that has it; raises KeyError without its group."""
        version = self._installed[resource.group].version_of(resource.resource)
        return version.with_resource(resource.resource)

    def store(self, resource: GroupResource) -> ResourceStore[Any]:
        """The store of a resource; raises KeyError if there is none."""
        return self._installed[resource.group].stores[resource.resource]

    async def filled(self, *, seconds: float) -> bool:
        """Whether every resource is listed within that time."""
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

    def _store_for(self, group: Group, resource: Resource) -> ResourceStore[Any] | None:
        """The store of a resource that stores something: its own, or another's in its own way."""
        if resource.answer is not None:
            return None
        if resource.stored_as is None:
            return assemble_store(
                group,
                resource,
                codec=self.codec,
                backend=self._backend,
                cache=self._cache,
                admission=self._admission,
                ownership=self._tracking(group, resource),
            )
        try:
            shared = self.store(resource.stored_as)
        except KeyError:
            raise InstallError(
                f"group {group.name!r}: its {resource.name} are {resource.stored_as} of another"
                " group, which must be installed before"
            ) from None
        shared.rules.ownership.include(group, resource)
        admission = self._admission.extended(mutating=group.mutating, validating=group.validating)
        return shared.using(resource.strategy, admission=admission)

    def _add_endpoint(
        self,
        installed: Installed,
        resource: Resource,
        version: str,
        store: ResourceStore[Any] | None,
    ) -> None:
        group = installed.group
        kind = GroupVersion(group.name, version).with_kind(resource.kind)
        if not self.scheme.recognizes(kind):
            return  # a resource need not be in every version of its group
        installed.versions[version][resource.name] = Endpoint(
            group,
            resource,
            version,
            codec=self.codec,
            store=store,
        )

    def _tracking(self, group: Group, resource: Resource) -> Ownership | None:
        return self._ownership(self.codec, group, resource) if self._ownership else None
