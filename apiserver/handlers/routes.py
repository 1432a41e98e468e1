"""Router: from the path of a request to the function that answers it.

It stands in for falcon's own, which compiles its routes and can forget none of them: groups come
and go while the server runs. The path is taken apart already (`RequestInfo`), so finding an
endpoint is a few look-ups.
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Final

from falcon.asgi import Request, Response, WebSocket

from apimachinery.errors import MethodNotAllowed, NotFound
from apiserver.endpoint import Endpoint, SubEndpoint
from apiserver.group import Subresource
from apiserver.handlers import subresource as subresources
from apiserver.handlers.create import create
from apiserver.handlers.delete import delete, delete_collection
from apiserver.handlers.patch import patch
from apiserver.handlers.read import get, list_objects
from apiserver.handlers.update import update
from apiserver.handlers.watch import Watches
from apiserver.http.request_info import RequestInfo
from apiserver.http.response import exchange_of, write_text
from apiserver.install import Groups

Responder = Callable[..., Awaitable[None]]
PathRoute = Callable[[str], "Methods | None"]
"""From the rest of a path, after a prefix, to what answers there."""


class Methods(dict[str, Responder]):
    """The methods of one path; every other is not allowed."""

    def __missing__(self, method: str) -> Responder:
        return _not_allowed


async def _not_allowed(req: Request, *_: Any) -> None:
    raise MethodNotAllowed


async def _not_found(req: Request, resp: Response) -> None:
    write_text(resp, "404 page not found\n", code=404)


async def _no_websocket(req: Request, ws: WebSocket) -> None:
    raise NotFound.resource()


class _Nowhere(Methods):
    def __missing__(self, method: str) -> Responder:
        return _no_websocket if method == "WEBSOCKET" else _not_found


NOWHERE: Final = _Nowhere()


class Perhaps(Methods):
    """A resource that is not known, but may have been defined a moment ago."""

    def __init__(self, refresh: Callable[[], Awaitable[None]], find: Callable[[], Methods]) -> None:
        super().__init__()
        self._refresh = refresh
        self._find = find

    def __missing__(self, method: str) -> Responder:
        async def respond(req: Request, *rest: Any) -> None:
            await self._refresh()
            await self._find()[method](req, *rest)

        return respond


class ResourceRoutes:
    """What answers at the paths of one endpoint."""

    def __init__(
        self, endpoint: Endpoint, watches: Watches, scales: subresources.ScaleHandlers
    ) -> None:
        verbs = endpoint.resource.verbs
        self.watch = _methods(
            endpoint, verbs, watch=("GET", watches.on_get), websocket=watches.on_websocket
        )
        self.everywhere = _methods(endpoint, verbs, list=("GET", list_objects))
        self.collection = _methods(
            endpoint,
            verbs,
            list=("GET", list_objects),
            create=("POST", create),
            deletecollection=("DELETE", delete_collection),
        )
        self.item = _methods(
            endpoint,
            verbs,
            get=("GET", get),
            update=("PUT", update),
            patch=("PATCH", patch),
            delete=("DELETE", delete),
        )
        self.subresources = {
            sub.name: _subresource(SubEndpoint(endpoint, sub), scales)
            for sub in endpoint.resource.subresources
        }

    def find(self, endpoint: Endpoint, info: RequestInfo) -> Methods:
        """What answers a request for this resource, or NotFound."""
        # The path of a namespace reads as if it were inside of itself.
        itself = info.resource == "namespaces" and info.namespace == info.name
        namespace = "" if itself else info.namespace
        if info.rest or (namespace and not endpoint.namespaced):
            return _no_path(endpoint)
        if info.verb == "watch":
            return self.watch
        if not info.name_in_path:
            everywhere = endpoint.namespaced and not namespace
            return self.everywhere if everywhere else self.collection
        if endpoint.namespaced and not namespace:
            return _no_path(endpoint)
        if not info.subresource:
            return self.item
        methods = self.subresources.get(info.subresource)
        if methods is None:
            raise endpoint.subresource_not_found(info.name)
        return methods


def _no_path(endpoint: Endpoint) -> Methods:
    """Answer a path that the resource cannot have, such as in a namespace if it has none."""
    if endpoint.has_plain_not_found:
        return NOWHERE
    raise NotFound.resource()


class Router:
    """Finds what answers a request; the interface is falcon's."""

    def __init__(self, groups: Callable[[], Groups], watches: Watches) -> None:
        self._groups = groups
        self._watches = watches
        self._scales = subresources.ScaleHandlers()
        self._paths: dict[str, Methods] = {}
        self._prefixes: dict[str, PathRoute] = {}
        self._routes: dict[Endpoint, ResourceRoutes] = {}
        self._revision = -1

    @property
    def paths(self) -> Iterable[str]:
        return self._paths

    def add_path(self, path: str, **responders: Responder) -> None:
        """Answer at exactly this path, by method in lower case."""
        self._paths[path] = Methods({name.upper(): found for name, found in responders.items()})

    def add_prefix(self, prefix: str, find: PathRoute) -> None:
        """Answer below a first path segment by whatever *find* says."""
        self._prefixes[prefix] = find

    def add_route(self, *_: Any, **__: Any) -> None:
        raise TypeError("routes come from groups: install one")

    def find(
        self, uri: str, req: Request | None = None
    ) -> tuple[Any, Methods, dict[str, Any], str]:
        """The methods at the path of a request."""
        assert req is not None
        exchange = exchange_of(req)
        info = exchange.info
        if "//" in info.path:
            return self, NOWHERE, {}, ""
        return self, self._resource(info) if info.is_resource else self._path(info.path), {}, ""

    def _resource(self, info: RequestInfo) -> Methods:
        groups = self._groups()
        endpoints = groups.version(info.group, info.version)
        if endpoints is not None and info.resource in endpoints:
            return self._found(info, endpoints[info.resource])
        if groups.refresh is not None:
            return Perhaps(groups.refresh, lambda: self._known(info))
        return self._known(info)

    def _known(self, info: RequestInfo) -> Methods:
        """What answers by what is known by now."""
        endpoints = self._groups().version(info.group, info.version)
        if endpoints is None:
            return NOWHERE
        endpoint = endpoints.get(info.resource)
        if endpoint is not None:
            return self._found(info, endpoint)
        if any(other.has_plain_not_found for other in endpoints.values()):
            return NOWHERE
        raise NotFound.resource()

    def _found(self, info: RequestInfo, endpoint: Endpoint) -> Methods:
        groups = self._groups()
        if groups.revision != self._revision:
            self._routes.clear()
            self._revision = groups.revision
        routes = self._routes.get(endpoint)
        if routes is None:
            routes = self._routes[endpoint] = ResourceRoutes(endpoint, self._watches, self._scales)
        return routes.find(endpoint, info)

    def _path(self, path: str) -> Methods:
        trimmed = path.rstrip("/") or "/"
        found = self._paths.get(trimmed)
        if found is not None:
            return found
        prefix, _, rest = trimmed[1:].partition("/")
        find = self._prefixes.get(prefix)
        methods = find(rest) if find else None
        return NOWHERE if methods is None else methods


def _methods(
    endpoint: Endpoint,
    verbs: tuple[str, ...],
    *,
    websocket: Responder | None = None,
    **known: tuple[str, Responder],
) -> Methods:
    """The methods of a path, as far as the resource has their verbs."""
    found = Methods(
        {method: partial(handle, endpoint) for v, (method, handle) in known.items() if v in verbs}
    )
    if websocket is not None and found:
        found["WEBSOCKET"] = partial(websocket, endpoint)
    return found


def _subresource(sub: SubEndpoint, scales: subresources.ScaleHandlers) -> Methods:
    known = _handlers(sub.subresource, scales)
    handled = sub.endpoint if sub.subresource.name == "status" else sub
    return Methods(
        {
            method: partial(handle, handled)
            for verb, (method, handle) in known.items()
            if verb in sub.subresource.verbs
        }
    )


def _handlers(
    sub: Subresource, scales: subresources.ScaleHandlers
) -> dict[str, tuple[str, Responder]]:
    if sub.handle is not None:
        return {
            "get": ("GET", subresources.ask),
            "create": ("POST", subresources.ask),
            "update": ("PUT", subresources.store),
            "patch": ("PATCH", subresources.store_patched),
        }
    if sub.name == "scale":
        return {
            "get": ("GET", scales.get),
            "update": ("PUT", scales.update),
            "patch": ("PATCH", scales.patch),
        }
    return {"get": ("GET", get), "update": ("PUT", update), "patch": ("PATCH", patch)}
