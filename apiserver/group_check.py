"""Group check: whether groups make sense for the classes in their scheme, before they are served.

A mistake in a group would otherwise show up late: as a version without resources, as a 500 for
every write, or as a worker that cannot start. All problems are returned at once, each as one line
that names the group, the resource and the remedy. `resource_check.py` checks what belongs to one
resource alone.
"""

import traceback
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import apimachinery
from apimachinery.conversion.class_conversion import UnknownConversion
from apimachinery.model.class_building import build_classes
from apimachinery.schema import INTERNAL, GroupResource, GroupVersion
from apimachinery.scheme import NotRegistered, Scheme
from apimachinery.version import sort_versions
from apiserver.group import Group, Resource
from apiserver.resource_check import class_use_problems, declaration_problems

_LIBRARY: Final = Path(apimachinery.__file__).parent


def register_groups(groups: Sequence[Group], scheme: Scheme) -> list[str]:
    """Register all groups in *scheme* and check them; return all problems.

    A group that cannot be registered does not keep the others from being checked.
    """
    problems: list[str] = []
    failed: set[str] = set()
    for group in {group.name: group for group in groups}.values():
        try:
            group.add_to_scheme(scheme)
        except (Exception, SystemExit) as error:  # code of the group: it may raise anything
            place = _place(error)
            problems.append(f"group {group.name!r}: add_to_scheme: {describe_error(error)}{place}")
            failed.add(group.name)
    return [*problems, *group_problems(groups, scheme, failed=failed)]


def group_problems(
    groups: Sequence[Group], scheme: Scheme, *, failed: Collection[str] = ()
) -> list[str]:
    """Return what is wrong with groups that are registered in *scheme*.

    The groups named in *failed* could not be registered: they are not compared with the scheme.
    """
    names = Counter(group.name for group in groups)
    problems = [f"group {name!r} is given twice" for name, count in names.items() if count > 1]
    broken = build_classes(_classes([each for each in groups if not each.stable], scheme))
    problems += [
        f"class {_class_name(cls)} cannot be built: {describe_error(error)}"
        for cls, error in broken.items()
        if error is not None
    ]
    problems += [
        f"group {kind.group!r}: {error}: register it in add_to_scheme, with add_same, add_similar"
        " or add_conversion"
        for kind, error in scheme.conversion_errors().items()
        if kind.group not in failed
    ]
    problems += _stored_as_problems(groups)
    for group in groups:
        registered = scheme if group.name not in failed else None
        problems += _problems_of(group, registered, broken)
    return problems


def _problems_of(group: Group, scheme: Scheme | None, broken: Collection[type]) -> Iterator[str]:
    own = [*_version_problems(group, scheme)] if scheme else []
    own += _name_problems(group.resources)
    yield from (f"group {group.name!r}: {text}" for text in own)
    for resource in group.resources:
        own = [*_kind_problems(group, resource, scheme)] if scheme else []
        own += declaration_problems(resource)
        if not group.stable and resource.cls not in broken:
            own += class_use_problems(resource)
        yield from (f"group {group.name!r}, resource {resource.name!r}: {text}" for text in own)


def describe_error(error: BaseException) -> str:
    """Return an error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _place(error: BaseException) -> str:
    """Return the line of the group's code that raised an error, or whose call raised it."""
    _, *frames = traceback.extract_tb(error.__traceback__)
    own = list(takewhile(lambda frame: _LIBRARY not in Path(frame.filename).parents, frames))
    return f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""


def _classes(groups: Sequence[Group], scheme: Scheme) -> list[type[Any]]:
    """Return the classes of the resources and kinds of the groups; lists add nothing to them."""
    names = {group.name for group in groups}
    registered = (cls for kind, cls in scheme.object_kinds().items() if kind.group in names)
    declared = (resource.cls for group in groups for resource in group.resources)
    return [*declared, *registered]


def _version_problems(group: Group, scheme: Scheme) -> Iterator[str]:
    registered = _registered_versions(group.name, scheme)
    has = f"the scheme has {', '.join(registered) or 'none'}"
    if not group.versions:
        yield f"versions is empty: name the versions to serve; {has}"
    for version, count in Counter(group.versions).items():
        if count > 1:
            yield f"versions has {version!r} {count} times: remove all but one"
        if version not in registered:
            yield (
                f"versions has {version!r}, which has no kind in the scheme: register its kinds in"
                f" add_to_scheme, or remove it; {has}"
            )
    if group.storage_version and group.storage_version not in (*registered, INTERNAL):
        yield (
            f"storage_version is {group.storage_version!r}, which has no kind in the scheme: name"
            f" another version, or none to store the internal class; {has}"
        )
    for version, replacement in group.deprecated.items():
        if version not in group.versions:
            yield f"deprecated has {version!r}, which is not in versions: remove it"
        # Any longer text names a kind of another group, or explains.
        is_version = replacement and " " not in replacement and "/" not in replacement
        if is_version and replacement not in registered:
            yield (
                f"deprecated replaces {version!r} by {replacement!r}, which has no kind in the"
                f" scheme: name another version; {has}"
            )


def _registered_versions(group: str, scheme: Scheme) -> list[str]:
    versions = {kind.version for kind in scheme.object_kinds() if kind.group == group}
    return sort_versions(sorted(versions - {INTERNAL}))


def _name_problems(resources: Sequence[Resource]) -> Iterator[str]:
    """Yield resource names that clients could not tell apart."""
    for name, count in Counter(resource.name for resource in resources).items():
        if count > 1:
            yield f"resource {name!r} is declared {count} times: rename or remove all but one"
    taken: dict[str, str] = {}
    for resource in resources:
        for name in dict.fromkeys((resource.name, resource.singular_name, *resource.short_names)):
            owner = taken.setdefault(name, resource.name)
            if owner != resource.name:
                yield (
                    f"resources {owner!r} and {resource.name!r} are both called {name!r}: change"
                    " the name, the singular or the short name of one"
                )


def _stored_as_problems(groups: Sequence[Group]) -> Iterator[str]:
    """Yield resources that share the objects of a resource that is not there, or comes later."""
    stored = {
        GroupResource(group.name, resource.name): position
        for position, group in enumerate(groups)
        for resource in group.resources
        if resource.stored_as is None and resource.is_stored
    }
    for position, group in enumerate(groups):
        for resource in group.resources:
            owner = resource.stored_as
            if owner is None or stored.get(owner, position) < position:
                continue
            why = (
                "whose group must be installed first"
                if owner in stored
                else "which no group stores: serve the group that does, or correct stored_as"
            )
            yield f"group {group.name!r}: its {resource.name} are stored as {owner}, {why}"


def _kind_problems(group: Group, resource: Resource, scheme: Scheme) -> Iterator[str]:
    """Yield what is wrong with the class of a resource, and its subresources', in the scheme."""
    for sub in resource.subresources:
        if sub.handle is not None and sub.kind is not None and not scheme.recognizes(sub.kind):
            yield (
                f"subresource {sub.name!r}: its kind {sub.kind} is not registered: add it to the"
                " scheme in add_to_scheme"
            )
    cls, name = resource.cls, _class_name(resource.cls)
    try:
        kinds = scheme.kinds_of(cls)
    except NotRegistered:
        yield f"class {name} is not registered: add it to the scheme in add_to_scheme"
        return
    internal = [kind for kind in kinds if kind.version == INTERNAL]
    if not internal:
        yield f"class {name} is not internal: {_internal_remedy(cls, scheme)}"
        return
    if not resource.stored_as and all(kind.group != group.name for kind in internal):
        yield (
            f"class {name} belongs to group {internal[0].group!r}: name the resource there in"
            " stored_as, or use a class of this group"
        )
    served = _versions_with(group, resource, group.versions, scheme)
    registered = _versions_with(group, resource, _registered_versions(group.name, scheme), scheme)
    has = f"{resource.kind} is in {', '.join(registered) or 'none'}"
    if not served:
        yield f"kind {resource.kind} is in none of the served versions; {has}"
    for version in served:
        yield from _hub_problems(group, resource, version, scheme)
    stored_in = getattr(resource, "storage_version", "") or group.storage_version
    is_stored = resource.stored_as is None and resource.is_stored
    if is_stored and stored_in not in ("", INTERNAL, *registered):
        yield f"kind {resource.kind} is not in the storage version {stored_in!r}; {has}"


def _internal_remedy(cls: type[Any], scheme: Scheme) -> str:
    try:
        return f"use {_class_name(scheme.hub_of(cls))}"
    except UnknownConversion:
        return "register it with internal=True, or use the internal class of the kind"


def _versions_with(
    group: Group, resource: Resource, versions: Sequence[str], scheme: Scheme
) -> list[str]:
    return [
        version
        for version in versions
        if scheme.recognizes(GroupVersion(group.name, version).with_kind(resource.kind))
    ]


def _hub_problems(group: Group, resource: Resource, version: str, scheme: Scheme) -> Iterator[str]:
    cls = scheme.class_of(GroupVersion(group.name, version).with_kind(resource.kind))
    try:
        hub = scheme.hub_of(cls)
    except UnknownConversion:
        return  # reported for the scheme as a whole
    if hub is not resource.cls:
        yield (
            f"{version} {resource.kind} is converted to {_class_name(hub)}, not to the class of the"
            f" resource, {_class_name(resource.cls)}: use one of them for both"
        )


def _class_name(cls: type[Any]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
