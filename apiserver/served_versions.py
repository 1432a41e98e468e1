"""ServedVersions: the versions in which a server serves an object, for those who show it to others.

Inside the server objects have no version. Admission webhooks and policies see them in the version
of the request, or in one that their rules name: here an object becomes a document of a version, and
a document that a webhook has changed becomes an object again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from apimachinery.codec import Decoded, FieldValidation, dump_json
from apimachinery.errors import APIError, Invalid, NotFound
from apimachinery.fieldpath import quote
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.class_fields import shape_of
from apimachinery.model.decoding import decode_json
from apimachinery.model.document_diff import has_only_declared_fields
from apimachinery.model.type_shape import Shape
from apimachinery.scale import Scale
from apimachinery.schema import GroupVersionKind, GroupVersionResource
from apiserver.endpoint import Endpoint
from apiserver.group import Subresource
from apiserver.install import Groups
from apiserver.views.scale_mapping import KIND as SCALE
from apiserver.views.scale_mapping import scale_of, with_scale
from apiserver.workload import Workload


@dataclass(frozen=True, slots=True)
class ServedVersion:
    """A resource in one version, and the kind that its documents have there."""

    resource: GroupVersionResource
    kind: GroupVersionKind


class ServedVersions:
    """The versions of the resources of one server; usable only while requests are served."""

    def __init__(self, groups: Callable[[], Groups]) -> None:
        self._groups = groups

    @property
    def revision(self) -> int:
        """A number that changes with the served resources and versions."""
        return self._groups().revision

    def find(self, resource: GroupVersionResource, subresource: str = "") -> ServedVersion | None:
        """Return a resource as it is served, None if it is not."""
        endpoint = self._endpoint(resource)
        if endpoint is None:
            return None
        if not subresource:
            return ServedVersion(resource, endpoint.kind)
        found = _subresource(endpoint, subresource)
        return ServedVersion(resource, found.kind or endpoint.kind) if found else None

    def is_namespaced(self, resource: GroupVersionResource) -> bool:
        """Return whether the objects of a resource are in namespaces, also if none are stored."""
        endpoint = self._endpoint(resource)
        return endpoint is not None and endpoint.namespaced

    def equivalents(
        self, resource: GroupVersionResource, subresource: str = ""
    ) -> Sequence[ServedVersion]:
        """Return the versions of the same objects in any group, with the given one.

        They are those that have the subresource, in the order of installation.
        """
        own = self._endpoint(resource)
        if own is None:
            return ()
        found = (
            self.find(endpoint.gvr, subresource)
            for installed in self._groups()
            for endpoints in installed.versions.values()
            for endpoint in endpoints.values()
            if _identity(endpoint) == _identity(own)
        )
        return tuple(version for version in found if version is not None)

    async def convert(
        self, obj: Object, resource: GroupVersionResource, workload: Workload
    ) -> Object:
        """Return a custom resource in a version that only a webhook can convert it to.

        All other objects are returned as they are: the server converts them when it encodes them.
        Raises InternalError if the webhook fails.
        """
        endpoint = self._endpoint(resource)
        if endpoint is None or endpoint.store is None or not endpoint.store.view.converts:
            return obj
        converted: Object = await endpoint.store.objects.object_in_version(obj, workload)
        return converted

    def encode(self, obj: Object, resource: GroupVersionResource, subresource: str = "") -> bytes:
        """Return an object of the server as a JSON document of a served version.

        Raises NotFound if the resource is not served in this version, or not any more.
        """
        endpoint, sub = self._served(resource, subresource)
        if sub is not None and sub.kind is not None:
            if sub.kind == SCALE and not isinstance(obj, Scale):
                return dump_json(scale_of(obj, sub))
            return dump_json(endpoint.codec.in_version(obj, sub.kind.group_version))
        return dump_json(endpoint.codec.in_version(obj, endpoint.version))

    def shape(self, resource: GroupVersionResource, subresource: str = "") -> Shape:
        """Return the shape of the documents of a served version, for merging them.

        Raises NotFound if the resource is not served in this version, or not any more.
        """
        endpoint, sub = self._served(resource, subresource)
        if sub is not None and sub.kind is not None:
            if sub.kind == SCALE:
                return shape_of(Scale)
            return shape_of(endpoint.scheme.class_of(sub.kind))
        return shape_of(endpoint.scheme.class_of(endpoint.kind))

    def decode(
        self,
        document: bytes,
        resource: GroupVersionResource,
        subresource: str = "",
        *,
        current: Object,
        strict: bool = False,
    ) -> Object:
        """Return the object of a changed document, with the defaults of its version.

        *current* is the object that was changed; the new one is of the same class, unless `convert`
        has to make it so. Raises DecodeError and NotRegistered for a document that is none of this
        version, Invalid for values that its fields refuse. If *strict*, StrictDecodeError for
        unknown fields, except of custom resources, which are pruned.
        """
        endpoint, sub = self._served(resource, subresource)
        if sub is not None and sub.kind == SCALE:
            scale = decode_json(Scale, document, find_unknown=False).object
            group_resource, kind = resource.group_resource, endpoint.kind.group_kind
            return with_scale(current, scale, sub, resource=group_resource, kind=kind)
        expected = sub.kind if sub is not None and sub.kind is not None else endpoint.kind
        strict = strict and has_only_declared_fields(endpoint.scheme.class_of(expected))
        decoded = endpoint.codec.decode_internal(
            document,
            expected=expected,
            validation=FieldValidation.STRICT if strict else FieldValidation.IGNORE,
            lenient=True,
            may_repeat_keys=False,
        )
        if decoded.kind != expected:
            raise _unknown_conversion(decoded, expected)
        if decoded.errors:
            name = current.metadata.name
            raise Invalid.of(expected.group_kind, name, decoded.errors)
        obj = cast(Object, decoded.object)
        # Built-in resources have one internal class; custom ones have a class for each version.
        if isinstance(obj, type(current)) or (
            endpoint.store is not None and endpoint.store.view.converts
        ):
            return obj
        return endpoint.scheme.convert(obj, type(current))

    def _served(
        self, resource: GroupVersionResource, subresource: str
    ) -> tuple[Endpoint, Subresource | None]:
        endpoint = self._endpoint(resource)
        if endpoint is None:
            raise NotFound.resource()
        return endpoint, _subresource(endpoint, subresource) if subresource else None

    def _endpoint(self, resource: GroupVersionResource) -> Endpoint | None:
        endpoints = self._groups().version(resource.group, resource.version)
        return None if endpoints is None else endpoints.get(resource.resource)


def _subresource(endpoint: Endpoint, name: str) -> Subresource | None:
    return next((sub for sub in endpoint.resource.subresources if sub.name == name), None)


def _unknown_conversion(decoded: Decoded, expected: GroupVersionKind) -> APIError:
    """Return Kubernetes' error, which has no reason, for a document of another kind."""
    kind = decoded.kind
    if not isinstance(decoded.object, Object) or isinstance(decoded.object, Unstructured):
        return APIError(
            f"{kind} is unstructured and is not suitable for converting to"
            f" {quote(expected.api_version)}"
        )
    package = expected.group.partition(".")[0] or "core"
    return APIError(
        f"converting ({kind.version}.{kind.kind}) to ({package}.{expected.kind}):"
        " unknown conversion"
    )


def _identity(endpoint: Endpoint) -> Any:
    """Return what equivalent resources have in common: where they are stored."""
    if endpoint.store is None:
        return endpoint.gvr.group_resource
    return endpoint.store.cached.collection.keys.prefix
