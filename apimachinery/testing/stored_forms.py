"""Stored forms: assert that every object a project has ever stored can still be read and served.

For every stored kind of a group, a folder has one file per released shape (`recorded_shapes.py`).
Of each file, the documents are read with today's code, upgraded, and encoded in every version.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, cast

from apimachinery.codec import dump_json
from apimachinery.evolution.field_tree import FieldTree, field_tree
from apimachinery.evolution.stored_shapes import StoredShapes
from apimachinery.evolution.upgrade_steps import UpgradeError, pending_steps
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.model.semantic_equality import differences
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import NotRegistered, Scheme
from apimachinery.storage_codec import EVERYTHING, StorageCodec, StoredObject
from apimachinery.testing.recorded_shapes import (
    RecordedShape,
    new_recorded_shape,
    read_recorded_shapes,
)
from apimachinery.testing.sample_objects import INSTANT, complete_object, minimal_object
from apimachinery.testing.shape_changes import describe_changes
from apimachinery.version import sort_versions

VARIABLE: Final = "STORED_FORMS"
"""The environment variable; `STORED_FORMS=update` records new shapes."""


class ServedGroup(Protocol):
    """A group as the server installs it: `apiserver.Group`."""

    @property
    def name(self) -> str: ...
    @property
    def versions(self) -> tuple[str, ...]: ...
    @property
    def resources(self) -> Sequence[Any]: ...
    @property
    def add_to_scheme(self) -> Callable[[Scheme], None]: ...

    def storage_version_of(self, resource: Any, /) -> str: ...


def assert_stored_forms(
    group: ServedGroup | Scheme | Callable[[Scheme], None],
    folder: Path | str,
    *,
    update: bool = False,
) -> None:
    """Raise AssertionError with everything that would not survive in a store.

    *group* is a group, a scheme or a group's `add_to_scheme`; only a group tells its storage
    version. With *update*, or `STORED_FORMS=update` in the environment, today's shapes are recorded
    in *folder* if they are new. Recorded files are never changed or deleted.
    """
    update = update or os.environ.get(VARIABLE) == "update"
    problems: list[str] = []
    kinds = _stored_kinds(group)
    for kind in kinds:
        problems += _KindForms(kind, Path(folder), update).problems()
    problems += _recorded_only(kinds, Path(folder))
    if problems:
        raise AssertionError("\n".join(problems))


@dataclass(frozen=True, slots=True)
class _StoredKind:
    """A kind as today's code stores and serves it."""

    group: str
    cls: type[Object]
    """The internal class."""
    codec: StorageCodec
    versions: tuple[GroupVersion, ...]

    @property
    def name(self) -> str:
        return self.codec.stored_kind(self.cls).kind

    @property
    def api_version(self) -> str:
        return self.codec.stored_kind(self.cls).api_version

    @property
    def stored_class(self) -> type[Object]:
        return self.codec.stored_class(self.cls)

    @property
    def tree(self) -> FieldTree:
        return field_tree(self.stored_class)

    def folder(self, root: Path) -> Path:
        return root / (self.group or "core") / self.name


def _stored_kinds(group: Any) -> list[_StoredKind]:
    if isinstance(group, Scheme):
        return list(_kinds_of_scheme(group))
    scheme = Scheme("stored forms")
    if not hasattr(group, "add_to_scheme"):
        group(scheme)
        return list(_kinds_of_scheme(scheme))
    return list(_kinds_of_group(group, scheme))


def _kinds_of_group(group: ServedGroup, scheme: Scheme) -> Iterator[_StoredKind]:
    resources = [r for r in group.resources if r.is_stored and r.stored_as is None]
    if resources:  # a group that only adds versions to another cannot be registered alone
        group.add_to_scheme(scheme)
    for resource in resources:
        stored = group.storage_version_of(resource)
        version = GroupVersion(group.name, stored) if stored else None
        served = [GroupVersion(group.name, name) for name in group.versions]
        yield _stored_kind(scheme, group.name, resource.cls, served, version)


def _kinds_of_scheme(scheme: Scheme) -> Iterator[_StoredKind]:
    for kind, cls in scheme.all_kinds().items():
        if kind.version == INTERNAL and issubclass(cls, Object):
            group = {
                other.group_version for other in scheme.all_kinds() if other.group == kind.group
            }
            names = sort_versions([v.version for v in group if v.version != INTERNAL])
            yield _stored_kind(
                scheme, kind.group, cls, [GroupVersion(kind.group, name) for name in names], None
            )


def _stored_kind(
    scheme: Scheme,
    group: str,
    cls: type[Object],
    served: list[GroupVersion],
    version: GroupVersion | None,
) -> _StoredKind:
    name = next(kind.kind for kind in scheme.kinds_of(cls) if kind.version == INTERNAL)
    versions = tuple(v for v in served if scheme.recognizes(v.with_kind(name)))
    preferred = versions[0] if versions else None
    codec = StorageCodec(scheme, version, defaults_of=preferred)
    return _StoredKind(group, cls, codec, versions)


class _KindForms:
    """The checks of one kind."""

    def __init__(self, kind: _StoredKind, root: Path, update: bool) -> None:
        self.kind = kind
        self.folder = kind.folder(root)
        self.update = update

    def problems(self) -> Iterator[str]:
        shapes = read_recorded_shapes(self.folder)
        own = next((shape for shape in shapes if self._is_own(shape)), None)
        if own is None and self.update:
            own = self._record(shapes)
            shapes.append(own)
        if own is None:
            yield self._not_recorded(shapes)
        self.kind.codec.know(
            StoredShapes(
                {shape.fingerprint: shape.tree for shape in shapes},
                steps={shape.fingerprint: shape.steps for shape in shapes},
            )
        )
        for shape in shapes:
            for name, data in shape.documents.items():
                where = f"{self.kind.name}: the document {name!r} in {shape.path}"
                yield from self._document_problems(data, where, is_own=shape is own)

    def _is_own(self, shape: RecordedShape) -> bool:
        return (
            shape.fingerprint == self.kind.tree.fingerprint
            and shape.api_version == self.kind.api_version
        )

    def _record(self, older: list[RecordedShape]) -> RecordedShape:
        kind = self.kind
        documents = {
            "complete": self._stored("complete", complete_object(kind.stored_class)),
            "minimal": self._stored("minimal", minimal_object(kind.stored_class)),
        }
        steps = [step.describe() for step in kind.codec.scheme.upgrades(kind.stored_class)]
        shape = new_recorded_shape(
            self.folder, kind.api_version, kind.tree, documents, steps=steps, older=older
        )
        shape.write()
        return shape

    def _stored(self, name: str, obj: Object) -> bytes:
        # The shape does not cover metadata, so a document has little of it.
        obj.metadata = ObjectMeta(name=name, generation=1, creation_timestamp=INSTANT)
        scheme = self.kind.codec.scheme
        if type(obj) is not self.kind.cls:
            scheme.default(obj)
            obj = cast(Object, scheme.to_internal(obj))
        return self.kind.codec.encode(obj)

    def _not_recorded(self, shapes: list[RecordedShape]) -> str:
        kind = self.kind
        how = f"Run the tests with {VARIABLE}=update to record it, and commit the file"
        if not shapes:
            shape = f"its stored shape {kind.tree.fingerprint} is not recorded in {self.folder}"
            return f"{kind.name}: {shape}. {how}"
        newest = shapes[-1]
        steps = pending_steps(kind.codec.scheme.upgrades(kind.stored_class), newest.steps)
        return "\n".join(
            (
                f"{kind.name}: its stored shape has changed since {newest.path}:",
                *describe_changes(kind.stored_class, newest.tree, steps),
                f"  The new shape {kind.tree.fingerprint} is not recorded. {how}",
            )
        )

    def _document_problems(self, data: bytes, where: str, *, is_own: bool) -> Iterator[str]:
        kind = self.kind
        try:
            stored = kind.codec.read(data)
        except (UpgradeError, NotRegistered, ValueError) as error:
            yield f"{where} cannot be read: {error}"
            return
        yield from self._read_problems(stored, where)
        if stored.problem:
            return
        if is_own and kind.codec.encode(stored.object.deep_copy()) != data:
            yield (
                f"{where} is of today's shape, but would be stored as"
                f" {kind.codec.encode(stored.object).decode()}: stores have the recorded form"
            )
        for version in kind.versions:
            yield from self._served_problems(stored.object, version, where)

    def _read_problems(self, stored: StoredObject, where: str) -> Iterator[str]:
        name = self.kind.stored_class.__name__
        for path in stored.lost:
            yield (
                f"{where} has a value at {path}, for which there is no field today. Declare what"
                f" became of it, scheme.add_upgrade({name}, renames={{{path!r}: ...}}) or"
                f" dropped=({path!r},)"
            )
        if not stored.problem:
            return
        paths = [self.kind.tree.declared(path) for path in stored.left_out if path != EVERYTHING]
        functions = ", ".join(f"{path!r}: function" for path in dict.fromkeys(paths))
        hint = (
            f". Declare how it changes, scheme.add_upgrade({name}, retyped={{{functions}}})"
            if functions
            else ""
        )
        yield f"{where} cannot be read: {stored.problem}{hint}"

    def _served_problems(self, obj: Object, version: GroupVersion, where: str) -> Iterator[str]:
        try:
            served = self.kind.codec.scheme.convert_to_version(obj.deep_copy(), version)
            back = decode_leniently(type(served), dump_json(served))
        except Exception as error:  # a conversion of the group may raise anything
            yield f"{where} cannot be served in {version}: {error!r}"
            return
        for path, old, new in differences(served, back):
            yield f"{where}: encoding it in {version} changes {path}: {old!r} became {new!r}"


def _recorded_only(kinds: list[_StoredKind], root: Path) -> Iterator[str]:
    known = {kind.folder(root) for kind in kinds}
    for parent in sorted({folder.parent for folder in known}):
        for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
            if folder.is_dir() and folder not in known and any(folder.glob("*.json")):
                yield (
                    f"{folder.name}: objects of this kind were stored, as {folder} says, and the"
                    " group no longer stores it. Delete the folder if no store has any"
                )
