"""PATCH: a change of an object instead of a new one.

A patch is applied to the object in the version of the URL, and then it is an update like any other.
If somebody else was faster it is applied again to what they have made of the object: a patch does
not conflict unless it names the resourceVersion it is meant for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from falcon.asgi import Request, Response

from apimachinery.codec import FieldValidation, StrictDecodeError
from apimachinery.errors import (
    APIError,
    BadRequest,
    Invalid,
    RequestEntityTooLarge,
    UnsupportedMediaType,
)
from apimachinery.fieldpath import Path, invalid
from apimachinery.mediatype import parse_media_type
from apimachinery.meta.decode import DecodeError
from apimachinery.meta.options import PatchOptions, UpdateOptions
from apimachinery.meta.options_validation import check, validate_patch_options
from apimachinery.meta.parameters import load
from apimachinery.meta.shape import StructShape
from apimachinery.meta.types import Object
from apimachinery.patch import json_patch, merge_patch, strategic
from apimachinery.patch.errors import MalformedPatch, PatchError, PatchTooLarge
from apimachinery.schema import GroupKind
from apimachinery.scheme import NotRegistered
from apimachinery.serializer import read_json
from apiserver.context import Context
from apiserver.decoding import check_kind, content_type, read_body
from apiserver.endpoint import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    Endpoint,
    field_validation,
)
from apiserver.handlers.answer import agree, write_object
from apiserver.handlers.apply import apply
from apiserver.negotiation import PLAIN
from apiserver.request import Query
from apiserver.response import exchange_of

Document = Any
Change = Callable[[Document], Document]


async def patch(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Change an object and answer with it."""
    exchange = exchange_of(req)
    agree(req, endpoint)
    media_type = patch_type(content_type(req), endpoint.patch_types)
    options = patch_options(exchange.query, apply=media_type == APPLY_PATCH)
    context = endpoint.write_context(exchange, options)
    body = await read_body(req)
    if media_type == APPLY_PATCH:
        written, created = await apply(endpoint, context, body, options, exchange.permit)
    else:
        validation = field_validation(options)
        change = read_patch(media_type, body, endpoint.shape, validation, context)
        patched = Patched(endpoint, change, validation, context)
        update = update_options(options)
        written, created = await endpoint.stored.update(context.name, patched, context, update)
    code = 201 if created else 200
    write_object(endpoint, req, resp, written, code=code, stored=context.stored)


def patch_type(header: str, known: tuple[str, ...]) -> str:
    """The format of a patch by its Content-Type, or UnsupportedMediaType."""
    media = parse_media_type(header)
    if media is None or media.name not in known:
        raise UnsupportedMediaType.of(known)
    return media.name


def patch_options(query: Query, *, apply: bool) -> PatchOptions:
    """The options of a patch, checked."""
    options = load(PatchOptions, query)
    if query or apply:
        check(options, validate_patch_options(options, apply=apply))
    return options


def update_options(options: PatchOptions) -> UpdateOptions:
    """The same options for the update that a patch becomes."""
    return UpdateOptions(
        dry_run=options.dry_run,
        field_manager=options.field_manager,
        field_validation=options.field_validation,
    )


def read_patch(
    media_type: str,
    body: bytes,
    shape: StructShape,
    validation: FieldValidation,
    context: Context,
) -> Change:
    """The change that a patch describes; it raises an APIError where it does not fit."""
    try:
        document = orjson.loads(body)
    except ValueError:
        raise BadRequest("invalid JSON patch") from None
    _check_duplicates(body, validation, context)
    if media_type == JSON_PATCH:
        return lambda current: _applied(media_type, json_patch.apply, current, document)
    if not isinstance(document, dict):
        raise BadRequest("invalid JSON patch")
    if media_type == MERGE_PATCH:
        return lambda current: _applied(media_type, merge_patch.apply, current, document)
    return lambda current: _applied(media_type, strategic.apply, current, document, shape)


@dataclass(frozen=True)
class Patched:
    """The change of an internal object by a patch of its versioned document."""

    endpoint: Endpoint
    change: Change
    validation: FieldValidation
    context: Context

    def __call__(self, current: Object) -> Object:
        endpoint = self.endpoint
        document = endpoint.stored.document(current, endpoint.form(PLAIN))
        patched = self.change(orjson.loads(document))
        return self._decoded(_dumped(patched))

    def _decoded(self, data: bytes) -> Object:
        endpoint = self.endpoint
        try:
            found = endpoint.codec.decode_internal(
                data, expected=endpoint.kind, validation=self.validation
            )
        except StrictDecodeError as error:
            raise _misfit(data, str(error)) from None
        except DecodeError as error:
            if error.fields:
                name = self.context.name
                raise Invalid.of(endpoint.kind.group_kind, name, error.fields) from None
            raise _misfit(data, str(error)) from None
        except NotRegistered as error:
            raise BadRequest(str(error)) from None
        check_kind(found.kind, endpoint.kind)
        for text in found.warnings:
            self.context.warn(text)
        return found.object  # type: ignore[return-value]


def _applied(media_type: str, function: Any, *arguments: Any) -> Document:
    try:
        return function(*arguments)
    except PatchTooLarge as error:
        raise RequestEntityTooLarge(f"Request entity too large: {error}") from None
    except MalformedPatch as error:
        raise BadRequest(str(error)) from None
    except PatchError as error:
        if media_type == STRATEGIC_PATCH:
            raise APIError(str(error), reason=Invalid.reason, code=Invalid.code) from None
        raise Invalid.request() from error


def _check_duplicates(body: bytes, validation: FieldValidation, context: Context) -> None:
    """Judge names that stand twice in a patch as they would be judged in a whole document."""
    if validation is FieldValidation.IGNORE:
        return
    try:
        problems = [f'duplicate field "{path}"' for path in read_json(body, True).duplicates]
    except DecodeError:
        raise BadRequest("invalid JSON patch") from None
    if problems and validation is FieldValidation.STRICT:
        raise _misfit(body, "strict decoding error: " + ", ".join(problems))
    for text in problems:
        context.warn(text)


def _dumped(document: Document) -> bytes:
    try:
        return orjson.dumps(document)
    except TypeError as error:
        raise _misfit(b"", str(error)) from None


def _misfit(data: bytes, why: str) -> Invalid:
    """A patch whose result is not an object of the kind; the wire does not say which kind."""
    return Invalid.of(GroupKind(), "", [invalid(Path("patch"), data.decode(errors="replace"), why)])
