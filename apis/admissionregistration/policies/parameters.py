"""Parameters: the objects that a binding evaluates its policy with (`paramRef`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from apimachinery.errors import APIError, NotFound
from apimachinery.meta.options import ListOptions
from apimachinery.meta.unstructured import load_content
from apimachinery.schema import (
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    InvalidGroupVersion,
)
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.matching.selectors import LabelMatch, compile_selector
from apis.admissionregistration.v1.policy_parameters import DENY_MISSING, ParamKind, ParamRef
from apiserver import ServerParts
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.storage.cache.read_revision import Freshness

_MOST_KEPT: Final = 256
"""Decoded parameters that are kept."""


class ParameterError(Exception):
    """The parameters of a binding cannot be found, in Kubernetes' words."""


@dataclass(frozen=True, slots=True)
class ParameterReference:
    """A compiled ParamRef."""

    source: ParamRef
    selector: LabelMatch | None

    @classmethod
    def compile(cls, source: ParamRef | None) -> "ParameterReference | None":
        if source is None:
            return None
        selector = source.selector
        return cls(source, None if selector is None else compile_selector(selector))


class Parameters:
    """Finds the parameters of bindings, and keeps their documents until they change."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._kept: dict[tuple[GroupVersionResource, str], tuple[int, Any]] = {}

    def check_kind(self, kind: ParamKind | None) -> str:
        """Return why a policy cannot have parameters of a kind, empty if it can."""
        if kind is None:
            return ""
        try:
            self._resource(kind)
        except ParameterError as error:
            return str(error)
        return ""

    async def find(
        self, kind: ParamKind | None, reference: ParameterReference | None, write: ReviewedWrite
    ) -> Sequence[Any]:
        """Return the parameters of a binding: [None] if it needs none.

        Raises ParameterError or APIError.
        """
        if kind is None or reference is None:
            return [None]
        resource = self._resource(kind)
        source, namespaced = reference.source, self._parts.versions.is_namespaced(resource)
        namespace = ""
        if namespaced:
            namespace = source.namespace or write.namespace
            if not namespace:
                raise ParameterError(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped"
                    " resources"
                )
        elif source.namespace:
            raise ParameterError(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
            )
        try:
            self._parts.find_store(resource.group_resource)
        except KeyError:  # such as a review, of which nothing is stored
            described = f"&ParamKind{{APIVersion:{kind.api_version},Kind:{kind.kind},}}"
            raise ParameterError(
                f"paramKind kind `{described}` not yet synced to use for admission"
            ) from None
        entries = await self._entries(resource, reference, namespace)
        if not entries and source.parameter_not_found_action == DENY_MISSING:
            raise ParameterError(
                "no params found for policy binding with `Deny` parameterNotFoundAction"
            )
        return [await self._document(resource, entry, write) for entry in entries]

    def _resource(self, kind: ParamKind) -> GroupVersionResource:
        try:
            version = GroupVersion.parse(kind.api_version)
        except InvalidGroupVersion as error:
            raise ParameterError(f"failed to parse paramKind APIVersion: {error}") from None
        wanted = GroupVersionKind(version.group, version.version, kind.kind)
        name = self._parts.find_resource(wanted)
        if not name:
            raise ParameterError(
                "failed to find resource referenced by paramKind:"
                f" '{wanted.group}/{wanted.version}, Kind={wanted.kind}'"
            )
        return version.with_resource(name)

    async def _entries(
        self, resource: GroupVersionResource, reference: ParameterReference, namespace: str
    ) -> Sequence[Entry]:
        store = self._parts.find_store(resource.group_resource)
        name = reference.source.name
        if reference.selector is not None:
            if reference.selector.problem:
                raise ParameterError(reference.selector.problem)
            selection = EntrySelection(
                namespace=namespace or None, labels=reference.selector.selector.matches
            )
            return (await store.list(selection, ListOptions(resource_version="0"))).entries
        try:
            return [await store.get(name, namespace=namespace, at=Freshness.ANY)]
        except APIError:
            pass  # it may have been created a moment ago
        try:
            return [await store.get(name, namespace=namespace, at=Freshness.NEWEST)]
        except NotFound:
            return []

    async def _document(
        self, resource: GroupVersionResource, entry: Entry, write: ReviewedWrite
    ) -> Any:
        key = resource, entry.key
        known = self._kept.get(key)
        if known is not None and known[0] == entry.revision:
            return known[1]
        workload = write.attributes.context.workload
        workload.add(entry.record.value)
        store, versions = self._parts.find_store(resource.group_resource), self._parts.versions
        obj = await workload.run(store.decode, entry)
        obj = await versions.convert(obj, resource, workload)
        document = load_content(await workload.run(versions.encode, obj, resource))
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = entry.revision, document
        return document
