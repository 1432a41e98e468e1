"""Router: find the handler for the path and the method of a request.

It replaces falcon's router, which compiles its routes and cannot remove any, because groups are
installed and removed while the server runs. `RequestInfo` has parsed the path already, so finding
an endpoint takes a few dictionary look-ups.
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Final

from falcon.asgi import Request, Response, WebSocket

from apimachinery.errors import MethodNotAllowed, NotFound
from apiserver.endpoint import Endpoint, SubEndpoint
from apiserver.group import Subresource
from apiserver.handlers import computed_objects, subresource
from apiserver.handlers.create import create
from apiserver.handlers.delete import delete, delete_collection
from apiserver.handlers.list import list_objects
from apiserver.handlers.patch import patch
from apiserver.handlers.read import get
from apiserver.handlers.scale import ScaleHandlers
from apiserver.handlers.update import update
from apiserver.handlers.watch import Watches
from apiserver.http.request_info import RequestInfo
from apiserver.http.response import exchange_of, write_text
from apiserver.install import Groups

Responder = Callable[..., Awaitable[None]]
PathRoute = Callable[[str], "Methods | None"]
"""Returns the methods for the rest of a path after a prefix, None if there is no such path."""


class Methods(dict[str, Responder]):
    """The responders of one path by method; every other method is answered with 405."""

    def __missing__(self, method: str) -> Responder:
        return _not_allowed


async def _not_allowed(req: Request, *_: Any) -> None:
    raise MethodNotAllowed


async def _not_found(req: Request, resp: Response) -> None:
    write_text(resp, "404 page not found\n", code=404)


async def _no_websocket(req: Request, ws: WebSocket) -> None:
    raise NotFound.resource()


class _NotFoundMethods(Methods):
    """Answers every method with 404: in plain text, or as a Status for a WebSocket."""

    def __missing__(self, method: str) -> Responder:
        return _no_websocket if method == "WEBSOCKET" else _not_found


NOT_FOUND: Final = _NotFoundMethods()


class RefreshedMethods(Methods):
    """Looks up the path again after a refresh: the resource may have been defined a moment ago."""

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
    """The responders at the paths of one endpoint."""

    def __init__(self, endpoint: Endpoint, watches: Watches, scales: ScaleHandlers) -> None:
        verbs = endpoint.resource.verbs
        is_computed = endpoint.resource.compute is not None
        read_list = computed_objects.list_objects if is_computed else list_objects
        self.watch = _methods(
            endpoint, verbs, watch=("GET", watches.on_get), websocket=watches.on_websocket
        )
        self.all_namespaces = _methods(endpoint, verbs, list=("GET", read_list))
        if endpoint.has_plain_not_found:
            # Nothing else exists at this path of a custom resource.
            self.all_namespaces = _NotFoundMethods(self.all_namespaces)
        self.collection = _methods(
            endpoint,
            verbs,
            list=("GET", read_list),
            create=("POST", create),
            deletecollection=("DELETE", delete_collection),
        )
        self.item = _methods(
            endpoint,
            verbs,
            get=("GET", computed_objects.get if is_computed else get),
            update=("PUT", update),
            patch=("PATCH", patch),
            delete=("DELETE", delete),
        )
        self.subresources = {
            sub.name: _subresource(SubEndpoint(endpoint, sub), scales)
            for sub in endpoint.resource.subresources
        }

    def find(self, endpoint: Endpoint, info: RequestInfo) -> Methods:
        """Return the methods at the path of a request for this resource. Raises NotFound."""
        # /api/v1/namespaces/x parses as the namespace x inside of the namespace x.
        is_namespace = info.resource == "namespaces" and info.namespace == info.name
        namespace = "" if is_namespace else info.namespace
        if info.rest or (namespace and not endpoint.namespaced):
            return _invalid_path(endpoint)
        if info.verb == "watch":
            return self._watch(endpoint, info)
        if not info.name_in_path:
            across_namespaces = endpoint.namespaced and not namespace
            return self.all_namespaces if across_namespaces else self.collection
        if endpoint.namespaced and not namespace:
            return _invalid_path(endpoint)
        if not info.subresource:
            return self.item
        methods = self.subresources.get(info.subresource)
        if methods is None:
            raise endpoint.subresource_not_found(info.name)
        return methods

    def _watch(self, endpoint: Endpoint, info: RequestInfo) -> Methods:
        """Return the methods of a watch; a list refuses `?watch` of what cannot be watched.

        Raises NotFound for its old path.
        """
        if endpoint.resource.compute is None:
            return self.watch
        if f"/{info.version}/watch/" in info.path:
            raise NotFound.resource()
        return self.collection


def _invalid_path(endpoint: Endpoint) -> Methods:
    """Answer a path that the resource cannot have, such as in a namespace if it has none."""
    if endpoint.has_plain_not_found:
        return NOT_FOUND
    raise NotFound.resource()


class Router:
    """Implements the interface of falcon's routers."""

    def __init__(self, groups: Callable[[], Groups], watches: Watches) -> None:
        self._groups = groups
        self._watches = watches
        self._scales = ScaleHandlers()
        self._paths: dict[str, Methods] = {}
        self._unlisted: set[str] = set()
        self._prefixes: dict[str, PathRoute] = {}
        self._routes: dict[Endpoint, ResourceRoutes] = {}
        self._revision = -1

    @property
    def paths(self) -> Iterable[str]:
        return self._paths.keys() - self._unlisted

    def add_path(self, path: str, *, listed: bool = True, **responders: Responder) -> None:
        """Serve exactly this path with *responders* by method, in lower case.

        Unless it is *listed*, the root does not show it.
        """
        if not listed:
            self._unlisted.add(path)
        self._paths[path] = Methods(
            {method.upper(): responder for method, responder in responders.items()}
        )

    def add_prefix(self, prefix: str, find: PathRoute) -> None:
        """Serve every path below a first segment with the methods that *find* returns."""
        self._prefixes[prefix] = find

    def add_route(self, *_: Any, **__: Any) -> None:
        raise TypeError("routes are not added one by one: install a group")

    def find(
        self, uri: str, req: Request | None = None
    ) -> tuple[Any, Methods, dict[str, Any], str]:
        """Return the methods at the path of a request, in the tuple that falcon expects."""
        assert req is not None
        return self, self.methods(exchange_of(req).info), {}, ""

    def methods(self, info: RequestInfo) -> Methods:
        """Return the methods at the path of a request. Raises NotFound."""
        if "//" in info.path:
            return NOT_FOUND
        return self._resource(info) if info.is_resource else self._path(info.path)

    def _resource(self, info: RequestInfo) -> Methods:
        groups = self._groups()
        endpoints = groups.version(info.group, info.version)
        if endpoints is not None and info.resource in endpoints:
            return self._endpoint(info, endpoints[info.resource])
        if groups.refresh is not None:
            return RefreshedMethods(groups.refresh, lambda: self._installed_resource(info))
        return self._installed_resource(info)

    def _installed_resource(self, info: RequestInfo) -> Methods:
        """Return the methods for a resource of the groups that are installed by now."""
        endpoints = self._groups().version(info.group, info.version)
        if endpoints is None:
            return NOT_FOUND
        endpoint = endpoints.get(info.resource)
        if endpoint is not None:
            return self._endpoint(info, endpoint)
        if any(other.has_plain_not_found for other in endpoints.values()):
            return NOT_FOUND
        raise NotFound.resource()

    def _endpoint(self, info: RequestInfo, endpoint: Endpoint) -> Methods:
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
        exact = self._paths.get(trimmed)
        if exact is not None:
            return exact
        prefix, _, rest = trimmed[1:].partition("/")
        find = self._prefixes.get(prefix)
        methods = find(rest) if find else None
        return NOT_FOUND if methods is None else methods


def _methods(
    endpoint: Endpoint,
    verbs: tuple[str, ...],
    *,
    websocket: Responder | None = None,
    **handlers: tuple[str, Responder],
) -> Methods:
    """Return the methods of a path for those of *handlers* whose verbs the resource has."""
    methods = Methods(
        {
            method: partial(handle, endpoint)
            for v, (method, handle) in handlers.items()
            if v in verbs
        }
    )
    if websocket is not None and methods:
        methods["WEBSOCKET"] = partial(websocket, endpoint)
    return methods


def _subresource(sub: SubEndpoint, scales: ScaleHandlers) -> Methods:
    handlers = _subresource_handlers(sub.subresource, scales)
    # The handlers of the status are those of the object, which take an endpoint.
    served = sub.endpoint if sub.subresource.name == "status" else sub
    return Methods(
        {
            method: partial(handle, served)
            for verb, (method, handle) in handlers.items()
            if verb in sub.subresource.verbs
        }
    )


def _subresource_handlers(
    sub: Subresource, scales: ScaleHandlers
) -> dict[str, tuple[str, Responder]]:
    if sub.handle is not None:
        return {
            "get": ("GET", subresource.respond),
            "create": ("POST", subresource.respond),
            "update": ("PUT", subresource.update),
            "patch": ("PATCH", subresource.patch),
        }
    if sub.name == "scale":
        return {
            "get": ("GET", scales.get),
            "update": ("PUT", scales.update),
            "patch": ("PATCH", scales.patch),
        }
    return {"get": ("GET", get), "update": ("PUT", update), "patch": ("PATCH", patch)}
