"""Subresources: status, scale, and what a group handles itself.

The status is the object itself, read and written through another door, so its handlers are the
ordinary ones. A scale is a document of its own kind that stands for a part of the object.
"""

from collections.abc import Callable
from typing import Any, Final, cast

import orjson
from falcon.asgi import Request, Response

from apimachinery.apply import ApplyError
from apimachinery.codec import Codec, FieldValidation, dump_json
from apimachinery.errors import Conflict
from apimachinery.meta.options import CreateOptions, DeleteOptions, PatchOptions, UpdateOptions
from apimachinery.meta.types import Object
from apimachinery.model.class_fields import shape_of
from apimachinery.model.decoding import DecodeError
from apimachinery.scalars.time import format_time, now
from apimachinery.scale import Scale
from apimachinery.scheme import NotRegistered
from apimachinery.serialization.media_types import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    PROTOBUF,
    STRATEGIC_PATCH,
)
from apiserver.admission.chain import Attributes, Operation
from apiserver.context import RequestContext
from apiserver.endpoint import SubEndpoint, field_validation
from apiserver.handlers.apply import configuration, failure
from apiserver.handlers.body import check_kind, content_type, decode_body, decode_failure, read_body
from apiserver.handlers.create import create_options
from apiserver.handlers.object_response import accept, agree, write_document, write_object
from apiserver.handlers.patch import Patched, patch_options, patch_type
from apiserver.handlers.patch import update_options as as_update_options
from apiserver.handlers.patch_body import read_patch
from apiserver.handlers.update import update_options
from apiserver.http.negotiation import ALL_TYPES, MediaTypeOffer, body_media_type
from apiserver.http.response import exchange_of, write
from apiserver.managed_fields.scale_ownership import ScaleOwnership
from apiserver.registry.object_update import replacement
from apiserver.registry.strategy import Strategy
from apiserver.views.scale_mapping import (
    KIND,
    require_replicas,
    rescaled,
    scale_of,
    scale_scheme,
)

ATTEMPTS: Final = 8
"""How often a handler of a group is asked again because somebody else changed the object."""


class ScaleHandlers:
    """The scale subresource of every kind that has one."""

    def __init__(self) -> None:
        self._codec = Codec(scale_scheme())
        self._offer = MediaTypeOffer(ALL_TYPES, transforms=False)
        self._shape = shape_of(Scale)

    async def get(self, sub: SubEndpoint, req: Request, resp: Response) -> None:
        """Answer with the scale of an object."""
        context = self._begin(sub, req)
        obj = await sub.endpoint.stored.read(context.name, namespace=context.namespace)
        require_replicas(obj, sub.subresource)
        self._write(req, resp, scale_of(obj, sub.subresource))

    async def update(self, sub: SubEndpoint, req: Request, resp: Response) -> None:
        """Replace the scale of an object."""
        exchange = exchange_of(req)
        self._begin(sub, req)
        options = update_options(exchange.query)
        context = sub.endpoint.write_context(exchange, options)
        body, validation = await read_body(req), field_validation(options)
        scale, unknown = self._decode(body, content_type(req), validation=validation)
        for text in unknown:
            context.warn(text)
        change = self._change(sub, lambda current: scale)
        obj, _ = await sub.endpoint.stored.update(context.name, change, context, options)
        self._write(req, resp, scale_of(obj, sub.subresource))

    async def patch(self, sub: SubEndpoint, req: Request, resp: Response) -> None:
        """Patch the scale of an object."""
        exchange = exchange_of(req)
        self._begin(sub, req)
        media_type = patch_type(content_type(req), _PATCHES)
        options = patch_options(exchange.query, apply=media_type == APPLY_PATCH)
        context = sub.endpoint.write_context(exchange, options)
        body, validation = await read_body(req), field_validation(options)
        if media_type == APPLY_PATCH:
            obj = await self._apply(sub, body, options, context)
            self._write(req, resp, scale_of(obj, sub.subresource))
            return
        patch = read_patch(media_type, body, self._shape, validation)

        def scale(current: Scale) -> Scale:
            patched = orjson.dumps(patch.change(orjson.loads(dump_json(current))))
            changed, unknown = self._decode(patched, "", validation=_TOLD)
            patch.judge(patched, unknown, context)
            return changed

        change, update = self._change(sub, scale), as_update_options(options)
        obj, _ = await sub.endpoint.stored.update(context.name, change, context, update)
        self._write(req, resp, scale_of(obj, sub.subresource))

    async def _apply(
        self, sub: SubEndpoint, body: bytes, options: PatchOptions, context: RequestContext
    ) -> Object:
        """The object whose scale was applied to; it must be there already."""
        endpoint, resource = sub.endpoint, sub.endpoint.gvr.group_resource
        applied = configuration(KIND, body, field_validation(options), context)
        ownership = ScaleOwnership(sub.subresource, endpoint.in_all_versions)

        def change(current: Object) -> Object:
            try:
                found = ownership.apply(
                    current,
                    applied,
                    manager=context.field_manager,
                    time=format_time(now()),
                    force=bool(options.force),
                )
                entries = ownership.entries(current, found, str(endpoint.version))
            except ApplyError as error:
                raise failure(error) from None
            scale, _ = self._decode(orjson.dumps(found), "")
            kind = endpoint.kind.group_kind
            new = rescaled(current, scale, sub.subresource, resource=resource, kind=kind)
            new.metadata.managed_fields = entries
            return new

        update = as_update_options(options)
        obj, _ = await endpoint.stored.update(context.name, change, context, update, track=False)
        return obj  # type: ignore[no-any-return]

    def _begin(self, sub: SubEndpoint, req: Request) -> RequestContext:
        exchange = exchange_of(req)
        exchange.route = sub.endpoint
        accept(req, self._offer)
        return sub.endpoint.context(exchange)

    def _change(
        self, sub: SubEndpoint, scale: Callable[[Scale], Scale]
    ) -> Callable[[Object], Object]:
        resource, kind = sub.endpoint.gvr.group_resource, sub.endpoint.kind.group_kind

        def change(current: Object) -> Object:
            wanted = scale(scale_of(current, sub.subresource))
            return rescaled(current, wanted, sub.subresource, resource=resource, kind=kind)

        return change

    def _decode(
        self, data: bytes, header: str, *, validation: FieldValidation = FieldValidation.IGNORE
    ) -> tuple[Scale, tuple[str, ...]]:
        """A scale, and what is to be warned of."""
        media_type = body_media_type(header, ALL_TYPES)
        try:
            found = self._codec.decode(
                data, expected=KIND, media_type=media_type, validation=validation
            )
        except (DecodeError, NotRegistered, ValueError) as error:
            raise decode_failure(error, data, KIND, media_type) from None
        check_kind(found.kind, KIND)
        return cast(Scale, found.object), found.warnings

    def _write(self, req: Request, resp: Response, scale: Scale) -> None:
        media_type = exchange_of(req).accepted.media_type
        if media_type == PROTOBUF:
            data = self._codec.protobuf.encode(scale, api_version=KIND.api_version, kind=KIND.kind)
        else:
            data = dump_json(scale)
        write(req, resp, data)


_PATCHES: Final = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)
_TOLD: Final = FieldValidation.WARN
"""What is unknown in a patched scale is judged with what is odd in the patch."""


async def ask(sub: SubEndpoint, req: Request, resp: Response) -> None:
    """GET and POST of a subresource that a group handles: its answer, and nothing is stored."""
    endpoint, exchange = sub.endpoint, exchange_of(req)
    agree(req, endpoint)
    creating = exchange.info.verb == "create"
    options = create_options(exchange.query) if creating else create_options({})
    context = endpoint.write_context(exchange, options)
    body = await _body(sub, req, context, options) if creating else None
    current = await endpoint.stored.read(context.name, namespace=context.namespace)
    if creating:
        body = await _admitted(sub, context, body, options)
    made = await _handle(sub, context, current, body)
    write_document(endpoint, req, resp, made, code=201 if creating else 200)


async def store(sub: SubEndpoint, req: Request, resp: Response) -> None:
    """PUT of a subresource that a group handles: what it makes of the object is stored."""
    endpoint, exchange = sub.endpoint, exchange_of(req)
    agree(req, endpoint)
    options = update_options(exchange.query)
    context = endpoint.write_context(exchange, options)
    body = await _body(sub, req, context, options)
    stored = await _stored(sub, context, lambda current: body, options)
    write_object(endpoint, req, resp, stored)


async def store_patched(sub: SubEndpoint, req: Request, resp: Response) -> None:
    """PATCH of such a subresource: the body of its PUT is the object after the patch."""
    endpoint, exchange = sub.endpoint, exchange_of(req)
    agree(req, endpoint)
    media_type = patch_type(content_type(req), endpoint.patch_types[:-1])
    options = patch_options(exchange.query, apply=False)
    context = endpoint.write_context(exchange, options)
    body = await read_body(req)
    patch = read_patch(media_type, body, endpoint.shape, field_validation(options))
    patched = Patched(endpoint, patch, context)
    stored = await _stored(sub, context, patched, as_update_options(options))
    write_object(endpoint, req, resp, stored)


async def _stored(
    sub: SubEndpoint,
    context: RequestContext,
    body: Callable[[Object], Object],
    options: UpdateOptions,
) -> Object:
    """What is stored when a group has handled *body*, which is made of the current object."""
    endpoint = sub.endpoint
    objects = endpoint.stored.using(_AsHandled(endpoint.resource.strategy))
    for attempt in range(ATTEMPTS):
        current = await objects.read(context.name, namespace=context.namespace)
        made = await _handle(sub, context, current, body(current))
        named = made.metadata.resource_version
        made.metadata.resource_version = named or current.metadata.resource_version
        try:
            change = replacement(made)
            stored, _ = await objects.update(context.name, change, context, options)
        except Conflict:
            if named or attempt == ATTEMPTS - 1:
                raise
            continue
        return stored  # type: ignore[no-any-return]
    raise AssertionError("the last attempt has returned or raised")


async def _body(
    sub: SubEndpoint, req: Request, context: RequestContext, options: CreateOptions | UpdateOptions
) -> Object:
    return decode_body(
        sub.endpoint,
        await read_body(req),
        content_type(req),
        validation=field_validation(options),
        context=context,
        expected=sub.subresource.kind or sub.endpoint.kind,
    )


async def _admitted(
    sub: SubEndpoint, context: RequestContext, body: Any, options: CreateOptions
) -> Object:
    """What admission makes of a document that is not stored, but answered like a creation."""
    rules = sub.endpoint.stored.rules
    kind = sub.subresource.kind or sub.endpoint.kind
    attributes = Attributes(context, Operation.CREATE, kind.group_kind, body, None, options)
    await rules.admission.mutate(attributes)
    await rules.admission.validate(attributes)
    assert attributes.object is not None
    return attributes.object


async def _handle(sub: SubEndpoint, context: RequestContext, current: Object, body: Any) -> Any:
    assert sub.subresource.handle is not None
    return await sub.subresource.handle(context, current, body)


class _AsHandled(Strategy[Any]):
    """The strategy of a kind, for an object that the group has prepared and validated itself."""

    def __init__(self, strategy: Strategy[Any]) -> None:
        self._strategy = strategy

    def desired_state(self, obj: Any) -> object:
        return self._strategy.desired_state(obj)

    def grace_period(self, obj: Any, options: DeleteOptions) -> int | None:
        return self._strategy.grace_period(obj, options)

    def may_be_removed(self, obj: Any) -> bool:
        return self._strategy.may_be_removed(obj)
