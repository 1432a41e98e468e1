"""GET of one object. Nothing is decoded: the cache entry has the encoded bytes."""

from falcon.asgi import Request, Response

from apimachinery.errors import BadRequest
from apimachinery.meta.options import GetOptions
from apimachinery.meta.query_parameters import load
from apiserver.endpoint import Endpoint
from apiserver.handlers.decode_warnings import warn_of_entries
from apiserver.handlers.entry_encoding import encode_apart, is_light
from apiserver.handlers.object_response import included_object, negotiate
from apiserver.http.negotiation import TRUE
from apiserver.http.request_info import Query
from apiserver.http.response import exchange_of, respond
from apiserver.registry.storage_errors import api_error
from apiserver.storage.cache.read_revision import At, Freshness
from apiserver.storage.interface import StorageError


async def get(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Respond with one object."""
    exchange = exchange_of(req)
    info, query = exchange.info, exchange.query
    accepted = negotiate(req, endpoint)
    include = ""
    at: At | str = Freshness.NEWEST
    if query:
        refuse_export(query)
        at = load(GetOptions, query).resource_version
        include = included_object(exchange)
    namespace = info.namespace if endpoint.namespaced else ""
    entry = await endpoint.stored.get(info.name, namespace=namespace, at=at)
    form = endpoint.form(accepted, include_object=include)
    if is_light(entry, form):
        encoded = entry.encode(form)
    else:
        try:
            encoded = await encode_apart(endpoint.view, entry, form, exchange.workload)
        except StorageError as error:
            raise api_error(error, endpoint.gvr.group_resource, "get") from error
    encoded = endpoint.view.complete(encoded, form)
    if endpoint.view.problems:
        warn_of_entries(endpoint, exchange, (entry,))
    await respond(req, resp, encoded)


def refuse_export(query: Query) -> None:
    """Raise BadRequest for the `export` parameter, which Kubernetes has removed."""
    values = query.get("export")
    if values and values[0] in TRUE:
        raise BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
