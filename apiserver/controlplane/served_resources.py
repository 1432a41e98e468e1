"""Served resources: what the server stores, for controllers that act on objects of any kind.

They come from the groups that are installed in this process and not from discovery: that costs no
request, and a resource that is defined while the server runs is announced at once.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from apimachinery.errors import NotFound
from apimachinery.meta.options import DeleteOptions
from apimachinery.resources import Scope, ServedResource
from apimachinery.schema import GroupResource, GroupVersion
from apiserver.context import context_for
from apiserver.install import Groups
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import EntrySelection

_NEEDED_VERBS: Final = frozenset(("list", "watch", "delete"))


class ServedResources:
    """The resources of one server process whose objects can be listed, watched and deleted."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    async def __call__(self) -> Sequence[ServedResource]:
        """Return each resource once, in the version that does for all its objects."""
        return list(self._resources())

    async def changed(self) -> None:
        """Return when a group is next added, changed or removed."""
        await self._groups.changed.wait()

    def versions(self) -> Iterator[tuple[GroupVersion, bool]]:
        """Yield each served group version, and whether its group is built in."""
        for installed in self._groups:
            for version in installed.versions:
                yield GroupVersion(installed.group.name, version), installed.is_built_in

    def is_built_in(self, group: str) -> bool:
        """Return whether the server has the group itself, so that no definition adds to it."""
        return any(
            installed.group.name == group and installed.is_built_in for installed in self._groups
        )

    def has(self, resource: GroupResource) -> bool:
        """Return whether this process stores objects of a resource, even if no client sees them."""
        return any(
            installed.group.name == resource.group and resource.resource in installed.stores
            for installed in self._groups
        )

    async def delete_unserved(self, resource: GroupResource) -> bool:
        """Delete all objects of a resource that has no served version; return whether none is left.

        Raises NotFound if this process does not have the resource.
        """
        try:
            store = self._groups.store(resource)
        except KeyError:
            raise NotFound.of(resource, "") from None
        await self._delete_all(store, resource, EntrySelection())
        return not (await store.list(EntrySelection())).entries

    async def delete_unreachable(self, namespace: str) -> None:
        """Delete the objects in a namespace that no client can list and delete.

        They are of custom resources without a served version, and of resources without the verbs.
        """
        served = {resource.resource.group_resource for resource in self._resources()}
        selection = EntrySelection(namespace=namespace)
        for installed in list(self._groups):
            for name, store in installed.stores.items():
                resource = GroupResource(installed.group.name, name)
                if resource in served or not store.rules.namespaced:
                    continue
                if (await store.list(selection)).entries:
                    await self._delete_all(store, resource, selection)

    async def _delete_all(
        self, store: ResourceStore[Any], resource: GroupResource, selection: EntrySelection
    ) -> None:
        context = context_for("deletecollection", self._groups.versioned(resource))
        options = DeleteOptions(propagation_policy="Background")
        await store.delete_collection(selection, options, context)

    def _resources(self) -> Iterator[ServedResource]:
        for installed in self._groups:
            for resource in installed.group.resources:
                # A resource that shows the objects of another has no store of its own.
                if resource.name not in installed.stores:
                    continue
                version = installed.version_of(resource.name)
                is_served = resource.name in installed.versions.get(version.version, ())
                if is_served and _NEEDED_VERBS.issubset(resource.verbs):
                    yield ServedResource(
                        version.with_kind(resource.kind),
                        resource.name,
                        resource.singular_name,
                        Scope.NAMESPACED if resource.namespaced else Scope.CLUSTER,
                    )
