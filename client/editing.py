"""Read-modify-write: implements `edit` and `modify`, with retries after a Conflict.

`modify` calls its function again with the newest object. The block of `edit` cannot run again, so
its changes are kept as a merge patch and applied to the newest object, unless another client has
changed one of the same fields: then only the caller can decide, and the Conflict is raised.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson

from apimachinery.codec import dump_json
from apimachinery.errors import Conflict
from apimachinery.meta.types import Object
from apimachinery.model.decoding import decode_json
from apimachinery.patch import merge_patch
from client.runtime.clock import Clock
from client.transport.retry import retry_on_conflict

ObjectT = TypeVar("ObjectT", bound=Object)


@dataclass(frozen=True, slots=True)
class EditTarget(Generic[ObjectT]):
    """The functions that read and write one object or subresource."""

    read: Callable[[], Awaitable[ObjectT]]
    write: Callable[[ObjectT], Awaitable[ObjectT]]


@asynccontextmanager
async def edit_object(target: EditTarget[ObjectT], clock: Clock) -> AsyncIterator[ObjectT]:
    """Yield the object to change in a block, and write it at the end if it was changed.

    Raises Conflict if another client has changed the same field or replaced the object.
    """
    obj = await target.read()
    original = _document(obj)
    yield obj
    patch = merge_patch.create(original, _document(obj))
    if not patch:
        return
    try:
        _overwrite(obj, await target.write(obj))
        return
    except Conflict as error:
        conflict = error

    async def write_rebased() -> ObjectT:
        newest = await target.read()
        newest_document = _document(newest)
        other_patch = merge_patch.create(original, newest_document)
        if newest.metadata.uid != obj.metadata.uid or _overlap(patch, other_patch):
            raise _CannotRebase from conflict
        rebased = _model(type(newest), merge_patch.apply(newest_document, patch))
        rebased.metadata.resource_version = newest.metadata.resource_version
        return await target.write(rebased)

    try:
        _overwrite(obj, await retry_on_conflict(write_rebased, clock=clock))
    except _CannotRebase:
        raise conflict from None


async def modify_object(
    target: EditTarget[ObjectT], change: Callable[[ObjectT], None], clock: Clock
) -> ObjectT:
    """Apply *change* to the newest object, write it if it differs, and return it.

    *change* may be called several times. Raises Conflict if every attempt ends in one.
    """

    async def attempt() -> ObjectT:
        obj = await target.read()
        original = obj.deep_copy()
        change(obj)
        return obj if obj == original else await target.write(obj)

    return await retry_on_conflict(attempt, clock=clock)


class _CannotRebase(Exception):
    """The changes of a block cannot be applied to the newest object."""


def _document(obj: Object) -> Any:
    document = orjson.loads(dump_json(obj))
    # The server changes these fields with every write, so they cannot conflict.
    for name in ("resourceVersion", "managedFields", "generation"):
        document.get("metadata", {}).pop(name, None)
    return document


def _model(cls: type[ObjectT], document: Any) -> ObjectT:
    return decode_json(cls, orjson.dumps(document), find_unknown=False).object


def _overwrite(obj: ObjectT, written: ObjectT) -> None:
    """Update the caller's object in place to the stored one."""
    obj.__dict__.update(written.__dict__)
    object.__setattr__(obj, "__pydantic_extra__", written.__pydantic_extra__)


def _overlap(ours: Any, theirs: Any) -> bool:
    """Return whether two merge patches change the same field.

    Equal values overlap too: both may have incremented the same counter.
    """
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return True
    return any(_overlap(ours[key], theirs[key]) for key in ours.keys() & theirs.keys())
