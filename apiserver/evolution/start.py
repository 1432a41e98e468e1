"""Start: compare the shapes of today's code with those in the store before anything is served.

A start that would lose or break something is refused in words. `apiserver serve` does this in a
process of the master, before any worker is started or replaced, and catalogues what it has found;
every worker does it again when it starts, which costs one small read if nothing has changed.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from apimachinery.schema import GroupResource
from apiserver.evolution.accepted_loss import NO_LOSS, AcceptedLoss
from apiserver.evolution.catalogue import (
    Catalogue,
    CataloguedShape,
    now,
    read_catalogue,
    record_shape,
)
from apiserver.evolution.endangered import Evidence, look, with_first
from apiserver.evolution.judgement import Judgement, StoredKind, judge, matching
from apiserver.evolution.running_servers import RunningServer, running_servers, sibling_shapes
from apiserver.evolution.served_shape import serve_shape, served_key
from apiserver.storage.interface import Backend, StorageError
from apiserver.storage.keys import ROOT
from apiserver.storage.stored_resources import stored_resources

log = logging.getLogger(__name__)


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
        self._evidence: dict[str, Evidence] = {}
        """What the objects of a resource have shown, by its name."""

    async def check(self, kinds: Iterable[StoredKind]) -> list[Judgement]:
        """Compare all kinds with the store. Raises UnsafeStart with every problem there is."""
        judgements = await self.compare(kinds)
        problems = await self.losses(judgements) or await self.misreading_servers(judgements)
        if problems:
            raise UnsafeStart(problems)
        return [self.with_evidence(judgement) for judgement in judgements]

    async def compare(self, kinds: Iterable[StoredKind]) -> list[Judgement]:
        """Compare all kinds with the catalogue of the store, without reading objects."""
        await self.read_again()
        return [self.judge(kind) for kind in kinds]

    async def losses(self, judgements: Iterable[Judgement]) -> list[str]:
        """Return what stored objects would lose, and the mistakes in declared upgrades."""
        judged = list(judgements)
        problems = [problem for judgement in judged for problem in judgement.problems]
        is_empty = not (await self._backend.range(ROOT, limit=1)).records
        for judgement in judged:
            if judgement.must_look:
                evidence = Evidence() if is_empty else await look(self._backend, judgement)
                self._evidence[judgement.kind.name] = evidence
                problems += evidence.problems
        return problems

    def with_evidence(self, judgement: Judgement) -> Judgement:
        """Return a judgement whose shapes include those of objects from before the catalogue."""
        evidence = self._evidence.get(judgement.kind.name)
        if evidence is None or not evidence.first:
            return judgement
        return replace(judgement, shapes=with_first(judgement.shapes, evidence.first))

    async def read_again(self) -> None:
        """Read the catalogue, to which other servers may have added shapes. Raises StorageError."""
        self._catalogue = await read_catalogue(self._backend)

    async def stored_resources(self) -> set[GroupResource]:
        """Return the resources that have objects, or had some. Raises StorageError."""
        await self.read_again()
        return {*self._catalogue.entries, *[each async for each in stored_resources(self._backend)]}

    def use_shapes(self, kind: StoredKind) -> None:
        """Have the codec of a kind use all shapes of the catalogue as it was read."""
        judgement = self.judge(kind)
        if judgement.is_behind and not kind.codec.shapes.newer:
            _warn_of_newer_release(kind)
        kind.codec.know(judgement.shapes)

    def judge(self, kind: StoredKind) -> Judgement:
        """Compare one kind with the catalogue as it was read."""
        return judge(kind, self._catalogue.of(kind.resource), self._accepted.of(kind.resource))

    async def register(self, judgement: Judgement) -> None:
        """Catalogue the shape of a kind, unless that is done, and have its codec use all shapes.

        What was not looked at, or would lose something, is not noted as proven.
        """
        kind = judgement.kind
        if judgement.is_behind:
            _warn_of_newer_release(kind)
        evidence = self._evidence.get(kind.name)
        for shape in evidence.first if evidence is not None else ():
            await record_shape(self._backend, shape)
        entry = self._entry(judgement, evidence)
        if entry != judgement.own:
            await record_shape(self._backend, entry)
        shapes = judgement.shapes
        first = {kind.api_version: entry.fingerprint, **shapes.first}
        trees = {**shapes.trees, entry.fingerprint: entry.tree}
        accepted = tuple(path for path in shapes.accepted if path in entry.accepted)
        kind.codec.know(replace(shapes, trees=trees, first=first, accepted=accepted))

    async def serve(self, judgement: Judgement) -> bool:
        """Note that a kind is served; return whether clients may have seen another shape just now.

        Their watches then must not resume, but list again: the same revision looks different now.
        """
        kind = judgement.kind
        own = f"{kind.gvk.version}/{kind.tree.fingerprint}"
        key = served_key(kind.resource)
        others = [shape for shape in judgement.catalogued if shape is not judgement.own]
        evidence = self._evidence.get(kind.name)
        is_only = not others and (evidence is None or not evidence.first)
        current = self._catalogue.others.get(key)
        return await serve_shape(self._backend, key, current, own, is_only=is_only)

    def _entry(self, judgement: Judgement, evidence: Evidence | None) -> CataloguedShape:
        """Return the entry of today's shape, as it should be in the catalogue."""
        kind, own, older = judgement.kind, judgement.own, judgement.older
        is_safe = not judgement.must_look or (evidence is not None and not evidence.problems)
        doubts = {doubt.shape.id: doubt.reason for doubt in judgement.doubts}
        unreadable = {name for name, reason in doubts.items() if reason == "unreadable"}
        extinct = own.extinct if own is not None else ()
        return CataloguedShape(
            kind.resource,
            kind.api_version,
            kind.gvk.kind,
            kind.tree,
            generation=_generation(judgement),
            since=own.since if own is not None else now(),
            namespaced=kind.namespaced,
            supersedes=tuple(
                shape.id
                for shape in older
                if shape.id not in (unreadable if is_safe else doubts) and shape.id not in extinct
            ),
            extinct=(*extinct, *sorted(unreadable)) if is_safe else extinct,
            steps=kind.steps,
            accepted=self._accepted_paths(judgement, evidence),
        )

    def _accepted_paths(self, judgement: Judgement, evidence: Evidence | None) -> tuple[str, ...]:
        """Return the paths to catalogue; those that match nothing are most likely mistyped."""
        own = judgement.own
        accepted = dict.fromkeys(own.accepted if own is not None else ())
        found = evidence.accepted if evidence is not None else frozenset()
        first = evidence.first if evidence is not None else ()
        shapes = replace(judgement, catalogued=(*judgement.catalogued, *first))
        matched = {*found, *matching(judgement.given, shapes)}
        for path in judgement.given:
            if path in matched:
                accepted[path] = None
            elif path not in accepted:
                log.warning(
                    "--accept-field-loss %s/%s: no stored shape has that field, or today's still"
                    " has it",
                    judgement.kind.name,
                    path,
                )
        return tuple(accepted)

    async def misreading_servers(self, judgements: Iterable[Judgement]) -> list[str]:
        """Return why a release that renames or re-types must wait for older servers to stop.

        Once any server of this release runs, its workers may start again.
        """
        changing = [judgement for judgement in judgements if judgement.incompatible]
        if not changing:
            return []
        servers = await running_servers(self._backend)
        siblings = await sibling_shapes(self._backend)
        return [
            problem
            for judgement in changing
            if not _is_running(judgement.kind, [*siblings, *(each.resources for each in servers)])
            for problem in _misreading(judgement, servers)
        ]


def _warn_of_newer_release(kind: StoredKind) -> None:
    log.warning(
        "a newer release has stored %s: this one serves them, and refuses writes that would lose"
        " fields",
        kind.name,
    )


def _generation(judgement: Judgement) -> int:
    """Return the generation of today's code: after all older ones, unless it was so before."""
    own, older = judgement.own, judgement.older
    newest = max((shape.age for shape in older), default=(0, 0))
    if own is not None and (judgement.is_behind or newest < own.age):
        return own.generation
    return newest[0] + 1


def _is_running(kind: StoredKind, servers: Iterable[Mapping[str, str]]) -> bool:
    return any(shapes.get(kind.name) == kind.tree.fingerprint for shapes in servers)


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
