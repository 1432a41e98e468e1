"""Codec: bytes -> decode -> default -> convert, and back, for every kind of a scheme.

Versions exist at two doors. At the wire (`Codec`) a document names its kind and version, gets that
version's defaults and becomes the internal object. At the store (`StorageCodec`) the internal
object is written as it is, under the version `__internal`, or in a version the group has chosen.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from pydantic import ValidationError

from apimachinery.meta.types import Object, TypeMeta
from apimachinery.meta.unstructured import Unstructured, UnstructuredList
from apimachinery.model.decoding import DecodedModel, DecodeError, complaint, decode_json
from apimachinery.model.model import Model, new_model
from apimachinery.model.strict_decoding import problems_of
from apimachinery.schema import INTERNAL, GroupVersion, GroupVersionKind, InvalidGroupVersion
from apimachinery.scheme import Scheme
from apimachinery.serialization.media_types import JSON, PROTOBUF
from apimachinery.serialization.serializer import MAX_BYTES, SERIALIZERS, yaml_complaint

if TYPE_CHECKING:
    from apimachinery.protobuf import ProtobufCodec

ObjectT = TypeVar("ObjectT", bound=TypeMeta)


class FieldValidation(StrEnum):
    """What to do about fields that a document has and its kind has not, or has twice."""

    STRICT = "Strict"
    WARN = "Warn"
    IGNORE = "Ignore"


class StrictDecodeError(DecodeError):
    """Every unknown and repeated field of a document, when that is an error."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("strict decoding error: " + ", ".join(problems))
        self.problems = problems


class MissingKind(DecodeError):
    """A document that does not say which kind, or which version, it is."""


class TooLarge(DecodeError):
    """A document of more bytes than are read."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"Request entity too large: limit is {limit}")
        self.limit = limit


class CorruptObject(DecodeError):
    """Stored bytes that are not an object any more."""


class UnknownMediaType(DecodeError):
    """A media type for which there is no serializer, or none for this kind."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A document as an object of the class of its kind and version."""

    object: TypeMeta
    kind: GroupVersionKind
    warnings: tuple[str, ...] = ()
    """Unknown and repeated fields, when they are to be warned of."""


class Codec:
    """Reads and writes the documents of a scheme."""

    def __init__(self, scheme: Scheme, *, max_bytes: int = MAX_BYTES) -> None:
        self.scheme = scheme
        self.max_bytes = max_bytes

    @cached_property
    def protobuf(self) -> "ProtobufCodec":
        # Imported on first use: clients read and write JSON and need not load protobuf.
        from apimachinery.protobuf import ProtobufCodec

        return ProtobufCodec()

    def decode(
        self,
        data: bytes,
        *,
        expected: GroupVersionKind | None = None,
        media_type: str = JSON,
        validation: FieldValidation = FieldValidation.IGNORE,
    ) -> Decoded:
        """Read a document and apply its version's defaults.

        A kind or version that the document leaves out is taken from *expected*; that it may name
        others is for the caller to judge by `Decoded.kind`. Raises DecodeError, NotRegistered.
        """
        if len(data) > self.max_bytes:
            raise TooLarge(self.max_bytes)
        decoded = (
            self._decode_protobuf(data, expected)
            if media_type == PROTOBUF
            else self._decode_text(data, expected, media_type, validation)
        )
        self.scheme.default(decoded.object)
        return decoded

    def decode_internal(
        self,
        data: bytes,
        *,
        expected: GroupVersionKind | None = None,
        media_type: str = JSON,
        validation: FieldValidation = FieldValidation.IGNORE,
    ) -> Decoded:
        """Read a document and convert it to its internal form; the kind stays the document's."""
        found = self.decode(data, expected=expected, media_type=media_type, validation=validation)
        return Decoded(self.scheme.to_internal(found.object), found.kind, found.warnings)

    def encode(
        self,
        obj: TypeMeta,
        version: GroupVersion | None = None,
        *,
        media_type: str = JSON,
        pretty: bool = False,
    ) -> bytes:
        """Write *obj* in *version* (its own when None), with kind and apiVersion."""
        written = self.in_version(obj, version)
        if media_type == PROTOBUF:
            return self.protobuf.encode(written, api_version=written.api_version, kind=written.kind)
        serializer = SERIALIZERS.get(media_type)
        if serializer is None:
            raise UnknownMediaType(f"{media_type!r}: {_accepted()}")
        data = dump_json(written)
        return serializer.write_pretty(data) if pretty else serializer.write(data)

    def in_version(self, obj: TypeMeta, version: GroupVersion | None) -> TypeMeta:
        """*obj* in *version*, with kind and apiVersion set; the object itself is not changed."""
        if isinstance(obj, Unstructured | UnstructuredList):
            return obj
        if version is not None:
            return self.scheme.convert_to_version(obj, version)
        kind = self.scheme.kind_of(obj)
        if obj.kind == kind.kind and obj.api_version == kind.api_version:
            return obj
        return _typed(obj, kind.kind, kind.api_version)

    def _decode_text(
        self,
        data: bytes,
        expected: GroupVersionKind | None,
        media_type: str,
        validation: FieldValidation,
    ) -> Decoded:
        serializer = SERIALIZERS.get(media_type)
        if serializer is None:
            raise UnknownMediaType(f"{media_type!r}: {_accepted()}")
        strict = validation is not FieldValidation.IGNORE
        document = serializer.read(data, strict)
        kind, decoded = self._decode_as_said(document.json, expected, find_unknown=strict)
        if not decoded.unknown and not document.duplicates:
            return Decoded(decoded.object, kind)
        problems = problems_of(document.json, type(decoded.object))
        said = document.complaints
        if validation is FieldValidation.STRICT:
            raise StrictDecodeError((yaml_complaint(said), *problems) if said else problems)
        return Decoded(decoded.object, kind, (*said, *problems))

    def _decode_as_said(
        self, data: bytes, expected: GroupVersionKind | None, *, find_unknown: bool
    ) -> tuple[GroupVersionKind, DecodedModel[TypeMeta]]:
        """Decode as *expected*, and again in the rare case that the document is something else."""
        if expected is not None:
            try:
                decoded = decode_json(
                    self.scheme.class_of(expected), data, find_unknown=find_unknown
                )
                if _said(decoded.object, expected) == expected:
                    return expected, decoded
            except DecodeError:
                if _kind_of(data, expected) == expected:
                    raise
        kind = _kind_of(data, expected)
        return kind, decode_json(self.scheme.class_of(kind), data, find_unknown=find_unknown)

    def _decode_protobuf(self, data: bytes, expected: GroupVersionKind | None) -> Decoded:
        from apimachinery.protobuf import InvalidProtobuf

        try:
            envelope = self.protobuf.read_envelope(data)
        except InvalidProtobuf as error:
            raise DecodeError(str(error)) from None
        kind = _filled(envelope.api_version, envelope.kind, expected, data)
        cls = self.scheme.class_of(kind)
        if not self.protobuf.supports(cls):
            raise UnknownMediaType(f"{kind} has no protobuf form: send {JSON}")
        try:
            return Decoded(self.protobuf.decode(cls, envelope.raw), kind)
        except InvalidProtobuf as error:
            raise DecodeError(str(error)) from None
        except ValidationError as error:
            raise complaint(cls, error.errors(include_url=False)) from None


class StorageCodec:
    """Writes internal objects for the store and reads them back, whatever version they are in."""

    def __init__(self, scheme: Scheme, version: GroupVersion | None = None) -> None:
        self.scheme = scheme
        self._version = version
        self._classes: dict[bytes, tuple[type[TypeMeta], bool]] = {}

    def encode(self, obj: Object) -> bytes:
        """The bytes to store: without resourceVersion, which is the store's own to give."""
        kind = next(k for k in self.scheme.kinds_of(obj) if k.version == INTERNAL)
        if self._version is not None:
            stored = cast(Object, self.scheme.convert_to_version(obj, self._version))
        else:
            stored = _typed(obj, kind.kind, kind.api_version)
        metadata = stored.metadata
        if metadata.resource_version or metadata.self_link:
            values = {**metadata.__dict__, "resource_version": "", "self_link": ""}
            stored.__dict__["metadata"] = new_model(type(metadata), values)
        return dump_json(stored)

    def decode(self, data: bytes) -> Object:
        """The internal object of stored bytes; defaults of the version it was stored in apply."""
        try:
            cls, internal = self._class(data)
            obj = cls.model_validate_json(data, by_alias=True, by_name=False)
        except (DecodeError, ValidationError) as error:
            raise CorruptObject(f"stored object is not readable: {error}") from None
        if internal:
            obj.__dict__["kind"] = obj.__dict__["api_version"] = ""
            return cast(Object, obj)
        self.scheme.default(obj)
        return cast(Object, self.scheme.to_internal(obj))

    def _class(self, data: bytes) -> tuple[type[TypeMeta], bool]:
        """The class of stored bytes, and whether it is the internal one.

        What this codec wrote begins with the kind and version, so equal beginnings are equal
        kinds and nothing has to be parsed to know them.
        """
        start = data[: data.find(b'"', data.find(b'"apiVersion":"') + 14)]
        found = self._classes.get(start)
        if found is None:
            kind = _kind_of(data, None)
            found = (self.scheme.class_of(kind), kind.version == INTERNAL)
            if start.startswith(b'{"kind":"') and start.count(b'"') == 7:
                self._classes[start] = found
        return found


def dump_json(obj: Model) -> bytes:
    """The canonical compact JSON of a Model."""
    if isinstance(obj, Unstructured):
        return obj.to_json()
    data: bytes = obj.__pydantic_serializer__.to_json(obj, by_alias=True)
    return data


def _kind_of(data: bytes, expected: GroupVersionKind | None) -> GroupVersionKind:
    named = decode_json(TypeMeta, data, find_unknown=False).object
    return _filled(named.api_version, named.kind, expected, data)


def _said(obj: TypeMeta, expected: GroupVersionKind) -> GroupVersionKind:
    """The kind a decoded document says it is; what it does not say is as expected."""
    if not obj.kind and not obj.api_version:
        return expected
    return _filled(obj.api_version, obj.kind, expected, b"")


def _filled(
    api_version: str, kind: str, expected: GroupVersionKind | None, data: bytes
) -> GroupVersionKind:
    if expected is None:
        shown = data[:200].decode(errors="replace")
        if not kind:
            raise MissingKind(f"Object 'Kind' is missing in '{shown}'")
        if not api_version:
            raise MissingKind(f"Object 'apiVersion' is missing in '{shown}'")
        version = _parsed(api_version)
    else:
        version = _parsed(api_version) if api_version else expected.group_version
    return version.with_kind(kind or cast(GroupVersionKind, expected).kind)


def _parsed(api_version: str) -> GroupVersion:
    try:
        return GroupVersion.parse(api_version)
    except InvalidGroupVersion as error:
        raise DecodeError(str(error)) from None


def _typed(obj: ObjectT, kind: str, api_version: str) -> ObjectT:
    values = {**obj.__dict__, "kind": kind, "api_version": api_version}
    return new_model(type(obj), values)


def _accepted() -> str:
    return "accepted media types include: " + ", ".join((*SERIALIZERS, PROTOBUF))
