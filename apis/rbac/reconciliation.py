"""Bringing the bootstrap roles and bindings to where a server expects them, at every start.

What is missing is added; what somebody added stays; whoever wants to take something away says so
with the annotation `rbac.authorization.kubernetes.io/autoupdate: "false"`. Any number of workers
may do this at the same time: they add the same.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from apimachinery.errors import AlreadyExists, NotFound
from apimachinery.meta.types import Object
from apis.rbac.bootstrap import AUTOUPDATE
from apis.rbac.rules import CompiledRules
from apis.rbac.v1 import AggregationRule, ClusterRole, ClusterRoleBinding

T = TypeVar("T", bound=Object)


class Objects(Protocol):
    """The objects of one resource. Writes are the server's own and raise APIErrors."""

    async def find(self, name: str) -> Any: ...

    async def create(self, obj: Any) -> Any: ...

    async def change(self, name: str, change: Callable[[Any], Any]) -> Any: ...

    async def delete(self, name: str) -> None: ...


async def reconcile(
    objects: Objects, expected: Iterable[T], reconciled: Callable[[T, T], T | None]
) -> None:
    """Create what is missing and change what *reconciled*(current, expected) makes of the rest."""
    try:
        async with asyncio.TaskGroup() as tasks:
            for each in expected:
                tasks.create_task(_reconcile(objects, each, reconciled))
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


def reconciled_role(current: ClusterRole, expected: ClusterRole) -> ClusterRole | None:
    """What a role should become, None if it can stay as it is."""
    if current.metadata.annotations.get(AUTOUPDATE) == "false":
        return None
    new = _with_metadata(current, expected)
    if expected.aggregation_rule is not None:
        rule = new.aggregation_rule = new.aggregation_rule or AggregationRule()
        for selector in expected.aggregation_rule.cluster_role_selectors:
            if selector not in rule.cluster_role_selectors:
                rule.cluster_role_selectors.append(selector)
    else:
        new.rules += CompiledRules(current.rules).missing(expected.rules)
    return new if new != current else None


def reconciled_binding(
    current: ClusterRoleBinding, expected: ClusterRoleBinding
) -> ClusterRoleBinding | None:
    """What a binding should become, None if it can stay as it is."""
    if current.metadata.annotations.get(AUTOUPDATE) == "false":
        return None
    new = _with_metadata(current, expected)
    new.role_ref = expected.role_ref
    new.subjects += [each for each in expected.subjects if each not in current.subjects]
    return new if new != current else None


def _with_metadata(current: T, expected: T) -> T:
    new = current.deep_copy()
    meta, wanted = new.metadata, expected.metadata
    meta.labels = wanted.labels | meta.labels
    meta.annotations = wanted.annotations | meta.annotations
    return new


async def _reconcile(objects: Objects, expected: T, reconciled: Callable[[T, T], T | None]) -> None:
    name = expected.metadata.name
    current = await objects.find(name)
    if current is None:
        await _create(objects, expected)
        return
    new = reconciled(current, expected)
    if new is None:
        return
    if isinstance(new, ClusterRoleBinding) and new.role_ref != current.role_ref:
        # It cannot be changed to another role; a new one takes its place.
        await _delete(objects, name)
        await _create(objects, expected)
        return
    try:
        await objects.change(name, lambda found: reconciled(found, expected) or found)
    except NotFound:
        await _create(objects, expected)


async def _create(objects: Objects, expected: Object) -> None:
    try:
        await objects.create(expected.deep_copy())
    except AlreadyExists:
        return  # another worker was faster


async def _delete(objects: Objects, name: str) -> None:
    try:
        await objects.delete(name)
    except NotFound:
        return
