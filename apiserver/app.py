"""App: API groups, authentication, authorization and a store as one ASGI application.

    gate -> access -> routes -> handlers -> registry -> storage

Nothing is opened before the server starts: the store, the watch cache and the groups are opened and
closed with the ASGI lifespan. `apiserver.create_app` builds the App of a configuration.
"""

import asyncio
import secrets
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Final

from falcon.asgi import Request, Response

from apimachinery.errors import APIError
from apimachinery.scheme import Scheme
from apiserver.admission.plugins import NO_PLUGINS, Admission
from apiserver.auth.authentication import Authentication
from apiserver.auth.authorization import Authorizer
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.context import SERVER
from apiserver.evolution.accepted_loss import NO_LOSS, AcceptedLoss
from apiserver.evolution.running_servers import registered
from apiserver.evolution.shape_learning import LearningBackend
from apiserver.evolution.start import ShapeStart
from apiserver.group import Group
from apiserver.handlers.routes import Router
from apiserver.handlers.watch import Watches
from apiserver.http.access import Access
from apiserver.http.concurrency import Concurrency, InFlightLimits
from apiserver.http.dispatch import Dispatcher
from apiserver.http.exchange import (
    DRAIN,
    GROUP_PACKAGES,
    KEY,
    LOOP_PAUSED,
    Exchange,
    Scope,
)
from apiserver.http.gate import Gate, Send
from apiserver.http.request_bodies import Receive, RequestBodies
from apiserver.http.request_info import RequestInfo, parse_query, request_info
from apiserver.http.request_limits import Limits
from apiserver.http.response import write
from apiserver.http.server_metrics import ServerMetrics
from apiserver.install import Groups, InstallError, MakeOwnership
from apiserver.managed_fields.field_tracking import FieldTracking
from apiserver.pages.discovery import DiscoveryPages
from apiserver.pages.health import Check, Health, Unhealthy, ping
from apiserver.pages.metrics import MetricsHandler
from apiserver.pages.openapi import OpenAPI
from apiserver.pages.version import on_version
from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.compaction import Compactor
from apiserver.storage.interface import Backend, StorageError
from apiserver.workload import HeavyThread

FIRST_LIST: Final = 30.0
"""Seconds for which a start waits until the cache is filled; after that reads wait themselves."""
OWN_PACKAGES: Final = frozenset(("apimachinery", "apiserver", "apis", "client"))
STARTUP_ERRORS: Final = (InstallError, StorageError, APIError)
"""Errors of a start that are reported in one line; any other is a bug and keeps its traceback."""

Hook = Callable[["App"], AbstractAsyncContextManager[object]]


class App:
    """An ASGI application; `groups` exists while it runs."""

    def __init__(
        self,
        groups: Sequence[Group],
        open_backend: Callable[[], Awaitable[Backend]],
        *,
        authentication: Authentication,
        authorizer: Authorizer,
        scheme: Scheme | None = None,
        admission: Admission = NO_PLUGINS,
        ownership: MakeOwnership | None = FieldTracking,
        hooks: Sequence[Hook] = (),
        accepted_loss: AcceptedLoss = NO_LOSS,
        shares_store: bool = False,
        limits: Limits | None = None,
        concurrency: Concurrency | None = None,
        metrics: ServerMetrics | None = None,
        cache_limits: CacheLimits | None = None,
    ) -> None:
        """Describe the application; nothing is opened yet.

        *admission* has the admission plugins; the stores they read exist only later.
        *ownership* builds what tracks managedFields; None stores them as clients send them.
        *accepted_loss* are fields whose stored values may be lost although nobody declared it.
        With *shares_store*, other servers of the store are told what this one serves.
        *concurrency* decides how many requests are executed at once; by default *limits* do.
        *hooks* are entered in order when the application starts, and left in the opposite order.
        """
        self.metrics = metrics or ServerMetrics()
        self._heavy_thread = HeavyThread()
        self.watches = Watches(limits or Limits(), self.metrics)
        self.router = Router(lambda: self.groups, self.watches)
        self.local = LocalEntrance(lambda: self.groups, authorizer, self._heavy_thread)
        self._initial = tuple(groups)
        self._open_backend = open_backend
        self._scheme = scheme
        self._admission = admission
        self._ownership = ownership
        self._hooks = tuple(hooks)
        self._accepted_loss = accepted_loss
        self._shares_store = shares_store
        self._cache_limits = cache_limits
        self._groups: Groups | None = None
        self._backend: Backend | None = None
        self._cache: WatchCache | None = None
        self._running = AsyncExitStack()
        self._draining = False
        self._before_drain: list[Callable[[], object]] = []
        access = Access(
            authentication,
            authorizer,
            self._heavy_thread,
            concurrency=concurrency or InFlightLimits(limits or Limits()),
            bodies=RequestBodies(limits),
        )
        self._gate = Gate(Dispatcher(self.router, access), limits or Limits(), self.metrics)
        self._add_paths()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await run_lifespan(lambda: self, scope, receive, send)
        else:
            await self._gate(scope, receive, send)

    @property
    def groups(self) -> Groups:
        """The installed groups; a group can be added and removed while the server runs."""
        assert self._groups is not None, "groups are installed when the application starts"
        return self._groups

    @property
    def backend(self) -> Backend:
        """The store; open while the application runs."""
        assert self._backend is not None, "the store is opened when the application starts"
        return self._backend

    def group_packages(self) -> frozenset[str]:
        """Return the Python packages of groups that are not the server's own."""
        parts = (
            part
            for group in self._initial
            for resource in group.resources
            for part in (resource.cls, type(resource.strategy))
        )
        return frozenset(part.__module__.partition(".")[0] for part in parts) - OWN_PACKAGES

    def before_drain(self, stop: Callable[[], object]) -> None:
        """Have *stop* called when the application drains, before any stream ends."""
        self._before_drain.append(stop)

    def drain(self) -> None:
        """Stop the controllers, end all watches and report as not ready; may be repeated."""
        self._draining = True
        for stop in self._before_drain:
            stop()
        self.watches.drain()

    async def start(self) -> None:
        """Open the store, install the groups, fill the cache and enter the hooks."""
        async with AsyncExitStack() as opened:
            self._backend = backend = LearningBackend(await self._open_backend())
            opened.push_async_callback(backend.close)
            await backend.check_integrity()
            self._cache = cache = WatchCache(
                backend, limits=self._cache_limits, on_lag=self.metrics.cache_lagged
            )
            self._groups = Groups(
                backend,
                cache,
                scheme=self._scheme,
                admission=self._admission,
                ownership=self._ownership,
            )
            self._groups.register(self._initial)
            for group in self._initial:
                self._groups.install(group)
            start = ShapeStart(backend, self._accepted_loss)
            await self._groups.defer_shapes(start)
            if self._shares_store:
                # Before the check, so that two releases that start at once see each other.
                shapes = self._groups.shapes()
                on_settled = self._groups.expire_watches
                await opened.enter_async_context(registered(backend, shapes, on_settled=on_settled))
            backend.learner = await self._groups.register_shapes(start)
            await opened.enter_async_context(cache)
            await self._groups.filled(seconds=FIRST_LIST)
            compactor = asyncio.create_task(Compactor(backend).run(), name="compaction")
            opened.push_async_callback(_cancel, compactor)
            opened.callback(self.metrics.retire)
            if self.metrics.is_shared:
                reporting = asyncio.create_task(self.metrics.run(), name="metrics")
                opened.push_async_callback(_cancel, reporting)
            for hook in self._hooks:
                await opened.enter_async_context(hook(self))
            self._running = opened.pop_all()

    async def stop(self) -> None:
        """Close everything that was opened, in the opposite order."""
        self.drain()
        await self._running.aclose()
        self._heavy_thread.close()

    def _add_paths(self) -> None:
        router = self.router
        discovery, openapi = DiscoveryPages(lambda: self.groups), OpenAPI(lambda: self.groups)
        router.add_path("/version", get=on_version)
        router.add_path("/metrics", get=MetricsHandler(self.metrics, lambda: self.groups).on_get)
        router.add_path("/", get=self._on_root)
        router.add_prefix("api", lambda rest: discovery.find("api", rest))
        router.add_prefix("apis", lambda rest: discovery.find("apis", rest))
        router.add_prefix("openapi", openapi.find)
        alive = (Check("ping", ping), Check("storage", self._check_storage))
        ready = (
            *alive,
            Check("storage-integrity", self._check_integrity),
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
        paths = ["/api", "/apis"]
        for installed in self.groups:
            name = installed.group.name
            root = f"/apis/{name}" if name else "/api"
            paths += [root, *(f"{root}/{version}" for version in installed.versions)]
        return paths

    async def _check_storage(self) -> None:
        if self._backend is None:
            raise Unhealthy("the store is not open")
        await self._backend.current_revision()

    async def _check_integrity(self) -> None:
        if self._backend is not None:
            await self._backend.check_integrity()

    async def _check_cache(self) -> None:
        if self._cache is None or not self._cache.ready:
            raise Unhealthy("not every resource has been listed")

    async def _check_shutdown(self) -> None:
        if self._draining:
            raise Unhealthy("the server is shutting down")


class LocalEntrance:
    """The same groups for clients in this process, as the server's own user.

    Requests do not pass the gate: no limit refuses them, and they appear neither in the log nor in
    the metrics. The token is made here and accepted here only.
    """

    def __init__(
        self, groups: Callable[[], Groups], authorizer: Authorizer, heavy_thread: HeavyThread
    ) -> None:
        self.token = secrets.token_urlsafe(32)
        authentication = Authentication([TokenAuthenticator({self.token: SERVER})], anonymous=False)
        router = Router(groups, Watches(Limits(), _NoMetrics()))
        self._application = Dispatcher(router, Access(authentication, authorizer, heavy_thread))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = parse_query(scope["query_string"]) if scope["query_string"] else {}
        # As in the gate: the query has been parsed, and the exchange reads the body.
        scope["query_string"] = b""
        info = request_info(scope.get("method", "GET"), scope["path"], query)
        exchange = scope[KEY] = Exchange(info, query, receive)
        try:
            await self._application(scope, _request_begun, send)
        finally:
            await exchange.close()


class _NoMetrics(ServerMetrics):
    """Counts nothing; with several workers even a registry of its own would be reported."""

    def __init__(self) -> None:
        self._nothing: Any = _Uncounted()

    def watching(self, exchange: Exchange) -> Any:
        return self._nothing

    def events(self, exchange: Exchange) -> Any:
        return self._nothing

    def slow_watcher(self, info: RequestInfo) -> None:
        return None


class _Uncounted:
    def inc(self, amount: float = 1) -> None:
        return None

    def dec(self, amount: float = 1) -> None:
        return None


async def run_lifespan(
    build: Callable[[], App],
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    errors: tuple[type[Exception], ...] = STARTUP_ERRORS,
) -> None:
    """Start the application that *build* returns, and stop it when the ASGI server says so.

    The ASGI server is told why a start failed: in one line for *errors*, which are mistakes of the
    operator, with a traceback for anything else.
    """
    await receive()
    try:
        app = build()
        await app.start()
    except errors as error:
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        return
    except Exception:
        await send({"type": "lifespan.startup.failed", "message": traceback.format_exc()})
        return
    if "state" in scope:
        scope["state"] |= {
            DRAIN: app.drain,
            LOOP_PAUSED: app.metrics.loop_paused,
            GROUP_PACKAGES: app.group_packages(),
        }
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await app.stop()
    await send({"type": "lifespan.shutdown.complete"})


async def _request_begun() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": True}


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
