"""Lists on the wire: which objects are meant, and how their document is sent.

A large one is made and sent slice by slice: whoever asks for a hundred thousand objects must not
keep others waiting.
"""

from collections.abc import Iterator
from itertools import islice

from falcon.asgi import Request, Response

from apimachinery.errors import BadRequest
from apimachinery.meta.options import ListOptions, default_list_options
from apimachinery.meta.options_validation import check, validate_list_options
from apimachinery.meta.query_parameters import load_list
from apimachinery.serialization.media_types import JSON
from apiserver.endpoint import Endpoint
from apiserver.handlers.list_document import SLICE, list_document
from apiserver.handlers.object_response import included_object
from apiserver.http.exchange import Exchange
from apiserver.http.response import LARGE, exchange_of, write, write_stream
from apiserver.registry.pagination import ObjectPage
from apiserver.storage.cache.entry import EntrySelection
from apiserver.views.selection import select


def list_selection(
    endpoint: Endpoint, exchange: Exchange
) -> tuple[ListOptions | None, EntrySelection]:
    """What a request for a collection wants, checked; without a query, everything there is."""
    info = exchange.info
    namespace = info.namespace if endpoint.namespaced else ""
    name = info.name if info.name_in_path else ""
    if not exchange.query and info.verb != "watch":
        return None, EntrySelection(namespace=namespace or None)
    options, selectors = load_list(exchange.query)
    options.watch = info.verb == "watch"
    default_list_options(options)
    check(options, validate_list_options(options))
    wanted = selectors.fields
    if name and not wanted.empty and wanted.requires_exact_match("metadata.name") != name:
        raise BadRequest("fieldSelector metadata.name doesn't match requested name")
    found = select(
        endpoint.scheme,
        endpoint.kind,
        selectors,
        namespaced=endpoint.namespaced,
        namespace=namespace or None,
        name=name or None,
    )
    return options, found


def write_page(endpoint: Endpoint, req: Request, resp: Response, page: ObjectPage) -> None:
    """Answer with one page of a list."""
    exchange = exchange_of(req)
    accepted = exchange.accepted
    form = endpoint.form(accepted, listed=True, include_object=included_object(exchange))
    parts = list_document(page, endpoint.view, form, protobuf=endpoint.codec.protobuf)
    # The beginning is made before anything is sent: what fails there can still be told.
    first = b"".join(islice(parts, 2))
    if accepted.media_type != JSON or accepted.pretty or len(page.entries) <= SLICE:
        write(req, resp, first + b"".join(parts))
        return
    resp.content_type = JSON
    write_stream(req, resp, _together(first, parts))


def _together(first: bytes, parts: Iterator[bytes]) -> Iterator[bytes]:
    """Slices joined until each is worth a write of its own."""
    waiting, size = [first], len(first)
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= LARGE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join((*waiting, b"\n"))
