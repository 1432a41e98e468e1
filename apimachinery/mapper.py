"""From what a person or a document names to what is served: resource to kind and back.

A name may be given in part (`deploy`, `ingresses.networking`, no version), and several
groups may answer to it; the mappers here say which one is meant, or list the candidates.
They are small and wrap each other: a registry, a choice by priority, a union of several,
and one that knows short names. `mapper_for` puts them together the usual way.
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
"""Stands for every group or every version in a pattern of a `PriorityMapper`."""

T = TypeVar("T")


class MappingError(LookupError):
    """No answer, or more than one; the subclasses say which."""


class NoMatch(MappingError):
    """Nothing of that name is served."""


class NoResourceMatch(NoMatch):
    """No resource has that name."""

    def __init__(self, partial: GroupVersionResource) -> None:
        super().__init__(f"no matches for {partial}")
        self.partial = partial


class NoKindMatch(NoMatch):
    """No kind has that name in the versions searched."""

    def __init__(self, kind: GroupKind, versions: Sequence[str] = ()) -> None:
        super().__init__(f"no matches for kind {quote(kind.kind)} in {_searched(kind, versions)}")
        self.kind = kind
        self.versions = tuple(versions)


class ResourceMissing(MappingError):
    """The question does not name a resource."""

    def __init__(self, partial: GroupVersionResource) -> None:
        super().__init__(f"a resource must be present, got: {partial}")


class Ambiguous(MappingError):
    """More than one thing has that name; `candidates` are in order of preference."""

    candidates: tuple[GroupVersionResource | GroupVersionKind, ...]


class AmbiguousResource(Ambiguous):
    """Several resources, or resources of several kinds, have that name."""

    def __init__(
        self,
        partial: GroupVersionResource,
        candidates: Sequence[GroupVersionResource] | Sequence[GroupVersionKind],
    ) -> None:
        noun = "kinds" if isinstance(candidates[0], GroupVersionKind) else "resources"
        super().__init__(f"{partial} matches multiple {noun} {_listed(candidates)}")
        self.partial = partial
        self.candidates = tuple(candidates)


class AmbiguousKind(Ambiguous):
    """Several versions serve a kind and nothing says which is meant."""

    def __init__(self, kind: GroupKind, candidates: Sequence[GroupVersionKind]) -> None:
        super().__init__(f"{kind.with_version('')} matches multiple kinds {_listed(candidates)}")
        self.kind = kind
        self.candidates = tuple(candidates)


class AmbiguousSingular(Ambiguous):
    """Resources of one name do not agree on what one of their objects is called."""

    def __init__(self, name: str, candidates: Sequence[GroupVersionResource]) -> None:
        super().__init__(
            f"multiple possible singular resources ({_listed(candidates)}) found for {name}"
        )
        self.candidates = tuple(candidates)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Where and how the objects of a kind are served."""

    resource: GroupVersionResource
    kind: GroupVersionKind
    scope: Scope


class Mapper(ABC):
    """Answers what a name means; a question has an empty string where it does not care."""

    @abstractmethod
    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        """Return the resources *partial* can mean, the preferred one first."""

    @abstractmethod
    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        """Return the kinds of the resources *partial* can mean, the preferred one first."""

    @abstractmethod
    def mappings(self, kind: GroupKind, *versions: str) -> list[Mapping]:
        """Return where a kind is served, in the first of *versions* that has it or in all."""

    @abstractmethod
    def resource_singularizer(self, resource: str) -> str:
        """Return what one object of a resource is called."""

    def resource_for(self, partial: GroupVersionResource) -> GroupVersionResource:
        """Return the one resource *partial* means."""
        found = self.resources_for(partial)
        if len(found) > 1:
            raise AmbiguousResource(partial, found)
        return found[0]

    def kind_for(self, partial: GroupVersionResource) -> GroupVersionKind:
        """Return the kind of the one resource *partial* means."""
        found = self.kinds_for(partial)
        if len(found) > 1:
            raise AmbiguousResource(partial, found)
        return found[0]

    def mapping(self, kind: GroupKind, *versions: str) -> Mapping:
        """Return where a kind is served, in the first of *versions* or in the preferred one."""
        return self.mappings(kind, *versions)[0]


class DefaultMapper(Mapper):
    """A registry of resources, which prefers *default_versions* in the order given."""

    def __init__(
        self,
        resources: Iterable[ServedResource] = (),
        default_versions: Iterable[GroupVersion] = (),
    ) -> None:
        self._rank = {version: rank for rank, version in enumerate(default_versions)}
        self._resources: dict[GroupVersionResource, ServedResource] = {}
        self._names: dict[str, dict[GroupVersionResource, None]] = {}
        self._kinds: dict[GroupKind, dict[str, ServedResource]] = {}
        for each in resources:
            self.add(each)

    def add(self, served: ServedResource) -> None:
        """Register a resource; the last one of a name or of a kind wins."""
        self._resources[served.resource] = served
        for name in (served.plural, served.singular):
            self._names.setdefault(name, {})[served.resource] = None
        self._kinds.setdefault(served.kind.group_kind, {})[served.kind.version] = served

    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        return [served.resource for served in self._matching(partial)]

    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        return _unique(served.kind for served in self._matching(partial))

    def mappings(self, kind: GroupKind, *versions: str) -> list[Mapping]:
        served = self._kinds.get(kind, {})
        wanted = [version for version in versions if version not in ("", INTERNAL)]
        if wanted:
            found = [served[version] for version in wanted if version in served][:1]
        else:
            found = sorted(served.values(), key=self._preference)
        if not found:
            raise NoKindMatch(kind, versions)
        return [Mapping(each.resource, each.kind, each.scope) for each in found]

    def resource_singularizer(self, resource: str) -> str:
        found = self._matching(GroupVersionResource("", "", resource))
        if len({served.singular for served in found}) > 1:
            raise AmbiguousSingular(resource, [served.resource for served in found])
        return found[0].singular

    def _matching(self, partial: GroupVersionResource) -> list[ServedResource]:
        name = partial.resource.lower()
        if not name:
            raise ResourceMissing(partial)
        version = "" if partial.version == INTERNAL else partial.version
        named = (self._resources[resource] for resource in self._names.get(name, ()))
        found = [
            served
            for served in named
            if served.is_called(name) and version in ("", served.kind.version)
        ]
        if partial.group:
            found = _in_group(found, partial.group, prefix=not version)
        if not found:
            raise NoResourceMatch(partial)
        return sorted(found, key=self._preference)

    def _preference(self, served: ServedResource) -> tuple[object, ...]:
        kind = served.kind
        rank = self._rank.get(kind.group_version, len(self._rank))
        return (rank, kind.group, preference_key(kind.version), served.plural)


class _Wrapper(Mapper):
    """Asks another mapper; *expand* may put the question in other words first."""

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
    """Chooses among the answers of another mapper by patterns of group and version.

    Each pattern in turn narrows the candidates to those it fits, unless it fits none.
    """

    def __init__(self, delegate: Mapper, patterns: Iterable[GroupVersion]) -> None:
        super().__init__(delegate)
        self._patterns = tuple(patterns)

    def resource_for(self, partial: GroupVersionResource) -> GroupVersionResource:
        found = self.resources_for(partial)
        left = _narrowed(found, self._patterns, lambda each: each.group_version)
        if len(left) > 1:
            raise AmbiguousResource(partial, found)
        return left[0]

    def kind_for(self, partial: GroupVersionResource) -> GroupVersionKind:
        found = self.kinds_for(partial)
        left = _narrowed(found, self._patterns, lambda each: each.group_version)
        if len(left) > 1:
            raise AmbiguousResource(partial, found)
        return left[0]

    def mapping(self, kind: GroupKind, *versions: str) -> Mapping:
        found = self.mappings(kind, *versions)
        patterns = [*(GroupVersion(kind.group, version) for version in versions), *self._patterns]
        left = _narrowed(found, patterns, lambda each: each.kind.group_version)
        if len(left) > 1:
            raise AmbiguousKind(kind, [each.kind for each in found])
        return left[0]


class MultiMapper(Mapper):
    """Several mappers behind one; their answers are joined."""

    def __init__(self, *mappers: Mapper) -> None:
        self._mappers = mappers

    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        found = self._joined(lambda mapper: mapper.resources_for(partial))
        if not found:
            raise NoResourceMatch(partial)
        return found

    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        found = self._joined(lambda mapper: mapper.kinds_for(partial))
        if not found:
            raise NoResourceMatch(partial)
        return found

    def mappings(self, kind: GroupKind, *versions: str) -> list[Mapping]:
        found = self._joined(lambda mapper: mapper.mappings(kind, *versions))
        if not found:
            raise NoKindMatch(kind, versions)
        return found

    def mapping(self, kind: GroupKind, *versions: str) -> Mapping:
        """Return the one mapping there is, even if other mappers could not decide."""
        found: list[Mapping] = []
        failure: MappingError = NoKindMatch(kind, versions)
        for mapper in self._mappers:
            try:
                found.append(mapper.mapping(kind, *versions))
            except NoMatch:
                continue
            except MappingError as error:
                failure = error
        found = _unique(found)
        if len(found) > 1:
            raise AmbiguousKind(kind, [each.kind for each in found])
        if not found:
            raise failure
        return found[0]

    def resource_singularizer(self, resource: str) -> str:
        partial = GroupVersionResource("", "", resource)
        return self._first(
            lambda mapper: mapper.resource_singularizer(resource), NoResourceMatch(partial)
        )

    def _joined(self, ask: Callable[[Mapper], list[T]]) -> list[T]:
        found: list[T] = []
        for mapper in self._mappers:
            try:
                found += ask(mapper)
            except NoMatch:
                continue
        return _unique(found)

    def _first(self, ask: Callable[[Mapper], T], nothing: NoMatch) -> T:
        """Return the first answer; failing that, an ambiguity tells more than a miss."""
        failure: MappingError = nothing
        for mapper in self._mappers:
            try:
                return ask(mapper)
            except NoMatch:
                continue
            except MappingError as error:
                failure = error if failure is nothing else failure
        raise failure


class FirstHitMapper(MultiMapper):
    """Several mappers behind one; the first that has a single answer gives it."""

    def resource_for(self, partial: GroupVersionResource) -> GroupVersionResource:
        return self._first(lambda mapper: mapper.resource_for(partial), NoResourceMatch(partial))

    def kind_for(self, partial: GroupVersionResource) -> GroupVersionKind:
        return self._first(lambda mapper: mapper.kind_for(partial), NoResourceMatch(partial))

    def mapping(self, kind: GroupKind, *versions: str) -> Mapping:
        return self._first(
            lambda mapper: mapper.mapping(kind, *versions), NoKindMatch(kind, versions)
        )


class ShortNameMapper(_Wrapper):
    """Understands short names (`deploy`) too, then asks another mapper.

    *warn* is told when a short name also belongs to resources further down the list.
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
        """Replace a short name by the long one; anything else stays as it is."""
        name, group = partial.resource, partial.group
        there = [each for each in self._resources if group in ("", each.kind.group)]
        if any(each.is_called(name) for each in there):
            return partial
        found = _long_names(there, name)
        for other in found[1:]:
            self._tell(f"short name {quote(name)} could also match lower priority resource {other}")
        if not found and group:
            near = [each for each in self._resources if each.kind.group.startswith(group)]
            found = _long_names(near, name)
        if not found:
            return partial
        return replace(partial, group=found[0].group, resource=found[0].resource)

    def _tell(self, warning: str) -> None:
        if self._warn is not None:
            self._warn(warning)


def mapper_for(
    resources: Iterable[ServedResource], *, warn: Callable[[str], None] | None = None
) -> Mapper:
    """Build the usual mapper over a list of resources in order of preference.

    The core group wins; then the group that comes first, and in it the version that does.
    """
    served = tuple(resources)
    versions = _unique(each.kind.group_version for each in served)
    groups = _unique(version.group for version in versions)
    patterns = [
        GroupVersion("", "v1"),
        *versions,
        *(GroupVersion(group, ANY) for group in groups),
    ]
    chosen = PriorityMapper(DefaultMapper(served, versions), patterns)
    return ShortNameMapper(chosen, served, warn=warn)


def _in_group(resources: list[ServedResource], group: str, *, prefix: bool) -> list[ServedResource]:
    exact = [served for served in resources if served.kind.group == group]
    if exact or not prefix:
        return exact
    return [served for served in resources if served.kind.group.startswith(group)]


def _narrowed(
    candidates: list[T], patterns: Iterable[GroupVersion], version_of: Callable[[T], GroupVersion]
) -> list[T]:
    for pattern in patterns:
        if len(candidates) == 1:
            break
        fitting = [each for each in candidates if _fits(pattern, version_of(each))]
        candidates = fitting or candidates
    return candidates


def _fits(pattern: GroupVersion, version: GroupVersion) -> bool:
    return pattern.group in (ANY, version.group) and pattern.version in (ANY, version.version)


def _long_names(resources: Iterable[ServedResource], short: str) -> list[GroupResource]:
    return _unique(each.resource.group_resource for each in resources if short in each.short_names)


def _unique(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))


def _listed(values: Iterable[object]) -> str:
    return f"[{' '.join(map(str, values))}]"


def _searched(kind: GroupKind, versions: Sequence[str]) -> str:
    names = sorted({quote(str(GroupVersion(kind.group, version))) for version in versions})
    match names:
        case []:
            return f"group {quote(kind.group)}"
        case [name]:
            return f"version {name}"
        case _:
            return f"versions {_listed(names)}"
