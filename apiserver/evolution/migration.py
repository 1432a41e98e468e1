"""Migration: rewrite stored objects of other shapes and versions in today's, while servers run.

Every object is replaced by compare-and-set on its stored bytes, so that a concurrent write wins.
Only the encoding changes: no admission, no defaults beyond those that a read applies, the same
metadata. Objects that are in today's shape are recognized by their first bytes, so an interrupted
run is continued by the next one.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from apimachinery.document_head import stored_head
from apiserver.evolution.endangered import undeclared_values
from apiserver.evolution.inspection import Example
from apiserver.evolution.judgement import Judgement
from apiserver.evolution.start import ShapeStart
from apiserver.storage.interface import Backend, Record, RevisionConflict, ValueTooLarge
from apiserver.storage.keys import object_name
from apiserver.storage.record_reading import read_record
from apiserver.storage.stored_resources import prefix_of, records_below

CONCURRENT: Final = 32
"""The number of objects that are written at once: SQLite commits them together."""


class Pace:
    """Spreads writes evenly over time; a rate of 0 is unlimited."""

    def __init__(self, rate: float) -> None:
        self._interval = 1 / rate if rate else 0.0
        self._next = 0.0

    async def wait(self) -> None:
        """Wait for the turn of one more write."""
        now = asyncio.get_running_loop().time()
        turn = max(self._next, now)
        self._next = turn + self._interval
        if turn > now:
            await asyncio.sleep(turn - now)


@dataclass(slots=True)
class MigrationReport:
    """What became of the objects of one kind."""

    resource: str
    current: int = 0
    """Objects that were in today's shape."""
    rewritten: int = 0
    left: list[Example] = field(default_factory=list)
    """Objects that were left as they are, and why."""

    @property
    def objects(self) -> int:
        return self.current + self.rewritten + len(self.left)


class KindMigration:
    """The migration of one kind; *seconds_to_live* of an object, because a write resets them."""

    def __init__(
        self,
        backend: Backend,
        start: ShapeStart,
        judgement: Judgement,
        *,
        seconds_to_live: Callable[[Any], int | None],
        pace: Pace,
        dry_run: bool = False,
    ) -> None:
        self._backend = backend
        self._start = start
        self._judgement = judgement
        self._kind = kind = judgement.kind
        self._seconds_to_live = seconds_to_live
        self._pace = pace
        self._dry_run = dry_run
        self._head = stored_head(kind.codec.stored_kind(kind.cls), kind.tree.fingerprint)
        self._is_registered = False
        self.report = MigrationReport(kind.name)

    async def run(self, progress: Callable[[], None]) -> None:
        """Rewrite all objects; *progress* is called after each. Raises StorageError."""
        self._kind.codec.know(self._judgement.shapes)
        waiting: list[Record] = []
        async for record in records_below(self._backend, prefix_of(self._kind.resource)):
            if record.value.startswith(self._head):
                self.report.current += 1
                progress()
                continue
            waiting.append(record)
            if len(waiting) == CONCURRENT:
                await self._rewrite_all(waiting, progress)
                waiting.clear()
        await self._rewrite_all(waiting, progress)

    async def _rewrite_all(self, records: list[Record], progress: Callable[[], None]) -> None:
        if records and not self._dry_run and not self._is_registered:
            # The catalogue must have a shape before the first object of it is written.
            await self._start.register(self._judgement)
            self._is_registered = True
        async with asyncio.TaskGroup() as tasks:
            for record in records:
                await self._pace.wait()
                tasks.create_task(self._rewrite(record)).add_done_callback(lambda _: progress())

    async def _rewrite(self, record: Record | None) -> None:
        while record is not None:
            if record.value.startswith(self._head):
                self.report.current += 1
                return
            try:
                await self._write(record)
                return
            except RevisionConflict as conflict:
                record = conflict.current  # None: it was deleted meanwhile

    async def _write(self, record: Record) -> None:
        kind = self._kind
        stored = read_record(kind.codec, kind.cls, record)
        reason = stored.problem or self._loss(record, stored.lost)
        if reason:
            self.report.left.append(Example(object_name(record.key), reason))
            return
        value = kind.codec.encode(stored.object)
        if not self._dry_run:
            try:
                await self._backend.update(
                    record.key,
                    value,
                    revision=record.revision,
                    ttl=self._seconds_to_live(stored.object),
                    replaced_bytes=len(record.value),
                )
            except ValueTooLarge as error:
                self.report.left.append(Example(object_name(record.key), str(error)))
                return
        self.report.rewritten += 1

    def _loss(self, record: Record, lost: tuple[str, ...]) -> str:
        """Return why a rewrite would lose values, or an empty string."""
        if self._kind.codec.is_newer(record.value):
            return "a newer release has stored it"
        paths = lost or undeclared_values(record, self._judgement)
        return f"it would lose {', '.join(paths[:5])}" if paths else ""
