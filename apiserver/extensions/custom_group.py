"""CustomGroup: the group of some custom resources, and how its endpoints differ from others.

Kubernetes serves custom resources through a server of their own, behind the one of the built-in
groups. Clients can see that in discovery and in the responses to unknown paths.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from apimachinery.errors import NotFound
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersion
from apimachinery.structural.custom_kind import CustomResource
from apimachinery.version import sort_versions
from apiserver.endpoint import Endpoint
from apiserver.extensions.custom_resource import ServedDefinition, no_kinds
from apiserver.extensions.definition import DefinedVersion
from apiserver.group import Group
from apiserver.installed_group import Foundation, InstalledGroup
from apiserver.registry.store import ResourceStore


class CustomGroup(InstalledGroup):
    """The custom resources of one group, each in the versions that its definition serves.

    A definition that was assembled before keeps its stores, and with them its watches.
    """

    is_built_in: ClassVar = False

    def __init__(self, name: str, served: Sequence[ServedDefinition]) -> None:
        versions = {version.name for resource in served for version in resource.definition.served}
        super().__init__(
            Group(
                name=name,
                versions=tuple(sort_versions(versions)),
                resources=tuple(resource.resource() for resource in served),
                add_to_scheme=no_kinds,
            )
        )
        self._served = {resource.definition.plural: resource for resource in served}

    def assemble(self, foundation: Foundation) -> None:
        for name, served in self._served.items():
            served.assemble(foundation)
            self.stores[name] = served.stores[served.version]
            for version in served.definition.served:
                self.versions[version.name][name] = CustomEndpoint(self.group, served, version)

    def retains(self, store: ResourceStore[Any]) -> bool:
        return any(store in served.stores.values() for served in self._served.values())

    def version_of(self, resource: str) -> GroupVersion:
        return GroupVersion(self.group.name, self._served[resource].version)


class CustomEndpoint(Endpoint):
    """One custom resource in one version."""

    has_plain_not_found: ClassVar = True

    def __init__(self, group: Group, served: ServedDefinition, version: DefinedVersion) -> None:
        super().__init__(
            group,
            served.resource_in(version),
            version.name,
            codec=served.codec,
            store=served.stores[version.name],
        )
        self.warning = version.warning
        self._listed_verbs = served.listed_verbs
        self._storage_version = served.definition.storage_version
        self._versions = served.definition.versions

    @property
    def listed_verbs(self) -> list[str]:
        return self._listed_verbs

    @property
    def storage_version(self) -> str:
        return self._storage_version

    def in_all_versions(self, obj: Object) -> dict[str, dict[str, Any]]:
        """Return documents with nothing but the replicas, in the versions that have a scale.

        Where they are in a version is known from the definition, so nothing has to be converted.
        """
        replicas = None
        documents: dict[str, dict[str, Any]] = {}
        for version in self._versions:
            if version.scale is not None and version.name == self.version.version:
                replicas = cast(CustomResource, obj).nested(*version.scale.spec[1:].split("."))
        for version in self._versions:
            if version.scale is not None:
                value: Any = replicas
                for name in reversed(version.scale.spec[1:].split(".")):
                    value = {name: value}
                documents[str(GroupVersion(self.group.name, version.name))] = value
        return documents

    def subresource_not_found(self, name: str) -> NotFound:
        return NotFound.of(self.gvr.group_resource, name)
