"""Judgement: what the shapes in a store mean for the code that is about to serve them.

Of one resource, from the catalogue alone: which shapes are older and which newer than today's, and
of which shapes the objects themselves must be looked at (`endangered.py`), because values could be
lost or unreadable.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, cast

from apimachinery.conversion.class_conversion import UnknownConversion
from apimachinery.evolution.document_upgrade import DocumentUpgrade
from apimachinery.evolution.field_tree import FieldTree, field_tree
from apimachinery.evolution.stored_shapes import StoredShapes
from apimachinery.evolution.tree_changes import can_read
from apimachinery.evolution.upgrade_steps import Drop, UpgradeError, pending_steps
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource, GroupVersionKind
from apimachinery.scheme import NotRegistered, Scheme
from apimachinery.storage_codec import StorageCodec
from apiserver.evolution.catalogue import CataloguedShape


@dataclass(frozen=True, slots=True)
class StoredKind:
    """A resource as today's code stores it."""

    resource: GroupResource
    cls: type[Object]
    """The internal class."""
    codec: StorageCodec
    namespaced: bool = True

    @property
    def stored_class(self) -> type[Object]:
        return self.codec.stored_class(self.cls)

    @property
    def gvk(self) -> GroupVersionKind:
        """The kind under which objects are stored."""
        return self.codec.stored_kind(self.cls)

    @property
    def api_version(self) -> str:
        return self.gvk.api_version

    @property
    def tree(self) -> FieldTree:
        return field_tree(self.stored_class)

    @property
    def steps(self) -> tuple[str, ...]:
        """The declared upgrade steps in words."""
        return tuple(step.describe() for step in self.codec.scheme.upgrades(self.stored_class))

    @property
    def name(self) -> str:
        return str(self.resource)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A shape whose objects must be looked at before anything is served."""

    shape: CataloguedShape
    reason: Literal["unreadable", "untried"]
    """Whether the scheme has no such kind any more, or the upgrade has yet to be tried."""
    paths: tuple[str, ...] = ()
    """Where values could turn out to be unreadable."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How today's code stands to the catalogued shapes of one resource."""

    kind: StoredKind
    shapes: StoredShapes
    own: CataloguedShape | None
    """The entry of today's shape, None if no object was ever stored in it."""
    older: tuple[CataloguedShape, ...]
    doubts: tuple[Doubt, ...] = ()
    incompatible: tuple[str, ...] = ()
    """Fingerprints of shapes whose code would misread what today's code writes."""
    problems: tuple[str, ...] = ()
    """Mistakes in the declared upgrades."""
    has_other_scope: bool = False
    """Whether objects were last stored namespaced and are cluster-scoped today, or vice versa."""
    given: tuple[str, ...] = ()
    """The accepted paths of this start, in addition to those in the catalogue."""
    catalogued: tuple[CataloguedShape, ...] = field(default=(), repr=False)

    @property
    def is_behind(self) -> bool:
        """Whether newer code has stored objects: today's is an old release, or a rollback."""
        return bool(self.shapes.newer)

    @property
    def must_look(self) -> bool:
        """Whether the objects themselves must be read to know that nothing is lost."""
        return bool(self.doubts) or self.is_first or self.has_other_scope

    @property
    def is_first(self) -> bool:
        """Whether nothing is catalogued: objects from before the catalogue may be of any shape."""
        return not self.catalogued


def judge(
    kind: StoredKind, catalogued: tuple[CataloguedShape, ...], given: tuple[str, ...] = ()
) -> Judgement:
    """Compare today's code with the catalogued shapes of its resource, the oldest first.

    *given* are the paths whose values the operator agrees to lose at this start; those of earlier
    starts are in the catalogue.
    """
    own = next((shape for shape in catalogued if _is_own(shape, kind)), None)
    others = [shape for shape in catalogued if shape is not own]
    accepted = tuple(dict.fromkeys((*(own.accepted if own is not None else ()), *given)))
    newer = [shape for shape in others if _is_newer(shape, own, kind, given)]
    older = tuple(shape for shape in others if shape not in newer)
    doubts: list[Doubt] = []
    incompatible: list[str] = []
    problems: list[str] = []
    for shape in older:
        try:
            upgrade = _upgrade(kind, shape, accepted)
        except NotRegistered:
            if own is None or shape.id not in own.extinct:
                doubts.append(Doubt(shape, "unreadable"))
            continue
        except UpgradeError as error:
            problems.append(f"{kind.name}: {error}")
            continue
        if upgrade.is_incompatible:
            incompatible.append(shape.fingerprint)
        if upgrade.must_be_tried and not _is_proven(shape, own, kind):
            doubts.append(Doubt(shape, "untried", upgrade.doubtful))
    last = own or (others[-1] if others else None)
    return Judgement(
        kind,
        _stored_shapes(kind, catalogued, newer, accepted),
        own,
        older,
        tuple(doubts),
        tuple(incompatible),
        tuple(problems),
        last is not None and last.namespaced != kind.namespaced,
        given,
        catalogued,
    )


def class_of(scheme: Scheme, stored: GroupVersionKind, internal: type[Object]) -> type[Object]:
    """Return the class of stored objects of a resource.

    Raises NotRegistered if the scheme has no such kind, or one that is not converted to *internal*.
    """
    cls = cast(type[Object], scheme.class_of(stored))
    try:
        is_ours = scheme.hub_of(cls) is internal
    except UnknownConversion:
        is_ours = False
    if not is_ours:
        raise NotRegistered(str(stored))
    return cls


def _stored_shapes(
    kind: StoredKind,
    catalogued: tuple[CataloguedShape, ...],
    newer: Collection[CataloguedShape],
    accepted: tuple[str, ...],
) -> StoredShapes:
    first: dict[str, str] = {}
    for shape in catalogued:
        first.setdefault(shape.api_version, shape.fingerprint)
    # The steps of a shape in today's version count, if another version has the same.
    by_version = sorted(catalogued, key=lambda shape: shape.api_version == kind.api_version)
    unlike = {shape.fingerprint for shape in newer} - {kind.tree.fingerprint}
    return StoredShapes(
        trees={shape.fingerprint: shape.tree for shape in catalogued},
        newer=frozenset(unlike),
        first=first,
        # Newer code may have brought a field back that was given up here.
        accepted=tuple(
            path for path in accepted if not any(_gives_up(path, shape, kind) for shape in newer)
        ),
        steps={shape.fingerprint: shape.steps for shape in by_version},
    )


def _is_own(shape: CataloguedShape, kind: StoredKind) -> bool:
    own = kind.gvk
    return (shape.kind, shape.api_version, shape.fingerprint) == (
        own.kind,
        own.api_version,
        kind.tree.fingerprint,
    )


def _is_proven(shape: CataloguedShape, own: CataloguedShape | None, kind: StoredKind) -> bool:
    """Return whether objects of a shape were shown to lose nothing, by the steps of today."""
    return own is not None and shape.id in own.supersedes and own.steps == kind.steps


def _is_newer(
    shape: CataloguedShape,
    own: CataloguedShape | None,
    kind: StoredKind,
    given: tuple[str, ...],
) -> bool:
    """Return whether a shape is one of newer code.

    Code that declares how to upgrade documents of a shape is newer than the shape, also if an older
    release looked the same, as after a field was renamed and renamed back. So is code that is
    started with the consent to lose a field that only the shape has.
    """
    if own is None or shape.age < own.age or any(_gives_up(path, shape, kind) for path in given):
        return False
    try:
        return not _upgrade(kind, shape, ()).is_declared
    except NotRegistered:
        return False
    except UpgradeError:
        return True


def _gives_up(path: str, shape: CataloguedShape, kind: StoredKind) -> bool:
    """Return whether a shape has a field at a path that today's class cannot hold."""
    stored, today = shape.tree.find(path), kind.tree.find(path)
    return stored is not None and (today is None or not can_read(today.type, stored.type))


def matching(paths: Iterable[str], judgement: Judgement) -> tuple[str, ...]:
    """Return the accepted paths that any catalogued shape has and today's class lacks.

    A field may be named as the shape has it, or as it is called after the declared steps.
    """
    return tuple(
        path
        for path in paths
        if any(
            _gives_up(path, shape, judgement.kind) or _loses(path, shape, judgement.kind)
            for shape in judgement.catalogued
        )
    )


def _loses(path: str, shape: CataloguedShape, kind: StoredKind) -> bool:
    try:
        return _upgrade(kind, shape, ()).gives_up(path)
    except (NotRegistered, UpgradeError):
        return False


def _upgrade(
    kind: StoredKind, shape: CataloguedShape, accepted: tuple[str, ...]
) -> DocumentUpgrade:
    scheme = kind.codec.scheme
    stored = GroupVersionKind.from_api_version(shape.api_version, shape.kind)
    cls = class_of(scheme, stored, kind.cls)
    pending = pending_steps(scheme.upgrades(cls), shape.steps)
    steps = (*pending, *(Drop(path) for path in accepted))
    return DocumentUpgrade(cls, shape.tree, steps)
