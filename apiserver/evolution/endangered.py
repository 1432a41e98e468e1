"""Endangered objects: read the objects of older shapes and find the values that would be lost."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson

from apimachinery.codec import kind_of_document
from apimachinery.document_head import stored_form
from apimachinery.evolution.lost_values import lost_fields
from apimachinery.model.decoding import DecodeError
from apimachinery.schema import GroupVersionKind
from apimachinery.scheme import NotRegistered
from apimachinery.storage_codec import EVERYTHING
from apiserver.evolution.judgement import Judgement
from apiserver.storage.interface import Backend, Record
from apiserver.storage.keys import object_name
from apiserver.storage.record_reading import read_record
from apiserver.storage.stored_resources import prefix_of, records_below


@dataclass(slots=True)
class Danger:
    """A path at which stored objects have values that today's class cannot hold."""

    path: str
    is_mistyped: bool
    """Whether the field exists and its values cannot be read, instead of having no field."""
    objects: int = 0
    example: str = ""
    reason: str = ""

    def describe(self, resource: str, kind: str) -> str:
        """Return the danger as a sentence that says what to write."""
        is_one = self.objects == 1
        count = "1 stored object" if is_one else f"{self.objects} stored objects"
        have = "has" if is_one else "have"
        accept = f"or accept the loss with --accept-field-loss {resource}/{self.path}"
        if self.path == EVERYTHING:
            return (
                f"{resource}: nothing but the metadata of {count} can be read, such as"
                f" {self.example}: {self.reason}"
            )
        if self.is_mistyped:
            return (
                f"{resource}: {count} {have} a value at {self.path} that cannot be read as the type"
                f" of today, such as {self.example} ({self.reason}). Declare how it changes,"
                f" scheme.add_upgrade({kind}, retyped={{{self.path!r}: function}}), {accept}"
            )
        return (
            f"{resource}: the field {self.path} is gone, and {count} {have} a value there, such as"
            f" {self.example}. Declare what became of it,"
            f" scheme.add_upgrade({kind}, renames={{{self.path!r}: ...}}) or"
            f" dropped=({self.path!r},), {accept}"
        )


@dataclass(slots=True)
class Dangers:
    """The dangers found so far, by path."""

    found: dict[tuple[str, bool], Danger] = field(default_factory=dict)

    def add(self, path: str, record: Record, *, is_mistyped: bool, reason: str = "") -> None:
        """Count one object that has a value at *path*."""
        danger = self.found.setdefault((path, is_mistyped), Danger(path, is_mistyped))
        danger.objects += 1
        danger.example = danger.example or object_name(record.key)
        danger.reason = danger.reason or reason


async def find_dangers(backend: Backend, judgement: Judgement) -> list[Danger]:
    """Read the objects of unproven shapes and return what would be lost of them."""
    kind, dangers = judgement.kind, Dangers()
    kind.codec.know(judgement.shapes)
    unreadable = {shape.fingerprint for shape in judgement.unreadable}
    async for record in records_below(backend, prefix_of(kind.resource)):
        form = stored_form(record.value)
        fingerprint = form.shape or judgement.shapes.first.get(form.api_version, "")
        endangered = judgement.unproven.get(fingerprint)
        if endangered is None and fingerprint not in unreadable and not judgement.is_first:
            continue
        if not _is_document(record.value):
            continue  # no code could read it before either
        stored = read_record(kind.codec, kind.cls, record)
        lost = (*stored.lost, *undeclared_values(record, judgement))
        for path in {path for path in lost if path not in judgement.shapes.accepted}:
            dangers.add(path, record, is_mistyped=False)
        for path in {kind.tree.declared(path) for path in stored.left_out}:
            # Objects that could not be read before either are not today's fault.
            if fingerprint in unreadable or _is_among(path, endangered or ()):
                dangers.add(path, record, is_mistyped=True, reason=stored.problem)
    return sorted(dangers.found.values(), key=lambda danger: danger.path)


def undeclared_values(record: Record, judgement: Judgement) -> Iterable[str]:
    """Return the paths of an object from before the catalogue that today's class has no field for.

    Such an object names no shape, and counts as one of the first shape that is catalogued.
    """
    form = stored_form(record.value)
    if form.shape or form.api_version in judgement.shapes.first:
        return ()
    kind = GroupVersionKind.from_api_version(form.api_version, form.kind)
    try:
        cls = judgement.kind.codec.scheme.class_of(kind)
    except NotRegistered:
        return ()
    return lost_fields(orjson.loads(record.value), cls)


def _is_document(value: bytes) -> bool:
    try:
        kind_of_document(value)
    except DecodeError:
        return False
    return True


def _is_among(path: str, endangered: tuple[str, ...]) -> bool:
    return path == EVERYTHING or any(
        path == other or path.startswith(f"{other}.") or other.startswith(f"{path}.")
        for other in endangered
    )
