"""A small ASGI application that the tests of the worker run under the real gunicorn."""

import asyncio
import gc
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from apiserver.connections.connection import HTTPConnection
from apiserver.http.exchange import DRAIN, GROUP_PACKAGES, LOOP_PAUSED

Send = Callable[[dict[str, Any]], Awaitable[None]]

stopping = asyncio.Event()
pauses: list[str] = []


def record(seconds: float, source: str) -> None:
    pauses.append(source)


async def app(scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Send) -> None:
    if scope["type"] == "lifespan":
        await receive()
        scope["state"] |= {DRAIN: stopping.set, LOOP_PAUSED: record, GROUP_PACKAGES: {"tests"}}
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
    elif scope["path"] == "/watch":
        await start(send)
        await stopping.wait()
        await send({"type": "http.response.body", "body": b"the last\n"})
    elif scope["path"] == "/spin":
        until = time.thread_time() + 0.2
        while time.thread_time() < until:
            pass
        await answer(send, {})
    elif scope["path"] == "/connections":
        found = (tracked for tracked in gc.get_objects() if isinstance(tracked, HTTPConnection))
        await answer(send, sum(1 for _ in found))
    elif scope["path"] == "/pauses":
        await answer(send, pauses)
    elif scope["path"] == "/started":
        # The head is sent before the stop begins, the end of the response after it.
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await stopping.wait()
        await send({"type": "http.response.body", "body": b"b"})
    elif scope["path"] == "/until-stop":
        # In flight when the stop begins, answered after it has.
        await stopping.wait()
        await answer(send, {"answered": True})
    else:
        tls = scope.get("extensions", {}).get("tls")
        await answer(send, {"pid": os.getpid(), "tls": tls})


async def start(send: Send) -> None:
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def answer(send: Send, document: object) -> None:
    body = json.dumps(document).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
