"""Requests to an application in this process, and what no answer may ever be."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import orjson
import yaml

from apiserver.app import App
from tests.faults.hostile import PROTOBUF, Request

TEXTS: Final = (
    b"404 page not found\n",
    b"406: Not Acceptable",
    b"406 Not Acceptable\n",
    b"Too many requests, please try again later.\n",
)
PATIENCE: Final = 30.0
"""Seconds in which every request must be answered."""


@dataclass
class Reply:
    code: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    parts: list[bytes] = field(default_factory=list)

    @cached_property
    def body(self) -> bytes:
        """The whole body, joined on first use: in time that is not the server's."""
        return b"".join(self.parts)


async def ask(app: App, request: Request, token: str) -> Reply:
    """Send a request; the client of a watch leaves as soon as it has sent it, which ends it."""
    reply = Reply()
    messages = [{"type": "http.request", "body": request.body, "more_body": False}]
    leaves = b"watch" in request.query or "watch" in request.path

    async def receive() -> Mapping[str, Any]:
        if not messages and not leaves:
            await asyncio.Event().wait()
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            reply.code = message["status"]
            reply.headers = dict(message["headers"])
        else:
            reply.parts.append(message.get("body", b""))

    async with asyncio.timeout(PATIENCE):
        await app(_scope(request, token), receive, send)  # type: ignore[arg-type]
    return reply


def _scope(request: Request, token: str) -> dict[str, Any]:
    headers = request.headers
    if not any(name == b"authorization" for name, _ in headers):
        headers = [*headers, (b"authorization", b"Bearer " + token.encode())]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": b"",
        "query_string": request.query,
        "root_path": "",
        "headers": headers,
        "server": ("x", 80),
        "client": ("x", 1),
    }


def wrong(request: Request, reply: Reply) -> str | None:
    """What is wrong with an answer, None if nothing is."""
    if reply.code >= 500 and not (
        is_timeout(reply) or _is_missing_scale(reply) or _is_without_range(reply)
    ):
        return f"it is a {reply.code}"
    if any(b"\n" in value or b"\r" in value for value in reply.headers.values()):
        return "a header has more than one line"
    if request.method == "HEAD" or reply.body.startswith(TEXTS):
        return None
    if reply.code >= 400:
        return None if status_kind(reply) == "Status" else "it is an error and no Status"
    return _malformed(reply)


def _malformed(reply: Reply) -> str | None:
    """What a JSON parser that follows the standard says of a success."""
    is_json = reply.headers.get(b"content-type", b"").partition(b";")[0] == b"application/json"
    if not is_json or b"content-encoding" in reply.headers or not reply.body:
        return None
    try:
        # A watch is a sequence of documents.
        for line in reply.body.splitlines() if reply.body.startswith(b'{"type":') else [reply.body]:
            orjson.loads(line)
    except ValueError as error:
        return f"it is no JSON: {error}"
    return None


def is_timeout(reply: Reply) -> bool:
    """A revision from the future, or less time than any answer takes: as asked for."""
    return reply.code == 504 and b"Timeout" in reply.body


def _is_missing_scale(reply: Reply) -> bool:
    """The scale of a custom object without replicas: Kubernetes answers 500, and so do we."""
    return reply.code == 500 and b"the spec replicas field" in reply.body


def _is_without_range(reply: Reply) -> bool:
    """A service while no ServiceCIDR is ready: Kubernetes answers 500, and so do we."""
    return reply.code == 500 and b"failed to allocate a serviceIP" in reply.body


def status_kind(reply: Reply) -> Any:
    media_type = reply.headers.get(b"content-type", b"").decode()
    if media_type.startswith(PROTOBUF):
        return "Status" if b"Status" in reply.body[:40] else ""
    loads = yaml.safe_load if "yaml" in media_type else json.loads
    try:
        document = loads(reply.body)
    except ValueError:
        return ""
    return document.get("kind") if isinstance(document, dict) else ""
