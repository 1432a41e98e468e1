"""Endangered objects: read the objects of doubtful shapes and find the values that would be lost.

Objects that could not be read before either are not today's fault: they are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import orjson

from apimachinery.document_head import StoredForm, stored_form
from apimachinery.evolution.field_tree import field_tree
from apimachinery.evolution.lost_values import lost_fields
from apimachinery.evolution.stored_shapes import StoredShapes
from apimachinery.evolution.upgrade_steps import Drop
from apimachinery.schema import GroupVersionKind
from apimachinery.scheme import NotRegistered
from apimachinery.storage_codec import EVERYTHING, StoredObject
from apiserver.evolution.catalogue import CataloguedShape, now
from apiserver.evolution.danger import Cause, Dangers
from apiserver.evolution.first_shape import first_tree
from apiserver.evolution.judgement import Doubt, Judgement, class_of
from apiserver.storage.interface import Backend, Record
from apiserver.storage.record_reading import read_record
from apiserver.storage.stored_resources import prefix_of, records_below


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the objects of a resource have shown."""

    problems: tuple[str, ...] = ()
    """What they would lose, in words."""
    first: tuple[CataloguedShape, ...] = ()
    """The shapes of objects from before the catalogue, apart from today's."""
    accepted: frozenset[str] = frozenset()
    """The accepted paths at which values were found."""


async def look(backend: Backend, judgement: Judgement) -> Evidence:
    """Read the objects that are in doubt. Raises StorageError."""
    kind = judgement.kind
    kind.codec.know(judgement.shapes)
    found = _Look(judgement)
    prefix = prefix_of(kind.resource)
    async for record in records_below(backend, prefix):
        found.add(record, is_namespaced="/" in record.key.removeprefix(prefix))
    first = found.first_shapes()
    if first:
        # Read again, as the objects look when these shapes are catalogued.
        kind.codec.know(with_first(judgement.shapes, first))
        async for record in records_below(backend, prefix):
            found.add_unmarked_again(record, {shape.api_version for shape in first})
    problems = tuple(found.dangers.describe(kind))
    return Evidence(problems, first, frozenset(found.accepted))


def with_first(shapes: StoredShapes, first: Iterable[CataloguedShape]) -> StoredShapes:
    """Return shapes that include those of objects from before the catalogue."""
    return replace(
        shapes,
        trees={**shapes.trees, **{shape.fingerprint: shape.tree for shape in first}},
        first={**shapes.first, **{shape.api_version: shape.fingerprint for shape in first}},
    )


class _Look:
    """The objects of one resource, while they are read."""

    def __init__(self, judgement: Judgement) -> None:
        self.dangers = Dangers()
        self.accepted: set[str] = set()
        self._judgement = judgement
        self._kind = judgement.kind
        self._doubts = {
            (doubt.shape.kind, doubt.shape.api_version, doubt.shape.fingerprint): doubt
            for doubt in judgement.doubts
        }
        self._undeclared: dict[GroupVersionKind, set[str]] = {}
        """The undeclared paths of objects from before the catalogue."""

    def add(self, record: Record, *, is_namespaced: bool) -> None:
        """Look at one object."""
        judgement, form = self._judgement, stored_form(record.value)
        if judgement.has_other_scope and is_namespaced != self._kind.namespaced:
            self.dangers.add(EVERYTHING, "scope", record)
            return
        fingerprint = form.shape or judgement.shapes.first.get(form.api_version, "")
        doubt = self._doubts.get((form.kind, form.api_version, fingerprint))
        if doubt is not None:
            self._add_doubtful(record, form, doubt)
        elif judgement.is_first and not form.shape:
            self._add_unmarked(record, form)

    def add_unmarked_again(self, record: Record, versions: set[str]) -> None:
        """Look at an object from before the catalogue with the first shapes of *versions*."""
        form = stored_form(record.value)
        if form.shape or form.api_version not in versions:
            return
        stored = read_record(self._kind.codec, self._kind.cls, record)
        self._add_lost(stored, record)
        if EVERYTHING in stored.left_out and stored.problem.startswith("upgrading"):
            self.dangers.add(EVERYTHING, "unreadable", record, stored.problem)

    def first_shapes(self) -> tuple[CataloguedShape, ...]:
        """Return the shapes of objects from before the catalogue that are not of today's."""
        shapes = []
        for stored, paths in self._undeclared.items():
            kind, scheme = self._kind, self._kind.codec.scheme
            if not paths and stored == kind.gvk:
                continue
            cls = class_of(scheme, stored, kind.cls)
            drops = (Drop(path) for path in self._judgement.shapes.accepted)
            tree = first_tree(field_tree(cls), paths, (*scheme.upgrades(cls), *drops))
            shapes.append(
                CataloguedShape(
                    kind.resource, stored.api_version, stored.kind, tree, 0, now(), kind.namespaced
                )
            )
        return tuple(shapes)

    def _add_doubtful(self, record: Record, form: StoredForm, doubt: Doubt) -> None:
        if doubt.reason == "unreadable":
            self.dangers.add(EVERYTHING, "unknown", record, _no_such_kind(form))
            return
        stored = read_record(self._kind.codec, self._kind.cls, record)
        self._add_lost(stored, record)
        for path in {self._kind.tree.declared(path) for path in stored.left_out}:
            if path == EVERYTHING:
                self.dangers.add(path, "unreadable", record, stored.problem)
            elif _is_among(path, doubt.paths):
                has_field = doubt.shape.tree.find(path) is not None
                cause: Cause = "mistyped" if has_field else "undeclared"
                self.dangers.add(path, cause, record, stored.problem)

    def _add_unmarked(self, record: Record, form: StoredForm) -> None:
        kind = self._kind
        try:
            stored_kind = GroupVersionKind.from_api_version(form.api_version, form.kind)
            cls = class_of(kind.codec.scheme, stored_kind, kind.cls)
        except ValueError:
            return
        except NotRegistered:
            if (stored_kind.group, stored_kind.kind) == (kind.gvk.group, kind.gvk.kind):
                self.dangers.add(EVERYTHING, "unknown", record, _no_such_kind(form))
            return
        stored = read_record(kind.codec, kind.cls, record)
        if EVERYTHING in stored.left_out:
            return
        paths = lost_fields(_document_of(record.value), cls)
        self._undeclared.setdefault(stored_kind, set()).update(paths)
        for path in {kind.tree.declared(path) for path in stored.left_out}:
            self.dangers.add(path, "unmarked", record, stored.problem)

    def _add_lost(self, stored: StoredObject, record: Record) -> None:
        for path in dict.fromkeys(stored.lost):
            consent = [each for each in self._judgement.shapes.accepted if _is_below(path, each)]
            self.accepted.update(consent)
            if not consent:
                self.dangers.add(path, "gone", record)


def undeclared_values(record: Record, judgement: Judgement) -> tuple[str, ...]:
    """Return the paths of an object from before the catalogue that today's class has no field for.

    Such an object names no shape, and counts as one of the first shape that is catalogued.
    """
    form = stored_form(record.value)
    if form.shape or form.api_version in judgement.shapes.first:
        return ()
    kind = judgement.kind
    try:
        stored = GroupVersionKind.from_api_version(form.api_version, form.kind)
        cls = class_of(kind.codec.scheme, stored, kind.cls)
    except (ValueError, NotRegistered):
        return ()
    return lost_fields(_document_of(record.value), cls)


def _no_such_kind(form: StoredForm) -> str:
    return f"they are stored as {form.kind} of {form.api_version}, which the scheme does not have"


def _is_among(path: str, doubtful: Iterable[str]) -> bool:
    return any(_is_below(path, other) or _is_below(other, path) for other in doubtful)


def _is_below(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}.")


def _document_of(value: bytes) -> dict[str, Any]:
    """Return the JSON object in *value*, an empty one if there is none."""
    try:
        document = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}
