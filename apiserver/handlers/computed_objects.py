"""GET and LIST of resources whose objects are computed for each request, and never stored.

Their lists have no resourceVersion and no pages: there is no state that a client could go on from,
and so nothing to watch either.
"""

from collections.abc import Hashable
from typing import cast

from falcon.asgi import Request, Response

from apimachinery.errors import MethodNotAllowed, NotFound
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource
from apiserver.endpoint import Endpoint
from apiserver.handlers.list import list_selection, write_page
from apiserver.handlers.object_response import included_object, negotiate
from apiserver.http.negotiation import Shape
from apiserver.http.response import exchange_of, respond
from apiserver.registry.pagination import ObjectPage
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.storage.interface import Record
from apiserver.views.resource_view import Form, ResourceView


async def get(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Respond with one object. Raises NotFound, which names the singular as in Kubernetes."""
    exchange = exchange_of(req)
    accepted = negotiate(req, endpoint)
    name = exchange.info.name
    found = next((obj for obj in await _compute(endpoint) if obj.metadata.name == name), None)
    if found is None:
        resource = endpoint.resource
        raise NotFound.of(GroupResource(endpoint.group.name, resource.singular_name), name)
    form = endpoint.form(accepted, include_object=included_object(exchange))
    await respond(req, resp, endpoint.view.encode_object(found, form))


async def list_objects(endpoint: Endpoint, req: Request, resp: Response) -> None:
    """Respond with the objects that the selectors match. Raises MethodNotAllowed for a watch."""
    exchange = exchange_of(req)
    negotiate(req, endpoint, Shape.LIST)
    if exchange.info.verb == "watch":
        raise MethodNotAllowed.of(endpoint.gvr.group_resource, "watch")
    _, selection = await list_selection(endpoint, exchange)
    entries = [_ComputedEntry(obj, endpoint.view) for obj in await _compute(endpoint)]
    selected = [entry for entry in entries if _matches(selection, entry)]
    await write_page(endpoint, req, resp, ObjectPage(cast(list[Entry], selected), revision=0))


class _ComputedEntry(Entry):
    """An object that a list can show as it shows those of the cache."""

    __slots__ = ("_object", "_view")

    def __init__(self, obj: Object, view: ResourceView) -> None:
        name = obj.metadata.name
        fields = {"metadata.name": name}
        super().__init__(Record(name, b"", 0, 0), view, labels=obj.metadata.labels, fields=fields)
        self._object = obj
        self._view = view

    def encode_anew(self, form: Hashable) -> bytes:
        return self._view.encode_object(self._object, cast(Form, form))


def _matches(selection: EntrySelection, entry: Entry) -> bool:
    return selection.name in (None, entry.key) and selection.matches(entry)


async def _compute(endpoint: Endpoint) -> list[Object]:
    compute = endpoint.resource.compute
    assert compute is not None
    return list(await compute())
