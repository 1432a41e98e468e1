"""ServedDefinition: the stores of one custom resource, built from its CustomResourceDefinition.

All versions share one collection of the watch cache. Each version has a store of its own, which
decodes objects in that version and validates them against the schema of that version.
"""

from dataclasses import replace
from typing import Any, Final

from apimachinery.schema import GroupKind, GroupResource
from apimachinery.scheme import Scheme
from apimachinery.structural.custom_kind import ConvertedCodec, CustomCodec, CustomStorageCodec
from apimachinery.version import sort_versions
from apiserver.admission.chain import Attributes, Operation
from apiserver.extensions.converted_watch import Matcher
from apiserver.extensions.converting_objects import ConvertingObjects
from apiserver.extensions.converting_ownership import ConversionReplay, ConvertingOwnership
from apiserver.extensions.converting_store import ConvertingStore
from apiserver.extensions.custom_columns import table_columns
from apiserver.extensions.custom_strategy import CustomStrategy
from apiserver.extensions.custom_view import CustomView, VersionViews
from apiserver.extensions.definition import DefinedVersion, Definition
from apiserver.extensions.entry_conversion import EntryConversion
from apiserver.extensions.webhook_conversion import WebhookCalls, WebhookConverter
from apiserver.group import STATUS, Group, Resource, Subresource, scale
from apiserver.installed_group import Foundation
from apiserver.managed_fields.ownership import Ownership
from apiserver.registry.store import ResourceStore
from apiserver.registry.write_rules import WriteRules
from apiserver.storage.cache.watch_cache import CachedResource
from apiserver.storage.keys import ResourceKeys
from apiserver.storage.objects import ObjectStorage

_LISTED_VERBS: Final = (
    *("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"),
)
"""The verbs of custom resources, in the order in which Kubernetes lists them."""
_TERMINATING: Final = "create not allowed while custom resource definition is terminating"
_TERMINATING_VERBS: Final = ("delete", "deletecollection", "get", "list", "watch")


class ServedDefinition:
    """One definition that is served; replaced by another instance when its specification changes.

    Only `definition.terminating` may change in place: `definition` is then assigned anew.
    """

    def __init__(self, definition: Definition, webhooks: WebhookCalls | None = None) -> None:
        """*webhooks* calls the webhook of a definition that has one."""
        self.definition = definition
        self.stores: dict[str, ResourceStore[Any]] = {}
        """The stores by version, once assembled."""
        self._kind = definition.custom_kind()
        self.codec = CustomCodec(self._kind)
        self._conversion = self._convert_with(webhooks) if webhooks else None

    def compile(self) -> None:
        """Compile what else would be compiled for the first object; this may take long."""
        for schema in self._kind.schemas.values():
            schema.compile()

    @property
    def version(self) -> str:
        """The version for internal access: the preferred served one, else the storage version."""
        served = self.definition.served
        return served[0].name if served else self.definition.storage_version

    @property
    def listed_verbs(self) -> list[str]:
        return list(_TERMINATING_VERBS if self.definition.terminating else _LISTED_VERBS)

    def resource(self) -> Resource:
        """Return the resource as its group lists it, in the storage version."""
        definition = self.definition
        return Resource(
            definition.plural,
            self._kind.classes[definition.storage_version],
            singular=definition.singular,
            short_names=definition.short_names,
            categories=definition.categories,
            namespaced=definition.namespaced,
        )

    def resource_in(self, version: DefinedVersion) -> Resource:
        """Return the resource with the class and the subresources of one version."""
        return replace(
            self.resource(),
            cls=self._kind.classes[version.name],
            subresources=tuple(_subresources(version)),
        )

    def assemble(self, foundation: Foundation) -> None:
        """Register the resource with the watch cache and build its stores, unless that is done."""
        if self.stores:
            return
        definition, kind = self.definition, self._kind
        views = {version.name: self._view(version) for version in definition.versions}
        by_version = {kind.version(name): view for name, view in views.items()}
        keys = ResourceKeys(definition.group, definition.plural, namespaced=definition.namespaced)
        stored = views[definition.storage_version]
        cached = foundation.cache.register(keys, VersionViews(by_version, stored, self._conversion))
        for version in definition.versions:
            view = views[version.name]
            if self._conversion is None:
                self.stores[version.name] = ResourceStore(
                    self._rules(version, foundation),
                    backend=foundation.backend,
                    objects=ObjectStorage(
                        foundation.backend,
                        self._storage(version),
                        cached,
                        cls=kind.classes[version.name],
                    ),
                    cached=cached,
                    view=view,
                )
            else:
                self.stores[version.name] = self._converting_store(
                    version, foundation, cached, view, self._conversion
                )

    def _converting_store(
        self,
        version: DefinedVersion,
        foundation: Foundation,
        cached: CachedResource,
        view: CustomView,
        conversion: EntryConversion,
    ) -> ResourceStore[Any]:
        """Build the store of a version to and from which a webhook converts."""
        kind = self._kind
        objects = ConvertingObjects(
            foundation.backend,
            self._storage(version),
            ConvertedCodec(kind, self.codec, version.name),
            cached,
            cls=kind.classes[version.name],
            version=kind.version(version.name),
            conversion=conversion,
        )
        store = ConvertingStore(
            self._rules(version, foundation),
            backend=foundation.backend,
            objects=objects,
            cached=cached,
            view=view,
        )
        store.match_by(Matcher(conversion, view, kind.version(version.name)))
        return store

    def _rules(self, version: DefinedVersion, foundation: Foundation) -> WriteRules[Any]:
        definition, kind = self.definition, self._kind
        own_kind = kind.version(version.name).with_kind(definition.kind)
        # A manager may have become the owner of a field in a version that is no longer served.
        names = sort_versions(defined.name for defined in definition.versions)
        group = Group(definition.group, tuple(names), (), no_kinds)
        resource = GroupResource(definition.group, definition.plural)
        return WriteRules[Any](
            resource=resource,
            kind=GroupKind(definition.group, definition.kind),
            strategy=CustomStrategy(own_kind, kind.schemas[version.name], version),
            namespaced=definition.namespaced,
            has_status=version.has_status,
            admission=foundation.admission.chain(
                resource, mutating=(self._refuse_while_terminating,)
            ),
            ownership=self._ownership(version, group, foundation),
            replay=ConversionReplay(self._conversion) if self._conversion else None,
        )

    def _ownership(
        self, version: DefinedVersion, group: Group, foundation: Foundation
    ) -> Ownership:
        resource = self.resource_in(version)
        if self._conversion is not None and foundation.make_ownership is not None:
            return ConvertingOwnership(self.codec, group, resource)
        return foundation.ownership(self.codec, group, resource)

    def _convert_with(self, webhooks: WebhookCalls) -> EntryConversion | None:
        """Return what converts objects by the webhook of the definition, None if it has none."""
        definition, webhook = self.definition, self.definition.webhook
        if webhook is None:
            return None
        converter = WebhookConverter(
            definition.name,
            definition.group,
            definition.list_kind,
            webhook.target,
            webhook.review_versions,
            webhooks,
        )
        # In the storage version, but it decodes every object in the version it is stored in.
        storage = CustomStorageCodec(self._kind, self.codec, definition.storage_version)
        return EntryConversion(self._kind, storage, converter)

    def _refuse_while_terminating(self, attributes: Attributes) -> None:
        """Refuse new objects, however they are created, while the definition is terminating."""
        if self.definition.terminating and attributes.operation is Operation.CREATE:
            raise attributes.forbidden(_TERMINATING)

    def _storage(self, version: DefinedVersion) -> CustomStorageCodec:
        return CustomStorageCodec(self._kind, self.codec, version.name)

    def _view(self, version: DefinedVersion) -> CustomView:
        selectable = {path for defined in self.definition.versions for path in defined.selectable}
        return CustomView(
            self._kind.classes[version.name],
            group=self.definition.group,
            list_kind=self.definition.list_kind,
            codec=self.codec,
            storage=self._storage(version),
            fields={path[1:]: path[1:] for path in sorted(selectable)},
            columns=table_columns(version.columns),
            converted=ConvertedCodec(self._kind, self.codec, version.name),
            conversion=self._conversion,
        )


def no_kinds(scheme: Scheme) -> None:
    """Register nothing: each custom resource has a scheme of its own."""


def _subresources(version: DefinedVersion) -> list[Subresource]:
    subresources = [STATUS] if version.has_status else []
    if version.scale is not None:
        paths = version.scale
        subresources.append(
            scale(
                spec_replicas=paths.spec[1:],
                status_replicas=paths.status[1:],
                selector=paths.selector[1:],
            )
        )
    return subresources
