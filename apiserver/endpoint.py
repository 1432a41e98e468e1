"""Endpoint: what handlers need to know to serve one resource in one version.

Everything that can be known before a request comes is worked out here once: classes, media types,
the forms in which objects are encoded, the texts of errors. Handlers then only look things up.
"""

from dataclasses import dataclass
from typing import Any, cast

import orjson

from apimachinery.codec import Codec, FieldValidation, dump_json
from apimachinery.meta.options import CreateOptions, PatchOptions, UpdateOptions
from apimachinery.meta.options_validation import FIELD_MANAGER_MAX
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.class_fields import shape_of
from apimachinery.model.type_shape import StructShape
from apimachinery.schema import GroupVersion, GroupVersionKind, GroupVersionResource
from apimachinery.scheme import Scheme
from apimachinery.serialization.media_types import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    PROTOBUF,
    STRATEGIC_PATCH,
)
from apiserver.context import RequestContext
from apiserver.group import Group, Resource, Subresource
from apiserver.http.exchange import Exchange
from apiserver.http.negotiation import ALL_TYPES, TABLE, TEXT_TYPES, Accepted, MediaTypeOffer
from apiserver.registry.store import ResourceStore
from apiserver.views.resource_view import Form, IncludeObject, ResourceView, Transform

WriteOptions = CreateOptions | UpdateOptions | PatchOptions


class Endpoint:
    """One resource of one group in one version."""

    def __init__(
        self,
        group: Group,
        resource: Resource,
        version: str,
        *,
        codec: Codec,
        store: ResourceStore[Any] | None,
    ) -> None:
        self.group = group
        self.resource = resource
        self.codec = codec
        self.scheme: Scheme = codec.scheme
        self.store = store
        self.version = GroupVersion(group.name, version)
        self.kind: GroupVersionKind = self.version.with_kind(resource.kind)
        self.gvr: GroupVersionResource = self.version.with_resource(resource.name)
        self.cls = cast(type[Object], codec.scheme.class_of(self.kind))
        has_protobuf = codec.protobuf.supports(self.cls)
        self.media_types = ALL_TYPES if has_protobuf else TEXT_TYPES
        self.offer = MediaTypeOffer(self.media_types, transforms=store is not None)
        self.warning = resource.warning or self._deprecation()
        self._forms: dict[tuple[str, str, str, bool, str, bool], Form] = {}

    @property
    def stored(self) -> ResourceStore[Any]:
        """The objects; only a resource that stores none has none, and no handler asks for it."""
        assert self.store is not None
        return self.store

    @property
    def view(self) -> ResourceView:
        return self.stored.view

    @property
    def namespaced(self) -> bool:
        return self.resource.namespaced

    @property
    def is_custom(self) -> bool:
        """Whether the resource is defined at run time; Kubernetes serves those by another door."""
        return self.resource.assemble is not None

    @property
    def is_schemaless(self) -> bool:
        """Whether its objects have no class of their own, and so no merge keys."""
        return issubclass(self.cls, Unstructured)

    @property
    def patch_types(self) -> tuple[str, ...]:
        """The formats in which its objects can be patched."""
        if self.is_schemaless:
            return JSON_PATCH, MERGE_PATCH, APPLY_PATCH
        return JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH

    @property
    def shape(self) -> StructShape:
        return shape_of(self.cls)

    def in_all_versions(self, obj: Object) -> dict[str, dict[str, Any]]:
        """The documents of an internal object by the versions it is served in."""
        versions = (GroupVersion(self.group.name, name) for name in self.group.versions)
        return {
            str(version): orjson.loads(dump_json(self.codec.in_version(obj, version)))
            for version in versions
            if self.scheme.recognizes(version.with_kind(self.kind.kind))
        }

    def subresource(self, name: str) -> Subresource | None:
        return next((sub for sub in self.resource.subresources if sub.name == name), None)

    def form(
        self,
        accepted: Accepted,
        *,
        listed: bool = False,
        include_object: str = "",
        columns: bool = True,
    ) -> Form:
        """The form of an object, or of an item of a list; always the same value for the same."""
        asked = accepted.media_type, accepted.transform, accepted.meta_version
        key = *asked, listed, include_object, columns
        found = self._forms.get(key)
        if found is None:
            made = self._make_form(accepted, listed, include_object, columns)
            # Equal forms must be one, however they were asked for: the cache compares them.
            found = next((known for known in self._forms.values() if known == made), made)
            self._forms[key] = found
        return found

    def context(
        self, exchange: Exchange, *, manager: str = "", dry_run: bool = False
    ) -> RequestContext:
        """What the registry may know of a request; its warnings are those of the answer."""
        info = exchange.info
        return RequestContext(
            exchange.user,
            info.verb,
            self.gvr,
            info.subresource,
            info.namespace if self.namespaced else "",
            info.name,
            exchange.request_id,
            manager or default_manager(exchange.user_agent),
            dry_run,
            exchange.warnings,
        )

    def write_context(self, exchange: Exchange, options: WriteOptions) -> RequestContext:
        """The context of a write, by its options."""
        return self.context(exchange, manager=options.field_manager, dry_run=bool(options.dry_run))

    def _make_form(
        self, accepted: Accepted, listed: bool, include_object: str, columns: bool
    ) -> Form:
        transform: Transform = ""
        if accepted.transform == TABLE:
            transform = "row" if listed else "table"
        elif accepted.transform:
            transform = "partial"
        return Form(
            self.version,
            "protobuf" if accepted.media_type == PROTOBUF else "json",
            transform,
            cast(IncludeObject, include_object or "Metadata"),
            columns,
            accepted.meta_version,
        )

    def _deprecation(self) -> str:
        instead = self.group.deprecated.get(self.version.version)
        if instead is None:
            return ""
        kind = f"{self.version} {self.kind.kind}"
        if not instead:
            return f"{kind} is deprecated"
        return f"{kind} is deprecated; use {_replacement(self.group.name, instead, self.kind)}"


@dataclass(frozen=True, slots=True)
class SubEndpoint:
    """One subresource of an endpoint."""

    endpoint: Endpoint
    subresource: Subresource


def default_manager(user_agent: str) -> str:
    """The manager of fields when a write names none: the program, without its version."""
    program = user_agent.partition("/")[0]
    if not program.isprintable():
        program = "".join(filter(str.isprintable, program))
    return program[:FIELD_MANAGER_MAX]


def field_validation(options: WriteOptions) -> FieldValidation:
    """What a write wants to happen to unknown fields; a warning unless it says so."""
    return FieldValidation(options.field_validation or FieldValidation.WARN)


def _replacement(group: str, instead: str, kind: GroupVersionKind) -> str:
    """`ex.com/v1 Widget` for the name of a version; anything longer is said as it is."""
    if " " in instead or "/" in instead:
        return instead
    return f"{GroupVersion(group, instead)} {kind.kind}"
