"""Shape learning: a server that runs learns of shapes that are catalogued after its start.

A newer release on the same store catalogues its shape before it writes the first object. So an
object of a shape that this server does not know is a sign to read the catalogue again: without the
field tree of that shape, a field that was omitted would be read with the wrong default.
`LearningBackend` does so before any such object is passed on. Nothing is read, and no task runs, as
long as there are none.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Self

from apimachinery.document_head import stored_form
from apiserver.evolution.judgement import StoredKind
from apiserver.evolution.start import ShapeStart
from apiserver.storage.interface import (
    Backend,
    ChangeBatch,
    Feed,
    KeyPage,
    Record,
    RevisionConflict,
)
from apiserver.storage.keys import resource_prefix

log = logging.getLogger(__name__)


class KnownShapes:
    """The shapes of one resource that this server can read."""

    def __init__(self, kind: StoredKind, on_change: Callable[[], None]) -> None:
        self.kind = kind
        self._on_change = on_change
        self._codec = kind.codec
        self._missing: set[str] = set()
        # Computed when the first record is read: many resources have none.
        self._heads: tuple[bytes, ...] = ()

    def refresh(self) -> None:
        """Take over what the codec has learned."""
        self._heads = ()
        self._on_change()

    def find_unknown(self, value: bytes) -> str:
        """Return the shape that stored bytes name, empty if it is known."""
        self._heads = self._heads or self._verbatim_heads()
        if value.startswith(self._heads):  # nearly always
            return ""
        fingerprint = stored_form(value).shape
        return fingerprint if self.lacks(fingerprint) else ""

    def lacks(self, fingerprint: str) -> bool:
        """Return whether a shape has yet to be looked up in the catalogue."""
        return (
            fingerprint not in ("", self.kind.tree.fingerprint)
            and fingerprint not in self._codec.shapes.trees
            and fingerprint not in self._missing
        )

    def give_up(self, fingerprint: str) -> None:
        """Note that the catalogue lacks a shape, as after objects were copied without it."""
        if fingerprint not in self._codec.shapes.trees:
            self._missing.add(fingerprint)
            log.warning(
                "%s: the store has objects of the shape %s, which is not in its catalogue: their"
                " omitted fields are read with the defaults of today",
                self.kind.name,
                fingerprint,
            )

    def _verbatim_heads(self) -> tuple[bytes, ...]:
        # With the start of what follows: the head of unmarked documents begins all others.
        return tuple(head + b'"metadata"' for head in self._codec.verbatim_heads(self.kind.cls))


class ShapeLearner:
    """Reads the catalogue again when an object names a shape that is not known yet."""

    def __init__(self, start: ShapeStart) -> None:
        self.start = start
        self._known: dict[str, KnownShapes] = {}
        # Reads that overlap could end in reverse order, and the older catalogue would stay.
        self._reading = asyncio.Lock()

    def follow(self, kind: StoredKind, prefix: str, on_change: Callable[[], None]) -> None:
        """Learn the shapes of a resource from now on, and call *on_change* whenever there are more.

        *prefix* is that of the keys of its objects.
        """
        self._known[prefix] = KnownShapes(kind, on_change)

    def find_unknown(self, key: str, value: bytes) -> tuple[KnownShapes, str] | None:
        """Return the resource and the shape of a record, None if the shape is known."""
        known = self._known.get(resource_prefix(key))
        if known is None:
            return None
        fingerprint = known.find_unknown(value)
        return (known, fingerprint) if fingerprint else None

    async def register(self, kind: StoredKind) -> None:
        """Catalogue the shape of a resource that was not there at the start.

        It is served already, so that what its objects would lose can only be logged; the next start
        is refused for it.
        """
        async with self._reading:
            (judgement,) = await self.start.compare([kind])
            for problem in await self.start.losses([judgement]):
                log.error("%s", problem)
            await self.start.register(self.start.with_evidence(judgement))

    async def learn(self, unknown: list[tuple[KnownShapes, str]]) -> None:
        """Read the catalogue, unless that was done meanwhile. Raises StorageError."""
        async with self._reading:
            lacking = [(known, shape) for known, shape in unknown if known.lacks(shape)]
            if not lacking:
                return
            await self.start.read_again()
            for each in self._known.values():
                self.start.use_shapes(each.kind)
                each.refresh()
            for known, shape in dict.fromkeys(lacking):
                known.give_up(shape)


class LearningBackend:
    """A store that has *learner* learn the shape of every record before it is returned."""

    def __init__(self, backend: Backend) -> None:
        self.learner: ShapeLearner | None = None
        self._backend = backend
        # What returns no record needs no detour; `current_revision` is called by every read.
        self.create = backend.create
        self.delete = backend.delete
        self.current_revision = backend.current_revision
        self.compact = backend.compact
        self.check_integrity = backend.check_integrity
        self.check_members = backend.check_members
        self.close = backend.close

    async def get(self, key: str) -> Record | None:
        record = await self._backend.get(key)
        if record is not None:
            await self._learn((record,))
        return record

    async def range(
        self, prefix: str, *, start: str = "", limit: int = 0, revision: int | None = None
    ) -> KeyPage:
        page = await self._backend.range(prefix, start=start, limit=limit, revision=revision)
        await self._learn(page.records)
        return page

    async def update(
        self,
        key: str,
        value: bytes,
        *,
        revision: int,
        ttl: int | None = None,
        replaced_bytes: int = 0,
    ) -> int:
        try:
            return await self._backend.update(
                key, value, revision=revision, ttl=ttl, replaced_bytes=replaced_bytes
            )
        except RevisionConflict as conflict:
            if conflict.current is not None:
                await self._learn((conflict.current,))
            raise

    @asynccontextmanager
    async def watch(self, prefix: str, *, after: int) -> AsyncIterator[Feed]:
        async with self._backend.watch(prefix, after=after) as feed:
            yield _LearningFeed(feed, self)

    async def learn_changes(self, batch: ChangeBatch) -> None:
        """Learn the shapes of the values in a batch, those before the changes included."""
        if self.learner is None:
            return
        find, unknown = self.learner.find_unknown, []
        for change in batch.changes:
            for value in (change.value, change.previous):
                if value is not None and (found := find(change.key, value)) is not None:
                    unknown.append(found)
        if unknown:
            await self.learner.learn(unknown)

    async def _learn(self, records: Iterable[Record]) -> None:
        if self.learner is None:
            return
        find = self.learner.find_unknown
        unknown = [found for record in records if (found := find(record.key, record.value))]
        if unknown:
            await self.learner.learn(unknown)


class _LearningFeed:
    """A feed that holds a batch back until its shapes are known."""

    def __init__(self, feed: Feed, backend: LearningBackend) -> None:
        self._feed = feed
        self._backend = backend
        self._held: ChangeBatch | None = None
        self.request_progress = feed.request_progress

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChangeBatch:
        # Held in an attribute, because a cancelled wait must not lose it.
        if self._held is None:
            self._held = await anext(self._feed)
        await self._backend.learn_changes(self._held)
        batch, self._held = self._held, None
        return batch
