"""Server-side apply: a client says what it wants to be true, and owns what it says.

An object that is not there yet is created. What an apply changes is decided by who owns which
field (`apimachinery.apply`); here it meets the store.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from apimachinery.apply import ApplyConflict, ApplyError
from apimachinery.codec import FieldValidation
from apimachinery.errors import APIError, BadRequest, Conflict, Invalid, UnsupportedMediaType
from apimachinery.meta.options import PatchOptions, UpdateOptions
from apimachinery.meta.types import Object
from apimachinery.model.decoding import DecodeError
from apimachinery.model.deprecated_fields import deprecated_uses
from apimachinery.schema import GroupVersionKind, InvalidGroupVersion
from apimachinery.serialization.serializer import read_yaml, yaml_error
from apiserver.context import RequestContext
from apiserver.endpoint import Endpoint, field_validation
from apiserver.handlers.body import warn_of_uses
from apiserver.managed_fields.field_tracking import FieldTracking

Document = dict[str, Any]


async def apply(
    endpoint: Endpoint,
    context: RequestContext,
    body: bytes,
    options: PatchOptions,
    permit: Callable[[str], Awaitable[None]],
) -> tuple[Object, bool]:
    """Bring an object to what *body* says; says whether it had to be created."""
    tracking = endpoint.stored.rules.ownership
    if not isinstance(tracking, FieldTracking):
        raise UnsupportedMediaType.of(endpoint.patch_types[:-1])
    applied = configuration(endpoint.kind, body, field_validation(options), context)
    warn_of_uses(deprecated_uses(applied, endpoint.cls), context)

    def change(current: Object | None) -> Object:
        try:
            document = tracking.apply(context, current, applied, force=bool(options.force))
        except ApplyError as error:
            raise failure(error) from None
        return _decoded(endpoint, document, context)

    async def create() -> Object:
        await permit("create")
        return change(None)

    return await endpoint.stored.update(
        context.name,
        change,
        context,
        UpdateOptions(dry_run=options.dry_run, field_manager=options.field_manager),
        create_if_missing=None if context.subresource else create,
        track=False,
    )


def configuration(
    kind: GroupVersionKind, body: bytes, validation: FieldValidation, context: RequestContext
) -> Document:
    """What a client applies, which must say that it is of that kind."""
    try:
        read = read_yaml(body, True)
    except DecodeError as error:
        raise BadRequest(f"error decoding YAML: {error}") from None
    _judge(read.yaml_messages, validation, context)
    document = orjson.loads(read.json)
    if not isinstance(document, dict):
        raise BadRequest("error decoding YAML: expected an object")
    said = _kind(document)
    if said != kind:
        raise BadRequest(f"invalid object type: {said}")
    return document


def _judge(problems: tuple[str, ...], validation: FieldValidation, context: RequestContext) -> None:
    if validation is FieldValidation.STRICT and problems:
        raise BadRequest(f"error strict decoding YAML: {yaml_error(problems)}")
    if validation is FieldValidation.WARN:
        for text in problems:
            context.warn(text)


def _kind(document: Document) -> GroupVersionKind:
    version, kind = document.get("apiVersion") or "", document.get("kind") or ""
    if not isinstance(version, str) or not isinstance(kind, str):
        raise BadRequest("error decoding YAML: apiVersion and kind must be strings")
    try:
        return GroupVersionKind.from_api_version(version, kind)
    except InvalidGroupVersion as error:
        raise BadRequest(str(error)) from None


def failure(error: ApplyError) -> APIError:
    """What to tell a client that cannot have what it applied."""
    if isinstance(error, ApplyConflict):
        found = [(conflict.message, conflict.field) for conflict in error.conflicts]
        return Conflict.apply(str(error), found)
    return BadRequest(str(error))


def _decoded(endpoint: Endpoint, document: Document, context: RequestContext) -> Object:
    try:
        found = endpoint.codec.decode_internal(orjson.dumps(document), expected=endpoint.kind)
    except DecodeError as error:
        if error.fields:
            kind = endpoint.kind.group_kind
            raise Invalid.of(kind, context.name, error.fields) from None
        raise BadRequest(str(error)) from None
    return found.object  # type: ignore[return-value]
