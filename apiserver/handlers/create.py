"""POST: store a new object, or answer a review, which is not stored."""

from falcon.asgi import Request, Response

from apimachinery.meta.options import CreateOptions
from apimachinery.meta.options_validation import check, validate_create_options
from apimachinery.meta.query_parameters import load
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersionKind
from apiserver.admission.chain import Attributes, Chain, Operation
from apiserver.context import RequestContext
from apiserver.endpoint import Endpoint, field_validation
from apiserver.handlers.body import content_type, decode_body, read_body
from apiserver.handlers.object_response import negotiate, write_document, write_object
from apiserver.http.request_info import Query
from apiserver.http.response import exchange_of


async def create(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Store a new object and respond with 201 and the object as stored."""
    exchange = exchange_of(req)
    negotiate(req, endpoint)
    options = create_options(exchange.query)
    context = endpoint.write_context(exchange, options)
    validation = field_validation(options)
    body = await read_body(req)
    obj = await decode_body(
        endpoint, body, content_type(req), validation=validation, context=context
    )
    if endpoint.resource.answer is not None:
        obj = await admit_document(endpoint.admission, endpoint.kind, context, obj, options)
        answer = await endpoint.resource.answer(context, obj)
        await write_document(endpoint, req, resp, answer, code=201)
        return
    created = await endpoint.stored.create(obj, context, options)
    await write_object(endpoint, req, resp, created, code=201, stored=context.stored)


async def admit_document(
    admission: Chain,
    kind: GroupVersionKind,
    context: RequestContext,
    document: Object,
    options: CreateOptions,
) -> Object:
    """Run admission on a document that is not stored itself; return the resulting document."""
    attributes = Attributes(context, Operation.CREATE, kind.group_kind, document, None, options)
    await admission.mutate(attributes)
    await admission.validate(attributes)
    assert attributes.object is not None
    return attributes.object


def create_options(query: Query) -> CreateOptions:
    """Return the validated options of a creation."""
    if not query:
        return CreateOptions()
    options = load(CreateOptions, query)
    check(options, validate_create_options(options))
    return options
