"""LIST: which objects a request selects, and how the list is sent.

A large list is encoded and sent in parts, so that one client that lists a hundred thousand objects
does not delay the requests of others.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Final

from falcon.asgi import Request, Response

from apimachinery.errors import BadRequest, Timeout
from apimachinery.meta.options import ListOptions, default_list_options
from apimachinery.meta.options_validation import check, validate_list_options
from apimachinery.meta.query_parameters import load_list
from apiserver.endpoint import Endpoint
from apiserver.handlers.decode_warnings import warn_of_entries
from apiserver.handlers.list_document import list_parts
from apiserver.handlers.object_response import included_object, negotiate
from apiserver.handlers.read import refuse_export
from apiserver.http.exchange import Exchange
from apiserver.http.negotiation import Shape
from apiserver.http.response import LARGE, exchange_of, write_rendered, write_stream
from apiserver.registry.pagination import ObjectPage
from apiserver.registry.storage_errors import api_error
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.interface import StorageError
from apiserver.time_slices import RestingSlices
from apiserver.views.resource_view import Form
from apiserver.views.selection import select

MAX_WHOLE: Final = 512 * 1024
"""The size in bytes up to which a list is sent as a whole; the parts of others are joined."""

LONG_PAGE: Final = 100
"""The number of objects from which on writing a page takes a noticeable part of a millisecond."""
LONG_SELECTOR: Final = 2_048
"""The length of a parameter from which on parsing it takes milliseconds."""


async def list_objects(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Respond with the objects of a collection, or with one page of them."""
    exchange = exchange_of(req)
    negotiate(req, endpoint, Shape.LIST)
    refuse_export(exchange.query)
    options, selection = await list_selection(endpoint, exchange)
    page = await _with_timeout(
        endpoint.stored.list(selection, options), options.timeout_seconds if options else None
    )
    await write_page(endpoint, req, resp, page)


async def list_selection(
    endpoint: Endpoint, exchange: Exchange
) -> tuple[ListOptions | None, EntrySelection]:
    """Return the validated options of a request for a collection, and the objects it selects.

    Without a query string the options are None and the whole collection is selected.
    """
    info = exchange.info
    if not exchange.query and info.verb != "watch":
        namespace = info.namespace if endpoint.namespaced else ""
        return None, EntrySelection(namespace=namespace or None)
    if any(len(values[0]) > LONG_SELECTOR for values in exchange.query.values() if values):
        exchange.workload.may_grow()
    return await exchange.workload.run(_selection, endpoint, exchange)


def _selection(endpoint: Endpoint, exchange: Exchange) -> tuple[ListOptions, EntrySelection]:
    info = exchange.info
    namespace = info.namespace if endpoint.namespaced else ""
    name = info.name if info.name_in_path else ""
    options, selectors = load_list(exchange.query)
    options.watch = info.verb == "watch"
    default_list_options(options)
    check(options, validate_list_options(options))
    fields = selectors.fields
    if name and not fields.empty and fields.requires_exact_match("metadata.name") != name:
        raise BadRequest("fieldSelector metadata.name doesn't match requested name")
    selection = select(
        endpoint.scheme,
        endpoint.kind,
        selectors,
        namespaced=endpoint.namespaced,
        namespace=namespace or None,
        name=name or None,
        field_labels=endpoint.field_labels,
    )
    return options, selection


async def write_page(endpoint: Endpoint, req: Request, resp: Response, page: ObjectPage) -> None:
    """Respond with one page of a list."""
    exchange = exchange_of(req)
    accepted = exchange.accepted
    form = endpoint.form(accepted, listed=True, include_object=included_object(exchange))
    if endpoint.view.converts:
        await _convert(endpoint, exchange, page, form)
    if len(page.entries) > LONG_PAGE:
        await RestingSlices().begin()
    parts = list_parts(
        page,
        endpoint.view,
        form,
        accepted,
        protobuf=lambda: endpoint.codec.protobuf,
        workload=exchange.workload,
    )
    # Encode the beginning before the response starts: a failure there can still become a Status.
    first, is_whole = await _beginning(parts)
    if endpoint.view.problems:
        warn_of_entries(endpoint, exchange, page.entries)
    if is_whole:
        write_rendered(req, resp, first)
        return
    resp.content_type = accepted.media_type
    write_stream(req, resp, _coalesce(first, parts))


async def _convert(endpoint: Endpoint, exchange: Exchange, page: ObjectPage, form: Form) -> None:
    """Have all objects of a page converted before the response starts."""
    try:
        await endpoint.view.convert(page.entries, form, exchange.workload)
    except StorageError as error:
        raise api_error(error, endpoint.gvr.group_resource, "list") from error


async def _beginning(parts: AsyncIterator[bytes]) -> tuple[bytes, bool]:
    """Return the first parts, joined, and whether these are all."""
    joined, size, time = [], 0, RestingSlices()
    async for part in parts:
        joined.append(part)
        size += len(part)
        if size > MAX_WHOLE:
            return b"".join(joined), False
        await time.yield_loop()
    return b"".join(joined), True


async def _with_timeout(listing: Awaitable[ObjectPage], seconds: int | None) -> ObjectPage:
    """Await *listing*. Raises Timeout if it takes longer than the client's timeoutSeconds."""
    if not seconds or seconds < 0:
        return await listing
    try:
        async with asyncio.timeout(seconds) as limit:
            return await listing
    except TimeoutError:
        if not limit.expired():
            raise
        raise Timeout.of("request did not complete within the allotted timeout") from None


async def _coalesce(first: bytes, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Join parts until they are large enough for a write of their own."""
    pending, size, time = [first], len(first), RestingSlices()
    async for part in parts:
        pending.append(part)
        size += len(part)
        if size >= LARGE:
            yield b"".join(pending)
            pending, size = [], 0
        await time.yield_loop()
    yield b"".join(pending)
