"""Scale: GET, PUT and PATCH of the scale subresource.

A Scale is a document of another group, autoscaling, that stands for the replica counts of an
object. It is converted from the object for every read, and written back into it by every write.
"""

from collections.abc import Callable
from typing import cast

import orjson
from falcon.asgi import Request, Response

from apimachinery.apply import ApplyError
from apimachinery.codec import Codec, FieldValidation, dump_json
from apimachinery.errors import Invalid
from apimachinery.meta.options import PatchOptions
from apimachinery.meta.types import Object
from apimachinery.model.class_fields import shape_of
from apimachinery.model.decoding import DecodeError
from apimachinery.scalars.time import format_time, now
from apimachinery.scale import Scale
from apimachinery.scheme import NotRegistered
from apimachinery.serialization.document_size import TooLarge
from apimachinery.serialization.media_types import APPLY_PATCH, JSON, PROTOBUF
from apiserver.context import RequestContext
from apiserver.endpoint import SubEndpoint, field_validation
from apiserver.handlers.apply import api_error_of, decode_configuration
from apiserver.handlers.body import check_kind, content_type, decode_failure, read_body
from apiserver.handlers.object_response import accept
from apiserver.handlers.patch import as_update_options, patch_options, patch_type
from apiserver.handlers.patch_body import PatchBody, read_patch
from apiserver.handlers.update import update_options
from apiserver.http.negotiation import ALL_TYPES, MediaTypeOffer, body_media_type
from apiserver.http.response import exchange_of, write
from apiserver.managed_fields.scale_ownership import ScaleOwnership
from apiserver.registry.system_metadata import check_name
from apiserver.views.scale_mapping import (
    KIND,
    require_replicas,
    scale_of,
    scale_scheme,
    with_scale,
)


class ScaleHandlers:
    """The scale subresource of every kind that has one."""

    def __init__(self) -> None:
        self._codec = Codec(scale_scheme())
        self._offer = MediaTypeOffer(ALL_TYPES, transforms=False)
        self._shape = shape_of(Scale)

    async def get(self, sub: SubEndpoint, req: Request, resp: Response) -> None:
        """Respond with the scale of an object."""
        context = self._begin(sub, req)
        obj = await sub.endpoint.stored.read(
            context.name, namespace=context.namespace, workload=context.workload
        )
        require_replicas(obj, sub.subresource)
        self._write(req, resp, scale_of(obj, sub.subresource))

    async def update(self, sub: SubEndpoint, req: Request, resp: Response) -> None:
        """Replace the scale of an object."""
        exchange = exchange_of(req)
        self._begin(sub, req)
        options = update_options(exchange.query)
        context = sub.endpoint.write_context(exchange, options)
        body, validation = await read_body(req), field_validation(options)
        context.workload.add(body)
        scale, warnings = await context.workload.run(
            self._decode, body, content_type(req), validation=validation
        )
        for text in warnings:
            context.warn(text)
        check_name(scale.metadata, context.name, context.namespace)
        change = self._change(sub, lambda current: scale)
        obj, _ = await sub.endpoint.stored.update(
            context.name, change, context, options, uid=scale.metadata.uid
        )
        self._write(req, resp, scale_of(obj, sub.subresource))

    async def patch(self, sub: SubEndpoint, req: Request, resp: Response) -> None:
        """Patch the scale of an object."""
        exchange = exchange_of(req)
        self._begin(sub, req)
        media_type = patch_type(content_type(req), sub.endpoint.patch_types)
        options = patch_options(exchange.query, apply=media_type == APPLY_PATCH)
        context = sub.endpoint.write_context(exchange, options)
        body, validation = await read_body(req), field_validation(options)
        if media_type == APPLY_PATCH:
            obj = await self._apply(sub, body, options, context)
            self._write(req, resp, scale_of(obj, sub.subresource))
            return
        patch = await read_patch(media_type, body, self._shape, validation, context.workload)

        def patched_scale(current: Scale) -> Scale:
            patched = orjson.dumps(patch.change(orjson.loads(dump_json(current))))
            # Unknown fields are only collected here, and reported together with those of the patch.
            scale, warnings = self._decode_patched(patched, patch, context)
            patch.report_problems(patched, warnings, context)
            check_name(scale.metadata, context.name, context.namespace)
            return scale

        change, update = self._change(sub, patched_scale), as_update_options(options)
        obj, _ = await sub.endpoint.stored.update(context.name, change, context, update)
        self._write(req, resp, scale_of(obj, sub.subresource))

    async def _apply(
        self, sub: SubEndpoint, body: bytes, options: PatchOptions, context: RequestContext
    ) -> Object:
        """Apply a scale to an existing object, and return the object."""
        endpoint, resource = sub.endpoint, sub.endpoint.gvr.group_resource
        applied = await decode_configuration(KIND, body, field_validation(options), context)
        ownership = ScaleOwnership(sub.subresource, endpoint.in_all_versions)

        def change(current: Object) -> Object:
            try:
                document = ownership.apply(
                    current,
                    applied,
                    manager=context.field_manager,
                    time=format_time(now()),
                    force=bool(options.force),
                )
                entries = ownership.entries(current, document, str(endpoint.version))
            except ApplyError as error:
                raise api_error_of(error) from None
            scale, _ = self._decode(orjson.dumps(document), "")
            check_name(scale.metadata, context.name, context.namespace)
            kind = endpoint.kind.group_kind
            new = with_scale(current, scale, sub.subresource, resource=resource, kind=kind)
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
        self, sub: SubEndpoint, new_scale: Callable[[Scale], Scale]
    ) -> Callable[[Object], Object]:
        resource, kind = sub.endpoint.gvr.group_resource, sub.endpoint.kind.group_kind

        def change(current: Object) -> Object:
            scale = new_scale(scale_of(current, sub.subresource))
            return with_scale(current, scale, sub.subresource, resource=resource, kind=kind)

        return change

    def _decode(
        self, data: bytes, header: str, *, validation: FieldValidation = FieldValidation.IGNORE
    ) -> tuple[Scale, tuple[str, ...]]:
        """Return a decoded Scale and its warnings."""
        media_type = body_media_type(header, ALL_TYPES)
        try:
            return self._decoded(data, media_type, validation)
        except (DecodeError, NotRegistered, ValueError) as error:
            raise decode_failure(error, data, KIND, media_type) from None

    def _decode_patched(
        self, data: bytes, patch: PatchBody, context: RequestContext
    ) -> tuple[Scale, tuple[str, ...]]:
        """Decode the result of a patch. Raises Invalid, as for patches of every kind."""
        try:
            return self._decoded(data, JSON, FieldValidation.WARN)
        except TooLarge as error:
            raise decode_failure(error, data, KIND, JSON) from None
        except NotRegistered as error:
            raise patch.invalid_result(data, error.problem) from None
        except DecodeError as error:
            if error.fields:
                raise Invalid.of(KIND.group_kind, context.name, error.fields) from None
            reason = patch.decode_problem(Scale, data, error)
            raise patch.invalid_result(data, reason) from None

    def _decoded(
        self, data: bytes, media_type: str, validation: FieldValidation
    ) -> tuple[Scale, tuple[str, ...]]:
        decoded = self._codec.decode(
            data, expected=KIND, media_type=media_type, validation=validation
        )
        check_kind(decoded.kind, KIND)
        return cast(Scale, decoded.object), decoded.warnings

    def _write(self, req: Request, resp: Response, scale: Scale) -> None:
        media_type = exchange_of(req).accepted.media_type
        if media_type == PROTOBUF:
            data = self._codec.protobuf.encode(scale, api_version=KIND.api_version, kind=KIND.kind)
        else:
            data = dump_json(scale)
        write(req, resp, data)
