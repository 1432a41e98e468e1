"""Subresources: status, scale, and what a group handles itself.

The status is the object itself, read and written through another door, so its handlers are the
ordinary ones. A scale is a document of its own kind that stands for a part of the object.
"""

from collections.abc import Callable
from typing import Any, Final, cast

import orjson
from falcon.asgi import Request, Response

from apimachinery.codec import Codec, dump_json
from apimachinery.errors import Conflict
from apimachinery.meta.decode import DecodeError
from apimachinery.meta.fields import shape_of
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import Object
from apimachinery.scheme import NotRegistered
from apimachinery.serializer import PROTOBUF
from apiserver.context import Context
from apiserver.decoding import check_kind, content_type, decode_body, decode_failure, read_body
from apiserver.endpoint import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    SubEndpoint,
    field_validation,
)
from apiserver.handlers.answer import accept, agree, write_document, write_object
from apiserver.handlers.create import create_options
from apiserver.handlers.patch import patch_options, patch_type, read_patch
from apiserver.handlers.patch import update_options as as_update_options
from apiserver.handlers.update import update_options
from apiserver.negotiation import ALL_TYPES, Offer, body_media_type
from apiserver.registry.strategy import Strategy
from apiserver.registry.update import replacement
from apiserver.response import exchange_of, write
from apiserver.scale import KIND, Scale, require_replicas, rescaled, scale_of, scale_scheme

ATTEMPTS: Final = 8
"""How often a handler of a group is asked again because somebody else changed the object."""


class ScaleHandlers:
    """The scale subresource of every kind that has one."""

    def __init__(self) -> None:
        self._codec = Codec(scale_scheme())
        self._offer = Offer(ALL_TYPES, transforms=False)
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
        scale = self._decode(await read_body(req), content_type(req))
        change = self._change(sub, lambda current: scale)
        obj, _ = await sub.endpoint.stored.update(context.name, change, context, options)
        self._write(req, resp, scale_of(obj, sub.subresource))

    async def patch(self, sub: SubEndpoint, req: Request, resp: Response) -> None:
        """Patch the scale of an object."""
        exchange = exchange_of(req)
        self._begin(sub, req)
        media_type = patch_type(content_type(req), _PATCHES)
        options = patch_options(exchange.query, apply=False)
        context = sub.endpoint.write_context(exchange, options)
        body, validation = await read_body(req), field_validation(options)
        patched = read_patch(media_type, body, self._shape, validation, context)

        def scale(current: Scale) -> Scale:
            return self._decode(orjson.dumps(patched(orjson.loads(dump_json(current)))), "")

        change, update = self._change(sub, scale), as_update_options(options)
        obj, _ = await sub.endpoint.stored.update(context.name, change, context, update)
        self._write(req, resp, scale_of(obj, sub.subresource))

    def _begin(self, sub: SubEndpoint, req: Request) -> Context:
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

    def _decode(self, data: bytes, header: str) -> Scale:
        media_type = body_media_type(header, ALL_TYPES)
        try:
            found = self._codec.decode(data, expected=KIND, media_type=media_type)
        except (DecodeError, NotRegistered, ValueError) as error:
            raise decode_failure(error, data, KIND, media_type) from None
        check_kind(found.kind, KIND)
        return cast(Scale, found.object)

    def _write(self, req: Request, resp: Response, scale: Scale) -> None:
        media_type = exchange_of(req).accepted.media_type
        if media_type == PROTOBUF:
            data = self._codec.protobuf.encode(scale, api_version=KIND.api_version, kind=KIND.kind)
        else:
            data = dump_json(scale)
        write(req, resp, data)


_PATCHES: Final = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)


async def ask(sub: SubEndpoint, req: Request, resp: Response) -> None:
    """GET and POST of a subresource that a group handles: its answer, and nothing is stored."""
    endpoint, exchange = sub.endpoint, exchange_of(req)
    agree(req, endpoint)
    creating = exchange.info.verb == "create"
    options = create_options(exchange.query) if creating else create_options({})
    context = endpoint.write_context(exchange, options)
    body = await _body(sub, req, context) if creating else None
    current = await endpoint.stored.read(context.name, namespace=context.namespace)
    made = await _handle(sub, context, current, body)
    write_document(endpoint, req, resp, made, code=201 if creating else 200)


async def store(sub: SubEndpoint, req: Request, resp: Response) -> None:
    """PUT of a subresource that a group handles: what it makes of the object is stored."""
    endpoint, exchange = sub.endpoint, exchange_of(req)
    agree(req, endpoint)
    options = update_options(exchange.query)
    context = endpoint.write_context(exchange, options)
    body = await _body(sub, req, context)
    objects = endpoint.stored.using(_AsHandled(endpoint.resource.strategy))
    for attempt in range(ATTEMPTS):
        current = await objects.read(context.name, namespace=context.namespace)
        made = await _handle(sub, context, current, body)
        named = made.metadata.resource_version
        made.metadata.resource_version = named or current.metadata.resource_version
        try:
            change = replacement(made)
            stored, _ = await objects.update(context.name, change, context, options)
        except Conflict:
            if named or attempt == ATTEMPTS - 1:
                raise
            continue
        write_object(endpoint, req, resp, stored)
        return


async def _body(sub: SubEndpoint, req: Request, context: Context) -> Object:
    return decode_body(
        sub.endpoint,
        await read_body(req),
        content_type(req),
        validation=field_validation(create_options({})),
        context=context,
        expected=sub.subresource.kind or sub.endpoint.kind,
    )


async def _handle(sub: SubEndpoint, context: Context, current: Object, body: Any) -> Any:
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
