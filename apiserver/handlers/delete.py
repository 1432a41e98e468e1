"""DELETE of one object, and of a collection."""

from typing import Any

from falcon.asgi import Request, Response

from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.options_validation import check, validate_delete_options
from apimachinery.meta.query_parameters import load
from apimachinery.meta.status import Status, StatusDetails
from apimachinery.meta.types import Object
from apiserver.endpoint import Endpoint
from apiserver.handlers.body import delete_options
from apiserver.handlers.list import list_selection, write_page
from apiserver.handlers.object_response import negotiate, write_object
from apiserver.http.negotiation import Shape
from apiserver.http.response import exchange_of, status_bytes, write


async def delete(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Delete an object; respond with a Status if it is removed, or with the terminating object."""
    exchange = exchange_of(req)
    negotiate(req, endpoint)
    options = await _options(req)
    context = endpoint.context(exchange, dry_run=bool(options.dry_run))
    obj, removed = await endpoint.stored.delete(context.name, options, context)
    code = 202 if not removed and options.orphan_dependents is False else 200
    if removed and not endpoint.resource.strategy.returns_deleted_object:
        status = status_bytes(_success(endpoint, obj), exchange.accepted)
        write(req, resp, status, code=code)
    else:
        write_object(endpoint, req, resp, obj, code=code)


async def delete_collection(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Delete every object that the selectors match, and respond with the list of them."""
    exchange = exchange_of(req)
    negotiate(req, endpoint, Shape.LIST)
    list_options, selection = list_selection(endpoint, exchange)
    options = await _options(req)
    context = endpoint.context(exchange, dry_run=bool(options.dry_run))
    page = await endpoint.stored.delete_collection(selection, options, context, list_options)
    write_page(endpoint, req, resp, page)


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


def _success(endpoint: Endpoint, obj: Object | Any) -> Status:
    details = StatusDetails(
        name=obj.metadata.name,
        group=endpoint.gvr.group,
        kind=endpoint.gvr.resource,
        uid=obj.metadata.uid,
    )
    return Status(kind="Status", api_version="v1", status="Success", details=details)
