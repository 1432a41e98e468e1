"""The application: groups, who may use them, and a store, as one ASGI application.

    gate -> access -> routes -> handlers -> registry -> storage

Nothing is opened before the server starts: the store, the watch cache and the groups come and go
with the ASGI lifespan.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Final, TypedDict, Unpack

import falcon.asgi
from falcon.asgi import Request, Response

from apimachinery.scheme import Scheme
from apiserver.admission.chain import Chain
from apiserver.auth.authentication import Authentication
from apiserver.auth.authorization import Authorizer
from apiserver.group import Group
from apiserver.handlers.routes import Router
from apiserver.handlers.watch import Watches
from apiserver.http.access import Access, on_error
from apiserver.http.exchange import Receive, Scope
from apiserver.http.gate import Gate, Send
from apiserver.http.request_limits import Limits
from apiserver.http.response import UTF8HeaderResponse, write
from apiserver.http.server_metrics import ServerMetrics
from apiserver.install import Groups, MakeOwnership
from apiserver.managed_fields.field_tracking import FieldTracking
from apiserver.pages.discovery import DiscoveryPages
from apiserver.pages.health import Check, Health, Unhealthy, ping
from apiserver.pages.metrics import MetricsHandler
from apiserver.pages.openapi import OpenAPI
from apiserver.pages.version import on_version
from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.compaction import Compactor
from apiserver.storage.interface import Backend

log = logging.getLogger(__name__)

DRAIN: Final = "apiserver.drain"
"""Where the lifespan state holds a function that ends all streams."""
FIRST_LIST: Final = 30.0
"""Seconds for which a start waits until the cache is filled; without it reads wait themselves."""

Hook = Callable[["App"], AbstractAsyncContextManager[object]]


class Settings(TypedDict, total=False):
    """What an application can do without being told."""

    scheme: Scheme | None
    admission: Callable[[Groups], Chain] | None
    """Makes the admission of all groups; the stores it may ask for exist only later."""
    ownership: MakeOwnership | None
    """Makes what tracks managedFields; None leaves them as clients send them."""
    hooks: Sequence[Hook]
    """Entered when the application runs and left before it stops, in order."""
    limits: Limits | None
    cache_limits: CacheLimits | None


class App:
    """An ASGI application; `groups` is there while it runs."""

    def __init__(
        self,
        groups: Sequence[Group],
        open_backend: Callable[[], Awaitable[Backend]],
        *,
        authentication: Authentication,
        authorizer: Authorizer,
        scheme: Scheme | None = None,
        admission: Callable[[Groups], Chain] | None = None,
        ownership: MakeOwnership | None = FieldTracking,
        hooks: Sequence[Hook] = (),
        limits: Limits | None = None,
        cache_limits: CacheLimits | None = None,
    ) -> None:
        self.metrics = ServerMetrics()
        self.watches = Watches(limits or Limits(), self.metrics)
        self.router = Router(lambda: self.groups, self.watches)
        self._initial = tuple(groups)
        self._open_backend = open_backend
        self._scheme = scheme
        self._admission = admission
        self._ownership = ownership
        self._hooks = tuple(hooks)
        self._cache_limits = cache_limits
        self._groups: Groups | None = None
        self._backend: Backend | None = None
        self._cache: WatchCache | None = None
        self._running = AsyncExitStack()
        self._draining = False
        access = Access(authentication, authorizer)
        self._falcon = _falcon_app(self.router, [_Lifespan(self), access])
        self._gate = Gate(self._falcon, limits or Limits(), self.metrics)
        self._add_paths()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._gate(scope, receive, send)

    @property
    def groups(self) -> Groups:
        """The installed groups; a group can be added and removed while the server runs."""
        assert self._groups is not None, "groups are installed when the application starts"
        return self._groups

    def drain(self) -> None:
        """End all watches and say that no further requests are wanted."""
        self._draining = True
        self.watches.drain()

    async def start(self) -> None:
        """Open the store, install the groups and fill the cache."""
        async with AsyncExitStack() as opened:
            self._backend = backend = await self._open_backend()
            opened.push_async_callback(backend.close)
            self._cache = cache = WatchCache(backend, limits=self._cache_limits)
            self._groups = Groups(
                backend,
                cache,
                scheme=self._scheme,
                admission=self._admission,
                ownership=self._ownership,
            )
            for group in self._initial:
                self._groups.install(group)
            await opened.enter_async_context(cache)
            await self._groups.filled(seconds=FIRST_LIST)
            compactor = asyncio.create_task(Compactor(backend).run(), name="compaction")
            opened.push_async_callback(_cancel, compactor)
            for hook in self._hooks:
                await opened.enter_async_context(hook(self))
            self._running = opened.pop_all()

    async def stop(self) -> None:
        """Close everything that was opened, in the opposite order."""
        self.drain()
        await self._running.aclose()

    def _add_paths(self) -> None:
        router = self.router
        discovery, openapi = DiscoveryPages(lambda: self.groups), OpenAPI(lambda: self.groups)
        router.add_path("/version", get=on_version)
        router.add_path("/metrics", get=MetricsHandler(self.metrics).on_get)
        router.add_path("/", get=self._on_root)
        router.add_prefix("api", lambda rest: discovery.find("api", rest))
        router.add_prefix("apis", lambda rest: discovery.find("apis", rest))
        router.add_prefix("openapi", openapi.find)
        alive = (Check("ping", ping), Check("storage", self._check_storage))
        ready = (
            *alive,
            Check("cache-sync", self._check_cache),
            Check("shutdown", self._check_shutdown),
        )
        for health in (Health("healthz", alive), Health("livez", alive), Health("readyz", ready)):
            first, *rest = health.paths
            router.add_path(first, get=health.on_get, head=health.on_get)
            for path in rest:
                router.add_path(path, get=health.on_get_check, head=health.on_get_check)

    async def _on_root(self, req: Request, resp: Response) -> None:
        paths = sorted({*self.router.paths, *self._group_paths(), "/openapi/v2", "/openapi/v3"})
        listed = ",".join(f'"{path}"' for path in paths if path != "/")
        write(req, resp, f'{{"paths":[{listed}]}}'.encode())

    def _group_paths(self) -> list[str]:
        found = ["/api", "/apis"]
        for installed in self.groups:
            name = installed.group.name
            root = f"/apis/{name}" if name else "/api"
            found += [root, *(f"{root}/{version}" for version in installed.versions)]
        return found

    async def _check_storage(self) -> None:
        if self._backend is None:
            raise Unhealthy("the store is not open")
        await self._backend.current_revision()

    async def _check_cache(self) -> None:
        if self._cache is None or not self._cache.ready:
            raise Unhealthy("not every resource has been listed")

    async def _check_shutdown(self) -> None:
        if self._draining:
            raise Unhealthy("the server is shutting down")


def create_app(
    groups: Sequence[Group],
    open_backend: Callable[[], Awaitable[Backend]],
    *,
    authentication: Authentication,
    authorizer: Authorizer,
    **settings: Unpack[Settings],
) -> App:
    """An application that serves *groups* from the store that *open_backend* opens."""
    return App(
        groups,
        open_backend,
        authentication=authentication,
        authorizer=authorizer,
        **settings,
    )


class _Lifespan:
    """Starts and stops the application with its server."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def process_startup(self, scope: Scope, event: dict[str, Any]) -> None:
        if "state" in scope:
            scope["state"][DRAIN] = self._app.drain
        await self._app.start()

    async def process_shutdown(self, scope: Scope, event: dict[str, Any]) -> None:
        await self._app.stop()


def _falcon_app(router: Any, middleware: list[Any]) -> Any:
    app: Any = falcon.asgi.App(
        router=router, middleware=middleware, response_type=UTF8HeaderResponse
    )
    app.add_error_handler(Exception, on_error)
    return app


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
