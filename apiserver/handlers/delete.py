"""DELETE of one object, and of a collection.

The option ignoreStoreReadErrorWithClusterBreakingPotential removes one object that cannot be
decoded, if the user has a further permission.
"""

from dataclasses import replace
from typing import Any

from falcon.asgi import Request, Response

from apimachinery.errors import Forbidden, InternalError
from apimachinery.fieldpath import Path, invalid, quote
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.options_validation import check, validate_delete_options
from apimachinery.meta.query_parameters import load
from apimachinery.meta.status import Status, StatusDetails
from apimachinery.meta.types import Object
from apiserver.context import RequestContext
from apiserver.endpoint import Endpoint
from apiserver.handlers.body import delete_options
from apiserver.handlers.list import list_selection, write_page
from apiserver.handlers.object_response import negotiate, write_object
from apiserver.http.exchange import Exchange
from apiserver.http.negotiation import Shape
from apiserver.http.response import exchange_of, status_bytes, write
from apiserver.registry.unsafe_deletion import OPTION, VERB


async def delete(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Delete an object; respond with a Status if it is removed, or with the terminating object."""
    exchange = exchange_of(req)
    negotiate(req, endpoint)
    options = await _options(req)
    context = endpoint.context(exchange, dry_run=bool(options.dry_run))
    if options.ignore_store_read_error_with_cluster_breaking_potential:
        await _permit_unsafe_deletion(exchange, context)
        await endpoint.stored.remove_undecodable(context.name, context)
        write(req, resp, status_bytes(_unsafe_success(endpoint, context), exchange.accepted))
        return
    obj, removed = await endpoint.stored.delete(context.name, options, context)
    code = 202 if not removed and options.orphan_dependents is False else 200
    if removed and not endpoint.resource.strategy.returns_deleted_object:
        status = status_bytes(_success(endpoint, obj), exchange.accepted)
        write(req, resp, status, code=code)
    else:
        await write_object(endpoint, req, resp, obj, code=code)


async def delete_collection(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Delete every object that the selectors match, and respond with the list of them."""
    exchange = exchange_of(req)
    negotiate(req, endpoint, Shape.LIST)
    list_options, selection = await list_selection(endpoint, exchange)
    options = await _options(req)
    if options.ignore_store_read_error_with_cluster_breaking_potential:
        rule = "is not allowed with DELETECOLLECTION, try again after removing the option"
        check(options, [invalid(Path(OPTION), True, rule)])
    context = endpoint.context(exchange, dry_run=bool(options.dry_run))
    page = await endpoint.stored.delete_collection(selection, options, context, list_options)
    await write_page(endpoint, req, resp, page)


async def _options(req: Request) -> DeleteOptions:
    """Return the validated options of a deletion; the query string counts only without a body."""
    options = await delete_options(req)
    if options is None:
        query = exchange_of(req).query
        if not query:
            return DeleteOptions()
        options = load(DeleteOptions, query)
    check(options, validate_delete_options(options))
    return options


async def _permit_unsafe_deletion(exchange: Exchange, context: RequestContext) -> None:
    """Raise Forbidden, with Kubernetes' message, unless the user may delete unsafely."""
    if exchange.authorizer is None:
        raise InternalError.of("no authorizer provided, unable to authorize unsafe delete")
    attributes = replace(exchange.info, verb=VERB, namespace=context.namespace)
    decision = await exchange.authorizer.authorize(exchange.user, attributes)
    if not decision.allowed:
        reason = f"not permitted to do {quote(VERB)}, reason: {decision.reason}"
        raise Forbidden.of(context.resource.group_resource, context.name, reason)


def _unsafe_success(endpoint: Endpoint, context: RequestContext) -> Status:
    """Return the Status of a removed object of which only the name is known."""
    details = StatusDetails(name=context.name, kind=endpoint.kind.kind)
    return Status(kind="Status", api_version="v1", status="Success", code=200, details=details)


def _success(endpoint: Endpoint, obj: Object | Any) -> Status:
    details = StatusDetails(
        name=obj.metadata.name,
        group=endpoint.gvr.group,
        kind=endpoint.gvr.resource,
        uid=obj.metadata.uid,
    )
    return Status(kind="Status", api_version="v1", status="Success", details=details)
