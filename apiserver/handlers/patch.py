"""PATCH: change an object instead of replacing it.

A patch is applied to the object in the version of the URL; from there on it is an update. If
another writer was faster, the patch is applied again to the newest object: a patch conflicts only
if it names the resourceVersion it is meant for.
"""

from dataclasses import dataclass

import orjson
from falcon.asgi import Request, Response

from apimachinery.codec import FieldValidation
from apimachinery.errors import Invalid, RequestEntityTooLarge, UnsupportedMediaType
from apimachinery.meta.options import PatchOptions, UpdateOptions
from apimachinery.meta.options_validation import check, validate_patch_options
from apimachinery.meta.query_parameters import load
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError
from apimachinery.model.deprecated_fields import deprecated_uses, has_deprecated
from apimachinery.schema import GroupVersionKind
from apimachinery.scheme import NotRegistered
from apimachinery.serialization.document_size import TooLarge
from apimachinery.serialization.media_types import APPLY_PATCH, parse_media_type
from apiserver.context import RequestContext
from apiserver.endpoint import Endpoint, field_validation
from apiserver.handlers.apply import apply
from apiserver.handlers.body import (
    check_kind,
    content_type,
    read_body,
    unknown_conversion,
    updated_object,
    warn_of_deprecated,
)
from apiserver.handlers.object_response import negotiate, write_object
from apiserver.handlers.patch_body import PatchBody, read_patch
from apiserver.http.negotiation import PLAIN
from apiserver.http.request_info import Query
from apiserver.http.response import exchange_of
from apiserver.registry.object_update import Draft


async def patch(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Patch an object and respond with it."""
    exchange = exchange_of(req)
    negotiate(req, endpoint)
    media_type = patch_type(content_type(req), endpoint.patch_types)
    options = patch_options(exchange.query, apply=media_type == APPLY_PATCH)
    context = endpoint.write_context(exchange, options)
    body = await read_body(req)
    if media_type == APPLY_PATCH:
        written, created = await apply(endpoint, context, body, options, exchange.permit)
    else:
        validation = field_validation(options)
        read = await read_patch(media_type, body, endpoint.shape, validation, context.workload)
        patched = PatchedObject(endpoint, read, context)
        update = as_update_options(options)
        written, created = await endpoint.stored.update(context.name, patched, context, update)
    code = 201 if created else 200
    await write_object(endpoint, req, resp, written, code=code, stored=context.stored)


def patch_type(header: str, supported: tuple[str, ...]) -> str:
    """Return the media type of a patch by its Content-Type. Raises UnsupportedMediaType."""
    media = parse_media_type(header)
    if media is None or media.name not in supported:
        raise UnsupportedMediaType.of(supported)
    return media.name


def patch_options(query: Query, *, apply: bool) -> PatchOptions:
    """Return the validated options of a patch."""
    options = load(PatchOptions, query)
    if query or apply:
        check(options, validate_patch_options(options, apply=apply))
    return options


def as_update_options(options: PatchOptions) -> UpdateOptions:
    """Return the options of the update that a patch becomes."""
    return UpdateOptions(
        dry_run=options.dry_run,
        field_manager=options.field_manager,
        field_validation=options.field_validation,
    )


@dataclass(frozen=True)
class PatchedObject:
    """Patches an internal object through its document in the version of the URL."""

    endpoint: Endpoint
    body: PatchBody
    context: RequestContext

    def __call__(self, current: Object) -> Object | Draft[Object]:
        endpoint = self.endpoint
        before = orjson.loads(endpoint.stored.document(current, endpoint.form(PLAIN)))
        document = self.body.change(before)
        try:
            patched = self._decode(orjson.dumps(document))
        except TypeError as error:
            raise self.body.invalid_result(b"", str(error)) from None
        if has_deprecated(endpoint.cls):
            after, earlier = (
                deprecated_uses(version, endpoint.cls) for version in (document, before)
            )
            warn_of_deprecated(after, self.context, earlier)
        return patched

    def _decode(self, data: bytes) -> Object | Draft[Object]:
        endpoint, validation = self.endpoint, self.body.validation
        if validation is FieldValidation.STRICT:
            # Unknown fields are refused below, together with those of the patch itself.
            validation = FieldValidation.WARN
        try:
            decoded = endpoint.codec.decode_internal(
                data,
                expected=endpoint.kind,
                validation=validation,
                lenient=True,
                may_repeat_keys=False,
            )
        except TooLarge as error:
            raise RequestEntityTooLarge(str(error)) from None
        except DecodeError as error:
            if error.fields:
                name = self.context.name
                raise Invalid.of(endpoint.kind.group_kind, name, error.fields) from None
            reason = self.body.decode_problem(endpoint.cls, data, error)
            raise self.body.invalid_result(data, reason) from None
        except NotRegistered as error:
            raise self.body.invalid_result(data, str(error)) from None
        self._check_kind(data, decoded.kind)
        self.body.report_problems(data, decoded.warnings, self.context)
        return updated_object(endpoint, decoded)

    def _check_kind(self, data: bytes, kind: GroupVersionKind) -> None:
        """Refuse a patch that makes the object another kind; of versions, any known one will do."""
        expected = self.endpoint.kind
        if issubclass(self.endpoint.cls, Unstructured):
            check_kind(kind, expected)
        elif kind.group_kind != expected.group_kind:
            raise self.body.invalid_result(data, unknown_conversion(kind, expected))
