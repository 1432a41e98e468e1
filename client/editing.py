"""Read, change, write: with what to do when somebody else wrote in between.

A `with` block cannot be run again. Its changes are kept as a merge patch, and made to the newest
state as long as nobody else touched the same fields; where both did, only the caller can know what
is right, and gets the Conflict.
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
    """How one object is read and written."""

    read: Callable[[], Awaitable[ObjectT]]
    write: Callable[[ObjectT], Awaitable[ObjectT]]


@asynccontextmanager
async def edit_object(store: EditTarget[ObjectT], clock: Clock) -> AsyncIterator[ObjectT]:
    """The object to change in a block; it is written at the end if it was changed."""
    obj = await store.read()
    before = _document(obj)
    yield obj
    change = merge_patch.create(before, _document(obj))
    if not change:
        return
    try:
        _become(obj, await store.write(obj))
        return
    except Conflict as conflict:
        refused = conflict

    async def again() -> ObjectT:
        newest = await store.read()
        now = _document(newest)
        if newest.metadata.uid != obj.metadata.uid or _overlap(
            change, merge_patch.create(before, now)
        ):
            raise _Lost from refused
        rebased = _model(type(newest), merge_patch.apply(now, change))
        rebased.metadata.resource_version = newest.metadata.resource_version
        return await store.write(rebased)

    try:
        _become(obj, await retry_on_conflict(again, clock=clock))
    except _Lost:
        raise refused from None


async def modify_object(
    store: EditTarget[ObjectT], change: Callable[[ObjectT], None], clock: Clock
) -> ObjectT:
    """The object after *change* was made to its newest state and written."""

    async def attempt() -> ObjectT:
        obj = await store.read()
        before = obj.deep_copy()
        change(obj)
        return obj if obj == before else await store.write(obj)

    return await retry_on_conflict(attempt, clock=clock)


class _Lost(Exception):
    """The changes cannot be made to the newest state."""


def _document(obj: Object) -> Any:
    document = orjson.loads(dump_json(obj))
    # These the server changes with every write; they are nobody's change.
    for name in ("resourceVersion", "managedFields", "generation"):
        document.get("metadata", {}).pop(name, None)
    return document


def _model(cls: type[ObjectT], document: Any) -> ObjectT:
    return decode_json(cls, orjson.dumps(document), find_unknown=False).object


def _become(obj: ObjectT, written: ObjectT) -> None:
    """Let the caller's object be what was stored."""
    obj.__dict__.update(written.__dict__)
    object.__setattr__(obj, "__pydantic_extra__", written.__pydantic_extra__)


def _overlap(ours: Any, theirs: Any) -> bool:
    """Whether two merge patches touch one field; equal values may be two steps of a counter."""
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return True
    return any(_overlap(ours[key], theirs[key]) for key in ours.keys() & theirs.keys())
