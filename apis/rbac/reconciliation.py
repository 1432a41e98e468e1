"""Reconciliation of the bootstrap roles and bindings, at every start.

Missing rules and subjects are added and additions of others stay; a role or binding with the
annotation `rbac.authorization.kubernetes.io/autoupdate: "false"` is left alone. Any number of
workers may reconcile at the same time: they add the same.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from apimachinery.errors import AlreadyExists, Conflict, NotFound
from apimachinery.meta.types import Object
from apis.rbac.default_metadata import AUTOUPDATE
from apis.rbac.rules import CompiledRules
from apis.rbac.v1 import AggregationRule, ClusterRole, ClusterRoleBinding, Role, RoleBinding
from client.interface import ResourceClient

T = TypeVar("T", bound=Object)
AnyRole = TypeVar("AnyRole", ClusterRole, Role)
AnyBinding = TypeVar("AnyBinding", ClusterRoleBinding, RoleBinding)

Create = Callable[[T], Awaitable[object]]


async def reconcile(
    objects: ResourceClient[T],
    expected: Iterable[T],
    reconciled: Callable[[T, T], T | None],
    *,
    create: Create[T] | None = None,
) -> None:
    """Create each missing object and update each that *reconciled*(current, expected) changes.

    *create* is a shorter way to create an object than that of the client, with the same errors:
    a first start creates more than a hundred.
    """
    create = create or objects.create
    current = {obj.metadata.name: obj for obj in (await objects.list().all()).items}
    try:
        async with asyncio.TaskGroup() as tasks:
            for obj in expected:
                tasks.create_task(
                    _reconcile(objects, current.get(obj.metadata.name), obj, reconciled, create)
                )
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


def reconciled_role(current: AnyRole, expected: AnyRole) -> AnyRole | None:
    """Return what a role should become, None if it needs no change."""
    if current.metadata.annotations.get(AUTOUPDATE) == "false":
        return None
    new = _with_metadata(current, expected)
    aggregation = expected.aggregation_rule if isinstance(expected, ClusterRole) else None
    if isinstance(new, ClusterRole) and aggregation is not None:
        rule = new.aggregation_rule = new.aggregation_rule or AggregationRule()
        for selector in aggregation.cluster_role_selectors:
            if selector not in rule.cluster_role_selectors:
                rule.cluster_role_selectors.append(selector)
    else:
        new.rules += CompiledRules(current.rules).missing(expected.rules)
    return new if new != current else None


def reconciled_binding(current: AnyBinding, expected: AnyBinding) -> AnyBinding | None:
    """Return what a binding should become, None if it needs no change."""
    if current.metadata.annotations.get(AUTOUPDATE) == "false":
        return None
    new = _with_metadata(current, expected)
    new.role_ref = expected.role_ref
    new.subjects += [subject for subject in expected.subjects if subject not in current.subjects]
    return new if new != current else None


def _with_metadata(current: T, expected: T) -> T:
    new = current.deep_copy()
    current_meta, expected_meta = new.metadata, expected.metadata
    current_meta.labels = expected_meta.labels | current_meta.labels
    current_meta.annotations = expected_meta.annotations | current_meta.annotations
    return new


async def _reconcile(
    objects: ResourceClient[T],
    current: T | None,
    expected: T,
    reconciled: Callable[[T, T], T | None],
    create: Create[T],
) -> None:
    name = expected.metadata.name
    while True:
        if current is None:
            await _create(create, expected)
            return
        new = reconciled(current, expected)
        if new is None:
            return
        if _changes_role(new, current):
            # The roleRef of a binding is immutable: a new binding replaces it.
            await _delete(objects, current)
            await _create(create, expected)
            return
        try:
            await objects.update(new)
        except Conflict:
            current = await _get(objects, name)
        except NotFound:
            current = None
        else:
            return


def _changes_role(new: Object, current: Object) -> bool:
    bindings = (ClusterRoleBinding, RoleBinding)
    return (
        isinstance(new, bindings)
        and isinstance(current, bindings)
        and new.role_ref != current.role_ref
    )


async def _get(objects: ResourceClient[T], name: str) -> T | None:
    try:
        return await objects.get(name)
    except NotFound:
        return None


async def _create(create: Create[T], expected: T) -> None:
    try:
        await create(expected.deep_copy())
    except AlreadyExists:
        return  # another worker was faster


async def _delete(objects: ResourceClient[T], current: T) -> None:
    try:
        await objects.delete(current.metadata.name, uid=current.metadata.uid)
    except (Conflict, NotFound):
        return  # another worker was faster
