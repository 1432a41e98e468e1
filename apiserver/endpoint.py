"""Endpoint: one resource in one version, as handlers, discovery and OpenAPI see it.

Everything that does not depend on the request is computed here once: classes, media types, the
forms in which objects are encoded, warnings. Handlers only look it up.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import orjson

from apimachinery.codec import Codec, FieldValidation, dump_json
from apimachinery.errors import NotFound
from apimachinery.meta.options import CreateOptions, PatchOptions, UpdateOptions
from apimachinery.meta.options_validation import FIELD_MANAGER_MAX
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.class_fields import shape_of
from apimachinery.model.type_shape import StructShape
from apimachinery.protobuf.layout import has_layout
from apimachinery.schema import GroupVersion, GroupVersionKind, GroupVersionResource
from apimachinery.scheme import Scheme
from apimachinery.serialization.media_types import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    PROTOBUF,
    STRATEGIC_PATCH,
)
from apimachinery.storage_codec import StorageCodec
from apiserver.admission.chain import NO_ADMISSION, Chain
from apiserver.context import RequestContext
from apiserver.group import Group, Resource, Subresource, selectable_of
from apiserver.http.exchange import Exchange
from apiserver.http.negotiation import ALL_TYPES, TABLE, TEXT_TYPES, Accepted, MediaTypeOffer
from apiserver.registry.store import ResourceStore
from apiserver.views.resource_view import Form, IncludeObject, ResourceView, Transform

WriteOptions = CreateOptions | UpdateOptions | PatchOptions


class Endpoint:
    """One resource of one group in one version."""

    has_plain_not_found: ClassVar = False
    """Whether an unknown path below the resource is answered in plain text, without a Status."""

    def __init__(
        self,
        group: Group,
        resource: Resource,
        version: str,
        *,
        codec: Codec,
        store: ResourceStore[Any] | None,
        admission: Chain = NO_ADMISSION,
    ) -> None:
        """*admission* is that of documents that are answered and not stored."""
        self.group = group
        self.resource = resource
        self.codec = codec
        self.scheme: Scheme = codec.scheme
        self.store = store
        self.admission = admission
        self.version = GroupVersion(group.name, version)
        self.kind: GroupVersionKind = self.version.with_kind(resource.kind)
        self.gvr: GroupVersionResource = self.version.with_resource(resource.name)
        self.cls = cast(type[Object], codec.scheme.class_of(self.kind))
        self.warning = self._deprecation()
        """The text that every response carries as a warning; empty for none."""
        self._forms: dict[tuple[str, str, str, bool, str, bool], Form] = {}

    @cached_property
    def media_types(self) -> tuple[str, ...]:
        """The media types of the objects; a group that is stable has a protobuf form."""
        has_protobuf = self.group.stable or has_layout(self.cls)
        return ALL_TYPES if has_protobuf else TEXT_TYPES

    @cached_property
    def offer(self) -> MediaTypeOffer:
        return MediaTypeOffer(self.media_types, transforms=self.resource.answer is None)

    @property
    def stored(self) -> ResourceStore[Any]:
        """The store; resources that store nothing have handlers of their own."""
        assert self.store is not None
        return self.store

    @cached_property
    def view(self) -> ResourceView:
        if self.store is not None:
            return self.store.view
        return ResourceView(
            self.resource.cls,
            group=self.group.name,
            codec=self.codec,
            storage=StorageCodec(self.scheme),
            columns=self.resource.columns,
        )

    @property
    def namespaced(self) -> bool:
        return self.resource.namespaced

    @property
    def list_kind(self) -> str:
        return self.store.view.list_kind if self.store is not None else f"{self.kind.kind}List"

    @property
    def listed_verbs(self) -> list[str]:
        """The verbs in the order in which discovery lists them."""
        return sorted(self.resource.verbs)

    @property
    def storage_version(self) -> str:
        """The version in which objects are stored, for the storageVersionHash of discovery."""
        announced = self.resource.announced_storage_version
        return announced or self.group.storage_version_of(self.resource) or self.group.versions[0]

    @property
    def field_labels(self) -> tuple[str, ...]:
        """The labels of field selectors, unless the scheme has others for the kind."""
        return tuple(selectable_of(self.resource))

    @property
    def patch_types(self) -> tuple[str, ...]:
        """The media types of patches that its objects can take."""
        if issubclass(self.cls, Unstructured):
            # Objects without a class have no merge keys.
            return JSON_PATCH, MERGE_PATCH, APPLY_PATCH
        return JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH

    @property
    def shape(self) -> StructShape:
        return shape_of(self.cls)

    def in_all_versions(self, obj: Object) -> dict[str, dict[str, Any]]:
        """Return the documents of an internal object by the versions it is served in."""
        versions = (GroupVersion(self.group.name, name) for name in self.group.versions)
        return {
            str(version): orjson.loads(dump_json(self.codec.in_version(obj, version)))
            for version in versions
            if self.scheme.recognizes(version.with_kind(self.kind.kind))
        }

    def subresource_not_found(self, name: str) -> NotFound:
        """Return the error for a subresource, of the object *name*, that the resource lacks."""
        return NotFound.resource()

    def form(
        self,
        accepted: Accepted,
        *,
        listed: bool = False,
        include_object: str = "",
        columns: bool = True,
    ) -> Form:
        """Return the form of an object, or of a list item; equal arguments give one instance."""
        negotiated = accepted.media_type, accepted.transform, accepted.meta_version
        key = *negotiated, listed, include_object, columns
        form = self._forms.get(key)
        if form is None:
            new = self._make_form(accepted, listed, include_object, columns)
            # Equal forms must be one instance: the cache compares them for every object.
            form = next((form for form in self._forms.values() if form == new), new)
            self._forms[key] = form
        return form

    def context(
        self, exchange: Exchange, *, manager: str = "", dry_run: bool = False
    ) -> RequestContext:
        """Return the context of a request; warnings added to it are sent with the response."""
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
            workload=exchange.workload,
        )

    def write_context(self, exchange: Exchange, options: WriteOptions) -> RequestContext:
        """Return the context of a write with its options."""
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
        kind = f"{self.version} {self.kind.kind}"
        if self.resource.deprecation:
            return f"{kind} is deprecated {self.resource.deprecation}"
        replacement = self.group.deprecated.get(self.version.version)
        if replacement is None:
            return ""
        if not replacement:
            return f"{kind} is deprecated"
        return f"{kind} is deprecated; use {_replacement(self.group.name, replacement, self.kind)}"


@dataclass(frozen=True, slots=True)
class SubEndpoint:
    """One subresource of an endpoint."""

    endpoint: Endpoint
    subresource: Subresource


def default_manager(user_agent: str) -> str:
    """Return the field manager of a write that names none: the program without its version."""
    program = user_agent.partition("/")[0]
    if not program.isprintable():
        program = "".join(filter(str.isprintable, program))
    return program[:FIELD_MANAGER_MAX]


def field_validation(options: WriteOptions) -> FieldValidation:
    """Return how a write treats unknown fields; the default is to warn."""
    return FieldValidation(options.field_validation or FieldValidation.WARN)


def _replacement(group: str, text: str, kind: GroupVersionKind) -> str:
    """Return `ex.com/v1 Widget` for a bare version; return any longer text unchanged."""
    if " " in text or "/" in text:
        return text
    return f"{GroupVersion(group, text)} {kind.kind}"
