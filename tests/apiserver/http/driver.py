"""An ASGI client that talks to the application itself, one message at a time.

It sees what a server would send: when headers go out, which bytes are written together, and how a
stream ends. Real sockets are for the tests of the worker.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import unquote_to_bytes

import orjson

from apiserver.app import App
from apiserver.http.client_connection import CONNECTION, ClientConnection

Headers = Mapping[str, str]


@dataclass
class Answer:
    """What was answered."""

    code: int
    headers: list[tuple[str, str]]
    parts: list[bytes] = field(default_factory=list)

    @cached_property
    def body(self) -> bytes:
        """The whole body, joined on first use: in time that is not the server's."""
        return b"".join(self.parts)

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]


@dataclass
class Stream:
    """A running answer."""

    code: int
    headers: list[tuple[str, str]]
    writes: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    rest: bytes = b""

    async def write(self) -> bytes | None:
        """The next piece that is sent, None at the end."""
        async with asyncio.timeout(5):
            return await self.writes.get()

    async def event(self) -> Any:
        """The next event of a watch, None at the end of the stream."""
        while b"\n" not in self.rest:
            piece = await self.write()
            if piece is None:
                assert not self.rest, self.rest
                return None
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\n")
        return orjson.loads(line)

    async def events(self, count: int) -> list[Any]:
        return [await self.event() for _ in range(count)]


class Driver:
    """Sends requests to an application."""

    def __init__(self, app: App, **headers: str) -> None:
        self.app = app
        self.headers = headers
        self.seconds = 30.0
        """The longest that an answer may take."""

    async def send(
        self,
        method: str,
        url: str,
        *,
        body: bytes | None = None,
        json: Any = None,
        headers: Headers | None = None,
        chunks: Iterable[bytes] | None = None,
    ) -> Answer:
        """One request and its whole answer."""
        if json is not None:
            body = orjson.dumps(json)
        parts = list(chunks) if chunks is not None else [body or b""]
        sent = dict(headers or {})
        if body is not None:
            sent.setdefault("content-length", str(len(body)))
        answer = Answer(0, [])

        async def receive() -> dict[str, Any]:
            if not parts:
                await asyncio.get_running_loop().create_future()
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer.code = message["status"]
                answer.headers = _decoded(message["headers"])
            else:
                answer.parts.append(message.get("body", b""))

        async with asyncio.timeout(self.seconds):
            await self.app(self._scope(method, url, sent), receive, send)
        return answer

    async def get(self, url: str, **headers: str) -> Answer:
        return await self.send("GET", url, headers=_named(headers))

    async def post(self, url: str, json: Any = None, **headers: str) -> Answer:
        return await self.send("POST", url, json=json, headers=_named(headers))

    async def put(self, url: str, json: Any = None, **headers: str) -> Answer:
        return await self.send("PUT", url, json=json, headers=_named(headers))

    async def delete(self, url: str, json: Any = None, **headers: str) -> Answer:
        return await self.send("DELETE", url, json=json, headers=_named(headers))

    async def patch(self, url: str, json: Any, kind: str = "merge-patch+json") -> Answer:
        headers = {"content-type": f"application/{kind}"}
        return await self.send("PATCH", url, json=json, headers=headers)

    @asynccontextmanager
    async def stream(
        self,
        url: str,
        *,
        headers: Headers | None = None,
        connection: ClientConnection | None = None,
    ) -> AsyncIterator[Stream]:
        """A request whose answer comes bit by bit; leaving is the client's disconnect."""
        begun: asyncio.Future[Stream] = asyncio.get_running_loop().create_future()
        left = asyncio.Event()
        messages = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                begun.set_result(Stream(message["status"], _decoded(message["headers"])))
                return
            stream = begun.result()
            if message.get("body"):
                stream.writes.put_nowait(message["body"])
            if not message.get("more_body"):
                stream.writes.put_nowait(None)

        scope = self._scope("GET", url, headers or {})
        if connection is not None:
            scope[CONNECTION] = connection
        serving = asyncio.create_task(self.app(scope, receive, send))
        try:
            async with asyncio.timeout(self.seconds):
                await asyncio.wait((begun, serving), return_when=asyncio.FIRST_COMPLETED)
            yield begun.result()
        finally:
            left.set()
            async with asyncio.timeout(self.seconds):
                await serving

    def _scope(self, method: str, url: str, headers: Headers) -> dict[str, Any]:
        path, _, query = url.partition("?")
        all_headers = {"host": "test", **self.headers, **headers}
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote_to_bytes(path).decode("utf-8", "surrogateescape"),
            "raw_path": path.encode(),
            "query_string": query.encode("utf-8", "surrogateescape"),
            "root_path": "",
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in all_headers.items()],
            "server": ("test", 80),
            "client": ("test", 1),
        }


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _decoded(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(bytes(name).decode("latin-1"), bytes(value).decode()) for name, value in headers]
