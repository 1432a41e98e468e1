"""Served: a definition at work, as a resource that a group can have.

All versions share one collection of the cache; each has a store of its own, which reads objects in
that version and holds them to that version's schema.
"""

from dataclasses import replace
from typing import Any, Final

from apimachinery.errors import MethodNotAllowed
from apimachinery.meta.options import CreateOptions
from apimachinery.schema import GroupKind, GroupResource
from apimachinery.scheme import Scheme
from apimachinery.structural.custom_kind import CustomCodec, CustomResource, CustomStorageCodec
from apimachinery.version import sort_versions
from apiserver.context import RequestContext
from apiserver.extensions.custom_columns import table_columns
from apiserver.extensions.custom_strategy import CustomStrategy
from apiserver.extensions.custom_view import CustomView, VersionViews
from apiserver.extensions.definition import DefinedVersion, Definition
from apiserver.group import STATUS, Assembled, Foundation, Group, Resource, Subresource, scale
from apiserver.managed_fields.ownership import Untracked
from apiserver.registry.store import ResourceStore
from apiserver.registry.write_rules import WriteRules
from apiserver.storage.keys import ResourceKeys
from apiserver.storage.objects import ObjectStorage

_LISTED_VERBS: Final = (
    *("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"),
)
"""The verbs of custom resources, in the order in which Kubernetes lists them."""
_WHILE_TERMINATING: Final = ("delete", "deletecollection", "get", "list", "watch")


class Served:
    """One definition; made anew whenever what it defines changes."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self._kind = definition.custom_kind()
        self._codec = CustomCodec(self._kind)

    def resource(self) -> Resource:
        """The resource as a group has it now."""
        base = self._resource()
        versions = {
            version.name: self._in_version(base, version) for version in self.definition.served
        }
        return replace(base, in_versions=versions)

    def _resource(self) -> Resource:
        found = self.definition
        return Resource(
            found.plural,
            self._kind.classes[found.storage_version],
            singular=found.singular,
            list_kind=found.list_kind,
            short_names=found.short_names,
            categories=found.categories,
            namespaced=found.namespaced,
            listed_verbs=_WHILE_TERMINATING if found.terminating else _LISTED_VERBS,
            storage_version=found.storage_version,
            assemble=self.assemble,
        )

    def _in_version(self, base: Resource, version: DefinedVersion) -> Resource:
        return replace(
            base,
            cls=self._kind.classes[version.name],
            subresources=tuple(_subresources(version)),
            warning=version.warning,
        )

    def assemble(self, foundation: Foundation) -> Assembled:
        """Begin to cache the objects, with a store for each version."""
        definition, kind = self.definition, self._kind
        views = {version.name: self._view(version) for version in definition.versions}
        by_version = {kind.version(name): view for name, view in views.items()}
        keys = ResourceKeys(definition.group, definition.plural, namespaced=definition.namespaced)
        stored = views[definition.storage_version]
        cached = foundation.cache.register(keys, VersionViews(by_version, stored))
        stores: dict[str, ResourceStore[Any]] = {}
        for version in definition.versions:
            rules = self._rules(version, foundation)
            codec = self._storage(version)
            objects: ObjectStorage[Any] = ObjectStorage(foundation.backend, codec, cached)
            stores[version.name] = CustomStore(
                rules, objects=objects, cached=cached, view=views[version.name], served=self
            )
        first = definition.served[0].name if definition.served else definition.storage_version
        return Assembled(self._codec, first, stores)

    def _rules(self, version: DefinedVersion, foundation: Foundation) -> WriteRules[Any]:
        definition, kind = self.definition, self._kind
        own = kind.version(version.name).with_kind(definition.kind)
        # Who owns a field may have come to own it in a version that is no longer served.
        names = sort_versions(each.name for each in definition.versions)
        group = Group(definition.group, tuple(names), (), _no_kinds)
        ownership = foundation.ownership
        return WriteRules[Any](
            resource=GroupResource(definition.group, definition.plural),
            kind=GroupKind(definition.group, definition.kind),
            strategy=CustomStrategy(own, kind.schemas[version.name], version),
            namespaced=definition.namespaced,
            has_status=version.has_status,
            admission=foundation.admission,
            ownership=ownership(self._codec, group, self._in_version(self._resource(), version))
            if ownership
            else Untracked(),
        )

    def _storage(self, version: DefinedVersion) -> CustomStorageCodec:
        return CustomStorageCodec(self._kind, self._codec, version.name)

    def _view(self, version: DefinedVersion) -> CustomView:
        selectable = {path for found in self.definition.versions for path in found.selectable}
        return CustomView(
            self._kind.classes[version.name],
            group=self.definition.group,
            list_kind=self.definition.list_kind,
            codec=self._codec,
            storage=self._storage(version),
            fields={path[1:]: path[1:] for path in sorted(selectable)},
            columns=table_columns(version.columns),
        )


class CustomStore(ResourceStore[CustomResource]):
    """The objects of a custom resource, of which there can be no more once it is on its way out."""

    def __init__(self, rules: WriteRules[Any], *, served: Served, **parts: Any) -> None:
        super().__init__(rules, **parts)
        self._served = served

    async def create(
        self,
        obj: CustomResource,
        context: RequestContext,
        options: CreateOptions | None = None,
        *,
        track: bool = True,
    ) -> CustomResource:
        if self._served.definition.terminating:
            raise MethodNotAllowed(
                "create not allowed while custom resource definition is terminating"
            )
        return await super().create(obj, context, options, track=track)


def custom_group(name: str, served: list[Served]) -> Group:
    """The group of some definitions."""
    versions = {version.name for each in served for version in each.definition.served}
    return Group(
        name=name,
        versions=tuple(sort_versions(versions)),
        resources=tuple(each.resource() for each in served),
        add_to_scheme=_no_kinds,
    )


def _no_kinds(scheme: Scheme) -> None:
    """Custom kinds come and go, and each has a scheme of its own."""


def _subresources(version: DefinedVersion) -> list[Subresource]:
    found = [STATUS] if version.has_status else []
    if version.scale is not None:
        paths = version.scale
        found.append(
            scale(
                spec_replicas=paths.spec[1:],
                status_replicas=paths.status[1:],
                selector=paths.selector[1:],
            )
        )
    return found
