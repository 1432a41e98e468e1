"""Served shape: which shape of a resource was served last, and since when.

The same revision of an object looks different after a change of shape. So the watches of clients
must not resume across one, however long the shapes have been catalogued: a rollback is a change as
well. While servers of two releases run, each start of one of them counts as a change.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import orjson

from apimachinery.schema import GroupResource
from apiserver.evolution.catalogue import now, shapes_prefix
from apiserver.storage.interface import Backend, KeyExists, Record, RevisionConflict

SETTLING: Final = 600.0
"""Seconds after a change in which a start may meet clients of another release."""


@dataclass(frozen=True, slots=True)
class ServedShape:
    """The shape that was served last."""

    shape: str
    since: str

    @property
    def is_new(self) -> bool:
        """Whether another shape was served until a moment ago."""
        age = datetime.now(UTC) - datetime.fromisoformat(self.since)
        return age.total_seconds() < SETTLING


def served_key(resource: GroupResource) -> str:
    return f"{shapes_prefix(resource)}served"


async def serve_shape(
    backend: Backend, key: str, current: Record | None, shape: str, *, is_only: bool
) -> bool:
    """Note that a shape is served; return whether clients may have seen another one just now.

    *current* is what the store has at *key*. Nothing has to be noted of a shape that is the only
    one. Raises StorageError.
    """
    while True:
        served = _from_record(current) if current is not None else None
        if served is None and is_only:
            return False
        since = now()
        if served is not None and served.shape == shape:
            if not served.is_new:
                return False
            since = served.since
        # Written also if nothing changes: a client may have seen the newest revision in another
        # shape. With one more, its watch is older than the list of this server.
        value = orjson.dumps({"shape": shape, "since": since})
        try:
            if current is None:
                await backend.create(key, value)
            else:
                await backend.update(key, value, revision=current.revision)
            return True
        except (KeyExists, RevisionConflict):
            current = await backend.get(key)  # another worker was faster


def _from_record(record: Record) -> ServedShape | None:
    try:
        value = orjson.loads(record.value)
        served = ServedShape(value["shape"], value["since"])
        _ = served.is_new  # the time can be read
        return served
    except (ValueError, KeyError, TypeError):
        return None
