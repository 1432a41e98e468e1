"""Tables: the columns that `kubectl get` shows, and how their cells are encoded.

A Table has the name first, then the columns of the kind, the age, and the columns of `-o wide`; a
kind that defines a column for the name defines all its columns. An age grows while the cached
object stays the same: a time in a cell is therefore encoded as a marked timestamp, and becomes an
age when the row is sent.
"""

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from apimachinery.meta.table import TableColumnDefinition
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.scalars.time import format_time

log = logging.getLogger(__name__)

UNKNOWN: Final = "<unknown>"
_UNKNOWN_CELL: Final = orjson.dumps(UNKNOWN)
_INVALID: Final = "<invalid>"

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400

# JSON text contains no NUL byte, so two of them mark the place of an age.
_TIME: Final = re.compile(rb"\x00(-?[0-9]+)\x00")


@dataclass(frozen=True, slots=True)
class AgeText:
    """The value of a cell with an age in the middle of a text, such as `3 (5m ago)`."""

    before: str
    time: datetime
    after: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column; *cell* returns its value for an internal object.

    A datetime is shown as an age, an AgeText as a text with an age in it. A *priority* above 0 is
    shown by `-o wide` only. A column that reads nothing but metadata does not need the whole object
    to be decoded.
    """

    name: str
    cell: Callable[[Any], Any]
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""
    metadata_only: bool = False


def _name(obj: Object) -> str:
    return obj.metadata.name


def _created(obj: Object) -> datetime | str:
    return obj.metadata.creation_timestamp or UNKNOWN


def _created_at(obj: Object) -> str:
    created = obj.metadata.creation_timestamp
    return format_time(created) if created else ""


NAME: Final = Column(
    "Name",
    _name,
    format="name",
    description=str(ObjectMeta.model_fields["name"].description),
    metadata_only=True,
)
AGE: Final = Column(
    "Age", _created, description="How long ago the object was created.", metadata_only=True
)

CREATED_AT: Final = Column(
    "Created At",
    _created_at,
    type="date",
    description="Time when the object was created.",
    metadata_only=True,
)
"""The only column beside the name for kinds that Kubernetes has no printer for."""


def whole_table(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return all columns of a Table, given those of the kind."""
    own = tuple(columns)
    if any(column.name == NAME.name for column in own):
        return own
    plain = (column for column in own if not column.priority)
    wide = (column for column in own if column.priority)
    return (NAME, *plain, AGE, *wide)


def definition(column: Column) -> TableColumnDefinition:
    """Return the definition of a column for a Table."""
    return TableColumnDefinition(
        name=column.name,
        type=column.type,
        format=column.format,
        description=column.description,
        priority=column.priority,
    )


def encode_cells(cells: Iterable[Any]) -> bytes:
    """Encode the cells of a row as JSON, with marks where `write_ages` writes ages."""
    return b"[%b]" % b",".join(map(_encode, cells))


class Cells:
    """Encodes the rows of a kind like `encode_cells`, with `<unknown>` for cells that fail."""

    def __init__(self, kind: str, columns: Iterable[Column]) -> None:
        self._kind = kind
        self._columns = tuple(columns)
        self._failed: set[str] = set()

    def encode(self, obj: Object) -> bytes:
        """Encode the row of *obj*."""
        return b"[%b]" % b",".join([self._encode_cell(column, obj) for column in self._columns])

    def _encode_cell(self, column: Column, obj: Object) -> bytes:
        # An object that a column does not expect must not fail the whole list.
        try:
            return _encode(column.cell(obj))
        except Exception:
            self._log_once(column, obj)
            return _UNKNOWN_CELL

    def _log_once(self, column: Column, obj: Object) -> None:
        """Log the current exception, only for the first object that a column fails for."""
        if column.name in self._failed:
            return
        self._failed.add(column.name)
        name = f"{obj.metadata.namespace}/{obj.metadata.name}".lstrip("/")
        log.warning(
            "column %r failed for %s %s; its next failures are not logged",
            column.name,
            self._kind,
            name,
            exc_info=True,
        )


def write_ages(encoded: bytes, now: datetime) -> bytes:
    """Replace the times that `encode_cells` has marked by ages."""
    if b"\x00" not in encoded:
        return encoded
    present = int(now.timestamp())
    return _TIME.sub(lambda time: human_duration(present - int(time[1])).encode(), encoded)


def human_duration(seconds: int) -> str:
    """Format a duration as kubectl does, with two or three digits: `52s`, `5m30s`, `2d3h`."""
    if seconds < 2 * _MINUTE:
        # Clocks differ: a second into the future counts as now.
        return _INVALID if seconds < -1 else f"{max(seconds, 0)}s"
    if seconds < 10 * _MINUTE:
        return _two_units(seconds, _MINUTE, "m", 1, "s")
    if seconds < 3 * _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < 8 * _HOUR:
        return _two_units(seconds, _HOUR, "h", _MINUTE, "m")
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR}h"
    return _days(seconds)


def _days(seconds: int) -> str:
    if seconds < 8 * _DAY:
        return _two_units(seconds, _DAY, "d", _HOUR, "h")
    if seconds < 2 * _YEAR:
        return f"{seconds // _DAY}d"
    if seconds < 8 * _YEAR:
        return _two_units(seconds, _YEAR, "y", _DAY, "d")
    return f"{seconds // _YEAR}y"


def _two_units(seconds: int, large: int, large_unit: str, small: int, small_unit: str) -> str:
    remainder = seconds % large // small
    return f"{seconds // large}{large_unit}" + (f"{remainder}{small_unit}" if remainder else "")


def _encode(value: Any) -> bytes:
    if isinstance(value, datetime):
        return b'"\x00%d\x00"' % int(value.timestamp())
    if isinstance(value, AgeText):
        before, after = orjson.dumps(value.before)[:-1], orjson.dumps(value.after)[1:]
        return b"%b\x00%d\x00%b" % (before, int(value.time.timestamp()), after)
    return orjson.dumps(value, default=str)
