"""Resources as paths and operations, before either version of OpenAPI writes them down.

What a server says about a resource is plain data here, so that this package needs no server. The
names of operations are those Kubernetes gives: generated clients make their methods of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from apimachinery.openapi.definitions import PublishedKind
from apimachinery.openapi.openapi_errors import UnpublishableType
from apimachinery.openapi.request_parameters import NAMESPACE, PRETTY, Parameter, name_of
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
    """A subresource: `status` of the same kind, or `scale` of a kind of its own."""

    name: str
    verbs: tuple[str, ...] = ("get", "patch", "update")
    kind: GroupVersionKind | None = None
    """What is read and written, if it is not the resource's own kind; needs *cls*."""
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
    """Whether this version of it should not be used any more."""
    list_kind: str = ""
    """The kind of its lists, if it is not the kind and `List`."""
    media_types: tuple[str, ...] = (JSON, YAML, PROTOBUF)
    patch_types: tuple[str, ...] = (APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)

    @property
    def is_listed(self) -> bool:
        return bool({"list", "watch"} & set(self.verbs))


@dataclass(frozen=True, slots=True, kw_only=True)
class PathOperation:
    """What one method does on one path."""

    method: str
    action: str
    """`x-kubernetes-action`; empty for what is done to no kind."""
    identifier: str
    description: str
    kind: GroupVersionKind | None
    resource: ResourceDescription | None


@dataclass(frozen=True, slots=True)
class PathItem:
    """One path, the parameters that all its operations take, and these."""

    path: str
    parameters: tuple[Parameter, ...]
    operations: tuple[PathOperation, ...]


def published_kinds(
    version: GroupVersion, resources: Iterable[ResourceDescription]
) -> Iterator[PublishedKind]:
    """The kinds that resources and their subresources read and write."""
    for resource in resources:
        listed = (resource.list_kind or f"{resource.kind}List") if resource.is_listed else ""
        yield PublishedKind(version.with_kind(resource.kind), resource.cls, listed)
        for sub in resource.subresources:
            if sub.kind is not None and sub.kind != version.with_kind(resource.kind):
                if sub.cls is None:
                    place = f"{resource.plural}/{sub.name}"
                    raise UnpublishableType(place, f"kind {sub.kind} needs its class")
                yield PublishedKind(sub.kind, sub.cls)


def paths(
    version: GroupVersion, resources: Iterable[ResourceDescription], *, watch_paths: bool = False
) -> list[PathItem]:
    """All paths of a version in order; *watch_paths* adds the old ones below `/watch`."""
    root = f"/apis/{version}" if version.group else f"/api/{version}"
    found = [_discovery(version, root)]
    for resource in resources:
        _check(version, resource)
        describer = _Describer(version, root, resource)
        found += describer.collections()
        found.append(describer.item())
        found += map(describer.subresource, resource.subresources)
        if watch_paths and "watch" in resource.verbs:
            found += describer.watches()
    return sorted((item for item in found if item.operations), key=lambda item: item.path)


def tag(version: GroupVersion) -> str:
    """How operations are grouped: `coordination_v1`."""
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


def _check(version: GroupVersion, resource: ResourceDescription) -> None:
    place = f"{version}, Resource={resource.plural}"
    unknown = [verb for verb in resource.verbs if verb not in VERBS]
    for sub in resource.subresources:
        unknown += [verb for verb in sub.verbs if verb not in _SUBRESOURCE_VERBS]
    if unknown:
        raise UnpublishableType(place, f"there is no operation for the verb {unknown[0]!r}")


@dataclass(frozen=True, slots=True)
class _Describer:
    """Writes the operations of one resource."""

    version: GroupVersion
    root: str
    resource: ResourceDescription

    def collections(self) -> Iterator[PathItem]:
        kind, plural = self.resource.kind, self.resource.plural
        if self.resource.namespaced and self.resource.is_listed:
            everywhere = self._list(f"{kind}ForAllNamespaces")
            yield PathItem(f"{self.root}/{plural}", (PRETTY,), (everywhere,))
        here = f"{self._scope}{kind}"
        operations = []
        if "deletecollection" in self.resource.verbs:
            deletion = self._operation(
                "delete",
                action="deletecollection",
                word="delete",
                suffix=f"Collection{here}",
                description=f"Delete objects of kind {kind}.",
            )
            operations.append(deletion)
        if self.resource.is_listed:
            operations.append(self._list(here))
        if "create" in self.resource.verbs:
            text = f"Create an object of kind {kind}."
            creation = self._operation("post", word="create", suffix=here, description=text)
            operations.append(creation)
        yield PathItem(f"{self._base()}/{plural}", self._common(), tuple(operations))

    def item(self) -> PathItem:
        return PathItem(
            f"{self._base()}/{self.resource.plural}/{{name}}",
            self._common(named=True),
            tuple(
                self._on_one(self.resource.verbs, "", self.version.with_kind(self.resource.kind))
            ),
        )

    def subresource(self, sub: SubresourceDescription) -> PathItem:
        kind = sub.kind or self.version.with_kind(self.resource.kind)
        named = sub.kind is not None and sub.kind.kind != self.resource.kind
        return PathItem(
            f"{self._base()}/{self.resource.plural}/{{name}}/{sub.name}",
            self._common(named=True, kind=kind.kind if named else ""),
            tuple(self._on_one(sub.verbs, sub.name, kind)),
        )

    def watches(self) -> Iterator[PathItem]:
        kind, plural = self.resource.kind, self.resource.plural
        if self.resource.namespaced:
            everywhere = self._watch("watchlist", f"{kind}ListForAllNamespaces")
            yield PathItem(f"{self.root}/watch/{plural}", (PRETTY,), (everywhere,))
        base, here = self._base("/watch"), f"{self._scope}{kind}"
        several = self._watch("watchlist", f"{here}List")
        yield PathItem(f"{base}/{plural}", self._common(), (several,))
        one = self._watch("watch", here)
        yield PathItem(f"{base}/{plural}/{{name}}", self._common(named=True), (one,))

    def _on_one(
        self, verbs: tuple[str, ...], subresource: str, kind: GroupVersionKind
    ) -> Iterator[PathOperation]:
        suffix = f"{self._scope}{self.resource.kind}{subresource[:1].upper()}{subresource[1:]}"
        what = f"{subresource} of an object" if subresource else "an object"
        operations = (
            ("delete", "delete", "delete", f"Delete {what}"),
            ("get", "get", "read", f"Read {what}"),
            ("patch", "patch", "patch", f"Change parts of {what}"),
            ("create", "post", "create", f"Create {what}"),
            ("update", "put", "replace", f"Replace {what}"),
        )
        for verb, method, word, text in operations:
            # On a path with a name only a subresource can be created.
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
        """One operation; its name is *word* and *suffix* with the version between them."""
        return PathOperation(
            method=method,
            action=action or method,
            identifier=f"{word}{_infix(self.version)}{suffix}",
            description=description,
            kind=kind or self.version.with_kind(self.resource.kind),
            resource=self.resource,
        )

    def _common(self, *, named: bool = False, kind: str = "") -> tuple[Parameter, ...]:
        name = (name_of(kind or self.resource.kind),) if named else ()
        return (*name, *((NAMESPACE,) if self.resource.namespaced else ()), PRETTY)

    def _base(self, watch: str = "") -> str:
        namespaced = "/namespaces/{namespace}" if self.resource.namespaced else ""
        return f"{self.root}{watch}{namespaced}"

    @property
    def _scope(self) -> str:
        return "Namespaced" if self.resource.namespaced else ""


def _infix(version: GroupVersion) -> str:
    """`CoordinationV1`, which keeps names apart that many versions have."""
    group, name = _camel(_short_group(version)), _camel(version.version)
    return f"{group[:1].upper()}{group[1:]}{name[:1].upper()}{name[1:]}"


def _short_group(version: GroupVersion) -> str:
    return version.group.removesuffix(".k8s.io") or "core"


def _camel(text: str) -> str:
    """*text* without punctuation, each word after it with a capital."""
    words = "".join(each if each.isalnum() or each == "_" else " " for each in text).split()
    return "".join(word if not at else word[:1].upper() + word[1:] for at, word in enumerate(words))
