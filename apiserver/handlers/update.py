"""PUT: replace an object."""

from collections.abc import Awaitable, Callable

from falcon.asgi import Request, Response

from apimachinery.meta.options import UpdateOptions
from apimachinery.meta.options_validation import check, validate_update_options
from apimachinery.meta.query_parameters import load
from apimachinery.meta.types import Object
from apiserver.endpoint import Endpoint, field_validation
from apiserver.handlers.body import content_type, decode_update, read_body, valid_object
from apiserver.handlers.object_response import negotiate, write_object
from apiserver.http.request_info import Query
from apiserver.http.response import exchange_of
from apiserver.registry.object_update import Draft, replacement
from apiserver.registry.system_metadata import check_name


async def update(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Replace an object and respond with it: 200, or 201 if the request created it."""
    exchange = exchange_of(req)
    negotiate(req, endpoint)
    options = update_options(exchange.query)
    context = endpoint.write_context(exchange, options)
    validation = field_validation(options)
    body = await read_body(req)
    new = await decode_update(
        endpoint, body, content_type(req), validation=validation, context=context
    )
    sent = new.object if isinstance(new, Draft) else new
    # Before the object is looked for: a wrong name is reported also if there is no such object.
    check_name(sent.metadata, context.name, context.namespace)
    written, created = await endpoint.stored.update(
        context.name,
        replacement(new),
        context,
        options,
        create_if_missing=_creation(endpoint, req, new),
        uid=sent.metadata.uid,
    )
    code = 201 if created else 200
    await write_object(endpoint, req, resp, written, code=code, stored=context.stored)


def update_options(query: Query) -> UpdateOptions:
    """Return the validated options of an update."""
    if not query:
        return UpdateOptions()
    options = load(UpdateOptions, query)
    check(options, validate_update_options(options))
    return options


def _creation(
    endpoint: Endpoint, req: Request, new: Object | Draft[Object]
) -> Callable[[], Awaitable[Object]] | None:
    """Return the factory of a missing object, None for kinds that a PUT may not create."""
    exchange = exchange_of(req)
    if exchange.info.subresource or not endpoint.resource.strategy.allow_create_on_update:
        return None

    async def supply() -> Object:
        await exchange.permit("create")
        return valid_object(endpoint, new, None, name=exchange.info.name).deep_copy()

    return supply
