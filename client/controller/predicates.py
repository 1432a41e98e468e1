"""Predicates: filter the changes that lead to a reconcile.

A predicate is a function of a change that returns whether to reconcile. As in controller-runtime,
the predicates here accept changes of any other type than the one they examine. Predicates save work
and must not contain logic: a change that is filtered out may still arrive later, by a resync or a
restart.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from apimachinery.meta.types import Object
from client.controller.changes import Change, UpdatedObject
from client.informer.lister import selector_of
from client.interface import Labels

T = TypeVar("T", bound=Object)

Predicate: TypeAlias = Callable[[Change[T]], bool]


def generation_changed(change: Change[Any]) -> bool:
    """Accept updates of the desired state: status and metadata do not change the generation.

    All updates of kinds without a generation are filtered out.
    """
    return not isinstance(change, UpdatedObject) or (
        change.old.metadata.generation != change.new.metadata.generation
    )


def resource_version_changed(change: Change[Any]) -> bool:
    """Filter out the updates that a resync repeats."""
    return not isinstance(change, UpdatedObject) or (
        change.old.metadata.resource_version != change.new.metadata.resource_version
    )


def labels_changed(change: Change[Any]) -> bool:
    return not isinstance(change, UpdatedObject) or (
        change.old.metadata.labels != change.new.metadata.labels
    )


def annotations_changed(change: Change[Any]) -> bool:
    return not isinstance(change, UpdatedObject) or (
        change.old.metadata.annotations != change.new.metadata.annotations
    )


def matching(labels: Labels) -> Predicate[Any]:
    """Accept objects that match *labels*; for an update the new state counts."""
    selector = selector_of(labels)
    return by_object(lambda obj: selector.matches(obj.metadata.labels))


def by_object(accept: Callable[[T], bool]) -> Predicate[T]:
    """Accept objects for which *accept* is true, and deletions whose last state is unknown."""

    def predicate(change: Change[T]) -> bool:
        newest = change.objects[-1:]
        return not newest or accept(newest[0])

    return predicate


def all_of(*predicates: Predicate[T]) -> Predicate[T]:
    return lambda change: all(predicate(change) for predicate in predicates)


def any_of(*predicates: Predicate[T]) -> Predicate[T]:
    return lambda change: any(predicate(change) for predicate in predicates)


def none_of(*predicates: Predicate[T]) -> Predicate[T]:
    return lambda change: not any(predicate(change) for predicate in predicates)
