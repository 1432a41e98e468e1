"""WATCH: what happens to a collection, as it happens, for as long as the client stays.

A stream ends in one of few ways, and each of them is the same call, `Watcher.end`: its time is up,
its client has gone, the server stops, or the client was too slow. What is waiting is still sent,
and the stream ends as streams end. What goes wrong meanwhile is told as a last event.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from random import uniform
from typing import Final

import falcon
from falcon.asgi import Request, Response, WebSocket

from apimachinery.errors import APIError, Expired, InternalError
from apimachinery.meta.options import ListOptions
from apimachinery.serialization.media_types import PROTOBUF
from apiserver.endpoint import Endpoint
from apiserver.handlers.list import list_selection
from apiserver.handlers.object_response import agree, included_object
from apiserver.http.access import BEARER_PROTOCOL
from apiserver.http.exchange import Exchange
from apiserver.http.negotiation import Shape
from apiserver.http.request_limits import Limits
from apiserver.http.response import exchange_of, status_bytes
from apiserver.http.server_metrics import ServerMetrics
from apiserver.registry.storage_errors import api_error
from apiserver.storage.cache.fanout import EntryEvent, Watcher
from apiserver.storage.interface import StorageError
from apiserver.views.resource_view import Form

log = logging.getLogger(__name__)

LAST_BOOKMARK: Final = 2.0
"""Seconds before the end of a watch at which it gets a last bookmark."""
SOURCE: Final = "x-source"
"""The header in which a client says what it is, for logs and metrics."""
SOURCE_LENGTH: Final = 128
MOST_SOURCES: Final = 200


class Watches:
    """The watches of a server process, and how they begin and end."""

    def __init__(self, limits: Limits, metrics: ServerMetrics) -> None:
        self._limits = limits
        self._metrics = metrics
        self._open: set[Watcher] = set()
        self._sources: set[str] = set()
        self._stopping = False

    def drain(self) -> None:
        """End all streams, and those that begin from now on as soon as they have begun."""
        self._stopping = True
        for watcher in list(self._open):
            watcher.end()

    async def on_get(self, endpoint: Endpoint, req: Request, resp: Response) -> None:
        """Answer with a stream that begins at once, whether or not there is anything to tell."""
        stream = await self._begin(endpoint, req)
        exchange = exchange_of(req)
        gone = asyncio.create_task(_disconnected(exchange, stream.end), name="watch disconnect")
        exchange.opened.push_async_callback(_cancelled, gone)
        resp.content_type = exchange.accepted.stream_type
        resp.stream = stream.batches()

    async def on_websocket(self, endpoint: Endpoint, req: Request, ws: WebSocket) -> None:
        """The same over a WebSocket: one message for each event."""
        stream = await self._begin(endpoint, req)
        exchange = exchange_of(req)
        exchange.code = 101
        await ws.accept(_subprotocol(ws))
        gone = asyncio.create_task(_closed(ws, stream.end), name="watch disconnect")
        exchange.opened.push_async_callback(_cancelled, gone)
        binary = exchange.accepted.media_type == PROTOBUF
        async for frame in stream.frames():
            if binary:
                await ws.send_data(frame[4:])
            else:
                await ws.send_text(frame.decode())

    async def _begin(self, endpoint: Endpoint, req: Request) -> "WatchResponse":
        exchange = exchange_of(req)
        accepted = agree(req, endpoint, Shape.STREAM)
        exchange.watcher = self._source(req.get_header(SOURCE) or "")
        options, selection = list_selection(endpoint, exchange)
        include = included_object(exchange)
        form = endpoint.form(accepted, include_object=include, columns=False)
        first = endpoint.form(accepted, include_object=include)
        try:
            watching = endpoint.stored.watch(selection, form, options)
            watcher = await exchange.opened.enter_async_context(watching)
        except Expired as error:
            return WatchResponse(endpoint, exchange, first, failure=error)
        stream = WatchResponse(endpoint, exchange, first, watcher, self._metrics)
        self._keep(exchange, watcher)
        self._limit(endpoint, exchange, watcher, options)
        return stream

    def _source(self, header: str) -> str:
        """What a client calls itself; metrics keep every name, so there are only so many."""
        name = header[:SOURCE_LENGTH]
        if name in self._sources or len(self._sources) < MOST_SOURCES:
            self._sources.add(name)
            return name
        return "other"

    def _keep(self, exchange: Exchange, watcher: Watcher) -> None:
        """Know of a watcher as long as it is open."""
        gauge = self._metrics.watching(exchange)
        gauge.inc()
        self._open.add(watcher)
        if self._stopping:
            watcher.end()

        def forget() -> None:
            self._open.discard(watcher)
            gauge.dec()
            if watcher.slow:
                self._metrics.slow_watcher(exchange.info)
                log.info("a watch of %s was too slow and is ended", exchange.info.path)

        exchange.opened.callback(forget)

    def _limit(
        self,
        endpoint: Endpoint,
        exchange: Exchange,
        watcher: Watcher,
        options: ListOptions | None,
    ) -> None:
        """Let the watcher end when its time is up, with a bookmark shortly before."""
        asked = options.timeout_seconds if options else None
        seconds = float(asked) if asked and asked > 0 else uniform(*self._limits.watch_seconds)
        loop = asyncio.get_running_loop()
        timers = [loop.call_later(seconds, watcher.end)]
        if seconds > LAST_BOOKMARK:
            due = seconds - LAST_BOOKMARK
            timers.append(loop.call_later(due, endpoint.stored.bookmark, watcher))
        for timer in timers:
            exchange.opened.callback(timer.cancel)


class WatchResponse:
    """The events of one watch as bytes. Its first event may differ: only it defines columns."""

    def __init__(
        self,
        endpoint: Endpoint,
        exchange: Exchange,
        first: Form,
        watcher: Watcher | None = None,
        metrics: ServerMetrics | None = None,
        *,
        failure: APIError | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._exchange = exchange
        self._first = first
        self._watcher = watcher
        self._count = metrics.events(exchange) if metrics else None
        self._failure = failure

    def end(self) -> None:
        if self._watcher is not None:
            self._watcher.end()

    async def batches(self) -> AsyncIterator[bytes]:
        """All that waits at a time in one piece, for one write."""
        yield b""  # so that the client knows at once that the watch has begun
        async for events in self._events():
            yield b"".join(events)

    async def frames(self) -> AsyncIterator[bytes]:
        """One event at a time."""
        async for events in self._events():
            for event in events:
                yield event

    async def _events(self) -> AsyncIterator[list[bytes]]:
        try:
            if self._failure is not None:
                raise self._failure
            assert self._watcher is not None
            async for batch in self._watcher:
                yield self._framed(batch)
        except APIError as error:
            yield [self._last_words(error)]
        except StorageError as error:
            yield [self._last_words(api_error(error, self._endpoint.gvr.group_resource, "watch"))]
        except Exception:
            request_id = self._exchange.request_id
            log.exception("the watch of request %s failed", request_id)
            why = f"an error on the server; its log has more, request {request_id}"
            yield [self._last_words(InternalError.of(why))]

    def _framed(self, batch: list[EntryEvent]) -> list[bytes]:
        if self._count is not None:
            self._count.inc(len(batch))
        frames = []
        if self._first.transform == "table" and self._first.columns:
            first, *batch = batch
            frames.append(first.frame_in(self._first))
            self._first = self._endpoint.form(self._exchange.accepted, columns=False)
        frames.extend([event.frame for event in batch])
        return frames

    def _last_words(self, error: APIError) -> bytes:
        encoded = status_bytes(error.status, self._exchange.accepted)
        return self._endpoint.view.frame("ERROR", encoded, self._first)


async def _disconnected(exchange: Exchange, end: Callable[[], None]) -> None:
    while (await exchange.receive())["type"] != "http.disconnect":
        continue
    end()


async def _closed(ws: WebSocket, end: Callable[[], None]) -> None:
    """Listen to a client that has nothing to say, until it goes."""
    with suppress(falcon.WebSocketDisconnected):
        while True:
            with suppress(falcon.PayloadTypeError):
                await ws.receive_text()
    end()


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _subprotocol(ws: WebSocket) -> str | None:
    """The one to agree on: the first that is not a way to send a token."""
    return next((p for p in ws.subprotocols if not p.startswith(BEARER_PROTOCOL)), None)
