"""Gate: the outermost ASGI layer, with timeouts, logs and metrics of every request.

It is outside the framework, because only there a request is seen from its first byte to its last:
it limits how long a request may take, closes the resources that the request opened, gives its seat
back, and writes its log line and metrics.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from math import inf
from time import perf_counter
from typing import Any, Final

from apimachinery.errors import APIError, BadRequest, Timeout
from apimachinery.scalars.duration import InvalidDuration, parse_duration
from apimachinery.serialization.media_types import JSON
from apiserver.http.client_connection import CONNECTION
from apiserver.http.deadlines import Deadlines
from apiserver.http.exchange import (
    CLIENT_CLOSED_REQUEST,
    KEY,
    Exchange,
    Scope,
    choose_request_id,
)
from apiserver.http.logs import quoted, write_line
from apiserver.http.request_bodies import Receive
from apiserver.http.request_info import RequestInfo, parse_query, request_info
from apiserver.http.request_limits import Limits
from apiserver.http.response import status_bytes
from apiserver.http.server_metrics import ServerMetrics

log = logging.getLogger("apiserver.request")

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

STALL_SECONDS: Final = 1.0
"""A response that waits for its client for so long gives its seat back."""
BUFFERED_BYTES: Final = 64 * 1024
"""The length of a response up to which it is sent without waiting for its client."""

_REQUEST_STARTED: Final = {"type": "http.request", "body": b"", "more_body": True}


class Gate:
    """Passes requests to *application*, within the limits."""

    def __init__(self, application: Application, limits: Limits, metrics: ServerMetrics) -> None:
        self._application = application
        self._limits = limits
        self._metrics = metrics
        self._deadlines = Deadlines()
        self._stalls = Deadlines()
        self._reads = metrics.in_flight["readOnly"]
        self._writes = metrics.in_flight["mutating"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "lifespan":
            await self._application(scope, receive, send)
            return
        try:
            exchange = self._start_exchange(scope, receive)
        except APIError as error:
            await _send_error(scope, send, error)
            return
        scope[KEY] = exchange
        try:
            if kind == "websocket" or exchange.info.verb == "watch":
                start = _receive_start if kind == "http" else receive
                await self._application(scope, start, self._seat_releasing(exchange, send))
            else:
                await self._serve(scope, exchange, send)
        finally:
            await exchange.close()
            self._record(exchange)

    def _start_exchange(self, scope: Scope, receive: Receive) -> Exchange:
        query_string = scope["query_string"]
        if len(query_string) + len(scope["path"]) > self._limits.url_bytes:
            raise APIError(
                f"the URL is longer than {self._limits.url_bytes} bytes", reason="", code=414
            )
        query = parse_query(query_string) if query_string else {}
        # The framework need not parse it again, and fails if it is not UTF-8.
        scope["query_string"] = b""
        info = request_info(scope.get("method", "GET"), scope["path"], query)
        return Exchange(info, query, receive, scope.get(CONNECTION))

    async def _serve(self, scope: Scope, exchange: Exchange, send: Send) -> None:
        in_flight = self._writes if exchange.info.mutates else self._reads
        in_flight.enter()
        try:
            exchange.seconds = self._timeout_seconds(exchange)
            if not await self._serve_in_time(scope, exchange, send):
                await _send_timeout(scope, exchange, send)
        except APIError as error:
            exchange.code = error.code
            await _send_error(scope, send, error)
        finally:
            in_flight.leave()

    async def _serve_in_time(self, scope: Scope, exchange: Exchange, send: Send) -> bool:
        """Pass a request on; return False if it is not complete at its deadline."""
        deadline = self._deadlines.begin(exchange.seconds)
        try:
            await self._application(scope, _receive_start, self._seat_releasing(exchange, send))
        except asyncio.CancelledError:
            if deadline.end():
                return False
            raise
        finally:
            deadline.end()
        return True

    def _timeout_seconds(self, exchange: Exchange) -> float:
        maximum = self._limits.request_seconds
        requested = exchange.query.get("timeout")
        if not requested or not requested[0]:
            return maximum
        try:
            seconds = parse_duration(requested[0]).total_seconds()
        except InvalidDuration as error:
            raise BadRequest(f"invalid timeout specified in the request URL - {error}") from None
        return min(seconds, maximum) if seconds > 0 else maximum

    def _seat_releasing(self, exchange: Exchange, send: Send) -> Send:
        """Return a `send` that gives the seat of a response back while its client stalls."""
        stalls, stall = self._stalls, _Stall(exchange)

        async def sending(message: MutableMapping[str, Any]) -> None:
            if not _may_stall(message):
                await send(message)
                return
            stalls.note(stall, STALL_SECONDS)
            try:
                await send(message)
            finally:
                stalls.forget(stall)

        return sending

    def _record(self, exchange: Exchange) -> None:
        seconds = perf_counter() - exchange.started
        unsent = _replace_unsent_code(exchange)
        self._metrics.observe(exchange, seconds)
        info = exchange.info
        if exchange.rejected:
            self._metrics.dropped("mutating" if info.mutates else "readOnly")
        level = logging.INFO if info.is_resource and info.mutates else logging.DEBUG
        if log.isEnabledFor(level):
            line = f"{info.verb} {quoted(info.path)} {exchange.code}"
            fields = _log_fields(exchange, info, seconds)
            if unsent:
                fields["unsent"] = unsent
            write_line(log, level, line, fields)


def _replace_unsent_code(exchange: Exchange) -> int:
    """Record that the client is gone; return the code that it did not receive, 0 if it did.

    Watches usually end like that.
    """
    code = exchange.code
    if code and (exchange.connection.is_open or exchange.info.verb == "watch"):
        return 0
    exchange.code = CLIENT_CLOSED_REQUEST
    return code


def _log_fields(exchange: Exchange, info: RequestInfo, seconds: float) -> dict[str, object]:
    fields: dict[str, object] = {
        "request": exchange.request_id,
        "user": exchange.user.name,
        "verb": info.verb,
        "code": exchange.code,
        "seconds": round(seconds, 6),
        "agent": exchange.user_agent,
    }
    if info.is_resource:
        fields |= {
            "group": info.group,
            "version": info.version,
            "resource": info.resource,
            "subresource": info.subresource,
            "namespace": info.namespace,
            "object": info.name,
        }
    if exchange.watcher:
        fields["source"] = exchange.watcher
    return fields


class _Stall:
    """A message that is being sent; the seat of its response is given back if that takes long."""

    __slots__ = ("_exchange", "at")

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.at = inf

    def expire(self) -> None:
        self._exchange.release_seat()


def _may_stall(message: MutableMapping[str, Any]) -> bool:
    """Return whether sending may have to wait for the client: in a stream, or if it is long."""
    if message["type"] == "websocket.send":
        return True
    return message.get("more_body", False) or len(message.get("body", b"")) > BUFFERED_BYTES


async def _receive_start() -> MutableMapping[str, Any]:
    """Report to the framework that a request has started; the exchange reads the body."""
    return _REQUEST_STARTED


async def _send_timeout(scope: Scope, exchange: Exchange, send: Send) -> None:
    if exchange.code:
        # A response that has started can only be aborted.
        log.warning("timed out while sending the response to %s", quoted(exchange.info.path))
        return
    exchange.code = Timeout.code
    error = Timeout.of("request did not complete within the allotted timeout")
    await _send_error(scope, send, error)


async def _send_error(scope: Scope, send: Send, error: APIError) -> None:
    """Send an error without the framework, for failures outside it."""
    headers = [
        (b"content-type", JSON.encode()),
        (b"cache-control", b"no-cache, private"),
        (b"audit-id", choose_request_id(None).encode()),
    ]
    await send({"type": "http.response.start", "status": error.code, "headers": headers})
    body = b"" if scope.get("method") == "HEAD" else status_bytes(error.status) + b"\n"
    await send({"type": "http.response.body", "body": body})
