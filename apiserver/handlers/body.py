"""Bodies: from the bytes of a request to an internal object, or to the words why not.

The codec knows what is wrong with a document; here is what a client is told of it. The texts are
Kubernetes' own, because people search for them.
"""

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
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.deprecated_fields import DeprecatedUses, deprecated_uses, has_deprecated
from apimachinery.protobuf import InvalidProtobuf
from apimachinery.schema import GroupKind, GroupVersionKind
from apimachinery.scheme import NotRegistered
from apimachinery.serialization.media_types import JSON, PROTOBUF
from apimachinery.serialization.serializer import SERIALIZERS
from apiserver.context import RequestContext
from apiserver.endpoint import Endpoint
from apiserver.http.negotiation import ALL_TYPES, body_media_type
from apiserver.http.response import exchange_of, protobuf_codec

_SHOWN = 30


async def read_body(req: Request) -> bytes:
    """The whole body of a request."""
    return await exchange_of(req).read_body(length=req.get_header("content-length"))


def content_type(req: Request) -> str:
    return req.get_header("content-type") or ""


def decode_body(
    endpoint: Endpoint,
    data: bytes,
    header: str,
    *,
    validation: FieldValidation,
    context: RequestContext,
    expected: GroupVersionKind | None = None,
) -> Object:
    """The internal object that a body describes; what is only to be warned of goes to *context*."""
    wanted = expected or endpoint.kind
    media_type = body_media_type(header, endpoint.media_types)
    if media_type == JSON and data.strip() == b"null":
        data = b"{}"
    try:
        found = endpoint.codec.decode_internal(
            data, expected=wanted, media_type=media_type, validation=validation
        )
    except (DecodeError, NotRegistered, ValueError) as error:
        if isinstance(error, DecodeError) and error.fields:
            also = _metadata_errors(endpoint, data, media_type, context)
            error = DecodeError(str(error), (*also, *error.fields))
        raise decode_failure(error, data, wanted, media_type) from None
    check_kind(found.kind, wanted)
    for text in found.warnings:
        context.warn(text)
    if has_deprecated(endpoint.cls):
        _warn_of_uses(endpoint, data, media_type, context)
    return with_reset(found.object)  # type: ignore[arg-type]


def _metadata_errors(
    endpoint: Endpoint, data: bytes, media_type: str, context: RequestContext
) -> Iterator[FieldError]:
    """What is wrong with the metadata of a new object whose other values are wrong.

    They can be told at once. The rules of a group can not: they are about values of their types.
    """
    if context.verb != "create" or endpoint.store is None or media_type == PROTOBUF:
        return
    document = orjson.loads(SERIALIZERS[media_type].read(data, False).json)
    given = orjson.dumps(document.get("metadata") or {})
    try:
        metadata = decode_json(ObjectMeta, given, find_unknown=False).object
    except DecodeError:
        return  # the errors that are known are about it
    rules = endpoint.stored.rules
    metadata.namespace = rules.namespace_of(context)
    metadata.name = metadata.name or metadata.generate_name
    yield from validate_object_meta(
        metadata, namespaced=rules.namespaced, name_rule=rules.name_errors
    )


def warn_of_uses(
    uses: DeprecatedUses, context: RequestContext, before: DeprecatedUses | None = None
) -> None:
    """Warn of deprecated fields, unless they were the same *before* or are not written to."""
    for path, (value, text) in uses.items():
        if context.subresource == "status" and not path.startswith("status."):
            continue
        if before is None or path not in before or before[path][0] != value:
            context.warn(text)


def _warn_of_uses(
    endpoint: Endpoint, data: bytes, media_type: str, context: RequestContext
) -> None:
    if media_type == PROTOBUF:
        versioned = endpoint.codec.decode(data, expected=endpoint.kind, media_type=media_type)
        document = dump_json(versioned.object)
    else:
        document = SERIALIZERS[media_type].read(data, False).json
    warn_of_uses(deprecated_uses(orjson.loads(document), endpoint.cls), context)


def with_reset(obj: Object) -> Object:
    """*obj*, in which `managedFields: []` has become `[{}]`.

    Both ask for all owners to be forgotten, and an empty list cannot be told from none any more
    once the object is an object.
    """
    metadata = obj.metadata
    if not metadata.managed_fields and "managed_fields" in metadata.model_fields_set:
        metadata.managed_fields = [ManagedFieldsEntry()]
    return obj


def check_kind(found: GroupVersionKind, wanted: GroupVersionKind) -> None:
    """Raise BadRequest for a document of another kind, or of another version, than the URL's."""
    if found == wanted:
        return
    if found.group_version != wanted.group_version:
        raise BadRequest(
            f"the API version in the data ({found.group_version}) does not match the expected API"
            f" version ({wanted.group_version})"
        )
    package = wanted.group.partition(".")[0] or "core"
    raise BadRequest(
        f'{found.kind} in version "{found.version}" cannot be handled as a {wanted.kind}:'
        f" converting ({found.version}.{found.kind}) to ({package}.{wanted.kind}):"
        " unknown conversion"
    )


def decode_failure(
    error: Exception, data: bytes, wanted: GroupVersionKind, media_type: str
) -> APIError:
    """What to tell a client whose body could not be read."""
    match error:
        case codec.MissingKind():
            return BadRequest(
                f"the object provided is unrecognized (must be of type {wanted.kind}): {error}"
                f" ({_summary(data)})"
            )
        case codec.TooLarge():
            return RequestEntityTooLarge.of(error.limit)
        case codec.UnknownMediaType():
            return Unsupported(str(error))
        case DecodeError(fields=fields) if fields:
            return Invalid.of(
                GroupKind(wanted.group, wanted.kind), _name_in(data, media_type), fields
            )
    said = _said(data, media_type)
    if said is None:
        problem = str(error) if data else "unexpected end of JSON input"
        if media_type != PROTOBUF:
            problem = f"couldn't get version/kind; json parse error: {problem}"
        return BadRequest(
            f"the object provided is unrecognized (must be of type {wanted.kind}): {problem}"
            f" ({_summary(data)})"
        )
    version, kind = said
    return BadRequest(
        f'{kind or wanted.kind} in version "{version or wanted.version}" cannot be handled as a'
        f" {wanted.kind}: {error}"
    )


async def delete_options(req: Request) -> DeleteOptions | None:
    """The options in the body of a deletion, None when it has no body."""
    data = await read_body(req)
    if not data:
        return None
    media_type = body_media_type(content_type(req), ALL_TYPES)
    try:
        options = _decode_options(data, media_type)
    except (DecodeError, InvalidProtobuf, ValueError) as error:
        wanted = GroupVersionKind("", "v1", "DeleteOptions")
        raise decode_failure(error, data, wanted, media_type) from None
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


def _said(data: bytes, media_type: str) -> tuple[str, str] | None:
    """The version and kind that a document names; None if it is none at all."""
    if media_type == PROTOBUF:
        return None
    try:
        document = SERIALIZERS[media_type].read(data, False).json
        orjson.loads(document)
        named = decode_json(TypeMeta, document, find_unknown=False).object
    except ValueError:
        return None
    return named.api_version.rpartition("/")[2], named.kind


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
    more = " ..." if len(data) > _SHOWN else ""
    if data.startswith(b"{"):
        return data[:_SHOWN].decode("utf-8", "replace") + more
    return data[:_SHOWN].hex() + more
