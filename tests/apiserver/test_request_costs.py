"""Requests do not cost more than the committed figures say.

A cost is a number of calls: those of functions in Python and in C that the task of one request
makes, through the whole application on a store in memory. Unlike a time, it is the same on every
machine and under any load, so that a change that costs more is seen where it is made. It is not the
time: `python -m tests.benchmarks writes` measures that.

`python -m tests.apiserver.test_request_costs` counts again and writes the figures of this version
of Python; a version without figures is not tested.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final
from unittest.mock import patch

import orjson
import pytest

from apis.core.install import CORE
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.managed_fields.field_tracking import FieldTracking
from apiserver.storage.sqlite.backend import open_sqlite
from tests.admitting import namespace_admission
from tests.roles import standard_authorizer

FIGURES: Final = Path(__file__).with_name("request_costs.json")
PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
TOLERANCE: Final = 0.03
"""How much a figure may differ: another version of a library may make a few calls more."""
REQUESTS: Final = 12
"""Requests of which the cheapest counts: the first ones fill caches."""

NAMESPACES: Final = "/api/v1/namespaces"
PATH: Final = f"{NAMESPACES}/default/configmaps"
JSON: Final = "application/json"

RENEW: Final = (
    "If the change is worth it, `python -m tests.apiserver.test_request_costs` writes new figures."
)


class Requests:
    """Sends requests to an application, one at a time, and counts the calls of each."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.bodies: dict[int, bytes] = {}

    async def send(self, method: str, path: str, body: bytes = b"", kind: str = JSON) -> bytes:
        headers = [
            (b"authorization", b"Bearer root"),
            (b"user-agent", b"costs/1"),
            (b"accept", JSON.encode()),
            (b"content-type", kind.encode()),
            (b"content-length", b"%d" % len(body)),
        ]
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": headers,
        }
        answer: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            answer.append(message)

        await self._app(scope, receive, send)
        assert answer[0]["status"] in (200, 201), answer
        return b"".join(part["body"] for part in answer[1:])

    async def create(self, number: int) -> None:
        self.bodies[number] = await self.send("POST", PATH, orjson.dumps(_config_map(number)))

    async def get(self, number: int) -> None:
        await self.send("GET", f"{PATH}/{_name(number)}")

    async def list(self, number: int) -> None:
        await self.send("GET", f"{PATH}?limit=5")

    async def update(self, number: int) -> None:
        body = self.bodies[number].replace(b'"step":"0"', b'"step":"1"')
        await self.send("PUT", f"{PATH}/{_name(number)}", body)

    async def patch(self, number: int) -> None:
        body = b'{"metadata":{"annotations":{"step":"2"}}}'
        path = f"{PATH}/{_name(number)}"
        await self.send("PATCH", path, body, "application/merge-patch+json")

    async def apply(self, number: int) -> None:
        applied = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"applied": "yes"}}
        path = f"{PATH}/{_name(number)}?fieldManager=costs"
        await self.send("PATCH", path, orjson.dumps(applied), "application/apply-patch+yaml")

    async def delete(self, number: int) -> None:
        await self.send("DELETE", f"{PATH}/{_name(number)}")


def _name(number: int) -> str:
    return f"config-{number}"


def _config_map(number: int) -> dict[str, Any]:
    labels = {"app": "web", "tier": "front"}
    metadata = {"name": _name(number), "labels": labels, "annotations": {"step": "0"}}
    return {"metadata": metadata, "data": {f"key-{each}": "x" * 300 for each in range(3)}}


STEPS: Final = ("create", "get", "list", "update", "patch", "apply", "delete")


async def count() -> dict[str, int]:
    """Return the number of calls of the cheapest request of each kind.

    The time stands still: an update costs more in another second than the creation.
    """
    with patch("time.time", lambda: 1_900_000_000.0):
        return await _count()


async def _count() -> dict[str, int]:
    app: App = App(
        (CORE,),
        lambda: open_sqlite("sqlite://:memory:"),
        authentication=Authentication([TokenAuthenticator({"root": User("root", "", (MASTERS,))})]),
        authorizer=standard_authorizer(),
        ownership=FieldTracking,
        admission=namespace_admission(lambda resource: app.groups.store(resource)),
    )
    await app.start()
    try:
        requests = Requests(app)
        await requests.send("POST", NAMESPACES, b'{"metadata":{"name":"default"}}')
        return {
            step: min([await _calls(getattr(requests, step), number) for number in range(REQUESTS)])
            for step in STEPS
        }
    finally:
        await app.stop()


async def _calls(step: Callable[[int], Awaitable[None]], number: int) -> int:
    """Return the calls of one request, without those of tasks that run while it waits."""
    calls, task = 0, asyncio.current_task()

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call") and asyncio.current_task() is task

    sys.setprofile(note)
    try:
        await step(number)
    finally:
        sys.setprofile(None)
    return calls


def _figures() -> dict[str, dict[str, int]]:
    figures: dict[str, dict[str, int]] = json.loads(FIGURES.read_text())
    return figures


@pytest.fixture(scope="module")
def counted() -> dict[str, int]:
    return asyncio.run(count())


@pytest.mark.skipif(PYTHON not in _figures(), reason=f"no figures for Python {PYTHON}")
@pytest.mark.parametrize("step", STEPS)
def test_a_request_costs_what_it_did(counted: dict[str, int], step: str) -> None:
    """A request that costs less needs a new figure, too, or the gain could be lost unseen."""
    calls, committed = counted[step], _figures()[PYTHON][step]

    assert calls == pytest.approx(committed, rel=TOLERANCE), (
        f"a {step} makes {calls} calls, and {committed} when the figures were committed. {RENEW}"
    )


def main() -> None:
    figures = _figures() if FIGURES.exists() else {}
    figures[PYTHON] = asyncio.run(count())
    FIGURES.write_text(json.dumps(figures, indent=2) + "\n")
    print(f"Python {PYTHON}: {figures[PYTHON]}")


if __name__ == "__main__":
    main()
