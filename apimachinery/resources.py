"""ServedResource: the resources of a server, and how to read them from discovery documents.

A list of ServedResources is in order of preference, which is all that a mapper needs to choose
between groups and versions. It can be written by hand or decoded from either discovery format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from apimachinery.fieldpath import Path
from apimachinery.schema import (
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    InvalidGroupVersion,
)

_UNPLURALIZED: Final = "endpoints"


class MalformedDiscovery(ValueError):
    """A discovery document with a missing or mistyped field."""

    def __init__(self, path: Path, rule: str) -> None:
        super().__init__(f"discovery document: {path}: {rule}")


class Scope(StrEnum):
    """Whether the objects of a resource are namespaced."""

    NAMESPACED = "Namespaced"
    CLUSTER = "Cluster"


@dataclass(frozen=True, slots=True)
class ServedResource:
    """One resource in one version, with all of its names."""

    kind: GroupVersionKind
    plural: str
    singular: str
    scope: Scope = Scope.NAMESPACED
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def resource(self) -> GroupVersionResource:
        return self.kind.group_version.with_resource(self.plural)

    def has_name(self, name: str) -> bool:
        """Return whether *name* is the plural or the singular name."""
        return name in (self.plural, self.singular)


def guess_singular(kind: str) -> str:
    """Return the singular resource name of a kind: `pod` for `Pod`."""
    return kind.lower()


def guess_plural(kind: str) -> str:
    """Return the resource name of a kind by Kubernetes' convention, not by English grammar."""
    singular = guess_singular(kind)
    if not singular or singular.endswith(_UNPLURALIZED):
        return singular
    if singular.endswith("s"):
        return f"{singular}es"
    return f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}s"


def from_discovery(
    groups: Mapping[str, Any], resource_lists: Iterable[Mapping[str, Any]]
) -> list[ServedResource]:
    """Read an APIGroupList and the APIResourceList of each version; raises MalformedDiscovery.

    The core group, which an APIGroupList does not contain, comes first. A version whose list is
    missing is skipped: its aggregated server may be down, which must not hide the other versions.
    """
    by_version: dict[GroupVersion, list[ServedResource]] = {}
    for position, document in enumerate(resource_lists):
        version, resources = _resource_list(document, Path().index(position))
        by_version.setdefault(version, []).extend(resources)
    core = [version for version in by_version if not version.group]
    order = dict.fromkeys([*core, *_preferred_versions(groups)])
    return [resource for version in order for resource in by_version.get(version, ())]


def from_aggregated_discovery(*documents: Mapping[str, Any]) -> list[ServedResource]:
    """Read APIGroupDiscoveryLists, `/api` before `/apis`; raises MalformedDiscovery.

    Stale versions are skipped: their resources may be outdated.
    """
    return [
        resource
        for position, document in enumerate(documents)
        for resource in _group_discovery_list(document, Path().index(position))
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
    for resource, path in _objects(document, "resources", root):
        name = _text(resource, "name", path)
        if "/" in name:  # a subresource
            continue
        namespaced = resource.get("namespaced", False)
        if not isinstance(namespaced, bool):
            raise MalformedDiscovery(path.child("namespaced"), "must be true or false")
        kind = _text(resource, "kind", path)
        resources.append(
            ServedResource(
                kind=version.with_kind(kind),
                plural=name,
                singular=_text(resource, "singularName", path, default="") or guess_singular(kind),
                scope=Scope.NAMESPACED if namespaced else Scope.CLUSTER,
                short_names=_texts(resource, "shortNames", path),
                categories=_texts(resource, "categories", path),
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
            for resource, at in _objects(version, "resources", path):
                # A resource without a kind only groups its subresources.
                if resource.get("responseKind") is not None:
                    yield _discovered_resource(group_version, resource, at)


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
