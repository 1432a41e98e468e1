"""InstalledGroup: the stores and endpoints of one group.

`BuiltInGroup` builds them from a `Group`. The groups of custom resources build theirs from
CustomResourceDefinitions, in `extensions/custom_group.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from apimachinery.codec import Codec
from apimachinery.schema import GroupResource, GroupVersion
from apiserver.admission.chain import NO_ADMISSION, Chain
from apiserver.admission.plugins import Admission
from apiserver.endpoint import Endpoint
from apiserver.group import Group, Resource
from apiserver.managed_fields.ownership import Ownership, Untracked
from apiserver.registry.store import ResourceStore
from apiserver.registry.store_builder import assemble_store
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.interface import Backend

MakeOwnership = Callable[[Codec, Group, Resource], Ownership]


class InstallError(Exception):
    """A group cannot be installed beside the installed ones, or cannot be removed."""


@dataclass(frozen=True)
class Foundation:
    """The parts of a server that every store is built on."""

    backend: Backend
    cache: WatchCache
    codec: Codec
    """The codec of the built-in groups; every custom resource has its own."""
    admission: Admission
    make_ownership: MakeOwnership | None
    find_store: Callable[[GroupResource], ResourceStore[Any]]
    """Returns the store of an installed resource; raises KeyError if there is none."""

    def ownership(self, codec: Codec, group: Group, resource: Resource) -> Ownership:
        """Return the tracker of the managedFields of a resource."""
        return self.make_ownership(codec, group, resource) if self.make_ownership else Untracked()


class InstalledGroup(ABC):
    """One group, its stores by resource and its endpoints by version and resource."""

    is_built_in: ClassVar = True

    def __init__(self, group: Group) -> None:
        self.group = group
        self.stores: dict[str, ResourceStore[Any]] = {}
        self.versions: dict[str, dict[str, Endpoint]] = {name: {} for name in group.versions}

    @abstractmethod
    def assemble(self, foundation: Foundation) -> None:
        """Fill in the stores and the endpoints."""

    def retains(self, store: ResourceStore[Any]) -> bool:
        """Return whether the group keeps a store of the group that it replaces."""
        return False

    def version_of(self, resource: str) -> GroupVersion:
        """Return the first version that has a resource."""
        versions = (name for name, endpoints in self.versions.items() if resource in endpoints)
        return GroupVersion(self.group.name, next(versions, self.group.versions[0]))


class BuiltInGroup(InstalledGroup):
    """A group that was installed from a `Group`."""

    def assemble(self, foundation: Foundation) -> None:
        for resource in self.group.resources:
            store = self._store(resource, foundation)
            if store is not None and resource.stored_as is None:
                self.stores[resource.name] = store
            admission = self._admission_of_answers(resource, foundation)
            for version in self.group.versions:
                kind = GroupVersion(self.group.name, version).with_kind(resource.kind)
                # A resource need not be in every version of its group.
                if foundation.codec.scheme.recognizes(kind):
                    self.versions[version][resource.name] = Endpoint(
                        self.group,
                        resource,
                        version,
                        codec=foundation.codec,
                        store=store,
                        admission=admission,
                    )

    def _admission_of_answers(self, resource: Resource, foundation: Foundation) -> Chain:
        """Return the admission of documents that are answered; stores have their own."""
        if resource.answer is None:
            return NO_ADMISSION
        group, name = self.group, GroupResource(self.group.name, resource.name)
        return foundation.admission.chain(
            name, mutating=group.mutating, validating=group.validating
        )

    def _store(self, resource: Resource, foundation: Foundation) -> ResourceStore[Any] | None:
        """Return the store of a resource, None for a resource that stores nothing."""
        if not resource.is_stored:
            return None
        if resource.stored_as is not None:
            return self._shared_store(resource, resource.stored_as, foundation)
        return assemble_store(
            self.group,
            resource,
            codec=foundation.codec,
            backend=foundation.backend,
            cache=foundation.cache,
            admission=foundation.admission,
            ownership=foundation.ownership(foundation.codec, self.group, resource),
        )

    def _shared_store(
        self, resource: Resource, owner: GroupResource, foundation: Foundation
    ) -> ResourceStore[Any]:
        """Return the store of another group's resource, with the strategy of this one."""
        group = self.group
        try:
            shared = foundation.find_store(owner)
        except KeyError:
            raise InstallError(
                f"group {group.name!r}: its {resource.name} are stored as {owner},"
                " whose group must be installed first"
            ) from None
        shared.rules.ownership.include(group, resource)
        own = GroupResource(group.name, resource.name)
        admission = foundation.admission.chain(
            own, mutating=group.mutating, validating=group.validating
        )
        return shared.using(resource.strategy, admission=admission, resource=own)
