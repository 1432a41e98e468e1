"""Catalogue of shapes: the store remembers every shape in which it holds objects.

An entry is the field tree of a stored class, under `/shapes/<group>/<resource>/<fingerprint>`. It
is written before the first object of that shape and never deleted, so that code of any later
release can tell what changed since an object was stored. Fingerprints have no order, so an entry
has a generation: the code with the highest generation is the newest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

import orjson

from apimachinery.evolution.field_tree import FieldTree
from apimachinery.schema import GroupResource
from apiserver.storage.interface import Backend, KeyExists, Record, RevisionConflict
from apiserver.storage.keys import CORE

SHAPES: Final = "/shapes/"


@dataclass(frozen=True, slots=True)
class CataloguedShape:
    """One shape in which objects of a resource are or were stored."""

    resource: GroupResource
    api_version: str
    """The version under which objects of this shape are stored."""
    tree: FieldTree
    generation: int
    since: str
    supersedes: tuple[str, ...] = ()
    """The older shapes whose objects were shown to lose nothing when they are upgraded to this."""
    steps: tuple[str, ...] = ()
    """The declared upgrade steps in words, for people who read the catalogue."""
    revision: int = field(default=0, compare=False)
    """The revision of the store at which the entry was last written."""

    def was_written_within(self, seconds: float) -> bool:
        """Return whether code of this shape began to serve the store less than *seconds* ago."""
        try:
            since = datetime.fromisoformat(self.since)
        except ValueError:
            return False
        return (datetime.now(UTC) - since).total_seconds() < seconds

    @property
    def fingerprint(self) -> str:
        return self.tree.fingerprint

    @property
    def key(self) -> str:
        group = self.resource.group or CORE
        return f"{SHAPES}{group}/{self.resource.resource}/{self.fingerprint}"

    def to_bytes(self) -> bytes:
        return orjson.dumps(
            {
                "apiVersion": self.api_version,
                "generation": self.generation,
                "since": self.since,
                "supersedes": list(self.supersedes),
                "steps": list(self.steps),
                "tree": self.tree.to_json(),
            }
        )


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The catalogue of a store, as of one read."""

    entries: Mapping[GroupResource, tuple[CataloguedShape, ...]] = field(default_factory=dict)

    def of(self, resource: GroupResource) -> tuple[CataloguedShape, ...]:
        """Return the shapes of a resource, the oldest first."""
        return self.entries.get(resource, ())


async def read_catalogue(backend: Backend) -> Catalogue:
    """Read the catalogue of a store. Raises StorageError."""
    page = await backend.range(SHAPES)
    entries: dict[GroupResource, list[CataloguedShape]] = {}
    for record in page.records:
        entry = _from_record(record)
        if entry is not None:
            entries.setdefault(entry.resource, []).append(entry)
    return Catalogue(
        {
            resource: tuple(sorted(shapes, key=lambda shape: (shape.generation, shape.since)))
            for resource, shapes in entries.items()
        }
    )


async def record_shape(backend: Backend, shape: CataloguedShape) -> CataloguedShape:
    """Write an entry, in place of the one that is there; return it with its revision."""
    while True:
        try:
            revision = await backend.create(shape.key, shape.to_bytes())
            return replace(shape, revision=revision)
        except KeyExists:
            current = await backend.get(shape.key)
        if current is None:
            continue
        stored = _from_record(current)
        if stored is not None and stored.generation >= shape.generation:
            return stored  # another worker of the same release was faster
        try:
            revision = await backend.update(shape.key, shape.to_bytes(), revision=current.revision)
            return replace(shape, revision=revision)
        except RevisionConflict:
            continue


async def rewrite_shape(backend: Backend, shape: CataloguedShape) -> CataloguedShape:
    """Write an entry as it is, which gives it a new revision; return it with that."""
    while (current := await backend.get(shape.key)) is not None:
        try:
            revision = await backend.update(shape.key, current.value, revision=current.revision)
            return replace(shape, revision=revision)
        except RevisionConflict:
            continue
    return await record_shape(backend, shape)


def new_shape(
    resource: GroupResource,
    api_version: str,
    tree: FieldTree,
    *,
    older: Iterable[CataloguedShape],
    steps: Iterable[str] = (),
) -> CataloguedShape:
    """Return the entry of a shape that is newer than *older* ones."""
    superseded = tuple(older)
    return CataloguedShape(
        resource,
        api_version,
        tree,
        generation=max((shape.generation for shape in superseded), default=0) + 1,
        since=datetime.now(UTC).isoformat(timespec="seconds"),
        supersedes=tuple(shape.fingerprint for shape in superseded),
        steps=tuple(steps),
    )


def _from_record(record: Record) -> CataloguedShape | None:
    """Return an entry, None if a program of another kind has written something else there."""
    try:
        group, resource, fingerprint = record.key.removeprefix(SHAPES).split("/")
        value = orjson.loads(record.value)
        tree = FieldTree.from_json(value["tree"])
        # A later release may compute fingerprints of more facts: the key is what objects name.
        tree.fingerprint = fingerprint
        return CataloguedShape(
            GroupResource("" if group == CORE else group, resource),
            value["apiVersion"],
            tree,
            value["generation"],
            value["since"],
            tuple(value["supersedes"]),
            tuple(value["steps"]),
            record.revision,
        )
    except (ValueError, KeyError, TypeError):
        return None
