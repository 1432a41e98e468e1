"""Paths and operations of resources, independent of the OpenAPI version.

Resources are described as plain data (`ResourceDescription`), so that this package does not depend
on a server. Operation IDs are those of Kubernetes: generated clients name their methods by them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from apimachinery.openapi.definitions import PublishedKind
from apimachinery.openapi.openapi_errors import UnpublishableType
from apimachinery.openapi.request_parameters import (
    NAMESPACE,
    PARAMETERS_BY_ACTION,
    PRETTY,
    Parameter,
    name_parameter,
)
from apimachinery.schema import GroupVersion, GroupVersionKind
from apimachinery.serialization.media_types import (
    APPLY_PATCH,
    JSON,
    JSON_PATCH,
    MERGE_PATCH,
    PROTOBUF,
    STRATEGIC_PATCH,
    YAML,
)

VERBS: Final = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)
_SUBRESOURCE_VERBS: Final = ("create", "delete", "get", "patch", "update")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubresourceDescription:
    """A subresource, of the resource's kind (`status`) or of another (`scale`)."""

    name: str
    verbs: tuple[str, ...] = ("get", "patch", "update")
    kind: GroupVersionKind | None = None
    """The kind that requests read and write, if not the resource's own; requires *cls*."""
    cls: type[BaseModel] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDescription:
    """One resource in one version."""

    plural: str
    kind: str
    cls: type[BaseModel]
    namespaced: bool = True
    verbs: tuple[str, ...] = VERBS
    subresources: tuple[SubresourceDescription, ...] = ()
    deprecated: bool = False
    """Whether this version is deprecated."""
    returns_deleted: bool = False
    """Whether deleting an object returns the object, and not a Status."""
    has_watch_paths: bool = False
    """Whether the resource has the deprecated `/watch` paths."""
    list_kind: str = ""
    """The kind of its lists, if it is not `<kind>List`."""
    media_types: tuple[str, ...] = (JSON, YAML, PROTOBUF)
    patch_types: tuple[str, ...] = (APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)

    @property
    def is_listed(self) -> bool:
        return bool({"list", "watch"} & set(self.verbs))


@dataclass(frozen=True, slots=True, kw_only=True)
class PathOperation:
    """An operation: one HTTP method on one path."""

    method: str
    action: str
    """`x-kubernetes-action`; empty for operations without a kind, such as discovery."""
    identifier: str
    description: str
    kind: GroupVersionKind | None
    resource: ResourceDescription | None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the query parameters, those that other operations of the path take included."""
        return PARAMETERS_BY_ACTION.get(self.action, ())


@dataclass(frozen=True, slots=True)
class PathItem:
    """A path with its operations, and the parameters that do not depend on their actions."""

    path: str
    path_parameters: tuple[Parameter, ...]
    operations: tuple[PathOperation, ...]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters that all operations take, sorted by name as Kubernetes does."""
        first, *others = (operation.parameters for operation in self.operations)
        common = (query for query in first if all(query in other for other in others))
        return tuple(sorted((*self.path_parameters, *common), key=lambda shared: shared.name))

    def own_parameters(self, operation: PathOperation) -> tuple[Parameter, ...]:
        """Return the parameters that not all operations of the path take."""
        shared = self.parameters
        return tuple(query for query in operation.parameters if query not in shared)


def published_kinds(
    version: GroupVersion, resources: Iterable[ResourceDescription]
) -> Iterator[PublishedKind]:
    """Yield the kinds that requests to resources and their subresources read and write.

    Raises UnpublishableType if a subresource has a kind of its own but no class.
    """
    for resource in resources:
        list_kind = (resource.list_kind or f"{resource.kind}List") if resource.is_listed else ""
        yield PublishedKind(version.with_kind(resource.kind), resource.cls, list_kind)
        for subresource in resource.subresources:
            if subresource.kind is not None and subresource.kind != version.with_kind(
                resource.kind
            ):
                if subresource.cls is None:
                    place = f"{resource.plural}/{subresource.name}"
                    raise UnpublishableType(place, f"kind {subresource.kind} needs its class")
                yield PublishedKind(subresource.kind, subresource.cls)


def paths(version: GroupVersion, resources: Iterable[ResourceDescription]) -> list[PathItem]:
    """Return all paths of a version, sorted."""
    root = f"/apis/{version}" if version.group else f"/api/{version}"
    items = [_discovery(version, root)]
    for resource in resources:
        _check_verbs(version, resource)
        describer = _Describer(version, root, resource)
        items += describer.collections()
        items.append(describer.item())
        items += map(describer.subresource, resource.subresources)
        if resource.has_watch_paths and "watch" in resource.verbs:
            items += describer.watches()
    return sorted((item for item in items if item.operations), key=lambda item: item.path)


def tag(version: GroupVersion) -> str:
    """Return the tag that groups the operations of a version: `coordination_v1`."""
    return f"{_camel(_short_group(version))}_{_camel(version.version)}"


def _discovery(version: GroupVersion, root: str) -> PathItem:
    operation = PathOperation(
        method="get",
        action="",
        identifier=f"get{_infix(version)}APIResources",
        description="List the resources of this version.",
        kind=None,
        resource=None,
    )
    return PathItem(f"{root}/", (), (operation,))


def _check_verbs(version: GroupVersion, resource: ResourceDescription) -> None:
    place = f"{version}, Resource={resource.plural}"
    unknown = [verb for verb in resource.verbs if verb not in VERBS]
    for subresource in resource.subresources:
        unknown += [verb for verb in subresource.verbs if verb not in _SUBRESOURCE_VERBS]
    if unknown:
        raise UnpublishableType(place, f"verb {unknown[0]!r} has no operation")


@dataclass(frozen=True, slots=True)
class _Describer:
    """Builds the paths and operations of one resource."""

    version: GroupVersion
    root: str
    resource: ResourceDescription

    def collections(self) -> Iterator[PathItem]:
        kind, plural = self.resource.kind, self.resource.plural
        if self.resource.namespaced and self.resource.is_listed:
            all_namespaces = self._list(f"{kind}ForAllNamespaces")
            yield PathItem(f"{self.root}/{plural}", (PRETTY,), (all_namespaces,))
        suffix = f"{self._scope}{kind}"
        operations = []
        if "deletecollection" in self.resource.verbs:
            deletion = self._operation(
                "delete",
                action="deletecollection",
                word="delete",
                suffix=f"Collection{suffix}",
                description=f"Delete objects of kind {kind}.",
            )
            operations.append(deletion)
        if self.resource.is_listed:
            operations.append(self._list(suffix))
        if "create" in self.resource.verbs:
            text = f"Create an object of kind {kind}."
            creation = self._operation("post", word="create", suffix=suffix, description=text)
            operations.append(creation)
        yield PathItem(f"{self._base()}/{plural}", self._common_parameters(), tuple(operations))

    def item(self) -> PathItem:
        return PathItem(
            f"{self._base()}/{self.resource.plural}/{{name}}",
            self._common_parameters(with_name=True),
            tuple(
                self._object_operations(
                    self.resource.verbs, "", self.version.with_kind(self.resource.kind)
                )
            ),
        )

    def subresource(self, description: SubresourceDescription) -> PathItem:
        kind = description.kind or self.version.with_kind(self.resource.kind)
        has_own_kind = description.kind is not None and description.kind.kind != self.resource.kind
        return PathItem(
            f"{self._base()}/{self.resource.plural}/{{name}}/{description.name}",
            self._common_parameters(with_name=True, kind=kind.kind if has_own_kind else ""),
            tuple(self._object_operations(description.verbs, description.name, kind)),
        )

    def watches(self) -> Iterator[PathItem]:
        kind, plural = self.resource.kind, self.resource.plural
        if self.resource.namespaced:
            all_namespaces = self._watch("watchlist", f"{kind}ListForAllNamespaces")
            yield PathItem(f"{self.root}/watch/{plural}", (PRETTY,), (all_namespaces,))
        base, suffix = self._base("/watch"), f"{self._scope}{kind}"
        watch_list = self._watch("watchlist", f"{suffix}List")
        yield PathItem(f"{base}/{plural}", self._common_parameters(), (watch_list,))
        watch = self._watch("watch", suffix)
        yield PathItem(
            f"{base}/{plural}/{{name}}", self._common_parameters(with_name=True), (watch,)
        )

    def _object_operations(
        self, verbs: tuple[str, ...], subresource: str, kind: GroupVersionKind
    ) -> Iterator[PathOperation]:
        suffix = f"{self._scope}{self.resource.kind}{subresource[:1].upper()}{subresource[1:]}"
        target = f"{subresource} of an object" if subresource else "an object"
        operations = (
            ("delete", "delete", "delete", f"Delete {target}"),
            ("get", "get", "read", f"Read {target}"),
            ("patch", "patch", "patch", f"Change parts of {target}"),
            ("create", "post", "create", f"Create {target}"),
            ("update", "put", "replace", f"Replace {target}"),
        )
        for verb, method, word, text in operations:
            # On a path with an object name, only a subresource can be created.
            if verb in verbs and (subresource or verb != "create"):
                text = f"{text} of kind {self.resource.kind}."
                yield self._operation(method, word=word, suffix=suffix, description=text, kind=kind)

    def _list(self, suffix: str) -> PathOperation:
        text = f"List objects of kind {self.resource.kind}, or watch them."
        return self._operation("get", action="list", word="list", suffix=suffix, description=text)

    def _watch(self, action: str, suffix: str) -> PathOperation:
        kind = self.resource.kind
        text = f"Watch objects of kind {kind}. Deprecated: list them with the parameter watch."
        return self._operation("get", action=action, word="watch", suffix=suffix, description=text)

    def _operation(
        self,
        method: str,
        *,
        word: str,
        suffix: str,
        description: str,
        action: str = "",
        kind: GroupVersionKind | None = None,
    ) -> PathOperation:
        """Build an operation; its ID is *word* and *suffix* with the version in between."""
        return PathOperation(
            method=method,
            action=action or method,
            identifier=f"{word}{_infix(self.version)}{suffix}",
            description=description,
            kind=kind or self.version.with_kind(self.resource.kind),
            resource=self.resource,
        )

    def _common_parameters(
        self, *, with_name: bool = False, kind: str = ""
    ) -> tuple[Parameter, ...]:
        name = (name_parameter(kind or self.resource.kind),) if with_name else ()
        return (*name, *((NAMESPACE,) if self.resource.namespaced else ()), PRETTY)

    def _base(self, watch: str = "") -> str:
        namespaced = "/namespaces/{namespace}" if self.resource.namespaced else ""
        return f"{self.root}{watch}{namespaced}"

    @property
    def _scope(self) -> str:
        return "Namespaced" if self.resource.namespaced else ""


def _infix(version: GroupVersion) -> str:
    """Return `CoordinationV1`, which makes operation IDs unique among versions."""
    group, name = _camel(_short_group(version)), _camel(version.version)
    return f"{group[:1].upper()}{group[1:]}{name[:1].upper()}{name[1:]}"


def _short_group(version: GroupVersion) -> str:
    return version.group.removesuffix(".k8s.io") or "core"


def _camel(text: str) -> str:
    """Return *text* in camelCase, without punctuation."""
    words = "".join(char if char.isalnum() or char == "_" else " " for char in text).split()
    return "".join(words[:1] + [word[:1].upper() + word[1:] for word in words[1:]])
