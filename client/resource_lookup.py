"""Finding where objects are: by class, by kind, or by a name as one types it for kubectl."""

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
    """A target that is looked for when it is first needed, and remembered."""

    def __init__(self, finder: "ResourceFinder", question: GroupVersionKind | str) -> None:
        self._finder = finder
        self._question = question
        self._target: ResourceTarget | None = None

    async def __call__(self) -> ResourceTarget:
        if self._target is None:
            if isinstance(self._question, str):
                self._target = await self._finder.by_name(self._question)
            else:
                self._target = await self._finder.by_kind(self._question)
        return self._target


class FixedTarget:
    """A target that the caller has named in full."""

    def __init__(self, target: ResourceTarget) -> None:
        self._target = target

    async def __call__(self) -> ResourceTarget:
        return self._target


class ResourceFinder:
    """Asks the scheme what a class is, and discovery where it is."""

    def __init__(self, discovery: Discovery, scheme: Scheme) -> None:
        self._discovery = discovery
        self._scheme = scheme

    def kind_of(self, cls: type[Object], api_version: str = "") -> GroupVersionKind:
        """The kind of a class: as said, as registered, or as the class itself has it."""
        version = api_version
        if not version:
            try:
                return _served(cls, self._scheme.kind_of(cls))
            except NotRegistered as error:
                version = cls.model_fields["api_version"].default
                if not version:
                    raise NotRegistered(
                        f"{error}: pass the add_to_scheme of its group to from_env(), or a scheme"
                        " that has it to the client, or its api_version to of()"
                    ) from None
        return parse_api_version(version).with_kind(cls.__kind__)

    async def by_kind(self, kind: GroupVersionKind) -> ResourceTarget:
        found = await self._discovery.mapping(kind)
        return _target(found.resource, found.kind, found.scope)

    async def by_name(self, name: str) -> ResourceTarget:
        """A resource as for kubectl (`gd`, `gadgets.v1.example.io`), or a kind the same way."""
        found = await self._discovery.find(lambda mapper: _named(mapper, name))
        return _target(found.resource, found.kind, found.scope)


def _served(cls: type[Object], kind: GroupVersionKind) -> GroupVersionKind:
    if kind.version == INTERNAL:
        raise InvalidRequest(
            f"{cls.__qualname__} is the internal form of {kind.group_kind}, which no server sends:"
            " use the class of a version"
        )
    return kind


def _named(mapper: Mapper, name: str) -> Mapping:
    """What *name* means; a resource before a kind, and with a version before without."""
    versioned, group = parse_resource_arg(name)
    missing: NoMatch | None = None
    for resource in (versioned, group.with_version("")):
        try:
            if resource is not None:
                return resource_mapping(mapper, resource)
        except NoMatch as error:
            missing = error
    kind, group_kind = parse_kind_arg(name)
    for wanted in (kind, group_kind.with_version("")):
        try:
            if wanted is not None:
                versions = (wanted.version,) if wanted.version else ()
                return mapper.mapping(wanted.group_kind, *versions)
        except NoMatch:
            continue
    assert missing is not None
    raise missing


def parse_api_version(text: str) -> GroupVersion:
    try:
        found = GroupVersion.parse(text)
    except InvalidGroupVersion as error:
        raise InvalidRequest(str(error)) from None
    if not found.version:
        raise InvalidRequest(f"apiVersion {text!r} has no version")
    return found


def kind_of_document(document: Document | Object) -> GroupVersionKind:
    """The kind that a document says it is."""
    api_version: object
    kind: object
    if isinstance(document, Object):
        api_version, kind = document.api_version, document.kind
    else:
        api_version, kind = document.get("apiVersion"), document.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str) or not api_version or not kind:
        raise InvalidRequest("the document must say its kind and apiVersion")
    return parse_api_version(api_version).with_kind(kind)


def _target(resource: GroupVersionResource, kind: GroupVersionKind, scope: Scope) -> ResourceTarget:
    return ResourceTarget(ResourceLocation(resource, scope is Scope.NAMESPACED), kind)
