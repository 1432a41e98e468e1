"""Resource lookup: find the resource of a class, of a kind, or of a name as kubectl accepts it."""

from typing import TypeVar

from apimachinery.mapper import Mapper, Mapping, NoMatch
from apimachinery.meta.types import Object
from apimachinery.resources import Scope
from apimachinery.schema import (
    INTERNAL,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    InvalidGroupVersion,
    parse_kind_arg,
    parse_resource_arg,
)
from apimachinery.scheme import NotRegistered, Scheme
from client.discovery import Discovery, resource_mapping
from client.object_codec import Document
from client.subresource import ResourceTarget
from client.transport.request import InvalidRequest, ResourceLocation

ObjectT = TypeVar("ObjectT", bound=Object)


class DiscoveredTarget:
    """Returns a target that is discovered on the first call and cached."""

    def __init__(self, finder: "ResourceFinder", kind_or_name: GroupVersionKind | str) -> None:
        self._finder = finder
        self._kind_or_name = kind_or_name
        self._target: ResourceTarget | None = None

    async def __call__(self) -> ResourceTarget:
        if self._target is None:
            if isinstance(self._kind_or_name, str):
                self._target = await self._finder.by_name(self._kind_or_name)
            else:
                self._target = await self._finder.by_kind(self._kind_or_name)
        return self._target


class FixedTarget:
    """Returns a target that the caller has specified completely, without discovery."""

    def __init__(self, target: ResourceTarget) -> None:
        self._target = target

    async def __call__(self) -> ResourceTarget:
        return self._target


class ResourceFinder:
    """Looks up the kind of a class in the scheme, and the resource of a kind by discovery."""

    def __init__(self, discovery: Discovery, scheme: Scheme) -> None:
        self._discovery = discovery
        self._scheme = scheme

    def kind_of(self, cls: type[Object], api_version: str = "") -> GroupVersionKind:
        """Return the kind of a class: of *api_version*, as registered, or by the class's default.

        Raises NotRegistered if none of these provides an apiVersion.
        """
        version = api_version
        if not version:
            try:
                return _reject_internal(cls, self._scheme.kind_of(cls))
            except NotRegistered as error:
                version = cls.model_fields["api_version"].default
                if not version:
                    raise NotRegistered(
                        f"{error}: pass the add_to_scheme of its group to from_env(), or a scheme"
                        " that has it to the client, or its api_version to of()"
                    ) from None
        return parse_api_version(version).with_kind(cls.__kind__)

    async def by_kind(self, kind: GroupVersionKind) -> ResourceTarget:
        mapping = await self._discovery.mapping(kind)
        return _target(mapping.resource, mapping.kind, mapping.scope)

    async def by_name(self, name: str) -> ResourceTarget:
        """Find a resource or kind by a name as for kubectl (`deploy`, `deployments.v1.apps`)."""
        mapping = await self._discovery.find(lambda mapper: _mapping_by_name(mapper, name))
        return _target(mapping.resource, mapping.kind, mapping.scope)


def _reject_internal(cls: type[Object], kind: GroupVersionKind) -> GroupVersionKind:
    if kind.version == INTERNAL:
        raise InvalidRequest(
            f"{cls.__qualname__} is the internal version of {kind.group_kind}, which servers do"
            " not serve: use the class of a served version"
        )
    return kind


def _mapping_by_name(mapper: Mapper, name: str) -> Mapping:
    """Match *name* as a resource, then as a kind; each with a version first, then without."""
    versioned, group = parse_resource_arg(name)
    no_match: NoMatch | None = None
    for resource in (versioned, group.with_version("")):
        try:
            if resource is not None:
                return resource_mapping(mapper, resource)
        except NoMatch as error:
            no_match = error
    versioned_kind, group_kind = parse_kind_arg(name)
    for kind in (versioned_kind, group_kind.with_version("")):
        try:
            if kind is not None:
                versions = (kind.version,) if kind.version else ()
                return mapper.mapping(kind.group_kind, *versions)
        except NoMatch:
            continue
    assert no_match is not None
    raise no_match


def parse_api_version(text: str) -> GroupVersion:
    """Parse an apiVersion; raises InvalidRequest if it is malformed or has no version."""
    try:
        group_version = GroupVersion.parse(text)
    except InvalidGroupVersion as error:
        raise InvalidRequest(str(error)) from None
    if not group_version.version:
        raise InvalidRequest(f"apiVersion {text!r} has no version")
    return group_version


def kind_of_document(document: Document | Object) -> GroupVersionKind:
    """Return the kind and apiVersion of *document*; raises InvalidRequest if one is missing."""
    api_version: object
    kind: object
    if isinstance(document, Object):
        api_version, kind = document.api_version, document.kind
    else:
        api_version, kind = document.get("apiVersion"), document.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str) or not api_version or not kind:
        raise InvalidRequest("the document must have a kind and an apiVersion")
    return parse_api_version(api_version).with_kind(kind)


def _target(resource: GroupVersionResource, kind: GroupVersionKind, scope: Scope) -> ResourceTarget:
    return ResourceTarget(ResourceLocation(resource, scope is Scope.NAMESPACED), kind)
