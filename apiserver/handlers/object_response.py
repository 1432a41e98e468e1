"""The first and the last step of every handler: negotiate a form, and write an object in it."""

from dataclasses import replace
from typing import Any

from falcon.asgi import Request, Response

from apimachinery.codec import dump_json
from apimachinery.meta.options import TableOptions
from apimachinery.meta.options_validation import check_table_options
from apimachinery.meta.query_parameters import load
from apimachinery.meta.types import TypeMeta
from apimachinery.serialization.media_types import PROTOBUF
from apiserver.endpoint import Endpoint
from apiserver.http.exchange import Exchange
from apiserver.http.negotiation import TABLE, Accepted, MediaTypeOffer, Shape
from apiserver.http.response import exchange_of, respond


def negotiate(req: Request, endpoint: Endpoint, shape: Shape = Shape.OBJECT) -> Accepted:
    """Negotiate the form of the response with an endpoint. Raises NotAcceptable."""
    exchange = exchange_of(req)
    exchange.route = endpoint
    if endpoint.warning:
        exchange.warnings.append(endpoint.warning)
    return accept(req, endpoint.offer, shape)


def accept(req: Request, offer: MediaTypeOffer, shape: Shape = Shape.OBJECT) -> Accepted:
    """Negotiate the media type; honour `?pretty`. Raises NotAcceptable."""
    exchange = exchange_of(req)
    accepted = offer.accept(req.get_header("accept") or "", shape)
    if exchange.accepted.pretty:
        accepted = replace(accepted, pretty=True)
    exchange.accepted = accepted
    return accepted


def included_object(exchange: Exchange) -> str:
    """Return `?includeObject`: how much of an object its row of a Table includes."""
    if exchange.accepted.transform != TABLE or not exchange.query:
        return ""
    options = load(TableOptions, exchange.query)
    check_table_options(options)
    return options.include_object


async def write_object(
    endpoint: Endpoint,
    req: Request,
    resp: Response,
    obj: Any,
    *,
    code: int = 200,
    stored: bytes | None = None,
) -> None:
    """Respond with an internal object of the endpoint's kind; *stored* are its bytes in storage."""
    exchange = exchange_of(req)
    if endpoint.store is None:
        await write_document(endpoint, req, resp, obj, code=code)
        return
    form = endpoint.form(exchange.accepted, include_object=included_object(exchange))
    encoded = await exchange.workload.run(endpoint.view.encode_written, obj, stored, form)
    await respond(req, resp, encoded, code=code)


async def write_document(
    endpoint: Endpoint, req: Request, resp: Response, obj: TypeMeta, *, code: int = 200
) -> None:
    """Respond with an object of any kind; convert an internal one to the endpoint's version."""
    exchange = exchange_of(req)
    encoded = await exchange.workload.run(
        _encode_document, endpoint, obj, exchange.accepted.media_type
    )
    await respond(req, resp, encoded, code=code)


def _encode_document(endpoint: Endpoint, obj: TypeMeta, media_type: str) -> bytes:
    codec = endpoint.codec
    kinds = codec.scheme.kinds_of(obj) if not obj.kind else ()
    version = endpoint.version if any(k.group == endpoint.version.group for k in kinds) else None
    written = codec.in_version(obj, version) if kinds else obj
    if media_type == PROTOBUF:
        return codec.protobuf.encode(written, api_version=written.api_version, kind=written.kind)
    return dump_json(written)
