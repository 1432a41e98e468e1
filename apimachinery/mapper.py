"""REST mapping: resolve resource names to kinds, and kinds to resources.

A name may be partial (`deploy`, `ingresses.networking`, no version) and match resources of several
groups; a mapper resolves it to one of them, or raises an error that lists the candidates.
`DefaultMapper` is the registry, `PriorityMapper` chooses between several matches, and
`ShortNameMapper` expands short names; `mapper_for` combines the three.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from apimachinery.fieldpath import quote
from apimachinery.resources import Scope, ServedResource
from apimachinery.schema import (
    INTERNAL,
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
)
from apimachinery.version import preference_key

ANY: Final = "*"
"""Matches any group or any version in a pattern of a `PriorityMapper`."""

T = TypeVar("T")


class MappingError(LookupError):
    """A name that has no match, or more than one."""


class NoMatch(MappingError):
    """A name that matches no resource or kind of the server."""


class NoResourceMatch(NoMatch):
    """A name that matches no resource."""

    def __init__(self, partial: GroupVersionResource) -> None:
        super().__init__(f"no matches for {partial}")
        self.partial = partial


class NoKindMatch(NoMatch):
    """A kind that none of the requested versions has."""

    def __init__(self, kind: GroupKind, versions: Sequence[str] = ()) -> None:
        super().__init__(
            f"no matches for kind {quote(kind.kind)} in {_describe_versions(kind, versions)}"
        )
        self.kind = kind
        self.versions = tuple(versions)


class ResourceMissing(MappingError):
    """A query without a resource."""

    def __init__(self, partial: GroupVersionResource) -> None:
        super().__init__(f"a resource must be present, got: {partial}")


class Ambiguous(MappingError):
    """A name with several matches; `candidates` are in order of preference."""

    candidates: tuple[GroupVersionResource | GroupVersionKind, ...]


class AmbiguousResource(Ambiguous):
    """A name that matches several resources, or resources of several kinds."""

    def __init__(
        self,
        partial: GroupVersionResource,
        candidates: Sequence[GroupVersionResource] | Sequence[GroupVersionKind],
    ) -> None:
        noun = "kinds" if isinstance(candidates[0], GroupVersionKind) else "resources"
        super().__init__(f"{partial} matches multiple {noun} {_format_list(candidates)}")
        self.partial = partial
        self.candidates = tuple(candidates)


class AmbiguousKind(Ambiguous):
    """A kind that several versions serve, without a preference between them."""

    def __init__(self, kind: GroupKind, candidates: Sequence[GroupVersionKind]) -> None:
        super().__init__(
            f"{kind.with_version('')} matches multiple kinds {_format_list(candidates)}"
        )
        self.kind = kind
        self.candidates = tuple(candidates)


class AmbiguousSingular(Ambiguous):
    """A resource name whose matches have different singular names."""

    def __init__(self, name: str, candidates: Sequence[GroupVersionResource]) -> None:
        super().__init__(
            f"multiple possible singular resources ({_format_list(candidates)}) found for {name}"
        )
        self.candidates = tuple(candidates)


@dataclass(frozen=True, slots=True)
class Mapping:
    """The resource that serves a kind, and its scope."""

    resource: GroupVersionResource
    kind: GroupVersionKind
    scope: Scope


class Mapper(ABC):
    """Resolves partial names; an empty group or version in a query matches any."""

    @abstractmethod
    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        """Return the resources that *partial* matches, in order of preference."""

    @abstractmethod
    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        """Return the kinds of the resources that *partial* matches, in order of preference."""

    @abstractmethod
    def mappings(self, kind: GroupKind, *versions: str) -> list[Mapping]:
        """Return the mapping of a kind in the first of *versions* that has it.

        Without *versions*, return its mappings in all versions, in order of preference.
        """

    @abstractmethod
    def resource_singularizer(self, resource: str) -> str:
        """Return the singular name of a resource."""

    def resource_for(self, partial: GroupVersionResource) -> GroupVersionResource:
        """Return the only resource that *partial* matches; raises AmbiguousResource, NoMatch."""
        resources = self.resources_for(partial)
        if len(resources) > 1:
            raise AmbiguousResource(partial, resources)
        return resources[0]

    def kind_for(self, partial: GroupVersionResource) -> GroupVersionKind:
        """Return the kind of the only matching resource; raises AmbiguousResource, NoMatch."""
        kinds = self.kinds_for(partial)
        if len(kinds) > 1:
            raise AmbiguousResource(partial, kinds)
        return kinds[0]

    def mapping(self, kind: GroupKind, *versions: str) -> Mapping:
        """Return the mapping of a kind in the first of *versions*, or in the preferred version."""
        return self.mappings(kind, *versions)[0]


class DefaultMapper(Mapper):
    """A registry of resources that prefers *default_versions*, in the order given."""

    def __init__(
        self,
        resources: Iterable[ServedResource] = (),
        default_versions: Iterable[GroupVersion] = (),
    ) -> None:
        self._rank = {version: rank for rank, version in enumerate(default_versions)}
        self._resources: dict[GroupVersionResource, ServedResource] = {}
        self._names: dict[str, dict[GroupVersionResource, None]] = {}
        self._kinds: dict[GroupKind, dict[str, ServedResource]] = {}
        for resource in resources:
            self.add(resource)

    def add(self, served: ServedResource) -> None:
        """Register a resource; it replaces an earlier one of the same name or kind."""
        self._resources[served.resource] = served
        for name in (served.plural, served.singular):
            self._names.setdefault(name, {})[served.resource] = None
        self._kinds.setdefault(served.kind.group_kind, {})[served.kind.version] = served

    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        return [served.resource for served in self._matching(partial)]

    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        return _unique(served.kind for served in self._matching(partial))

    def mappings(self, kind: GroupKind, *versions: str) -> list[Mapping]:
        by_version = self._kinds.get(kind, {})
        requested = [version for version in versions if version not in ("", INTERNAL)]
        if requested:
            matching = [by_version[version] for version in requested if version in by_version][:1]
        else:
            matching = sorted(by_version.values(), key=self._preference)
        if not matching:
            raise NoKindMatch(kind, versions)
        return [Mapping(served.resource, served.kind, served.scope) for served in matching]

    def resource_singularizer(self, resource: str) -> str:
        matching = self._matching(GroupVersionResource("", "", resource))
        if len({served.singular for served in matching}) > 1:
            raise AmbiguousSingular(resource, [served.resource for served in matching])
        return matching[0].singular

    def _matching(self, partial: GroupVersionResource) -> list[ServedResource]:
        name = partial.resource.lower()
        if not name:
            raise ResourceMissing(partial)
        version = "" if partial.version == INTERNAL else partial.version
        candidates = (self._resources[resource] for resource in self._names.get(name, ()))
        matching = [
            served
            for served in candidates
            if served.has_name(name) and version in ("", served.kind.version)
        ]
        if partial.group:
            matching = _in_group(matching, partial.group, prefix=not version)
        if not matching:
            raise NoResourceMatch(partial)
        return sorted(matching, key=self._preference)

    def _preference(self, served: ServedResource) -> tuple[object, ...]:
        kind = served.kind
        rank = self._rank.get(kind.group_version, len(self._rank))
        return (rank, kind.group, preference_key(kind.version), served.plural)


class _Wrapper(Mapper):
    """Delegates to another mapper, after `expand` has rewritten the query."""

    def __init__(self, delegate: Mapper) -> None:
        self._delegate = delegate

    def expand(self, partial: GroupVersionResource) -> GroupVersionResource:
        return partial

    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        return self._delegate.resources_for(self.expand(partial))

    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        return self._delegate.kinds_for(self.expand(partial))

    def mappings(self, kind: GroupKind, *versions: str) -> list[Mapping]:
        return self._delegate.mappings(kind, *versions)

    def resource_singularizer(self, resource: str) -> str:
        partial = GroupVersionResource("", "", resource)
        return self._delegate.resource_singularizer(self.expand(partial).resource)


class PriorityMapper(_Wrapper):
    """Chooses between the matches of another mapper by patterns of group and version.

    Each pattern in turn narrows the candidates to the matching ones, unless it matches none.
    """

    def __init__(self, delegate: Mapper, patterns: Iterable[GroupVersion]) -> None:
        super().__init__(delegate)
        self._patterns = tuple(patterns)

    def resource_for(self, partial: GroupVersionResource) -> GroupVersionResource:
        candidates = self.resources_for(partial)
        preferred = _narrow(candidates, self._patterns, lambda resource: resource.group_version)
        if len(preferred) > 1:
            raise AmbiguousResource(partial, candidates)
        return preferred[0]

    def kind_for(self, partial: GroupVersionResource) -> GroupVersionKind:
        candidates = self.kinds_for(partial)
        preferred = _narrow(candidates, self._patterns, lambda kind: kind.group_version)
        if len(preferred) > 1:
            raise AmbiguousResource(partial, candidates)
        return preferred[0]

    def mapping(self, kind: GroupKind, *versions: str) -> Mapping:
        candidates = self.mappings(kind, *versions)
        patterns = [*(GroupVersion(kind.group, version) for version in versions), *self._patterns]
        preferred = _narrow(candidates, patterns, lambda mapping: mapping.kind.group_version)
        if len(preferred) > 1:
            raise AmbiguousKind(kind, [mapping.kind for mapping in candidates])
        return preferred[0]


class ShortNameMapper(_Wrapper):
    """Expands short names (`deploy`), then delegates to another mapper.

    *warn* is called if a short name also matches resources of lower priority.
    """

    def __init__(
        self,
        delegate: Mapper,
        resources: Iterable[ServedResource],
        *,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(delegate)
        self._resources = tuple(resources)
        self._warn = warn

    def resource_for(self, partial: GroupVersionResource) -> GroupVersionResource:
        return self._delegate.resource_for(self.expand(partial))

    def kind_for(self, partial: GroupVersionResource) -> GroupVersionKind:
        return self._delegate.kind_for(self.expand(partial))

    def mapping(self, kind: GroupKind, *versions: str) -> Mapping:
        return self._delegate.mapping(kind, *versions)

    def expand(self, partial: GroupVersionResource) -> GroupVersionResource:
        """Replace a short name by the full name; return any other name unchanged."""
        name, group = partial.resource, partial.group
        in_group = [served for served in self._resources if group in ("", served.kind.group)]
        if any(served.has_name(name) for served in in_group):
            return partial
        full_names = _full_names(in_group, name)
        for resource in full_names[1:]:
            self._emit(
                f"short name {quote(name)} could also match lower priority resource {resource}"
            )
        if not full_names and group:
            # The group may be abbreviated too: `ing.networking`.
            prefixed = [served for served in self._resources if served.kind.group.startswith(group)]
            full_names = _full_names(prefixed, name)
        if not full_names:
            return partial
        return replace(partial, group=full_names[0].group, resource=full_names[0].resource)

    def _emit(self, warning: str) -> None:
        if self._warn is not None:
            self._warn(warning)


def mapper_for(
    resources: Iterable[ServedResource], *, warn: Callable[[str], None] | None = None
) -> Mapper:
    """Return a mapper over *resources*, which must be in order of preference.

    The core group has priority; then groups, and versions within a group, in the order given.
    """
    served_resources = tuple(resources)
    versions = _unique(served.kind.group_version for served in served_resources)
    groups = _unique(version.group for version in versions)
    patterns = [
        GroupVersion("", "v1"),
        *versions,
        *(GroupVersion(group, ANY) for group in groups),
    ]
    prioritized = PriorityMapper(DefaultMapper(served_resources, versions), patterns)
    return ShortNameMapper(prioritized, served_resources, warn=warn)


def _in_group(resources: list[ServedResource], group: str, *, prefix: bool) -> list[ServedResource]:
    exact = [served for served in resources if served.kind.group == group]
    if exact or not prefix:
        return exact
    return [served for served in resources if served.kind.group.startswith(group)]


def _narrow(
    candidates: list[T], patterns: Iterable[GroupVersion], version_of: Callable[[T], GroupVersion]
) -> list[T]:
    for pattern in patterns:
        if len(candidates) == 1:
            break
        matching = [
            candidate for candidate in candidates if _matches(pattern, version_of(candidate))
        ]
        candidates = matching or candidates
    return candidates


def _matches(pattern: GroupVersion, version: GroupVersion) -> bool:
    return pattern.group in (ANY, version.group) and pattern.version in (ANY, version.version)


def _full_names(resources: Iterable[ServedResource], short: str) -> list[GroupResource]:
    return _unique(
        served.resource.group_resource for served in resources if short in served.short_names
    )


def _unique(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))


def _format_list(values: Iterable[object]) -> str:
    return f"[{' '.join(map(str, values))}]"


def _describe_versions(kind: GroupKind, versions: Sequence[str]) -> str:
    names = sorted({quote(str(GroupVersion(kind.group, version))) for version in versions})
    match names:
        case []:
            return f"group {quote(kind.group)}"
        case [name]:
            return f"version {name}"
        case _:
            return f"versions {_format_list(names)}"
