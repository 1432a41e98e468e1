"""StorageCodec: the internal objects of a scheme as stored bytes, and back.

The head of the stored JSON names the shape in which the object was written (`document_head`).
Objects of today's shape are decoded in one pass. Objects of another shape are upgraded first
(`apimachinery.evolution`). Reading never validates: constraints are for writes. An object that
cannot be decoded is read as far as possible, and says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, cast

import orjson

from apimachinery.codec import (
    CorruptObject,
    dump_json,
    kind_of_document,
    storable_metadata,
    with_type_meta,
)
from apimachinery.document_head import MARKER, form_in_head, stored_form, stored_head
from apimachinery.evolution.document_upgrade import DocumentUpgrade
from apimachinery.evolution.field_tree import field_tree
from apimachinery.evolution.lost_values import lost_fields
from apimachinery.evolution.managed_renames import rename_managed_fields
from apimachinery.evolution.new_defaults import take_fields
from apimachinery.evolution.stored_shapes import ONLY_TODAY, StoredShapes
from apimachinery.evolution.upgrade_steps import Drop
from apimachinery.lenient.lenient_decoding import decode_leniently, salvage
from apimachinery.lenient.lenient_schema import lenient_validator
from apimachinery.meta.types import Object, ObjectMeta, TypeMeta
from apimachinery.model.decoding import DecodeError
from apimachinery.model.model import new_model
from apimachinery.schema import INTERNAL, GroupVersion, GroupVersionKind
from apimachinery.scheme import NotRegistered, Scheme

_Decode: TypeAlias = Callable[..., Any]
EVERYTHING: Final = ""
"""The path of all fields but the metadata."""


class StoredObject(NamedTuple):
    """An object as read from the store, and what of it this code cannot hold."""

    object: Object
    lost: tuple[str, ...] = ()
    """Paths of stored values that today's class has no field for; without indexes and map keys."""
    problem: str = ""
    """Why the object could not be decoded completely; empty if it could."""
    left_out: tuple[str, ...] = ()
    """Paths that could not be decoded; `EVERYTHING` if only the metadata could."""

    @property
    def is_complete(self) -> bool:
        """Whether the object may be written back without losing anything stored."""
        return not self.lost and not self.problem


@dataclass(frozen=True, slots=True)
class _Reader:
    """How documents with one head are read."""

    cls: type[Object]
    is_internal: bool
    upgrade: DocumentUpgrade | None = None
    is_unknown: bool = False
    """Whether the shape is not in the catalogue as far as it was read."""
    misread: tuple[str, ...] = ()
    """Fields that newer code has renamed, removed or re-typed: today's must not write them."""

    @property
    def is_plain(self) -> bool:
        """Whether documents are decoded as they are."""
        return self.upgrade is None and not self.is_unknown


class StorageCodec:
    """Encodes internal objects for storage, and decodes them from any version they are stored in.

    With *version*, the storage version, objects are converted before they are encoded. New fields
    of old objects get the defaults of *defaults_of*, the preferred version.
    """

    def __init__(
        self,
        scheme: Scheme,
        version: GroupVersion | None = None,
        *,
        defaults_of: GroupVersion | None = None,
    ) -> None:
        self.scheme = scheme
        self.shapes: StoredShapes = ONLY_TODAY
        self._version = version
        self._defaults_of = defaults_of
        self._heads: dict[type[Object], bytes] = {}
        """Internal class -> the head of its documents."""
        self._readers: dict[bytes, _Reader] = {}
        self._plain: tuple[bytes, _Decode] | None = None
        """The head of the last plain document of an internal class, and its decoder."""

    def know(self, shapes: StoredShapes) -> None:
        """Use what the catalogue of the store says about older and newer shapes."""
        self.shapes = shapes
        self._readers.clear()
        self._plain = None

    @property
    def storing_changes(self) -> bool:
        """Whether an object that is stored and read may be another than before."""
        return False

    def stored_class(self, cls: type[Object]) -> type[Object]:
        """Return the class in which objects of an internal class are stored."""
        if self._version is None:
            return cls
        kind = next(kind for kind in self.scheme.kinds_of(cls) if kind.version == INTERNAL)
        return cast(type[Object], self.scheme.class_of(self._version.with_kind(kind.kind)))

    def stored_kind(self, cls: type[Object]) -> GroupVersionKind:
        """Return the kind under which objects of an internal class are stored."""
        kind = next(kind for kind in self.scheme.kinds_of(cls) if kind.version == INTERNAL)
        return kind if self._version is None else self._version.with_kind(kind.kind)

    # Encoding

    def encode(self, obj: Object) -> bytes:
        """Encode *obj* without its resourceVersion, which the storage backend assigns."""
        if self._version is not None:
            obj = cast(Object, self.scheme.convert_to_version(obj, self._version))
        values = obj.__dict__
        metadata = values["metadata"]
        storable = storable_metadata(metadata)
        if values["kind"] or values["api_version"] or storable is not metadata:
            obj = with_type_meta(obj, "", "")
            obj.__dict__["metadata"] = storable
        head = self._heads.get(type(obj)) or self._make_head(type(obj))
        data: bytes = obj.__pydantic_serializer__.to_json(obj, by_alias=True)
        return head + data[1:]  # without kind and apiVersion it begins with the metadata

    def _make_head(self, stored: type[Object]) -> bytes:
        kinds = self.scheme.kinds_of(stored)
        if self._version is None:
            kind = next(kind for kind in kinds if kind.version == INTERNAL)
        else:
            kind = next(kind for kind in kinds if kind.group_version == self._version)
        head = self._heads[stored] = stored_head(kind, field_tree(stored).fingerprint)
        return head

    def verbatim_heads(self, cls: type[Object]) -> tuple[bytes, ...]:
        """Return the heads of documents that need no upgrade, today's first."""
        kind, stored = self.stored_kind(cls), self.stored_class(cls)
        own = field_tree(stored).fingerprint
        same = [own]
        for fingerprint, tree in self.shapes.trees.items():
            if fingerprint != own and fingerprint not in self.shapes.newer:
                steps = self.shapes.pending(fingerprint, self.scheme.upgrades(stored))
                upgrade = DocumentUpgrade(stored, tree, steps)
                if self._is_needless(upgrade, stored):
                    same.append(fingerprint)
        heads = [stored_head(kind, fingerprint) for fingerprint in same]
        if self.shapes.first.get(kind.api_version, own) in same:
            heads.append(stored_head(kind))
        return tuple(heads)

    # Decoding

    def is_newer(self, data: bytes) -> bool:
        """Return whether stored bytes are of a shape of newer code."""
        return stored_form(data).shape in self.shapes.newer

    def decode(self, data: bytes) -> Object:
        """Decode stored bytes to the internal object. Raises CorruptObject, NotRegistered."""
        stored = self.read(data)
        if stored.problem:
            raise CorruptObject(f"stored object is not readable: {stored.problem}")
        return stored.object

    def read(self, data: bytes) -> StoredObject:
        """Decode stored bytes to the internal object, as far as possible.

        Raises CorruptObject if not even the kind can be decoded, NotRegistered if it is unknown.
        """
        plain = self._plain
        if plain is not None and data.startswith(plain[0]):
            try:
                obj = plain[1](data, by_alias=True, by_name=False)
            except Exception:  # decoded again below, to find out what is wrong
                pass
            else:
                obj.__dict__["kind"] = obj.__dict__["api_version"] = ""
                return StoredObject(obj)
        reader = self._reader(data)
        if reader.is_plain:
            try:
                return StoredObject(self._to_internal(decode_leniently(reader.cls, data), reader))
            except Exception:
                return self._read_as_far_as_possible(reader, _load(data), ())
        document = _load(data)
        lost: tuple[str, ...] = ()
        try:
            if reader.upgrade is not None:
                lost = self._not_accepted(reader.upgrade.apply(document))
                self._rename_managed_fields(document, reader.upgrade, reader.cls)
                lost = (*lost, *reader.misread)
            else:
                lost = lost_fields(document, reader.cls)
        except Exception as error:  # a function of the group: the failure of this object alone
            return self._metadata_only(reader, _load(data), f"upgrading it failed: {error!r}")
        return self._read_as_far_as_possible(reader, document, lost)

    def _read_as_far_as_possible(
        self, reader: _Reader, document: dict[str, Any], lost: tuple[str, ...]
    ) -> StoredObject:
        problems: tuple[str, ...] = ()
        try:
            obj = decode_leniently(reader.cls, orjson.dumps(document))
        except DecodeError:
            obj, problems = salvage(reader.cls, document)
        try:
            internal = self._to_internal(obj, reader)
            if reader.upgrade is not None and reader.is_internal:
                internal = self._with_new_defaults(internal, reader.upgrade)
        except Exception as error:  # a conversion of the group: the failure of this object alone
            return self._metadata_only(reader, document, f"converting it failed: {error!r}")
        left_out = tuple(problem.partition(": ")[0] for problem in problems)
        return StoredObject(internal, lost, "; ".join(problems), left_out)

    def _not_accepted(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Return the paths whose loss nobody has agreed to."""
        accepted = self.shapes.accepted
        return tuple(
            path
            for path in paths
            if not any(path == other or path.startswith(f"{other}.") for other in accepted)
        )

    def _to_internal(self, obj: Object, reader: _Reader) -> Object:
        if obj.__keeps_unknown__ and obj.__pydantic_extra__:
            obj.__pydantic_extra__.pop(MARKER, None)
        if reader.is_internal:
            obj.__dict__["kind"] = obj.__dict__["api_version"] = ""
            return obj
        self.scheme.default(obj)
        return cast(Object, self.scheme.to_internal(obj))

    def _with_new_defaults(self, obj: Object, upgrade: DocumentUpgrade) -> Object:
        """Set the fields that are new since the object was stored to the version's defaults."""
        version, added = self._defaults_of, upgrade.changes.added
        if version is None or not added:
            return obj
        versioned = self.scheme.convert_to_version(obj.deep_copy(), version)
        if not self.scheme.has_defaults(type(versioned)):
            return obj
        self.scheme.default(versioned)
        defaulted = orjson.loads(dump_json(self.scheme.to_internal(versioned)))
        document = orjson.loads(dump_json(obj))
        if not take_fields(document, defaulted, added, upgrade.today):
            return obj
        return decode_leniently(type(obj), orjson.dumps(document))

    def _metadata_only(
        self, reader: _Reader, document: dict[str, Any], problem: str
    ) -> StoredObject:
        cls = reader.cls if reader.is_internal else cast(type[Object], self._hub(reader.cls))
        return metadata_only(cls, document.get("metadata"), problem)

    def _hub(self, cls: type[TypeMeta]) -> type[TypeMeta]:
        return self.scheme.hub_of(cls)

    def _rename_managed_fields(
        self, document: dict[str, Any], upgrade: DocumentUpgrade, cls: type[Object]
    ) -> None:
        """Follow renames in the managedFields of versions that renamed the field as well."""
        entries = (document.get("metadata") or {}).get("managedFields")
        if not upgrade.renames or not isinstance(entries, list):
            return
        kind = self.scheme.kinds_of(cls)[0].kind
        for entry in entries:
            version = self._version_class(entry.get("apiVersion", ""), kind)
            if version is not None and isinstance(entry.get("fieldsV1"), dict):
                rename_managed_fields(entry["fieldsV1"], field_tree(version), upgrade.renames)

    def _version_class(self, api_version: str, kind: str) -> type[TypeMeta] | None:
        try:
            return self.scheme.class_of(GroupVersionKind.from_api_version(api_version, kind))
        except (ValueError, NotRegistered):
            return None

    def _reader(self, data: bytes) -> _Reader:
        """Return how to read a document; the readers of heads in our own form are cached."""
        head = data[: data.find(b'"metadata"')]
        reader = self._readers.get(head)
        if reader is None:
            form = form_in_head(data)
            if form is not None:
                kind = GroupVersionKind.from_api_version(form.api_version, form.kind)
                reader = self._make_reader(kind, form.shape)
                self._readers[head] = reader
                if reader.is_plain and reader.is_internal and not reader.cls.__keeps_unknown__:
                    self._plain = head, lenient_validator(reader.cls).validate_json
            else:
                marker = _load(data).get(MARKER, "")
                kind = _kind_of(data)
                reader = self._make_reader(kind, marker if isinstance(marker, str) else "")
        return reader

    def _make_reader(self, kind: GroupVersionKind, fingerprint: str) -> _Reader:
        cls = cast(type[Object], self.scheme.class_of(kind))
        is_internal = kind.version == INTERNAL
        own = field_tree(cls).fingerprint
        shapes = self.shapes
        fingerprint = fingerprint or shapes.first.get(kind.api_version, own)
        if fingerprint == own:
            return _Reader(cls, is_internal)
        if fingerprint not in shapes.trees:
            return _Reader(cls, is_internal, is_unknown=True)
        declared = () if fingerprint in shapes.newer else self.scheme.upgrades(cls)
        steps = shapes.pending(fingerprint, declared)
        accepted = [Drop(path) for path in shapes.accepted]
        upgrade = DocumentUpgrade(cls, shapes.trees[fingerprint], (*steps, *accepted))
        if fingerprint in shapes.newer:
            misread = (*upgrade.changes.added, *upgrade.changes.retyped)
            return _Reader(cls, is_internal, upgrade, misread=misread)
        return _Reader(cls, is_internal, None if self._is_needless(upgrade, cls) else upgrade)

    def _is_needless(self, upgrade: DocumentUpgrade, stored: type[Object]) -> bool:
        """Return whether documents are served as they are stored.

        A function may set defaults of new fields, also of those that are omitted when empty.
        """
        if not upgrade.is_needless:
            return False
        return not upgrade.changes.added or not self._has_defaults(stored)

    def _has_defaults(self, stored: type[Object]) -> bool:
        kind = self.scheme.kinds_of(stored)[0]
        if self._version is None and self._defaults_of is not None:
            versioned = self._defaults_of.with_kind(kind.kind)
            return self.scheme.recognizes(versioned) and self.scheme.has_defaults(
                self.scheme.class_of(versioned)
            )
        return self.scheme.has_defaults(stored)


def metadata_only(cls: type[Object], metadata: Any, problem: str) -> StoredObject:
    """Return an object of which only the metadata is known."""
    meta, _ = salvage(ObjectMeta, metadata if isinstance(metadata, dict) else {})
    obj, _ = salvage(cls, {})
    values = {**obj.__dict__, "metadata": meta}
    return StoredObject(new_model(cls, values), problem=problem, left_out=(EVERYTHING,))


def _kind_of(data: bytes) -> GroupVersionKind:
    try:
        return kind_of_document(data)
    except DecodeError as error:
        raise CorruptObject(f"stored object is not readable: {error}") from None


def _load(data: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise CorruptObject(f"stored object is not readable: {error}") from None
    if not isinstance(document, dict):
        raise CorruptObject("stored object is not readable: it is not a JSON object")
    return document
