"""Catalogue of shapes: the store remembers every shape in which it holds objects.

An entry is the field tree of a stored class, under
`/shapes/<group>/<resource>/<version>/<fingerprint>`. It is written before the first object of that
shape and never deleted, so that code of any later release can tell what changed since an object was
stored. Fingerprints have no order, so an entry has a generation: the code with the highest
generation is the newest, and of two with the same the one that was catalogued later.

`/shapes/<group>/<resource>/served` says which of the shapes was served last (`served_shape.py`).
"""

from collections.abc import Mapping
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
    kind: str
    tree: FieldTree
    generation: int
    since: str
    namespaced: bool = True
    supersedes: tuple[str, ...] = ()
    """The older shapes whose objects were shown to lose nothing by `steps`."""
    extinct: tuple[str, ...] = ()
    """The shapes that this code cannot read, and of which no object was left."""
    steps: tuple[str, ...] = ()
    """The declared upgrade steps in words."""
    accepted: tuple[str, ...] = ()
    """The paths whose values the operator has agreed to lose."""
    created: int = field(default=0, compare=False)
    """The revision of the store at which the shape was first catalogued."""

    @property
    def fingerprint(self) -> str:
        return self.tree.fingerprint

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    @property
    def id(self) -> str:
        """What other entries call this one. A fingerprint alone may be that of two versions."""
        return f"{self.kind}/{self.version}/{self.fingerprint}"

    @property
    def age(self) -> tuple[int, int]:
        """What sorts entries, the oldest first."""
        return self.generation, self.created

    @property
    def key(self) -> str:
        return f"{shapes_prefix(self.resource)}{self.version}/{self.fingerprint}"

    def to_bytes(self) -> bytes:
        return orjson.dumps(
            {
                "apiVersion": self.api_version,
                "kind": self.kind,
                "namespaced": self.namespaced,
                "generation": self.generation,
                "since": self.since,
                "supersedes": list(self.supersedes),
                "extinct": list(self.extinct),
                "steps": list(self.steps),
                "accepted": list(self.accepted),
                "tree": self.tree.to_json(),
            }
        )


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The catalogue of a store, as of one read."""

    entries: Mapping[GroupResource, tuple[CataloguedShape, ...]] = field(default_factory=dict)
    others: Mapping[str, Record] = field(default_factory=dict)
    """What else is below `/shapes/`, by key."""

    def of(self, resource: GroupResource) -> tuple[CataloguedShape, ...]:
        """Return the shapes of a resource, the oldest first."""
        return self.entries.get(resource, ())


async def read_catalogue(backend: Backend) -> Catalogue:
    """Read the catalogue of a store. Raises StorageError."""
    page = await backend.range(SHAPES)
    entries: dict[GroupResource, list[CataloguedShape]] = {}
    others: dict[str, Record] = {}
    for record in page.records:
        entry = _from_record(record)
        if entry is not None:
            entries.setdefault(entry.resource, []).append(entry)
        else:
            others[record.key] = record
    return Catalogue(
        {
            resource: tuple(sorted(shapes, key=lambda shape: shape.age))
            for resource, shapes in entries.items()
        },
        others,
    )


async def record_shape(backend: Backend, shape: CataloguedShape) -> None:
    """Write an entry, in place of the one that is there unless that is of a later generation."""
    while True:
        try:
            await backend.create(shape.key, shape.to_bytes())
            return
        except KeyExists:
            current = await backend.get(shape.key)
        if current is None:
            continue
        stored = _from_record(current)
        if stored is not None and (
            stored.generation > shape.generation or stored == replace(shape, since=stored.since)
        ):
            return  # another worker of the same release was faster
        try:
            await backend.update(shape.key, shape.to_bytes(), revision=current.revision)
            return
        except RevisionConflict:
            continue


def shapes_prefix(resource: GroupResource) -> str:
    """Return the prefix of what the catalogue has about a resource."""
    return f"{SHAPES}{resource.group or CORE}/{resource.resource}/"


def now() -> str:
    """Return the time of an entry."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _from_record(record: Record) -> CataloguedShape | None:
    """Return an entry, None if a program of another kind has written something else there."""
    try:
        group, resource, _, fingerprint = record.key.removeprefix(SHAPES).split("/")
        value = orjson.loads(record.value)
        tree = FieldTree.from_json(value["tree"])
        # A later release may compute fingerprints of more facts: the key is what objects name.
        tree.fingerprint = fingerprint
        return CataloguedShape(
            GroupResource("" if group == CORE else group, resource),
            value["apiVersion"],
            value["kind"],
            tree,
            value["generation"],
            value["since"],
            value["namespaced"],
            tuple(value["supersedes"]),
            tuple(value["extinct"]),
            tuple(value["steps"]),
            tuple(value["accepted"]),
            record.created,
        )
    except (ValueError, KeyError, TypeError):
        return None
