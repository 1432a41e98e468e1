"""CustomKind: a kind defined by the schemas of its versions, with its scheme and codecs.

Custom resources are `Unstructured`: typed metadata beside plain JSON. Versions differ only in
their schemas. Converting an object to another version sets its apiVersion and prunes it by the
schema of that version. There is no internal version: an object stays in the version of the
request, and is stored in the storage version.
"""

from collections.abc import Mapping
from contextlib import suppress
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
    StrictDecodeError,
    missing_field,
    parse_api_version,
    storable_metadata,
)
from apimachinery.errors import RequestEntityTooLarge
from apimachinery.meta.types import Object, ObjectMeta, TypeMeta
from apimachinery.meta.unstructured import Unstructured, dump_content, load_content
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import Model, deep_copy, new_model
from apimachinery.schema import GroupVersion, GroupVersionKind
from apimachinery.scheme import METADATA_LABELS, FieldLabel, Scheme
from apimachinery.serialization.serializer import Document
from apimachinery.storage_codec import StorageCodec, StoredObject
from apimachinery.structural.defaulting import DefaultsTooLarge
from apimachinery.structural.structural_schema import Schema

ModelT = TypeVar("ModelT", bound=Model)


class NotConverted(Exception):
    """An object is needed in another version, to which only a webhook converts it."""


class CustomResource(Unstructured):
    """An object of a custom kind."""


@dataclass(frozen=True)
class CustomKind:
    """A custom kind with the schemas of its versions."""

    group: str
    kind: str
    schemas: Mapping[str, Schema]
    """Version -> schema."""
    storage_version: str
    selectable: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Version -> the fields that field selectors can select by, as dotted paths."""
    by_webhook: bool = False
    """Whether a webhook converts objects, which nothing in this package can call."""

    @cached_property
    def classes(self) -> Mapping[str, type[CustomResource]]:
        """Version -> class."""
        return {
            name: _build_class(self.kind, schema, self.selectable.get(name, ()))
            for name, schema in self.schemas.items()
        }

    def version(self, name: str) -> GroupVersion:
        return GroupVersion(self.group, name)

    def new_object(
        self, version: str, metadata: ObjectMeta, content: dict[str, Any]
    ) -> CustomResource:
        """Return an object of a version; it takes ownership of *metadata* and *content*."""
        values = {
            "kind": self.kind,
            "api_version": str(self.version(version)),
            "metadata": metadata,
        }
        obj = new_model(self.classes[version], values)
        obj.content.update(content)
        return obj

    def convert_content(
        self, content: dict[str, Any], *, source: str, target: str
    ) -> dict[str, Any]:
        """Convert the content of an object between versions, in place.

        Raises NotConverted if a webhook would have to do that.
        """
        if source != target:
            if self.by_webhook:
                raise NotConverted(f"{self.kind} has to be converted from {source} to {target}")
            self.schemas[target].prune(content)
        return content


def _build_class(kind: str, schema: Schema, selectable: tuple[str, ...]) -> type[CustomResource]:
    cls = new_class(kind, (CustomResource,), {"kind": kind}, lambda body: body.update(_BODY))
    # `shape_of` and `structural_of` read these attributes.
    type.__setattr__(cls, "__shape_cache__", schema.shape(kind))
    type.__setattr__(cls, "__structural__", schema)
    type.__setattr__(cls, "__selectable__", selectable)
    return cast(type[CustomResource], cls)


_BODY = {"__module__": "custom", "__doc__": None}


class CustomScheme(Scheme):
    """The scheme of one custom kind, in all its versions."""

    def __init__(self, kind: CustomKind, *, keep_nulls: bool = False) -> None:
        super().__init__(f"{kind.kind}.{kind.group}")
        self._custom = kind
        self._keep_nulls = keep_nulls
        self._version_of: dict[type[Any], str] = {}
        for name, cls in kind.classes.items():
            self.add(kind.version(name), cls)
            labels = (*METADATA_LABELS, *kind.selectable.get(name, ()))
            self.add_field_labels(kind.version(name).with_kind(kind.kind), _allow_labels(labels))
            self._version_of[cls] = name

    def hub_of(self, cls: type[TypeMeta]) -> type[TypeMeta]:
        return cls

    def default(self, obj: Model) -> None:
        version = self._version_of.get(type(obj))
        if version is None:
            return
        try:
            content = cast(CustomResource, obj).content
            self._custom.schemas[version].default(content, keep_nulls=self._keep_nulls)
        except DefaultsTooLarge as error:
            raise RequestEntityTooLarge(str(error)) from None

    def to_internal(self, obj: TypeMeta) -> TypeMeta:
        return obj

    def convert(self, obj: TypeMeta, target: type[ModelT]) -> ModelT:
        source, version = self._version_of.get(type(obj)), self._version_of.get(target)
        if source is None or version is None:
            return super().convert(obj, target)
        resource = cast(CustomResource, obj)
        content = dict(resource.content) if source == version else deep_copy(resource.content)
        content = self._custom.convert_content(content, source=source, target=version)
        return cast(ModelT, self._custom.new_object(version, resource.metadata, content))


def _allow_labels(labels: tuple[str, ...]) -> FieldLabel:
    def convert(label: str, value: str) -> tuple[str, str]:
        if label not in labels:
            raise ValueError(f"field label not supported: {label}")
        return label, value

    return convert


class CustomCodec(Codec):
    """Decodes and encodes the documents of one custom kind, as JSON and YAML only."""

    def __init__(self, kind: CustomKind, *, keep_nulls: bool = False) -> None:
        super().__init__(CustomScheme(kind, keep_nulls=keep_nulls))
        self._custom = kind

    @cached_property
    def for_apply(self) -> "CustomCodec":
        return CustomCodec(self._custom, keep_nulls=True)

    def in_version(self, obj: TypeMeta, version: GroupVersion | None) -> TypeMeta:
        if version is None or obj.api_version == str(version):
            return obj
        return self.scheme.convert_to_version(obj, version)

    def _decode_document(
        self,
        document: Document,
        expected: GroupVersionKind | None,
        validation: FieldValidation,
    ) -> Decoded:
        content = load_content(document.json)
        kind = _kind_of(content, document.json)
        if kind.group != self._custom.group or kind.version not in self._custom.schemas:
            return Decoded(TypeMeta(), kind)
        obj, unknown = self._build_object(kind, content)
        problems = (
            *(f'unknown field "{path}"' for path in unknown),
            *(f'duplicate field "{path}"' for path in document.duplicates),
        )
        if problems and validation is FieldValidation.STRICT:
            raise StrictDecodeError(problems)
        warnings = problems if validation is FieldValidation.WARN else ()
        # Validation rejects a different kind, with an error that names the field.
        return Decoded(obj, kind.group_version.with_kind(self._custom.kind), warnings)

    def _build_object(
        self, kind: GroupVersionKind, content: dict[str, Any]
    ) -> tuple[CustomResource, list[str]]:
        version = kind.version
        for name in ("apiVersion", "kind"):
            content.pop(name, None)
        metadata, unknown = _decode_metadata(content.pop("metadata", None))
        unknown += self._custom.schemas[version].prune(content)
        obj = self._custom.new_object(version, metadata, content)
        obj.kind = kind.kind
        return obj, unknown


class CustomStorageCodec(StorageCodec):
    """Encodes objects of a custom kind in its storage version, and decodes them to *version*."""

    def __init__(self, kind: CustomKind, codec: CustomCodec, version: str) -> None:
        super().__init__(codec.scheme, kind.version(kind.storage_version))
        self._custom = kind
        self._codec = codec
        self._decoded_version = version

    @property
    def storing_changes(self) -> bool:
        """The storage version may have defaults that the version of the request has not."""
        return self._decoded_version != self._custom.storage_version

    def encode(self, obj: Object) -> bytes:
        # What a webhook converts is stored in its own version if nobody converts the bytes.
        version = None if self._custom.by_webhook else self._version
        stored = cast(CustomResource, self._codec.in_version(obj, version))
        metadata = storable_metadata(stored.metadata)
        # The object may be the caller's own, which must not be changed.
        if metadata is not stored.metadata:
            copy = new_model(type(stored), {**stored.__dict__, "metadata": metadata})
            copy.content.update(stored.content)
            stored = copy
        return stored.to_json()

    def read(self, data: bytes) -> StoredObject:
        """Decode a stored object; there are no shapes, because the schema is in the store, too."""
        return StoredObject(self.decode(data))

    def decode(self, data: bytes) -> Object:
        document = self.load(data)
        try:
            metadata, _ = _decode_metadata(document.pop("metadata", None))
        except DecodeError as error:
            raise CorruptObject(f"stored object is not readable: {error}") from None
        return self._custom.new_object(self._decoded_version, metadata, document)

    def load(self, data: bytes) -> dict[str, Any]:
        """Decode a stored object to the JSON of its metadata and content, in *version*."""
        version, document = self.load_stored(data)
        source = version if version in self._custom.schemas else self._custom.storage_version
        return self._custom.convert_content(document, source=source, target=self._decoded_version)

    def load_stored(self, data: bytes) -> tuple[str, dict[str, Any]]:
        """Return the version of a stored object, and the JSON of its metadata and content in it."""
        try:
            document = orjson.loads(data)
            api_version = document.pop("apiVersion")
            del document["kind"]
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise CorruptObject(f"stored object is not readable: {error}") from None
        custom = self._custom
        # A version that the definition no longer has: decode by the schema of the storage version.
        version = str(api_version).rpartition("/")[2]
        source = version if version in custom.schemas else custom.storage_version
        schema = custom.schemas[source]
        schema.prune(document)
        # An object may have been stored before its defaults became too large: it lacks some then.
        with suppress(DefaultsTooLarge):
            schema.default(document)
        return version, document


class ConvertedCodec(CustomStorageCodec):
    """Decodes documents that a webhook has converted to *version*: they get no defaults."""

    def load(self, data: bytes) -> dict[str, Any]:
        document: dict[str, Any] = orjson.loads(data)
        del document["apiVersion"], document["kind"]
        return document


def _decode_metadata(value: Any) -> tuple[ObjectMeta, list[str]]:
    if value is None:
        return ObjectMeta(), []
    decoded = decode_json(ObjectMeta, dump_content(value))
    return decoded.object, [f"metadata.{path}" for path in decoded.unknown]


def _kind_of(content: dict[str, Any], data: bytes) -> GroupVersionKind:
    kind, api_version = content.get("kind") or "", content.get("apiVersion") or ""
    if not isinstance(kind, str) or not isinstance(api_version, str):
        raise DecodeError("apiVersion and kind must be strings")
    if not kind:
        raise missing_field("Kind", data)
    return parse_api_version(api_version).with_kind(kind)
