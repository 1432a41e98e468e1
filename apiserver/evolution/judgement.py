"""Judgement: what the shapes in a store mean for the code that is about to serve them.

Of one resource, from the catalogue alone: which shapes are older and which newer than today's, and
which fields of older ones could hold values that today's class cannot. Whether objects really have
such values is then looked up in the store (`endangered.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from apimachinery.evolution.document_upgrade import DocumentUpgrade
from apimachinery.evolution.field_tree import FieldTree, field_tree
from apimachinery.evolution.stored_shapes import StoredShapes
from apimachinery.evolution.upgrade_steps import Drop, UpgradeError, pending_steps
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource, GroupVersionKind
from apimachinery.scheme import NotRegistered
from apimachinery.storage_codec import StorageCodec
from apiserver.evolution.catalogue import CataloguedShape


@dataclass(frozen=True, slots=True)
class StoredKind:
    """A resource as today's code stores it."""

    resource: GroupResource
    cls: type[Object]
    """The internal class."""
    codec: StorageCodec

    @property
    def stored_class(self) -> type[Object]:
        return self.codec.stored_class(self.cls)

    @property
    def api_version(self) -> str:
        return self.codec.stored_kind(self.cls).api_version

    @property
    def tree(self) -> FieldTree:
        return field_tree(self.stored_class)

    @property
    def name(self) -> str:
        return str(self.resource)


@dataclass(frozen=True, slots=True)
class Judgement:
    """How today's code stands to the catalogued shapes of one resource."""

    kind: StoredKind
    shapes: StoredShapes
    own: CataloguedShape | None
    """The entry of today's shape, None if no object was ever stored in it."""
    older: tuple[CataloguedShape, ...]
    unproven: Mapping[str, tuple[str, ...]]
    """Fingerprint -> endangered paths, of older shapes not yet shown to lose nothing."""
    unreadable: tuple[CataloguedShape, ...]
    """Shapes of a version that the scheme no longer has."""
    incompatible: tuple[str, ...]
    """Fingerprints of shapes whose code would misread what today's code writes."""
    problems: tuple[str, ...] = ()
    """Mistakes in the declared upgrades."""

    @property
    def is_behind(self) -> bool:
        """Whether newer code has stored objects: today's is an old release, or a rollback."""
        return bool(self.shapes.newer)

    @property
    def must_look(self) -> bool:
        """Whether the objects themselves must be read to know that nothing is lost."""
        return bool(self.unproven or self.unreadable) or self.is_first

    @property
    def is_first(self) -> bool:
        """Whether nothing is catalogued: objects from before the catalogue may be of any shape."""
        return not self.shapes.trees


def judge(
    kind: StoredKind, catalogued: tuple[CataloguedShape, ...], accepted: tuple[str, ...] = ()
) -> Judgement:
    """Compare today's code with the catalogued shapes of its resource, the oldest first.

    *accepted* are the paths whose values the operator has agreed to lose. With any, today's code
    counts as the newest, also if newer code has served the store before.
    """
    own = next((shape for shape in catalogued if shape.fingerprint == kind.tree.fingerprint), None)
    others = [shape for shape in catalogued if shape is not own]
    newer = [shape for shape in others if not accepted and _is_newer(shape, own, kind)]
    older = tuple(shape for shape in others if shape not in newer)
    first: dict[str, str] = {}
    for shape in catalogued:
        first.setdefault(shape.api_version, shape.fingerprint)
    shapes = StoredShapes(
        trees={shape.fingerprint: shape.tree for shape in catalogued},
        newer=frozenset(shape.fingerprint for shape in newer),
        first=first,
        accepted=accepted,
        steps={shape.fingerprint: shape.steps for shape in catalogued},
    )
    unproven: dict[str, tuple[str, ...]] = {}
    unreadable: list[CataloguedShape] = []
    incompatible: list[str] = []
    problems: list[str] = []
    proven = own.supersedes if own is not None else ()
    for shape in older:
        try:
            upgrade = _upgrade(kind, shape, accepted)
        except NotRegistered:
            unreadable.append(shape)
            continue
        except UpgradeError as error:
            problems.append(f"{kind.name}: {error}")
            continue
        if upgrade.is_incompatible:
            incompatible.append(shape.fingerprint)
        if upgrade.changes.endangered and shape.fingerprint not in proven:
            unproven[shape.fingerprint] = upgrade.changes.endangered
    return Judgement(
        kind,
        shapes,
        own,
        older,
        unproven,
        tuple(shape for shape in unreadable if shape.fingerprint not in proven),
        tuple(incompatible),
        tuple(problems),
    )


def _is_newer(shape: CataloguedShape, own: CataloguedShape | None, kind: StoredKind) -> bool:
    """Return whether a shape is one of newer code.

    Code that declares how to upgrade documents of a shape is newer than the shape, also if an older
    release looked the same, as after a field was renamed and renamed back.
    """
    if own is None or shape.generation <= own.generation:
        return False
    try:
        return not _upgrade(kind, shape, ()).is_declared
    except (NotRegistered, UpgradeError):
        return True


def _upgrade(
    kind: StoredKind, shape: CataloguedShape, accepted: tuple[str, ...]
) -> DocumentUpgrade:
    scheme = kind.codec.scheme
    own = kind.codec.stored_kind(kind.cls)
    stored = GroupVersionKind.from_api_version(shape.api_version, own.kind)
    cls = scheme.class_of(stored)
    pending = pending_steps(scheme.upgrades(cls), shape.steps)
    steps = (*pending, *(Drop(path) for path in accepted))
    return DocumentUpgrade(cls, shape.tree, steps)
