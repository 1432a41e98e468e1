"""ReviewedWrite: one write as webhooks and policies see it.

Each of them may see the object in another version, so its documents are made when they are first
needed, and kept until the object changes. A review lives as long as one phase of admission.
"""

from collections.abc import Mapping
from typing import Any, Final

from apimachinery.errors import APIError
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import load_content
from apimachinery.schema import GroupResource, GroupVersionResource
from apis.admissionregistration.matching.rules import Target
from apiserver import Attributes, ServerParts
from apiserver.served_versions import ServedVersion, ServedVersions
from apiserver.storage.cache.read_revision import Freshness

NAMESPACES: Final = GroupResource("", "namespaces")

_WRITTEN: Final = ("CREATE", "UPDATE")


def target_of(attributes: Attributes) -> Target:
    """Return what the rules of webhooks and policies are compared with."""
    context = attributes.context
    namespaced = bool(context.namespace) and not _is_namespace(context.resource)
    return Target(attributes.operation, context.resource, context.subresource, namespaced)


def own_version(attributes: Attributes, versions: ServedVersions) -> ServedVersion:
    """Return the version and kind of a request."""
    resource, subresource = attributes.context.resource, attributes.subresource
    kind = resource.group_version.with_kind(attributes.kind.kind)
    return versions.find(resource, subresource) or ServedVersion(resource, kind)


def _is_namespace(resource: GroupVersionResource) -> bool:
    return resource.resource == NAMESPACES.resource and resource.group == NAMESPACES.group


class ReviewedWrite:
    """A write, its target, and its objects as documents."""

    def __init__(self, attributes: Attributes, parts: ServerParts) -> None:
        self.attributes = attributes
        self._parts = parts
        context = attributes.context
        self.is_namespace = _is_namespace(context.resource)
        # A request for a whole collection names no object, as in Kubernetes.
        self.name = "" if context.verb == "deletecollection" else attributes.name
        self.namespace = self.name if self.is_namespace else context.namespace
        """The namespace of the object; for a Namespace, its own name."""
        self.target = target_of(attributes)
        self.own = own_version(attributes, parts.versions)
        """The version of the request."""
        self._labels: Mapping[str, str] | None = None
        self._encoded: dict[tuple[bool, GroupVersionResource], bytes] = {}
        self._contents: dict[tuple[bool, GroupVersionResource], Any] = {}

    # Documents

    async def encoded(self, version: ServedVersion, *, old: bool = False) -> bytes:
        """Return the object, or the old one, as JSON in a version; `null` if there is none."""
        obj = self.attributes.old_object if old else self.attributes.object
        if obj is None:
            return b"null"
        key = old, version.resource
        known = self._encoded.get(key)
        if known is None:
            obj = await self._converted(obj, version)
            known = self._encoded[key] = await self.attributes.context.workload.run(
                self._parts.versions.encode, obj, version.resource, self.target.subresource
            )
        return known

    async def content(self, version: ServedVersion, *, old: bool = False) -> Any:
        """Return the object, or the old one, as decoded JSON, which must not be changed."""
        key = old, version.resource
        if key not in self._contents:
            encoded = await self.encoded(version, old=old)
            run = self.attributes.context.workload.run
            decoded = None if encoded == b"null" else await run(load_content, encoded)
            self._contents[key] = decoded
        return self._contents[key]

    async def decode(
        self, document: bytes, version: ServedVersion, *, strict: bool = False
    ) -> Object:
        """Return the object of a changed document, with the defaults of its version.

        Raises DecodeError, NotRegistered, and Invalid for values that its fields refuse. If
        *strict*, StrictDecodeError for unknown fields.
        """
        current = self.attributes.object
        assert current is not None
        new = await self.attributes.context.workload.run(
            self._parts.versions.decode,
            document,
            version.resource,
            self.target.subresource,
            current=current,
            strict=strict,
        )
        return await self._converted(new, self.own)

    async def _converted(self, obj: Object, version: ServedVersion) -> Object:
        """Return an object in a version, if that takes a webhook."""
        workload = self.attributes.context.workload
        return await self._parts.versions.convert(obj, version.resource, workload)

    def replace(self, new: Object) -> None:
        """Continue with another object, which a webhook or a policy has made."""
        self.attributes.object = new
        for documents in (self._encoded, self._contents):
            for key in [key for key in documents if not key[0]]:
                del documents[key]

    # Labels

    async def namespace_labels(self) -> Mapping[str, str]:
        """Return the labels of the namespace; those of a Namespace that is written are its own.

        Raises NotFound if there is no such namespace.
        """
        if self._labels is None:
            self._labels = await self._namespace_labels()
        return self._labels

    async def _namespace_labels(self) -> Mapping[str, str]:
        target, obj = self.target, self.attributes.object
        written = target.operation in _WRITTEN and not target.subresource
        if self.is_namespace and written and obj is not None:
            return obj.metadata.labels
        store = self._parts.find_store(NAMESPACES)
        try:
            return (await store.get(self.namespace, at=Freshness.ANY)).labels
        except APIError:
            # It may have been created a moment ago.
            return (await store.get(self.namespace, at=Freshness.NEWEST)).labels
