"""Which resources a server has: one value for each, and how to read them from discovery.

A mapper, a short name and a category are all questions to the same list. The list can be
written down by hand, made from a scheme or read from either form of discovery; it is in order
of preference, which is the only thing about groups and versions that a mapper must know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from apimachinery.fieldpath import Path
from apimachinery.meta.types import Object
from apimachinery.schema import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    InvalidGroupVersion,
)
from apimachinery.scheme import Scheme

_UNPLURALIZED: Final = "endpoints"


class MalformedDiscovery(ValueError):
    """A discovery document that is not what its kind promises."""

    def __init__(self, path: Path, rule: str) -> None:
        super().__init__(f"discovery document: {path}: {rule}")


class Scope(StrEnum):
    """Whether the objects of a resource live in namespaces."""

    NAMESPACED = "Namespaced"
    CLUSTER = "Cluster"


@dataclass(frozen=True, slots=True)
class ServedResource:
    """One resource in one version, under all of its names."""

    kind: GroupVersionKind
    plural: str
    singular: str
    scope: Scope = Scope.NAMESPACED
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @classmethod
    def guessed(cls, kind: GroupVersionKind, scope: Scope = Scope.NAMESPACED) -> ServedResource:
        """Name a resource after its kind, by the convention."""
        return cls(kind, guess_plural(kind.kind), guess_singular(kind.kind), scope)

    @property
    def resource(self) -> GroupVersionResource:
        return self.kind.group_version.with_resource(self.plural)

    def is_called(self, name: str) -> bool:
        """Tell whether *name* is one of its long names."""
        return name in (self.plural, self.singular)


def guess_singular(kind: str) -> str:
    """Name one object of a kind as a resource: `Pod` is `pod`."""
    return kind.lower()


def guess_plural(kind: str) -> str:
    """Name the resource of a kind by Kubernetes' convention, not by English grammar."""
    singular = guess_singular(kind)
    if not singular or singular.endswith(_UNPLURALIZED):
        return singular
    if singular.endswith("s"):
        return f"{singular}es"
    return f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}s"


def in_category(resources: Iterable[ServedResource], category: str) -> list[GroupResource]:
    """List the resources of a category such as `all`, each once; none if there is none."""
    found = (each.resource.group_resource for each in resources if category in each.categories)
    return list(dict.fromkeys(found))


def from_scheme(
    scheme: Scheme, *, cluster_scoped: Iterable[GroupKind] = ()
) -> list[ServedResource]:
    """Name every kind of object of a scheme by the convention, the preferred versions first.

    A scheme knows no scopes: kinds live in namespaces unless they are among *cluster_scoped*.
    """
    cluster = frozenset(cluster_scoped)
    return [
        ServedResource.guessed(
            kind, Scope.CLUSTER if kind.group_kind in cluster else Scope.NAMESPACED
        )
        for group in scheme.groups()
        for version in scheme.prioritised_versions(group)
        for name, cls in scheme.kinds_of_version(version).items()
        if issubclass(cls, Object) and not scheme.is_unversioned(cls)
        for kind in (version.with_kind(name),)
    ]


def from_discovery(
    groups: Mapping[str, Any], resource_lists: Iterable[Mapping[str, Any]]
) -> list[ServedResource]:
    """Read an APIGroupList and the APIResourceList of each version.

    The core group has no place in an APIGroupList and comes first. A version whose list is
    missing is left out: its server may be down, which must not hide the others.
    """
    by_version: dict[GroupVersion, list[ServedResource]] = {}
    for position, document in enumerate(resource_lists):
        version, resources = _resource_list(document, Path().index(position))
        by_version.setdefault(version, []).extend(resources)
    core = [version for version in by_version if not version.group]
    order = dict.fromkeys([*core, *_preferred_versions(groups)])
    return [each for version in order for each in by_version.get(version, ())]


def from_aggregated_discovery(*documents: Mapping[str, Any]) -> list[ServedResource]:
    """Read APIGroupDiscoveryLists, `/api` before `/apis`.

    Versions marked as stale are left out, as their content is a memory of the server.
    """
    return [
        each
        for position, document in enumerate(documents)
        for each in _group_discovery_list(document, Path().index(position))
    ]


def _preferred_versions(groups: Mapping[str, Any]) -> Iterator[GroupVersion]:
    for group, path in _objects(groups, "groups", Path()):
        preferred = group.get("preferredVersion")
        if preferred is not None:
            at = path.child("preferredVersion")
            yield _group_version(_object(preferred, at), at)
        for version, at in _objects(group, "versions", path):
            yield _group_version(version, at)


def _resource_list(
    document: Mapping[str, Any], root: Path
) -> tuple[GroupVersion, list[ServedResource]]:
    version = _group_version(_object(document, root), root)
    resources = []
    for each, path in _objects(document, "resources", root):
        name = _text(each, "name", path)
        if "/" in name:
            continue
        namespaced = each.get("namespaced", False)
        if not isinstance(namespaced, bool):
            raise MalformedDiscovery(path.child("namespaced"), "must be true or false")
        kind = _text(each, "kind", path)
        resources.append(
            ServedResource(
                kind=version.with_kind(kind),
                plural=name,
                singular=_text(each, "singularName", path, default="") or guess_singular(kind),
                scope=Scope.NAMESPACED if namespaced else Scope.CLUSTER,
                short_names=_texts(each, "shortNames", path),
                categories=_texts(each, "categories", path),
            )
        )
    return version, resources


def _group_discovery_list(document: Mapping[str, Any], root: Path) -> Iterator[ServedResource]:
    for group, group_path in _objects(document, "items", root):
        at = group_path.child("metadata")
        name = _text(_object(group.get("metadata", {}), at), "name", at, default="")
        for version, path in _objects(group, "versions", group_path):
            if version.get("freshness") == "Stale":
                continue
            group_version = GroupVersion(name, _text(version, "version", path))
            for each, at in _objects(version, "resources", path):
                if each.get("responseKind") is not None:
                    yield _discovered_resource(group_version, each, at)


def _discovered_resource(
    version: GroupVersion, document: Mapping[str, Any], path: Path
) -> ServedResource:
    at = path.child("responseKind")
    kind = _text(_object(document["responseKind"], at), "kind", at)
    scope = _text(document, "scope", path)
    if scope not in tuple(Scope):
        raise MalformedDiscovery(path.child("scope"), "must be Namespaced or Cluster")
    singular = _text(document, "singularResource", path, default="")
    return ServedResource(
        kind=version.with_kind(kind),
        plural=_text(document, "resource", path),
        singular=singular or guess_singular(kind),
        scope=Scope(scope),
        short_names=_texts(document, "shortNames", path),
        categories=_texts(document, "categories", path),
    )


def _group_version(document: Mapping[str, Any], path: Path) -> GroupVersion:
    try:
        return GroupVersion.parse(_text(document, "groupVersion", path))
    except InvalidGroupVersion as error:
        raise MalformedDiscovery(path.child("groupVersion"), str(error)) from None


def _object(value: object, path: Path) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedDiscovery(path, "must be an object")
    return value


def _objects(
    document: Mapping[str, Any], key: str, path: Path
) -> Iterator[tuple[Mapping[str, Any], Path]]:
    for item, at in _list(_object(document, path), key, path):
        yield _object(item, at), at


def _texts(document: Mapping[str, Any], key: str, path: Path) -> tuple[str, ...]:
    texts = []
    for item, at in _list(document, key, path):
        if not isinstance(item, str):
            raise MalformedDiscovery(at, "must be a string")
        texts.append(item)
    return tuple(texts)


def _list(document: Mapping[str, Any], key: str, path: Path) -> Iterator[tuple[object, Path]]:
    at = path.child(key)
    items = document.get(key)
    if items is None:
        return
    if not isinstance(items, Sequence) or isinstance(items, str | bytes):
        raise MalformedDiscovery(at, "must be a list")
    for position, item in enumerate(items):
        yield item, at.index(position)


def _text(document: Mapping[str, Any], key: str, path: Path, *, default: str | None = None) -> str:
    value = document.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or not (value or default is not None):
        raise MalformedDiscovery(path.child(key), "must be a non-empty string")
    return value
