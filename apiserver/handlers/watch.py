"""WATCH: stream the changes of a collection to a client.

A stream ends when its time is up, its client disconnects, the server shuts down, or the client is
too slow. All of them call `Watcher.end`: queued events are still sent, then the stream closes. An
error during the watch is sent as a last event of type ERROR.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from random import uniform
from typing import Final, cast

import falcon
from falcon.asgi import Request, Response, WebSocket

from apimachinery.errors import APIError, Expired, InternalError
from apimachinery.meta.options import ListOptions
from apimachinery.serialization.media_types import PROTOBUF
from apiserver.endpoint import Endpoint
from apiserver.handlers.decode_warnings import warn_of_selection
from apiserver.handlers.entry_encoding import encode_apart, is_light
from apiserver.handlers.list import list_selection
from apiserver.handlers.object_response import included_object, negotiate
from apiserver.http.access import BEARER_PROTOCOL
from apiserver.http.exchange import Exchange
from apiserver.http.logs import quoted
from apiserver.http.negotiation import Shape
from apiserver.http.request_limits import Limits
from apiserver.http.response import exchange_of, status_bytes
from apiserver.http.server_metrics import ServerMetrics
from apiserver.registry.storage_errors import api_error
from apiserver.storage.cache.entry_event import WRITE_BYTES, EntryEvent, EventBatch, EventRun
from apiserver.storage.cache.event_log import OpenWatch
from apiserver.storage.interface import StorageError
from apiserver.time_slices import TimeSlices
from apiserver.views.resource_view import Form

log = logging.getLogger(__name__)

LAST_BOOKMARK: Final = 2.0
"""Seconds before the end of a watch at which it receives a last bookmark."""
SOURCE: Final = "x-source"
"""The header by which a client names itself in logs and metrics."""
SOURCE_LENGTH: Final = 128
MOST_SOURCES: Final = 200


class Watches:
    """Opens the watches of a server process, limits their time, and ends them at shutdown."""

    def __init__(self, limits: Limits, metrics: ServerMetrics) -> None:
        self._limits = limits
        self._metrics = metrics
        self._open: set[OpenWatch] = set()
        self._sources: set[str] = set()
        self._stopping = False

    def drain(self) -> None:
        """End all streams; a stream that is opened later ends at once."""
        self._stopping = True
        for watcher in list(self._open):
            watcher.end()

    async def on_get(self, endpoint: Endpoint, req: Request, resp: Response) -> None:
        """Respond with a stream, whose headers are sent before the first event."""
        stream = await self._begin(endpoint, req)
        exchange = exchange_of(req)
        waiting = asyncio.create_task(
            _end_on_disconnect(exchange, stream.end), name="watch disconnect"
        )
        exchange.opened.push_async_callback(_cancel, waiting)
        resp.content_type = exchange.accepted.stream_type
        resp.stream = stream.batches()

    async def on_websocket(self, endpoint: Endpoint, req: Request, ws: WebSocket) -> None:
        """Send the stream over a WebSocket, one message per event."""
        stream = await self._begin(endpoint, req)
        exchange = exchange_of(req)
        exchange.code = 101
        await ws.accept(_subprotocol(ws))
        waiting = asyncio.create_task(_end_on_close(ws, stream.end), name="watch disconnect")
        exchange.opened.push_async_callback(_cancel, waiting)
        binary = exchange.accepted.media_type == PROTOBUF
        async for frame in stream.frames():
            if binary:
                await ws.send_data(frame[4:])
            else:
                await ws.send_text(frame.decode())

    async def _begin(self, endpoint: Endpoint, req: Request) -> "WatchResponse":
        exchange = exchange_of(req)
        accepted = negotiate(req, endpoint, Shape.STREAM)
        exchange.watcher = self._source(req.get_header(SOURCE) or "")
        options, selection = await list_selection(endpoint, exchange)
        include = included_object(exchange)
        form = endpoint.form(accepted, include_object=include, columns=False)
        first = endpoint.form(accepted, include_object=include)
        try:
            watching = endpoint.stored.watch(selection, form, options)
            watcher = await exchange.opened.enter_async_context(watching)
        except Expired as error:
            return WatchResponse(endpoint, exchange, first, failure=error)
        if endpoint.view.problems and options is not None and options.send_initial_events:
            warn_of_selection(endpoint, exchange, selection)
        stream = WatchResponse(endpoint, exchange, first, watcher, self._metrics)
        # From here on the watch waits for events, most of the time.
        watcher.when_caught_up(exchange.release_seat)
        self._track(exchange, watcher)
        self._schedule_end(endpoint, exchange, watcher, options)
        return stream

    def _source(self, header: str) -> str:
        """Return the name of a client; metrics keep every name, so their number is limited."""
        name = header[:SOURCE_LENGTH]
        if name in self._sources or len(self._sources) < MOST_SOURCES:
            self._sources.add(name)
            return name
        return "other"

    def _track(self, exchange: Exchange, watcher: OpenWatch) -> None:
        """Track an open watcher, for the metrics and for shutdown, until its exchange closes."""
        gauge = self._metrics.watching(exchange)
        gauge.inc()
        self._open.add(watcher)
        if self._stopping:
            watcher.end()

        def untrack() -> None:
            self._open.discard(watcher)
            gauge.dec()
            if watcher.slow or exchange.connection.stalled:
                self._metrics.slow_watcher(exchange.info)
                log.info(
                    "the client of a watch of %s was too slow; watch ended",
                    quoted(exchange.info.path),
                )

        exchange.opened.callback(untrack)

    def _schedule_end(
        self,
        endpoint: Endpoint,
        exchange: Exchange,
        watcher: OpenWatch,
        options: ListOptions | None,
    ) -> None:
        """End the watcher when its time is up, and send a bookmark shortly before."""
        timeout = options.timeout_seconds if options else None
        seconds = (
            float(timeout) if timeout and timeout > 0 else uniform(*self._limits.watch_seconds)
        )
        loop = asyncio.get_running_loop()
        timers = [loop.call_later(seconds, watcher.end)]
        if seconds > LAST_BOOKMARK:
            due = seconds - LAST_BOOKMARK
            timers.append(loop.call_later(due, endpoint.stored.bookmark, watcher))
        for timer in timers:
            exchange.opened.callback(timer.cancel)


class WatchResponse:
    """The encoded events of one watch; only the first event of a Table defines its columns."""

    def __init__(
        self,
        endpoint: Endpoint,
        exchange: Exchange,
        first: Form,
        watcher: OpenWatch | None = None,
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
        """Yield all waiting events, in as few writes as possible."""
        yield b""  # sends the headers, so that the client sees that the watch has begun
        async for frames in self._frames(joined=True):
            for part in write_parts(frames):
                yield part

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield one event at a time."""
        async for frames in self._frames(joined=False):
            for frame in frames:
                yield frame

    async def _frames(self, *, joined: bool) -> AsyncIterator[list[bytes]]:
        """Yield frames, as many as make one write; with *joined*, some may be joined already."""
        try:
            if self._failure is not None:
                raise self._failure
            assert self._watcher is not None
            async for batch in self._watcher:
                if self._count is not None:
                    self._count.inc(len(batch))
                # Nearly always another watcher has been sent the same events before.
                together = batch.joined if joined and not self._sends_columns else None
                if together is not None:
                    yield [together]
                    continue
                async for frames in self._encode_batch(batch, joined=joined):
                    yield frames
        except APIError as error:
            yield [self._error_event(error)]
        except StorageError as error:
            yield [self._error_event(api_error(error, self._endpoint.gvr.group_resource, "watch"))]
        except Exception:
            request_id = self._exchange.request_id
            log.exception("the watch of request %s failed", request_id)
            why = f"an error on the server; its log has more, request {request_id}"
            yield [self._error_event(InternalError.of(why))]

    async def _encode_batch(self, batch: EventBatch, *, joined: bool) -> AsyncIterator[list[bytes]]:
        """Yield the frames of *batch*, as many as make one write, and drop its runs meanwhile."""
        if self._endpoint.view.converts:
            await self._convert(batch)
        frames: list[bytes] = []
        size = 0
        slices = TimeSlices()
        batch.runs.reverse()
        while batch.runs:
            async for frame in self._encode_run(batch.runs.pop(), slices, joined=joined):
                frames.append(frame)
                size += len(frame)
                if size >= WRITE_BYTES:
                    yield frames
                    frames, size = [], 0
        if frames:
            yield frames

    async def _convert(self, batch: EventBatch) -> None:
        """Have all objects of *batch* converted that are stored in another version, at once."""
        entries = [event.entry for event in batch if event.entry is not None]
        await self._endpoint.view.convert(entries, self._first, self._exchange.workload)

    async def _encode_run(
        self, run: EventRun, slices: TimeSlices, *, joined: bool
    ) -> AsyncIterator[bytes]:
        """Yield the frames of *run*: as one, which is shared, or one by one, and drop its events.

        The events of a backlog are not shared: a client that reads nothing must not keep the
        frames of all of them in memory.
        """
        if joined and run.complete and not self._sends_columns:
            if run.joined is None:
                for event in run.events:
                    await self._encode_frame(event, slices)
                run.join()
            if run.joined is not None:
                yield run.joined
                return
        events = run.events[::-1]
        del run
        while events:
            yield await self._encode_frame(events.pop(), slices)

    @property
    def _sends_columns(self) -> bool:
        """Whether the next event is the first of a Table, which has the columns."""
        return self._first.transform == "table" and self._first.columns

    async def _encode_frame(self, event: EntryEvent, slices: TimeSlices) -> bytes:
        if self._sends_columns:
            first, self._first = (
                self._first,
                self._endpoint.form(self._exchange.accepted, columns=False),
            )
            await self._encode_large(event, first)
            return event.frame_in(first)
        if not event.is_framed:
            await self._encode_large(event, event.form)
            await slices.yield_loop()
        return event.frame

    async def _encode_large(self, event: EntryEvent, form: Hashable) -> None:
        entry = event.entry
        if entry is not None and not is_light(entry, form):
            view, workload = self._endpoint.view, self._exchange.workload
            await encode_apart(view, entry, cast(Form, form), workload)

    def _error_event(self, error: APIError) -> bytes:
        encoded = status_bytes(error.status, self._exchange.accepted)
        return self._endpoint.view.frame("ERROR", encoded, self._first)


def write_parts(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Join small frames and cut large ones, so that no write has more than WRITE_BYTES.

    What is written is encrypted for each client at once, and held until the client has read it;
    frames themselves are shared by all watchers.
    """
    waiting: list[bytes] = []
    size = 0
    for frame in frames:
        if waiting and size + len(frame) > WRITE_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
        if len(frame) <= WRITE_BYTES:
            waiting.append(frame)
            size += len(frame)
        else:
            yield from (
                frame[start : start + WRITE_BYTES] for start in range(0, len(frame), WRITE_BYTES)
            )
    if waiting:
        yield b"".join(waiting)


async def _end_on_disconnect(exchange: Exchange, end: Callable[[], None]) -> None:
    while (await exchange.receive())["type"] != "http.disconnect":
        continue
    end()


async def _end_on_close(ws: WebSocket, end: Callable[[], None]) -> None:
    """Discard the messages of a client until it closes the WebSocket, then call *end*."""
    with suppress(falcon.WebSocketDisconnected):
        while True:
            with suppress(falcon.PayloadTypeError):
                await ws.receive_text()
    end()


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _subprotocol(ws: WebSocket) -> str | None:
    """Return the first offered subprotocol that does not carry a bearer token."""
    return next((p for p in ws.subprotocols if not p.startswith(BEARER_PROTOCOL)), None)
