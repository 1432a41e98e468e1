"""GET: one object, or a list of them. Neither is decoded: the cache has the bytes."""

import asyncio
from collections.abc import Awaitable

from falcon.asgi import Request, Response

from apimachinery.errors import BadRequest, Timeout
from apimachinery.meta.options import GetOptions
from apimachinery.meta.query_parameters import load
from apiserver.endpoint import Endpoint
from apiserver.handlers.list import list_selection, write_page
from apiserver.handlers.object_response import agree, included_object
from apiserver.http.negotiation import TRUE, Shape
from apiserver.http.request_info import Query
from apiserver.http.response import exchange_of, write
from apiserver.registry.pagination import ObjectPage
from apiserver.storage.cache.read_revision import At, Freshness


async def get(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Answer with one object."""
    exchange = exchange_of(req)
    info, query = exchange.info, exchange.query
    accepted = agree(req, endpoint)
    include = ""
    at: At | str = Freshness.NEWEST
    if query:
        _refuse_export(query)
        at = load(GetOptions, query).resource_version
        include = included_object(exchange)
    namespace = info.namespace if endpoint.namespaced else ""
    entry = await endpoint.stored.get(info.name, namespace=namespace, at=at)
    form = endpoint.form(accepted, include_object=include)
    write(req, resp, endpoint.view.finished(entry.encode(form), form))


async def list_objects(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Answer with the objects of a collection, or with one page of them."""
    exchange = exchange_of(req)
    agree(req, endpoint, Shape.LIST)
    _refuse_export(exchange.query)
    options, selection = list_selection(endpoint, exchange)
    page = await _within(
        options.timeout_seconds if options else None, endpoint.stored.list(selection, options)
    )
    write_page(endpoint, req, resp, page)


async def _within(seconds: int | None, listing: Awaitable[ObjectPage]) -> ObjectPage:
    """The page, if it is there in the time that its client has for it."""
    if not seconds or seconds < 0:
        return await listing
    try:
        async with asyncio.timeout(seconds) as limit:
            return await listing
    except TimeoutError:
        if not limit.expired():
            raise
        raise Timeout.of("request did not complete within the allotted timeout") from None


def _refuse_export(query: Query) -> None:
    asked = query.get("export")
    if asked and asked[0] in TRUE:
        raise BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
