"""Codec: decode, default and convert the documents of a scheme, and encode objects.

Objects change version in two places. On the wire (`Codec`) a document names its kind and version;
it is decoded, gets that version's defaults and is converted to the internal class. In storage
(`apimachinery.storage_codec`) the internal object is encoded as it is, under the version
`__internal`, or converted to the storage version of its group.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from pydantic import ValidationError

from apimachinery.conversion.converted_values import refusing_invalid_values
from apimachinery.fieldpath import FieldError
from apimachinery.lenient.constraint_errors import stored_errors
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.types import ObjectMeta, TypeMeta
from apimachinery.meta.unstructured import Unstructured, UnstructuredList
from apimachinery.model.decoding import (
    DecodedModel,
    DecodeError,
    decode_json,
    load_json,
    to_decode_error,
    unknown_fields,
)
from apimachinery.model.model import Model, new_model
from apimachinery.model.strict_decoding import strict_decoding_problems
from apimachinery.schema import GroupVersion, GroupVersionKind, InvalidGroupVersion
from apimachinery.scheme import Scheme
from apimachinery.serialization.document_size import MAX_BYTES, TooLarge
from apimachinery.serialization.media_types import JSON, PROTOBUF
from apimachinery.serialization.serializer import SERIALIZERS, Document, yaml_error

if TYPE_CHECKING:
    from apimachinery.protobuf import ProtobufCodec

ObjectT = TypeVar("ObjectT", bound=TypeMeta)


class FieldValidation(StrEnum):
    """How the server treats unknown and duplicate fields of a document."""

    STRICT = "Strict"
    WARN = "Warn"
    IGNORE = "Ignore"


class StrictDecodeError(DecodeError):
    """A document with unknown or duplicate fields, in strict validation."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("strict decoding error: " + ", ".join(problems))
        self.problems = problems


class UnrecognizedKind(DecodeError):
    """A document whose kind and apiVersion cannot be read."""


class MissingKind(UnrecognizedKind):
    """A document without a kind or an apiVersion."""


class UnreadableKind(DecodeError):
    """A document whose kind or apiVersion is not a string."""


class CorruptObject(DecodeError):
    """Stored bytes that cannot be decoded as an object."""


class UnknownMediaType(DecodeError):
    """A media type without a serializer, or one that this kind does not support."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded document: an object of the class of its kind and version."""

    object: TypeMeta
    kind: GroupVersionKind
    warnings: tuple[str, ...] = ()
    """Unknown and duplicate fields, if the validation is `Warn`."""
    errors: tuple[FieldError, ...] = ()
    """The values that break constraints, after a lenient decoding."""


class Codec:
    """Decodes and encodes the documents of a scheme."""

    def __init__(self, scheme: Scheme, *, max_bytes: int = MAX_BYTES) -> None:
        self.scheme = scheme
        self.max_bytes = max_bytes

    @cached_property
    def protobuf(self) -> "ProtobufCodec":
        # Imported on first use: clients use JSON and need not load the protobuf library.
        from apimachinery.protobuf import ProtobufCodec

        return ProtobufCodec()

    @cached_property
    def for_apply(self) -> "Codec":
        """The codec of documents that server-side apply has merged: their nulls are values."""
        return self

    def decode(
        self,
        data: bytes,
        *,
        expected: GroupVersionKind | None = None,
        media_type: str = JSON,
        validation: FieldValidation = FieldValidation.IGNORE,
        may_repeat_keys: bool = True,
    ) -> Decoded:
        """Decode a document and apply the defaults of its version.

        *expected* supplies a kind or version that the document omits. The document may name
        another kind: the caller checks `Decoded.kind`. A document that was encoded here repeats no
        key (*may_repeat_keys*). Raises DecodeError, NotRegistered.
        """
        if len(data) > self.max_bytes:
            raise TooLarge(self.max_bytes)
        decoded = (
            self._decode_protobuf(data, expected)
            if media_type == PROTOBUF
            else self._decode_text(data, expected, media_type, validation, may_repeat_keys)
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
        lenient: bool = False,
        may_repeat_keys: bool = True,
    ) -> Decoded:
        """Decode a document like `decode` and convert it to its internal class.

        `Decoded.kind` is still the kind of the document. If *lenient*, values that break
        constraints are kept, and `Decoded.errors` has their errors. Raises DecodeError,
        NotRegistered.
        """
        try:
            decoded = self.decode(
                data,
                expected=expected,
                media_type=media_type,
                validation=validation,
                may_repeat_keys=may_repeat_keys,
            )
        except DecodeError as refused:
            if not lenient or not refused.fields:
                raise
            return self._decode_refused(data, expected, media_type, validation, refused)
        if self.scheme.is_internal(type(decoded.object)):
            # It has just been decoded, and nobody else has it: there is no need for a copy.
            values = decoded.object.__dict__
            if "api_version" in values:
                values["kind"] = values["api_version"] = ""
            return decoded
        try:
            with refusing_invalid_values():
                internal = self.scheme.to_internal(decoded.object)
        except ValidationError as error:
            cls = type(decoded.object)
            raise to_decode_error(cls, error.errors(include_url=False)) from None
        return Decoded(internal, decoded.kind, decoded.warnings)

    def stored_errors(self, obj: TypeMeta, version: GroupVersion) -> tuple[FieldError, ...]:
        """Return the errors of a stored object by the constraints of *version*."""
        versioned = self.in_version(obj, version)
        return stored_errors(type(versioned), dump_json(versioned))

    def encode(
        self,
        obj: TypeMeta,
        version: GroupVersion | None = None,
        *,
        media_type: str = JSON,
        pretty: bool = False,
    ) -> bytes:
        """Encode *obj* in *version* (None: the version of its class), with kind and apiVersion.

        Raises UnknownMediaType.
        """
        versioned = self.in_version(obj, version)
        if media_type == PROTOBUF:
            return self.protobuf.encode(
                versioned, api_version=versioned.api_version, kind=versioned.kind
            )
        serializer = SERIALIZERS.get(media_type)
        if serializer is None:
            raise UnknownMediaType(f"{media_type!r}: {_accepted_media_types()}")
        data = dump_json(versioned)
        return serializer.write_pretty(data) if pretty else serializer.write(data)

    def in_version(self, obj: TypeMeta, version: GroupVersion | None) -> TypeMeta:
        """Return *obj* in *version*, with kind and apiVersion set; *obj* is not changed."""
        if isinstance(obj, Unstructured | UnstructuredList):
            return obj
        if version is not None:
            return self.scheme.convert_to_version(obj, version)
        kind = self.scheme.kind_of(obj)
        if obj.kind == kind.kind and obj.api_version == kind.api_version:
            return obj
        return with_type_meta(obj, kind.kind, kind.api_version)

    def _decode_text(
        self,
        data: bytes,
        expected: GroupVersionKind | None,
        media_type: str,
        validation: FieldValidation,
        may_repeat_keys: bool,
    ) -> Decoded:
        serializer = SERIALIZERS.get(media_type)
        if serializer is None:
            raise UnknownMediaType(f"{media_type!r}: {_accepted_media_types()}")
        find_duplicates = may_repeat_keys and validation is not FieldValidation.IGNORE
        document = serializer.read(data, find_duplicates)
        return self._decode_document(document, expected, validation)

    def _decode_document(
        self,
        document: Document,
        expected: GroupVersionKind | None,
        validation: FieldValidation,
    ) -> Decoded:
        find_unknown = validation is not FieldValidation.IGNORE
        kind, decoded = self._decode_kind(document.json, expected, find_unknown=find_unknown)
        return self._report_problems(document, kind, decoded, validation)

    def _decode_refused(
        self,
        data: bytes,
        expected: GroupVersionKind | None,
        media_type: str,
        validation: FieldValidation,
        refused: DecodeError,
    ) -> Decoded:
        """Decode a document to its internal class that was *refused* because of its values."""
        try:
            if media_type == PROTOBUF:
                decoded = self._decode_protobuf(data, expected, lenient=True)
            else:
                decoded = self._decode_text_leniently(data, expected, media_type, validation)
            self.scheme.default(decoded.object)
            internal = self.scheme.to_internal(decoded.object)
        except StrictDecodeError:
            raise
        except Exception:
            # Defaults and conversions are written for valid values: they may raise anything.
            raise refused from None
        return Decoded(internal, decoded.kind, decoded.warnings, refused.fields)

    def _decode_text_leniently(
        self,
        data: bytes,
        expected: GroupVersionKind | None,
        media_type: str,
        validation: FieldValidation,
    ) -> Decoded:
        find_unknown = validation is not FieldValidation.IGNORE
        document = SERIALIZERS[media_type].read(data, find_unknown)
        kind = _kind_of(document.json, expected)
        cls = self.scheme.class_of(kind)
        if issubclass(cls, Unstructured):
            raise TypeError("the content of an unstructured object has no constraints")
        unknown = unknown_fields(load_json(document.json), cls) if find_unknown else ()
        decoded = DecodedModel(decode_leniently(cls, document.json), tuple(unknown))
        return self._report_problems(document, kind, decoded, validation)

    def _report_problems(
        self,
        document: Document,
        kind: GroupVersionKind,
        decoded: DecodedModel[TypeMeta],
        validation: FieldValidation,
    ) -> Decoded:
        """Raise StrictDecodeError for unknown and duplicate fields, or return them as warnings."""
        if not decoded.unknown and not document.duplicates:
            return Decoded(decoded.object, kind)
        problems = strict_decoding_problems(document.json, type(decoded.object))
        yaml_messages = document.yaml_messages
        if validation is FieldValidation.STRICT:
            raise StrictDecodeError(
                (yaml_error(yaml_messages), *problems) if yaml_messages else problems
            )
        return Decoded(decoded.object, kind, (*yaml_messages, *problems))

    def _decode_kind(
        self, data: bytes, expected: GroupVersionKind | None, *, find_unknown: bool
    ) -> tuple[GroupVersionKind, DecodedModel[TypeMeta]]:
        """Decode as *expected*, and again in the rare case that the document names another kind."""
        if expected is not None:
            try:
                decoded = decode_json(
                    self.scheme.class_of(expected), data, find_unknown=find_unknown
                )
                if _declared_kind(decoded.object, expected) == expected:
                    return expected, decoded
            except DecodeError:
                if _kind_of(data, expected) == expected:
                    raise
        kind = _kind_of(data, expected)
        return kind, decode_json(self.scheme.class_of(kind), data, find_unknown=find_unknown)

    def _decode_protobuf(
        self, data: bytes, expected: GroupVersionKind | None, *, lenient: bool = False
    ) -> Decoded:
        from apimachinery.protobuf import InvalidProtobuf

        try:
            envelope = self.protobuf.read_envelope(data)
        except InvalidProtobuf as error:
            raise DecodeError(str(error)) from None
        kind = _complete_kind(envelope.api_version, envelope.kind, expected, data)
        cls = self.scheme.class_of(kind)
        if not self.protobuf.supports(cls):
            raise UnknownMediaType(f"{kind} has no protobuf form: send {JSON}")
        try:
            return Decoded(self.protobuf.decode(cls, envelope.raw, lenient=lenient), kind)
        except InvalidProtobuf as error:
            raise DecodeError(str(error)) from None
        except ValidationError as error:
            raise to_decode_error(cls, error.errors(include_url=False)) from None


def dump_json(obj: Model) -> bytes:
    """Return the canonical compact JSON of a Model."""
    if isinstance(obj, Unstructured):
        return obj.to_json()
    data: bytes = obj.__pydantic_serializer__.to_json(obj, by_alias=True)
    return data


def storable_metadata(metadata: ObjectMeta) -> ObjectMeta:
    """Return *metadata* without resourceVersion and selfLink, which are not stored.

    Returns the same instance if both are empty.
    """
    if not metadata.resource_version and not metadata.self_link:
        return metadata
    values = {**metadata.__dict__, "resource_version": "", "self_link": ""}
    return new_model(type(metadata), values)


def kind_of_document(data: bytes) -> GroupVersionKind:
    """Return the kind that a JSON document declares. Raises DecodeError."""
    return _kind_of(data, None)


def _kind_of(data: bytes, expected: GroupVersionKind | None) -> GroupVersionKind:
    try:
        type_meta = decode_json(TypeMeta, data, find_unknown=False).object
    except DecodeError as error:
        raise UnreadableKind(str(error)) from None
    return _complete_kind(type_meta.api_version, type_meta.kind, expected, data)


def _declared_kind(obj: TypeMeta, expected: GroupVersionKind) -> GroupVersionKind:
    """Return the kind that a decoded document declares; *expected* fills in what it omits."""
    kind, api_version = obj.kind, obj.api_version
    if kind in ("", expected.kind) and api_version in ("", expected.api_version):
        return expected
    return _complete_kind(api_version, kind, expected, b"")


def _complete_kind(
    api_version: str, kind: str, expected: GroupVersionKind | None, data: bytes
) -> GroupVersionKind:
    if expected is None:
        if not kind:
            raise missing_field("Kind", data)
        if not api_version:
            raise missing_field("apiVersion", data)
        version = parse_api_version(api_version)
    else:
        version = parse_api_version(api_version) if api_version else expected.group_version
    return version.with_kind(kind or cast(GroupVersionKind, expected).kind)


def missing_field(name: str, data: bytes) -> MissingKind:
    """Return the error for a document without kind or apiVersion."""
    return MissingKind(f"Object '{name}' is missing in '{data[:200].decode(errors='replace')}'")


def parse_api_version(api_version: str) -> GroupVersion:
    """Parse the apiVersion of a document; raise UnrecognizedKind if it is malformed."""
    try:
        return GroupVersion.parse(api_version)
    except InvalidGroupVersion as error:
        raise UnrecognizedKind(str(error)) from None


def with_type_meta(obj: ObjectT, kind: str, api_version: str) -> ObjectT:
    """Return a shallow copy of *obj* with another kind and apiVersion."""
    values = {**obj.__dict__, "kind": kind, "api_version": api_version}
    copy = new_model(type(obj), values)
    if obj.__keeps_unknown__:
        object.__setattr__(copy, "__pydantic_extra__", obj.__pydantic_extra__)
    return copy


def _accepted_media_types() -> str:
    return "accepted media types include: " + ", ".join((*SERIALIZERS, PROTOBUF))
