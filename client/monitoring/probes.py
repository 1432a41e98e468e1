"""Probes and metrics over HTTP: whether the program lives, whether it is ready, its numbers.

A GET of a few fixed paths needs no framework. One connection serves one request.
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
"""Raises when something is wrong."""
Checks: TypeAlias = Mapping[str, Check]

LONGEST_HEAD: Final = 16 * 1024
REQUEST_SECONDS: Final = 10.0
_PLAIN: Final = "text/plain; charset=utf-8"
_REASONS: Final = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}


class InvalidProbeAddress(ValueError):
    """A text that is no address to listen on."""


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    body: bytes
    content_type: str = _PLAIN


Route: TypeAlias = Callable[[str, Mapping[str, list[str]]], Awaitable[Answer]]
"""Answers a path below its own, given without the first slash, and a query."""


def ping() -> None:
    """The check that there is when there is no other."""


def health(name: str, checks: Checks) -> Route:
    """All checks together at the path itself, and each at its own below."""

    async def answer(below: str, query: Mapping[str, list[str]]) -> Answer:
        present = dict(checks) or {"ping": ping}
        if below:
            if below not in present:
                return Answer(404, b"404 page not found\n")
            present = {below: present[below]}
        excluded = set(query.get("exclude", ()))
        found = {n: await _outcome(n, c) for n, c in present.items() if n not in excluded}
        well = all(found.values())
        if well and "verbose" not in query:
            return Answer(200, b"ok")
        lines = [
            f"[+]{n} ok" if ok else f"[-]{n} failed: reason withheld" for n, ok in found.items()
        ]
        lines.append(f"{name} check {'passed' if well else 'failed'}")
        return Answer(200 if well else 500, "\n".join([*lines, ""]).encode())

    return answer


def page(make: Callable[[], bytes], content_type: str) -> Route:
    """A body that is made for each request."""

    async def answer(below: str, query: Mapping[str, list[str]]) -> Answer:
        return Answer(404, b"404 page not found\n") if below else Answer(200, make(), content_type)

    return answer


class HTTPServer:
    """Answers GETs at an address, `host:port`; port 0 is any that is free."""

    def __init__(self, address: str, routes: Mapping[str, Route]) -> None:
        self._host, self._port = parse_address(address)
        self._routes = dict(routes)
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None, "not started"
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, self._host or None, self._port, limit=LONGEST_HEAD
        )

    async def stop(self) -> None:
        """Listen no more; answers that are on their way are finished."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                answer = await self._answer(head)
                writer.write(_response(answer, head.startswith(b"HEAD ")))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
            log.debug("a request was not answered: %r", error)
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
    """Host and port; an empty host is every address of the machine."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise InvalidProbeAddress(
            f"address {address!r}: must be host:port, :port for all addresses"
        )
    return host.strip("[]"), int(port)


async def _outcome(name: str, check: Check) -> bool:
    try:
        result = check()
        if inspect.isawaitable(result):
            await result
    except Exception as error:  # a check is somebody else's, and whatever it raises is its answer
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
