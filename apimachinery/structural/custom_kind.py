"""CustomKind: a kind that exists because a schema says so, in all its versions.

Its objects are `Unstructured`: typed metadata, and plain JSON beside it. Versions differ in their
schemas alone, and an object goes from one to another by having its apiVersion rewritten; what the
other does not know is dropped. An object stays in the version it was sent in, instead of becoming
an internal one, and is stored in one of the versions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import new_class
from typing import Any, TypeVar, cast

import orjson

from apimachinery.codec import (
    Codec,
    CorruptObject,
    Decoded,
    FieldValidation,
    MissingKind,
    StorageCodec,
    StrictDecodeError,
    UnknownMediaType,
)
from apimachinery.meta.types import Object, ObjectMeta, TypeMeta
from apimachinery.meta.unstructured import Unstructured, load_content
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import Model, deep_copy, new_model
from apimachinery.schema import GroupVersion, GroupVersionKind, InvalidGroupVersion
from apimachinery.scheme import METADATA_LABELS, FieldLabel, Scheme
from apimachinery.serialization.media_types import JSON
from apimachinery.serialization.serializer import SERIALIZERS
from apimachinery.structural.structural_schema import Schema

ModelT = TypeVar("ModelT", bound=Model)

_SHOWN = 200


class CustomResource(Unstructured):
    """An object of a kind that is defined at run time."""


@dataclass(frozen=True)
class CustomKind:
    """One kind with the schemas of its versions."""

    group: str
    kind: str
    schemas: Mapping[str, Schema]
    """Version -> schema."""
    storage_version: str
    selectable: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Version -> the fields that selectors can ask for, as dotted paths."""

    @cached_property
    def classes(self) -> Mapping[str, type[CustomResource]]:
        """Version -> class."""
        return {
            name: _class(self.kind, schema, self.selectable.get(name, ()))
            for name, schema in self.schemas.items()
        }

    def version(self, name: str) -> GroupVersion:
        return GroupVersion(self.group, name)

    def make(self, version: str, metadata: ObjectMeta, content: dict[str, Any]) -> CustomResource:
        """The object of a version; its parts belong to it from then on."""
        values = {
            "kind": self.kind,
            "api_version": str(self.version(version)),
            "metadata": metadata,
        }
        made = new_model(self.classes[version], values)
        made.content.update(content)
        return made

    def translated(self, content: dict[str, Any], *, source: str, target: str) -> dict[str, Any]:
        """The content of an object of one version in another; changed in place."""
        if source != target:
            self.schemas[target].prune(content)
        return content


def _class(kind: str, schema: Schema, selectable: tuple[str, ...]) -> type[CustomResource]:
    made = new_class(kind, (CustomResource,), {"kind": kind}, lambda body: body.update(_BODY))
    # Whoever asks for the shape or the schema of a class finds those of the schema.
    type.__setattr__(made, "__shape_cache__", schema.shape(kind))
    type.__setattr__(made, "__structural__", schema)
    type.__setattr__(made, "__selectable__", selectable)
    return cast(type[CustomResource], made)


_BODY = {"__module__": "custom", "__doc__": None}


class CustomScheme(Scheme):
    """A scheme that knows one custom kind in all its versions."""

    def __init__(self, kind: CustomKind) -> None:
        super().__init__(f"{kind.kind}.{kind.group}")
        self._custom = kind
        self._version_of: dict[type[Any], str] = {}
        for name, cls in kind.classes.items():
            self.add(kind.version(name), cls)
            labels = (*METADATA_LABELS, *kind.selectable.get(name, ()))
            self.add_field_labels(kind.version(name).with_kind(kind.kind), _known(labels))
            self._version_of[cls] = name

    def hub_of(self, cls: type[TypeMeta]) -> type[TypeMeta]:
        return cls

    def default(self, obj: Model) -> None:
        version = self._version_of.get(type(obj))
        if version is not None:
            self._custom.schemas[version].default(cast(CustomResource, obj).content)

    def to_internal(self, obj: TypeMeta) -> TypeMeta:
        return obj

    def convert(self, obj: TypeMeta, target: type[ModelT]) -> ModelT:
        source, wanted = self._version_of.get(type(obj)), self._version_of.get(target)
        if source is None or wanted is None:
            return super().convert(obj, target)
        found = cast(CustomResource, obj)
        content = dict(found.content) if source == wanted else deep_copy(found.content)
        content = self._custom.translated(content, source=source, target=wanted)
        return cast(ModelT, self._custom.make(wanted, found.metadata, content))


def _known(labels: tuple[str, ...]) -> FieldLabel:
    def convert(label: str, value: str) -> tuple[str, str]:
        if label not in labels:
            raise ValueError(f"field label not supported: {label}")
        return label, value

    return convert


class CustomCodec(Codec):
    """Reads and writes the documents of one custom kind: JSON and YAML, and no protobuf."""

    def __init__(self, kind: CustomKind) -> None:
        super().__init__(CustomScheme(kind))
        self._custom = kind

    def in_version(self, obj: TypeMeta, version: GroupVersion | None) -> TypeMeta:
        if version is None or obj.api_version == str(version):
            return obj
        return self.scheme.convert_to_version(obj, version)

    def _decode_text(
        self,
        data: bytes,
        expected: GroupVersionKind | None,
        media_type: str,
        validation: FieldValidation,
    ) -> Decoded:
        serializer = SERIALIZERS.get(media_type)
        if serializer is None:
            raise UnknownMediaType(f"{media_type!r}: accepted media types include: {JSON}")
        strict = validation is not FieldValidation.IGNORE
        document = serializer.read(data, strict)
        content = load_content(document.json)
        kind = _kind_of(content, document.json)
        if kind.group != self._custom.group or kind.version not in self._custom.schemas:
            return Decoded(TypeMeta(), kind)
        obj, unknown = self._read(kind, content)
        problems = (
            *(f'unknown field "{path}"' for path in unknown),
            *(f'duplicate field "{path}"' for path in document.duplicates),
        )
        if problems and validation is FieldValidation.STRICT:
            raise StrictDecodeError(problems)
        warnings = problems if validation is FieldValidation.WARN else ()
        # Another kind is for validation to refuse, by the name of the field.
        return Decoded(obj, kind.group_version.with_kind(self._custom.kind), warnings)

    def _read(
        self, kind: GroupVersionKind, content: dict[str, Any]
    ) -> tuple[CustomResource, list[str]]:
        version = kind.version
        for name in ("apiVersion", "kind"):
            content.pop(name, None)
        metadata, unknown = _metadata(content.pop("metadata", None))
        unknown += self._custom.schemas[version].prune(content)
        obj = self._custom.make(version, metadata, content)
        obj.kind = kind.kind
        return obj, unknown


class CustomStorageCodec(StorageCodec):
    """Writes objects of a custom kind in its storage version, and reads them in *version*."""

    def __init__(self, kind: CustomKind, codec: CustomCodec, version: str) -> None:
        super().__init__(codec.scheme, kind.version(kind.storage_version))
        self._custom = kind
        self._codec = codec
        self._reads = version

    def encode(self, obj: Object) -> bytes:
        stored = cast(Object, self._codec.in_version(obj, self._version))
        metadata = stored.metadata
        if metadata.resource_version or metadata.self_link:
            values = {**metadata.__dict__, "resource_version": "", "self_link": ""}
            cleaned = new_model(type(metadata), values)
            made = new_model(type(stored), {**stored.__dict__, "metadata": cleaned})
            made.content.update(stored.content)  # type: ignore[attr-defined]
            stored = made
        return cast(CustomResource, stored).to_json()

    def decode(self, data: bytes) -> Object:
        document = self.load(data)
        try:
            metadata, _ = _metadata(document.pop("metadata", None))
        except DecodeError as error:
            raise CorruptObject(f"stored object is not readable: {error}") from None
        return self._custom.make(self._reads, metadata, document)

    def load(self, data: bytes) -> dict[str, Any]:
        """What a stored object is in the version of this codec: metadata and content, as JSON."""
        try:
            document = orjson.loads(data)
            api_version = document.pop("apiVersion")
            del document["kind"]
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise CorruptObject(f"stored object is not readable: {error}") from None
        custom = self._custom
        # A version that was dropped after its objects were migrated says nothing any more.
        version = api_version.rpartition("/")[2]
        source = version if version in custom.schemas else custom.storage_version
        schema = custom.schemas[source]
        schema.prune(document)
        schema.default(document)
        return custom.translated(document, source=source, target=self._reads)


def _metadata(value: Any) -> tuple[ObjectMeta, list[str]]:
    if value is None:
        return ObjectMeta(), []
    decoded = decode_json(ObjectMeta, orjson.dumps(value))
    return decoded.object, [f"metadata.{path}" for path in decoded.unknown]


def _kind_of(content: dict[str, Any], data: bytes) -> GroupVersionKind:
    kind, api_version = content.get("kind") or "", content.get("apiVersion") or ""
    if not isinstance(kind, str) or not isinstance(api_version, str):
        raise DecodeError("apiVersion and kind must be strings")
    if not kind:
        shown = data[:_SHOWN].decode(errors="replace")
        raise MissingKind(f"Object 'Kind' is missing in '{shown}'")
    try:
        return GroupVersion.parse(api_version).with_kind(kind)
    except InvalidGroupVersion as error:
        raise DecodeError(str(error)) from None
