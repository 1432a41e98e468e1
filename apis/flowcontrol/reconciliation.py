"""Reconciliation of the bootstrap schemas and levels, and of the condition `Dangling`.

Missing objects are created. The spec of a mandatory object is restored; that of a suggested one is
replaced only while its annotation `apf.kubernetes.io/autoupdate-spec` is "true", which it is until
an administrator changes it. Bootstrap objects of an older release, which this one does not have any
more, are deleted under the same condition. Any number of workers may reconcile at the same time:
they write the same.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, TypedDict, TypeVar, cast

from apimachinery.errors import AlreadyExists, Conflict, NotFound
from apis.flowcontrol import GROUP
from apis.flowcontrol.bootstrap import (
    AUTOUPDATE,
    mandatory_levels,
    mandatory_schemas,
    suggested_levels,
    suggested_schemas,
)
from apis.flowcontrol.v1 import FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration
from apis.flowcontrol.v1.flow_schema import DANGLING, EXEMPT
from client.client import AsyncClient
from client.interface import ResourceClient

PRODUCER: Final = "api-priority-and-fairness-config-producer-v1"
"""The field manager of bootstrap objects."""
CONSUMER: Final = "api-priority-and-fairness-config-consumer-v1"
"""The field manager of conditions."""

T = TypeVar("T", bound=FlowSchema | PriorityLevelConfiguration)

# The words that Go's strconv.ParseBool accepts.
_TRUE: Final = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE: Final = frozenset(("0", "f", "F", "FALSE", "false", "False"))


class _Scope(TypedDict):
    namespaced: bool
    api_version: str


_SCOPE: Final[_Scope] = {"namespaced": False, "api_version": f"{GROUP}/v1"}


def schemas_of(client: AsyncClient) -> ResourceClient[FlowSchema]:
    return client.of(FlowSchema, resource="flowschemas", **_SCOPE)


def levels_of(client: AsyncClient) -> ResourceClient[PriorityLevelConfiguration]:
    return client.of(PriorityLevelConfiguration, resource="prioritylevelconfigurations", **_SCOPE)


async def ensure_configuration(client: AsyncClient) -> bool:
    """Create and restore the bootstrap objects; return False if another writer interfered."""
    levels = await _ensure(levels_of(client), mandatory_levels(), suggested_levels())
    schemas = await _ensure(schemas_of(client), mandatory_schemas(), suggested_schemas())
    return levels and schemas


async def update_conditions(client: AsyncClient, now: datetime) -> bool:
    """Write the conditions of schemas that are out of date; return as `ensure_configuration`."""
    schemas = schemas_of(client)
    levels = {level.metadata.name for level in (await levels_of(client).list().all()).items}
    status = schemas.as_manager(CONSUMER).status
    writes = []
    for schema in (await schemas.list().all()).items:
        if set_dangling(schema, levels, now):
            writes.append(_attempt(partial(status.update, schema)))
    return await _all(writes)


def revised(current: T, expected: T, *, mandatory: bool) -> T | None:
    """Return what a bootstrap object should become, None if it needs no change."""
    annotation = current.metadata.annotations.get(AUTOUPDATE, "")
    update = mandatory or _may_update(annotation, current.metadata.generation)
    annotated = (annotation in _TRUE) if update else (annotation in _FALSE)
    same = not update or _has_spec_of(current, expected)
    if annotated and same:
        return None
    new = cast(T, current.deep_copy())
    if not same:
        setattr(new, "spec", expected.deep_copy().spec)  # noqa: B010  # both are of one class
    if not annotated:
        new.metadata.annotations[AUTOUPDATE] = "true" if update else "false"
    return new


def set_dangling(schema: FlowSchema, levels: Iterable[str], now: datetime) -> bool:
    """Set the condition that tells whether the level of a schema is missing; return whether new."""
    level = schema.spec.priority_level_configuration.name
    subject = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}"'
    exists = level in levels
    new = FlowSchemaCondition(
        type=DANGLING,
        status="False" if exists else "True",
        reason="Found" if exists else "NotFound",
        message=f"{subject} and it exists" if exists else f"{subject} but there is no such object",
        last_transition_time=now,
    )
    others = [condition for condition in schema.status.conditions if condition.type != DANGLING]
    for present in schema.status.conditions:
        if present.type == DANGLING and _content(present) == _content(new):
            return False
    schema.status.conditions = [*others, new]
    return True


def _may_update(annotation: str, generation: int) -> bool:
    """Return whether an administrator leaves the spec of a suggested object to the server."""
    if annotation in _TRUE or annotation in _FALSE:
        return annotation in _TRUE
    return generation == 1


def _has_spec_of(current: T, expected: T) -> bool:
    if isinstance(expected, PriorityLevelConfiguration) and expected.metadata.name == EXEMPT:
        # The seats that exempt requests reserve are the administrator's choice.
        assert isinstance(current, PriorityLevelConfiguration)
        return current.spec.exempt is not None and current.spec.type == expected.spec.type
    return bool(current.spec == expected.spec)


def _content(condition: FlowSchemaCondition) -> tuple[str, str, str]:
    return condition.status, condition.reason, condition.message


async def _ensure(
    objects: ResourceClient[T], mandatory: Sequence[T], suggested: Sequence[T]
) -> bool:
    stored = {obj.metadata.name: obj for obj in (await objects.list().all()).items}
    writer = objects.as_manager(PRODUCER)
    fixed = {obj.metadata.name for obj in mandatory}
    writes = []
    for expected in (*suggested, *mandatory):
        name = expected.metadata.name
        current = stored.pop(name, None)
        if current is None:
            writes.append(_attempt(partial(writer.create, expected)))
        elif (new := revised(current, expected, mandatory=name in fixed)) is not None:
            writes.append(_attempt(partial(writer.update, new)))
    writes += [
        _attempt(partial(objects.delete, name, uid=obj.metadata.uid))
        for name, obj in stored.items()
        if obj.metadata.annotations.get(AUTOUPDATE) in _TRUE
    ]
    return await _all(writes)


async def _attempt(write: Callable[[], Awaitable[object]]) -> bool:
    """Carry out a write; return False if another writer was faster."""
    try:
        await write()
    except (AlreadyExists, Conflict, NotFound):
        return False
    return True


async def _all(writes: Sequence[Coroutine[Any, Any, bool]]) -> bool:
    results = await asyncio.gather(*writes, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return all(results)
