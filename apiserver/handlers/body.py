"""Request bodies: decode them into internal objects, and report errors in Kubernetes' words.

The codec detects the errors of a document; this module turns them into a response. The messages
are those of Kubernetes, because users search for them.
"""

import json
from collections.abc import Iterator

import orjson
from falcon.asgi import Request

from apimachinery import codec
from apimachinery.codec import FieldValidation, dump_json
from apimachinery.errors import APIError, BadRequest, Invalid, RequestEntityTooLarge
from apimachinery.errors import UnsupportedMediaType as Unsupported
from apimachinery.fieldpath import FieldError
from apimachinery.meta.metadata_validation import validate_object_meta
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import ManagedFieldsEntry, Object, ObjectMeta, TypeMeta
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError, decode_json, load_json
from apimachinery.model.deprecated_fields import DeprecatedUses, deprecated_uses, has_deprecated
from apimachinery.protobuf import InvalidProtobuf
from apimachinery.schema import GroupKind, GroupVersionKind
from apimachinery.scheme import NotRegistered
from apimachinery.serialization.document_size import TooLarge
from apimachinery.serialization.go_json import parse_error, with_valid_utf8
from apimachinery.serialization.media_types import JSON, PROTOBUF
from apimachinery.serialization.serializer import SERIALIZERS
from apiserver.context import RequestContext
from apiserver.endpoint import Endpoint
from apiserver.http.negotiation import ALL_TYPES, body_media_type
from apiserver.http.response import exchange_of, protobuf_codec
from apiserver.registry.object_update import Draft

_SUMMARY_LENGTH = 30


async def read_body(req: Request) -> bytes:
    """Read the whole body of a request."""
    return await exchange_of(req).read_body(length=req.get_header("content-length"))


def content_type(req: Request) -> str:
    return req.get_header("content-type") or ""


async def decode_body(
    endpoint: Endpoint,
    data: bytes,
    header: str,
    *,
    validation: FieldValidation,
    context: RequestContext,
    expected: GroupVersionKind | None = None,
    older_versions: tuple[str, ...] = (),
) -> Object:
    """Decode a body into an internal object, and add warnings about it to *context*.

    *older_versions* are those of the expected kind that are accepted as well. Raises BadRequest for
    a malformed document, Invalid for values that their fields refuse.
    """
    kind = expected or endpoint.kind
    decoded = await _decode(endpoint, data, header, validation, context, kind, lenient=False)
    if decoded.kind.group_kind != kind.group_kind or decoded.kind.version not in older_versions:
        check_kind(decoded.kind, kind, converts=not issubclass(endpoint.cls, Unstructured))
    return mark_reset(decoded.object)  # type: ignore[arg-type]


async def decode_update(
    endpoint: Endpoint,
    data: bytes,
    header: str,
    *,
    validation: FieldValidation,
    context: RequestContext,
) -> Object | Draft[Object]:
    """Decode the body of an update like `decode_body`; refused values make the object a draft."""
    kind = endpoint.kind
    decoded = await _decode(endpoint, data, header, validation, context, kind, lenient=True)
    check_kind(decoded.kind, kind, converts=not issubclass(endpoint.cls, Unstructured))
    return updated_object(endpoint, decoded)


def updated_object(endpoint: Endpoint, decoded: codec.Decoded) -> Object | Draft[Object]:
    """Return the decoded object of an update, as a draft if fields refuse some of its values."""
    obj = mark_reset(decoded.object)  # type: ignore[arg-type]
    if not decoded.errors:
        return obj
    version = endpoint.version
    return Draft(
        obj, decoded.errors, lambda current: endpoint.codec.stored_errors(current, version)
    )


def valid_object(
    endpoint: Endpoint, new: Object | Draft[Object], current: Object | None, *, name: str
) -> Object:
    """Return the object of a draft. Raises Invalid for values that *current* does not have."""
    if not isinstance(new, Draft):
        return new
    errors = new.errors if current is None else new.new_errors(current)
    if errors:
        raise Invalid.of(endpoint.kind.group_kind, name, errors)
    return new.object


async def _decode(
    endpoint: Endpoint,
    data: bytes,
    header: str,
    validation: FieldValidation,
    context: RequestContext,
    kind: GroupVersionKind,
    *,
    lenient: bool,
) -> codec.Decoded:
    media_type = body_media_type(header, endpoint.media_types)
    workload = context.workload
    workload.add(data, media_type)
    return await workload.run(
        _decode_as, endpoint, data, media_type, validation, context, kind, lenient=lenient
    )


def _decode_as(
    endpoint: Endpoint,
    data: bytes,
    media_type: str,
    validation: FieldValidation,
    context: RequestContext,
    kind: GroupVersionKind,
    *,
    lenient: bool,
) -> codec.Decoded:
    if media_type == JSON:
        data = b"{}" if data.strip() == b"null" else with_valid_utf8(data)
    try:
        decoded = endpoint.codec.decode_internal(
            data, expected=kind, media_type=media_type, validation=validation, lenient=lenient
        )
    except (DecodeError, NotRegistered, ValueError) as error:
        if isinstance(error, DecodeError) and error.fields:
            metadata_errors = _metadata_errors(endpoint, data, media_type, context)
            error = DecodeError(str(error), (*metadata_errors, *error.fields))
        raise decode_failure(error, data, kind, media_type) from None
    for text in decoded.warnings:
        context.warn(text)
    if has_deprecated(endpoint.cls):
        _warn_of_deprecated(endpoint, data, media_type, context)
    return decoded


def _metadata_errors(
    endpoint: Endpoint, data: bytes, media_type: str, context: RequestContext
) -> Iterator[FieldError]:
    """Validate the metadata of a new object whose other values could not be decoded.

    Metadata errors can be reported together with those. The errors of a strategy cannot, because
    validation needs the decoded object.
    """
    if context.verb != "create" or endpoint.store is None or media_type == PROTOBUF:
        return
    document = load_json(SERIALIZERS[media_type].read(data, False).json)
    encoded = json.dumps(document.get("metadata") or {})
    try:
        metadata = decode_json(ObjectMeta, encoded, find_unknown=False).object
    except DecodeError:
        return  # the decoding errors already cover the metadata
    rules = endpoint.stored.rules
    metadata.namespace = rules.namespace_of(context)
    metadata.name = metadata.name or metadata.generate_name
    yield from validate_object_meta(
        metadata, namespaced=rules.namespaced, name_rule=rules.name_errors
    )


def warn_of_deprecated(
    uses: DeprecatedUses, context: RequestContext, before: DeprecatedUses | None = None
) -> None:
    """Warn of deprecated fields, except of unchanged ones and of those the write ignores."""
    for path, (value, text) in uses.items():
        if context.subresource == "status" and not path.startswith("status."):
            continue
        if before is None or path not in before or before[path][0] != value:
            context.warn(text)


def _warn_of_deprecated(
    endpoint: Endpoint, data: bytes, media_type: str, context: RequestContext
) -> None:
    if media_type == PROTOBUF:
        versioned = endpoint.codec.decode(data, expected=endpoint.kind, media_type=media_type)
        document = dump_json(versioned.object)
    else:
        document = SERIALIZERS[media_type].read(data, False).json
    # Not by orjson, which refuses numbers that unknown fields may have.
    warn_of_deprecated(deprecated_uses(load_json(document), endpoint.cls), context)


def mark_reset(obj: Object) -> Object:
    """Replace `managedFields: []` by `[{}]` in *obj*, and return it.

    Both forms reset ownership, but once decoded an empty list looks like a missing one.
    """
    metadata = obj.metadata
    if not metadata.managed_fields and "managed_fields" in metadata.model_fields_set:
        metadata.managed_fields = [ManagedFieldsEntry()]
    return obj


def check_kind(
    kind: GroupVersionKind, expected: GroupVersionKind, *, converts: bool = True
) -> None:
    """Raise BadRequest for a document of another kind, or of another version, than the URL's.

    Kubernetes converts a document before it compares the versions, except for a custom resource.
    """
    if kind == expected:
        return
    is_version = kind.group_kind == expected.group_kind or not converts
    if is_version and kind.group_version != expected.group_version:
        raise BadRequest(
            f"the API version in the data ({kind.group_version}) does not match the expected API"
            f" version ({expected.group_version})"
        )
    raise BadRequest(
        f'{kind.kind} in version "{kind.version}" cannot be handled as a {expected.kind}:'
        f" {unknown_conversion(kind, expected)}"
    )


def unknown_conversion(kind: GroupVersionKind, expected: GroupVersionKind) -> str:
    """Return why a document of *kind* cannot become the *expected* kind, whatever its version."""
    package = expected.group.partition(".")[0] or "core"
    return (
        f"converting ({kind.version}.{kind.kind}) to ({package}.{expected.kind}):"
        " unknown conversion"
    )


def decode_failure(
    error: Exception, data: bytes, expected: GroupVersionKind, media_type: str
) -> APIError:
    """Return the error for a body that could not be decoded."""
    match error:
        case codec.UnrecognizedKind():
            return BadRequest(
                f"the object provided is unrecognized (must be of type {expected.kind}): {error}"
                f" ({_summary(data)})"
            )
        case TooLarge():
            return RequestEntityTooLarge(str(error))
        case codec.UnknownMediaType():
            return Unsupported(str(error))
        case DecodeError(fields=fields) if fields:
            return Invalid.of(
                GroupKind(expected.group, expected.kind), _name_in(data, media_type), fields
            )
    declared = _declared_kind(data, media_type)
    if declared is None:
        return BadRequest(
            f"the object provided is unrecognized (must be of type {expected.kind}):"
            f" {_parse_problem(error, data, media_type)} ({_summary(data)})"
        )
    version, kind = declared
    return BadRequest(
        f'{kind or expected.kind} in version "{version or expected.version}" cannot be handled as a'
        f" {expected.kind}: {error.problem if isinstance(error, NotRegistered) else error}"
    )


def _parse_problem(error: Exception, data: bytes, media_type: str) -> str:
    """Return why the kind of a body could not be read, in the words of Go's decoder."""
    if media_type == PROTOBUF:
        return str(error)
    if media_type == JSON:
        problem = parse_error(data)
    else:
        try:
            problem = parse_error(SERIALIZERS[media_type].read(data, False).json)
        except ValueError as yaml_error:
            return str(yaml_error)
    return f"couldn't get version/kind; json parse error: {problem or error}"


async def delete_options(req: Request) -> DeleteOptions | None:
    """Decode the options in the body of a deletion; return None if it has no body."""
    data = await read_body(req)
    if not data:
        return None
    media_type = body_media_type(content_type(req), ALL_TYPES)
    workload = exchange_of(req).workload
    workload.add(data, media_type)
    try:
        options = await workload.run(_decode_options, data, media_type)
    except (DecodeError, InvalidProtobuf, ValueError) as error:
        kind = GroupVersionKind("", "v1", "DeleteOptions")
        raise decode_failure(error, data, kind, media_type) from None
    if options.kind not in ("", "DeleteOptions"):
        raise BadRequest(f"decoded object cannot be converted to DeleteOptions: {options.kind}")
    return options


def _decode_options(data: bytes, media_type: str) -> DeleteOptions:
    if media_type == PROTOBUF:
        protobuf = protobuf_codec()
        envelope = protobuf.read_envelope(data)
        return protobuf.decode(
            DeleteOptions, envelope.raw, api_version=envelope.api_version, kind=envelope.kind
        )
    document = SERIALIZERS[media_type].read(data, False)
    if document.json.strip() == b"null":
        return DeleteOptions()
    return decode_json(DeleteOptions, document.json, find_unknown=False).object


def _declared_kind(data: bytes, media_type: str) -> tuple[str, str] | None:
    """Return the version and kind that a document declares, None if it cannot be parsed."""
    if media_type == PROTOBUF:
        return None
    try:
        document = SERIALIZERS[media_type].read(data, False).json
        orjson.loads(document)
        declared = decode_json(TypeMeta, document, find_unknown=False).object
    except ValueError:
        return None
    return declared.api_version.rpartition("/")[2], declared.kind


def _name_in(data: bytes, media_type: str) -> str:
    if media_type == PROTOBUF:
        return ""
    try:
        name = orjson.loads(SERIALIZERS[media_type].read(data, False).json)["metadata"]["name"]
    except (ValueError, KeyError, TypeError):
        return ""
    return name if isinstance(name, str) else ""


def _summary(data: bytes) -> str:
    if not data:
        return "<empty>"
    more = " ..." if len(data) > _SUMMARY_LENGTH else ""
    if data.startswith(b"{"):
        return data[:_SUMMARY_LENGTH].decode("utf-8", "replace") + more
    return data[:_SUMMARY_LENGTH].hex() + more
