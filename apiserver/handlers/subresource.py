"""Subresources that a group handles itself, with the `handle` function of its `Subresource`.

GET and POST respond with the result of the function and store nothing. PUT and PATCH store it. The
status subresource has no handlers of its own: it is the object itself, read and written by the
ordinary ones.
"""

from collections.abc import Callable
from typing import Any, Final

from falcon.asgi import Request, Response

from apimachinery.errors import Conflict
from apimachinery.meta.options import CreateOptions, DeleteOptions, UpdateOptions
from apimachinery.meta.status import Status
from apimachinery.meta.types import Object
from apimachinery.serialization.media_types import APPLY_PATCH
from apiserver.context import RequestContext
from apiserver.endpoint import SubEndpoint, field_validation
from apiserver.handlers.apply import applied_change
from apiserver.handlers.body import (
    content_type,
    decode_body,
    decode_update,
    read_body,
    valid_object,
)
from apiserver.handlers.create import admit_document, create_options
from apiserver.handlers.object_response import negotiate, write_document, write_object
from apiserver.handlers.patch import PatchedObject, as_update_options, patch_options, patch_type
from apiserver.handlers.patch_body import read_patch
from apiserver.handlers.update import update_options
from apiserver.http.response import exchange_of
from apiserver.registry.object_update import Draft, replacement
from apiserver.registry.strategy import Strategy
from apiserver.registry.system_metadata import check_name, set_namespace

ATTEMPTS: Final = 8
"""How often a handler is called for one request when other writers change the object meanwhile."""


async def respond(sub: SubEndpoint, req: Request, resp: Response) -> None:
    """Serve GET and POST: respond with the result of the handler, and store nothing."""
    endpoint, exchange = sub.endpoint, exchange_of(req)
    negotiate(req, endpoint)
    creating = exchange.info.verb == "create"
    options = create_options(exchange.query) if creating else create_options({})
    context = endpoint.write_context(exchange, options)
    body = await _body(sub, req, context, options) if creating else None
    if body is not None:
        set_namespace(body.metadata, endpoint.stored.rules.namespace_of(context))
    workload = context.workload
    current = await endpoint.stored.read(
        context.name, namespace=context.namespace, workload=workload
    )
    if creating:
        body = await _admit(sub, context, body, options)
    result = await _handle(sub, context, current, body)
    await write_document(endpoint, req, resp, result, code=201 if creating else 200)


async def update(sub: SubEndpoint, req: Request, resp: Response) -> None:
    """Serve PUT: store the result of the handler."""
    endpoint, exchange = sub.endpoint, exchange_of(req)
    negotiate(req, endpoint)
    options = update_options(exchange.query)
    context = endpoint.write_context(exchange, options)
    body = await _updating_body(sub, req, context, options)
    sent = (body.object if isinstance(body, Draft) else body).metadata
    check_name(sent, context.name, endpoint.stored.rules.namespace_of(context))
    stored = await _store(sub, context, replacement(body), options, uid=sent.uid)
    await write_object(endpoint, req, resp, stored)


async def patch(sub: SubEndpoint, req: Request, resp: Response) -> None:
    """Serve PATCH: call the handler with the patched object as the body, and store its result."""
    endpoint, exchange = sub.endpoint, exchange_of(req)
    negotiate(req, endpoint)
    media_type = patch_type(content_type(req), endpoint.patch_types)
    options = patch_options(exchange.query, apply=media_type == APPLY_PATCH)
    context = endpoint.write_context(exchange, options)
    body = await read_body(req)
    update = as_update_options(options)
    if media_type == APPLY_PATCH:
        applied = await applied_change(endpoint, context, body, options)
        stored = await _store(sub, context, applied, update, track=False)
    else:
        validation = field_validation(options)
        read = await read_patch(media_type, body, endpoint.shape, validation, context.workload)
        patched = PatchedObject(endpoint, read, context)
        stored = await _store(sub, context, patched, update)
    await write_object(endpoint, req, resp, stored)


async def _store(
    sub: SubEndpoint,
    context: RequestContext,
    body: Callable[[Object], Object | Draft[Object]],
    options: UpdateOptions,
    *,
    uid: str = "",
    track: bool = True,
) -> Object:
    """Store the result of the handler; *body* makes its argument from the current object.

    The handler is called again on the newest object after a conflict, unless its result names the
    resourceVersion that it is meant for. As in Kubernetes, the manager owns the fields that the
    request changes, whatever the handler makes of them; an apply has set the owners already. With
    *uid*, raises Conflict unless the object has it.
    """
    endpoint = sub.endpoint
    objects = endpoint.stored.using(_HandledStrategy(endpoint.resource.strategy))
    for attempt in range(ATTEMPTS):
        workload = context.workload
        current = await objects.read(context.name, namespace=context.namespace, workload=workload)
        objects.check_uid(current, uid, context)
        new = await workload.run(body, current)
        sent = valid_object(endpoint, new, current, name=context.name)
        _check_identity(sub, context, sent)
        is_tracked = type(sent) is type(current)
        if track and is_tracked:
            endpoint.stored.rules.ownership.track(context, current, sent)
        result = await _handle(sub, context, current, sent)
        assert isinstance(result, Object)
        if is_tracked:
            result.metadata.managed_fields = sent.metadata.managed_fields
        expected = result.metadata.resource_version
        result.metadata.resource_version = expected or current.metadata.resource_version
        try:
            change = replacement(result)
            stored, _ = await objects.update(
                context.name, change, context, options, track=not is_tracked
            )
        except Conflict:
            if expected or attempt == ATTEMPTS - 1:
                raise
            continue
        return stored  # type: ignore[no-any-return]
    raise AssertionError("the last attempt has returned or raised")


def _check_identity(sub: SubEndpoint, context: RequestContext, sent: Object) -> None:
    """Raise BadRequest if an object is not the one of the URL; set its namespace."""
    namespace = sub.endpoint.stored.rules.namespace_of(context)
    check_name(sent.metadata, context.name, namespace)
    set_namespace(sent.metadata, namespace)


async def _updating_body(
    sub: SubEndpoint, req: Request, context: RequestContext, options: UpdateOptions
) -> Object | Draft[Object]:
    if sub.subresource.kind not in (None, sub.endpoint.kind):
        return await _body(sub, req, context, options)
    return await decode_update(
        sub.endpoint,
        await read_body(req),
        content_type(req),
        validation=field_validation(options),
        context=context,
    )


async def _body(
    sub: SubEndpoint, req: Request, context: RequestContext, options: CreateOptions | UpdateOptions
) -> Object:
    return await decode_body(
        sub.endpoint,
        await read_body(req),
        content_type(req),
        validation=field_validation(options),
        context=context,
        expected=sub.subresource.kind or sub.endpoint.kind,
        older_versions=sub.subresource.older_versions,
    )


async def _admit(
    sub: SubEndpoint, context: RequestContext, body: Any, options: CreateOptions
) -> Object:
    """Run admission on a posted document as for a creation; return the resulting document."""
    admission = sub.endpoint.stored.rules.admission
    kind = sub.subresource.kind or sub.endpoint.kind
    return await admit_document(admission, kind, context, body, options)


async def _handle(
    sub: SubEndpoint, context: RequestContext, current: Object, body: Object | None
) -> Object | Status:
    assert sub.subresource.handle is not None
    return await sub.subresource.handle(context, current, body)


class _HandledStrategy(Strategy[Any]):
    """The strategy of a kind for objects that its group has prepared and validated already."""

    keeps_status = False

    def __init__(self, strategy: Strategy[Any]) -> None:
        self._strategy = strategy

    def desired_state(self, obj: Any) -> object:
        return self._strategy.desired_state(obj)

    def grace_period(self, obj: Any, options: DeleteOptions) -> int | None:
        return self._strategy.grace_period(obj, options)

    def may_be_removed(self, obj: Any) -> bool:
        return self._strategy.may_be_removed(obj)
