"""PATCH: a change of an object instead of a new one.

A patch is applied to the object in the version of the URL, and then it is an update like any other.
If somebody else was faster it is applied again to what they have made of the object: a patch does
not conflict unless it names the resourceVersion it is meant for.
"""

from dataclasses import dataclass

import orjson
from falcon.asgi import Request, Response

from apimachinery.codec import FieldValidation
from apimachinery.errors import BadRequest, Invalid, UnsupportedMediaType
from apimachinery.meta.options import PatchOptions, UpdateOptions
from apimachinery.meta.options_validation import check, validate_patch_options
from apimachinery.meta.query_parameters import load
from apimachinery.meta.types import Object
from apimachinery.model.decoding import DecodeError
from apimachinery.model.deprecated_fields import deprecated_uses, has_deprecated
from apimachinery.scheme import NotRegistered
from apimachinery.serialization.media_types import APPLY_PATCH, parse_media_type
from apiserver.context import RequestContext
from apiserver.endpoint import Endpoint, field_validation
from apiserver.handlers.apply import apply
from apiserver.handlers.body import check_kind, content_type, read_body, warn_of_uses, with_reset
from apiserver.handlers.object_response import agree, write_object
from apiserver.handlers.patch_body import PatchBody, read_patch
from apiserver.http.negotiation import PLAIN
from apiserver.http.request_info import Query
from apiserver.http.response import exchange_of


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
        read = read_patch(media_type, body, endpoint.shape, field_validation(options))
        patched = Patched(endpoint, read, context)
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


@dataclass(frozen=True)
class Patched:
    """The change of an internal object by a patch of its versioned document."""

    endpoint: Endpoint
    body: PatchBody
    context: RequestContext

    def __call__(self, current: Object) -> Object:
        endpoint = self.endpoint
        before = orjson.loads(endpoint.stored.document(current, endpoint.form(PLAIN)))
        patched = self.body.change(before)
        try:
            made = self._decoded(orjson.dumps(patched))
        except TypeError as error:
            raise self.body.misfit(b"", str(error)) from None
        if has_deprecated(endpoint.cls):
            found, old = (deprecated_uses(document, endpoint.cls) for document in (patched, before))
            warn_of_uses(found, self.context, old)
        return made

    def _decoded(self, data: bytes) -> Object:
        endpoint, validation = self.endpoint, self.body.validation
        if validation is FieldValidation.STRICT:
            validation = FieldValidation.WARN  # what the patch itself has is judged with it
        try:
            found = endpoint.codec.decode_internal(
                data, expected=endpoint.kind, validation=validation
            )
        except DecodeError as error:
            if error.fields:
                name = self.context.name
                raise Invalid.of(endpoint.kind.group_kind, name, error.fields) from None
            raise self.body.misfit(data, str(error)) from None
        except NotRegistered as error:
            raise BadRequest(str(error)) from None
        check_kind(found.kind, endpoint.kind)
        self.body.judge(data, found.warnings, self.context)
        return with_reset(found.object)  # type: ignore[arg-type]
