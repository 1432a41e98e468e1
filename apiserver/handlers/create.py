"""POST: a new object, or a question that is answered and not stored (a review)."""

from falcon.asgi import Request, Response

from apimachinery.meta.options import CreateOptions
from apimachinery.meta.options_validation import check, validate_create_options
from apimachinery.meta.query_parameters import load
from apiserver.endpoint import Endpoint, field_validation
from apiserver.handlers.body import content_type, decode_body, read_body
from apiserver.handlers.object_response import agree, write_object
from apiserver.http.request_info import Query
from apiserver.http.response import exchange_of


async def create(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Store a new object and answer 201 with what is stored."""
    exchange = exchange_of(req)
    agree(req, endpoint)
    options = create_options(exchange.query)
    context = endpoint.write_context(exchange, options)
    validation = field_validation(options)
    body = await read_body(req)
    obj = decode_body(endpoint, body, content_type(req), validation=validation, context=context)
    if endpoint.resource.answer is not None:
        made = await endpoint.resource.answer(context, obj)
    else:
        made = await endpoint.stored.create(obj, context, options)
    write_object(endpoint, req, resp, made, code=201, stored=context.stored)


def create_options(query: Query) -> CreateOptions:
    """The options of a creation, checked."""
    if not query:
        return CreateOptions()
    options = load(CreateOptions, query)
    check(options, validate_create_options(options))
    return options
