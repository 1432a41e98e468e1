"""Gate: what stands around a whole request, whatever is asked for.

It is ASGI, outside the framework, because only there is a request seen from its first byte to its
last: how many are served at once, how long one may take, that what it opened is closed, and the
line in the log and the count in the metrics when it is over.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from time import perf_counter
from typing import Any, Final

from apimachinery.errors import APIError, BadRequest, Timeout
from apimachinery.scalars.duration import InvalidDuration, parse_duration
from apimachinery.serialization.media_types import JSON
from apiserver.http.exchange import KEY, Exchange, Receive, Scope, request_id_of
from apiserver.http.logs import write_line
from apiserver.http.request_info import RequestInfo, parse_query, request_info
from apiserver.http.request_limits import InFlight, Limits
from apiserver.http.response import status_bytes
from apiserver.http.server_metrics import ServerMetrics

log = logging.getLogger("apiserver.request")

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_BUSY: Final = b"Too many requests, please try again later.\n"
_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
_NOSNIFF: Final = (b"x-content-type-options", b"nosniff")
_BEGUN: Final = {"type": "http.request", "body": b"", "more_body": True}


class Gate:
    """Lets requests through to *application*, as many and as long as the limits allow."""

    def __init__(self, application: Application, limits: Limits, metrics: ServerMetrics) -> None:
        self._application = application
        self._limits = limits
        self._metrics = metrics
        self._reads = InFlight(limits.reads, metrics.in_flight["readOnly"].set)
        self._writes = InFlight(limits.writes, metrics.in_flight["mutating"].set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "lifespan":
            await self._application(scope, receive, send)
            return
        try:
            exchange = self._exchange(scope, receive)
        except APIError as error:
            await _refuse(send, error)
            return
        scope[KEY] = exchange
        try:
            if kind == "websocket" or exchange.info.verb == "watch":
                await self._application(scope, _begun if kind == "http" else receive, send)
            else:
                await self._serve(scope, exchange, send)
        finally:
            await exchange.close()
            self._tell(exchange)

    def _exchange(self, scope: Scope, receive: Receive) -> Exchange:
        query_string = scope["query_string"]
        if len(query_string) + len(scope["path"]) > self._limits.url_bytes:
            raise APIError(
                f"the URL is longer than {self._limits.url_bytes} bytes", reason="", code=414
            )
        query = parse_query(query_string) if query_string else {}
        # The framework need not read it again, and cannot if it is no UTF-8.
        scope["query_string"] = b""
        info = request_info(scope.get("method", "GET"), scope["path"], query)
        return Exchange(info, query, receive)

    async def _serve(self, scope: Scope, exchange: Exchange, send: Send) -> None:
        in_flight = self._writes if exchange.info.mutates else self._reads
        if in_flight.is_full:
            await self._turn_away(exchange, send)
            return
        in_flight.enter()
        try:
            async with asyncio.timeout(self._seconds(exchange)) as timeout:
                await self._application(scope, _begun, send)
        except TimeoutError:
            if not timeout.expired():
                raise
            if exchange.code:
                # An answer that has begun can only be broken off.
                log.warning("the answer to %s was not read in time", exchange.info.path)
                return
            why = "request did not complete within the allotted timeout"
            exchange.code = Timeout.code
            await _refuse(send, Timeout.of(why))
        except APIError as error:
            exchange.code = error.code
            await _refuse(send, error)
        finally:
            in_flight.leave()

    def _seconds(self, exchange: Exchange) -> float:
        longest = self._limits.request_seconds
        asked = exchange.query.get("timeout")
        if not asked or not asked[0]:
            return longest
        try:
            seconds = parse_duration(asked[0]).total_seconds()
        except InvalidDuration as error:
            raise BadRequest(f"invalid timeout specified in the request URL - {error}") from None
        return min(seconds, longest) if seconds > 0 else longest

    async def _turn_away(self, exchange: Exchange, send: Send) -> None:
        self._metrics.dropped("mutating" if exchange.info.mutates else "readOnly")
        exchange.code = 429
        headers = [_TEXT, _NOSNIFF, (b"retry-after", b"1")]
        await send({"type": "http.response.start", "status": 429, "headers": headers})
        await send({"type": "http.response.body", "body": _BUSY})

    def _tell(self, exchange: Exchange) -> None:
        seconds = perf_counter() - exchange.started
        self._metrics.observe(exchange, seconds)
        info = exchange.info
        level = logging.INFO if info.is_resource and info.mutates else logging.DEBUG
        if log.isEnabledFor(level):
            line = f"{info.verb} {info.path} {exchange.code}"
            write_line(log, level, line, _described(exchange, info, seconds))


def _described(exchange: Exchange, info: RequestInfo, seconds: float) -> dict[str, object]:
    found: dict[str, object] = {
        "request": exchange.request_id,
        "user": exchange.user.name,
        "verb": info.verb,
        "code": exchange.code,
        "seconds": round(seconds, 6),
        "agent": exchange.user_agent,
    }
    if info.is_resource:
        found |= {
            "group": info.group,
            "version": info.version,
            "resource": info.resource,
            "subresource": info.subresource,
            "namespace": info.namespace,
            "object": info.name,
        }
    if exchange.watcher:
        found["source"] = exchange.watcher
    return found


async def _begun() -> MutableMapping[str, Any]:
    """What the framework receives: that there is a request. The body is read by the exchange."""
    return _BEGUN


async def _refuse(send: Send, error: APIError) -> None:
    """Answer without the framework, for what fails around it."""
    headers = [
        (b"content-type", JSON.encode()),
        (b"cache-control", b"no-cache, private"),
        (b"audit-id", request_id_of(None).encode()),
    ]
    await send({"type": "http.response.start", "status": error.code, "headers": headers})
    await send({"type": "http.response.body", "body": status_bytes(error.status) + b"\n"})
