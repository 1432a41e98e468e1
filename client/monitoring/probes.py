"""Probes: an HTTP server for liveness, readiness and metrics.

It serves GET requests of a few fixed paths without a framework, one request per connection.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

log = logging.getLogger("apimachinery.controller.http")

Check: TypeAlias = Callable[[], Awaitable[object] | object]
"""Raises an exception if the check fails."""
Checks: TypeAlias = Mapping[str, Check]

MAX_HEAD: Final = 16 * 1024
"""The largest request line with headers, in bytes."""
REQUEST_TIMEOUT: Final = 10.0
_PLAIN: Final = "text/plain; charset=utf-8"
_REASONS: Final = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}


class InvalidProbeAddress(ValueError):
    """An address that is not of the form `host:port`."""


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    body: bytes
    content_type: str = _PLAIN


Route: TypeAlias = Callable[[str, Mapping[str, list[str]]], Awaitable[Answer]]
"""Handles a request; called with the path below the route, without slash, and the query."""


def ping() -> None:
    """Succeed always: the check that is used when no other is registered."""


def health(name: str, checks: Checks) -> Route:
    """Return a route that runs all checks, and each single check at a path of its own below."""

    async def answer(below: str, query: Mapping[str, list[str]]) -> Answer:
        selected = dict(checks) or {"ping": ping}
        if below:
            if below not in selected:
                return Answer(404, b"404 page not found\n")
            selected = {below: selected[below]}
        excluded = set(query.get("exclude", ()))
        results = {n: await _passes(n, c) for n, c in selected.items() if n not in excluded}
        healthy = all(results.values())
        if healthy and "verbose" not in query:
            return Answer(200, b"ok")
        lines = [
            f"[+]{n} ok" if ok else f"[-]{n} failed: reason withheld" for n, ok in results.items()
        ]
        lines.append(f"{name} check {'passed' if healthy else 'failed'}")
        return Answer(200 if healthy else 500, "\n".join([*lines, ""]).encode())

    return answer


def page(render: Callable[[], bytes], content_type: str) -> Route:
    """Return a route that renders its body for each request."""

    async def answer(below: str, query: Mapping[str, list[str]]) -> Answer:
        if below:
            return Answer(404, b"404 page not found\n")
        return Answer(200, render(), content_type)

    return answer


class HTTPServer:
    """Serves GET and HEAD requests at an address, `host:port`; port 0 chooses a free one.

    Raises InvalidProbeAddress if the address is malformed.
    """

    def __init__(self, address: str, routes: Mapping[str, Route]) -> None:
        self._host, self._port = parse_address(address)
        self._routes = dict(routes)
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        assert self._server is not None, "not started"
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, self._host or None, self._port, limit=MAX_HEAD
        )

    async def stop(self) -> None:
        """Stop listening and wait until open requests are answered."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT):
                head = await reader.readuntil(b"\r\n\r\n")
                answer = await self._answer(head)
                writer.write(_response(answer, head.startswith(b"HEAD ")))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
            log.debug("request aborted: %r", error)
        finally:
            writer.close()

    async def _answer(self, head: bytes) -> Answer:
        parts = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(parts) != 3:
            return Answer(400, b"400 bad request\n")
        method, target, _ = parts
        if method not in ("GET", "HEAD"):
            return Answer(405, b"405 method not allowed\n")
        try:
            url = urlsplit(target)
        except ValueError:
            return Answer(400, b"400 bad request\n")
        first, _, below = unquote(url.path).strip("/").partition("/")
        route = self._routes.get(f"/{first}")
        if route is None:
            return Answer(404, b"404 page not found\n")
        return await route(below, parse_qs(url.query, keep_blank_values=True))


def parse_address(address: str) -> tuple[str, int]:
    """Return host and port; an empty host means all addresses of the machine.

    Raises InvalidProbeAddress if the address is malformed.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise InvalidProbeAddress(
            f"address {address!r}: must be host:port, :port for all addresses"
        )
    return host.strip("[]"), int(port)


async def _passes(name: str, check: Check) -> bool:
    try:
        result = check()
        if inspect.isawaitable(result):
            await result
    except Exception as error:  # any exception of a check means that it failed
        log.info("check %s failed: %s", name, error)
        return False
    return True


def _response(answer: Answer, head_only: bool) -> bytes:
    reason = _REASONS.get(answer.code, "Internal Server Error")
    head = (
        f"HTTP/1.1 {answer.code} {reason}\r\n"
        f"Content-Type: {answer.content_type}\r\n"
        f"Content-Length: {len(answer.body)}\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Connection: close\r\n\r\n"
    ).encode()
    return head if head_only else head + answer.body
