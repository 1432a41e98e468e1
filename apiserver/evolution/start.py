"""Start: compare the shapes of today's code with those in the store before anything is served.

A start that would lose or break something is refused in words. `apiserver serve` does this in a
process of the master, before any worker is started or replaced; every worker does it again when it
starts, which costs one small read if nothing has changed.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from apiserver.evolution.accepted_loss import NO_LOSS, AcceptedLoss
from apiserver.evolution.catalogue import (
    Catalogue,
    CataloguedShape,
    new_shape,
    read_catalogue,
    record_shape,
)
from apiserver.evolution.endangered import Danger, find_dangers
from apiserver.evolution.judgement import Judgement, StoredKind, judge
from apiserver.evolution.running_servers import RunningServer, running_servers
from apiserver.storage.interface import Backend, StorageError
from apiserver.storage.keys import ROOT

log = logging.getLogger(__name__)

SETTLING: Final = 3600.0
"""Seconds after a change of shapes in which clients may have been served by another release."""


class UnsafeStart(StorageError):
    """A start that would lose or break stored objects; *problems* say what to do, one each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class ShapeStart:
    """The start of one server process on one store."""

    def __init__(self, backend: Backend, accepted: AcceptedLoss = NO_LOSS) -> None:
        self._backend = backend
        self._accepted = accepted
        self._catalogue = Catalogue()

    async def check(self, kinds: Iterable[StoredKind]) -> list[Judgement]:
        """Compare all kinds with the store. Raises UnsafeStart with every problem there is."""
        judgements = await self.compare(kinds)
        problems = await self.losses(judgements) or await self.misreading_servers(judgements)
        if problems:
            raise UnsafeStart(problems)
        return judgements

    async def compare(self, kinds: Iterable[StoredKind]) -> list[Judgement]:
        """Compare all kinds with the catalogue of the store, without reading objects."""
        await self.read_again()
        return [self.judge(kind) for kind in kinds]

    async def losses(self, judgements: Iterable[Judgement]) -> list[str]:
        """Return what stored objects would lose, and the mistakes in declared upgrades."""
        judged = list(judgements)
        problems = [problem for judgement in judged for problem in judgement.problems]
        if not (await self._backend.range(ROOT, limit=1)).records:
            return problems
        for judgement in judged:
            if judgement.must_look:
                dangers = await find_dangers(self._backend, judgement)
                problems += describe(judgement, dangers)
        return problems

    async def read_again(self) -> None:
        """Read the catalogue, to which other servers may have added shapes. Raises StorageError."""
        self._catalogue = await read_catalogue(self._backend)

    def have_known(self, kind: StoredKind) -> None:
        """Have the codec of a kind know all shapes of the catalogue as it was read."""
        judgement = self.judge(kind)
        if judgement.is_behind and not kind.codec.shapes.newer:
            _warn_of_newer_release(kind)
        kind.codec.know(judgement.shapes)

    def judge(self, kind: StoredKind) -> Judgement:
        """Compare one kind with the catalogue as it was read."""
        return judge(kind, self._catalogue.of(kind.resource), self._accepted.of(kind.resource))

    def has_just_changed(self, judgement: Judgement) -> bool:
        """Return whether clients may have seen objects in another shape, until a moment ago.

        Their watches then must not resume, but list again: the same revision looks different now.
        """
        catalogued = self._catalogue.of(judgement.kind.resource)
        if judgement.own is None:
            return bool(catalogued)
        return len(catalogued) > 1 and any(
            shape.was_written_within(SETTLING) for shape in catalogued
        )

    async def register(self, judgement: Judgement) -> CataloguedShape:
        """Catalogue the shape of a kind, unless that is done, and have its codec know all shapes.

        Returns the entry; watches from before its revision have seen other content.
        """
        kind, own = judgement.kind, judgement.own
        if judgement.is_behind:
            _warn_of_newer_release(kind)
        is_newest = own is not None and all(
            shape.generation < own.generation for shape in judgement.older
        )
        if own is None or not (judgement.is_behind or is_newest):
            own = await record_shape(self._backend, self._entry(judgement))
        first = {kind.api_version: own.fingerprint, **judgement.shapes.first}
        trees = {**judgement.shapes.trees, own.fingerprint: own.tree}
        shapes = judgement.shapes
        kind.codec.know(replace(shapes, trees=trees, first=first))
        return own

    def _entry(self, judgement: Judgement) -> CataloguedShape:
        kind = judgement.kind
        steps = kind.codec.scheme.upgrades(kind.stored_class)
        return new_shape(
            kind.resource,
            kind.api_version,
            kind.tree,
            older=judgement.older,
            steps=[step.describe() for step in steps],
        )

    async def misreading_servers(self, judgements: Iterable[Judgement]) -> list[str]:
        """Return why a release that renames or re-types must wait for older servers to stop."""
        changing = [
            judgement
            for judgement in judgements
            if judgement.own is None and judgement.incompatible
        ]
        if not changing:
            return []
        servers = await running_servers(self._backend)
        return [problem for judgement in changing for problem in _misreading(judgement, servers)]


def _warn_of_newer_release(kind: StoredKind) -> None:
    log.warning(
        "a newer release has stored %s: this one serves them, and refuses writes that would lose"
        " fields",
        kind.name,
    )


def describe(judgement: Judgement, dangers: Iterable[Danger]) -> list[str]:
    """Return the dangers as sentences that say what to write."""
    kind = judgement.kind
    return [danger.describe(kind.name, kind.stored_class.__name__) for danger in dangers]


def _misreading(judgement: Judgement, servers: Iterable[RunningServer]) -> list[str]:
    name, older = judgement.kind.name, judgement.incompatible
    running = [server for server in servers if server.resources.get(name) in older]
    if not running:
        return []
    return [
        f"{name}: this release renames or re-types fields, and {len(running)} server(s) of an older"
        f" release would misread them ({', '.join(server.name for server in running[:3])}): stop"
        " them first. A server that was killed is forgotten within a minute"
    ]
