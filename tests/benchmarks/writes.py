"""What managedFields cost: whole writes with tracking and without, in one process.

A write goes through the whole application, from the ASGI message to the store in memory and back;
only the connection is left out. Both applications take turns, so that whatever else the machine
does meets them alike, and processor time is measured, not rate.
"""

import asyncio
from collections.abc import Awaitable, Callable
from time import process_time
from typing import Any, Final

import orjson
import uvloop

from apis.core.install import CORE
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.install import MakeOwnership
from apiserver.managed_fields.field_tracking import FieldTracking
from apiserver.storage.sqlite.backend import open_sqlite
from tests.roles import standard_authorizer

OBJECTS: Final = 200
TOGETHER: Final = 32
ROUNDS: Final = 20

PATH: Final = "/api/v1/namespaces/default/services"
MERGE: Final = "application/merge-patch+json"


class Writer:
    """Sends requests to an application and adds up the processor time that they take."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.round = 0
        self.bodies: dict[str, bytes] = {}

    async def send(self, method: str, path: str, body: bytes, kind: str) -> bytes:
        headers = [
            (b"authorization", b"Bearer root"),
            (b"user-agent", b"benchmark/1"),
            (b"content-type", kind.encode()),
            (b"content-length", b"%d" % len(body)),
        ]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": headers,
        }
        answer: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            answer.append(message)

        await self._app(scope, receive, send)
        assert answer[0]["status"] in (200, 201), answer
        data: bytes = answer[1]["body"]
        return data

    async def create(self, number: int) -> None:
        name = self._name(number)
        body = orjson.dumps(_document(name))
        self.bodies[name] = await self.send("POST", PATH, body, "application/json")

    async def replace(self, number: int) -> None:
        name = self._name(number)
        body = self.bodies[name].replace(b'"step":"0"', b'"step":"1"')
        await self.send("PUT", f"{PATH}/{name}", body, "application/json")

    async def patch(self, number: int) -> None:
        body = b'{"metadata":{"annotations":{"step":"2"}}}'
        await self.send("PATCH", f"{PATH}/{self._name(number)}", body, MERGE)

    def _name(self, number: int) -> str:
        return f"service-{self.round}-{number}"


def run() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        found = runner.run(_measure())
    print("microseconds of a core for each write, the best of", ROUNDS, "rounds")
    print(f"  {'':14} {'tracked':>9} {'untracked':>9} {'ratio':>7}")
    for name, (tracked, untracked) in found.items():
        print(f"  {name:14} {tracked:9.0f} {untracked:9.0f} {tracked / untracked:7.2f}")


async def _measure() -> dict[str, tuple[float, float]]:
    apps = [_app(FieldTracking), _app(None)]
    for app in apps:
        await app.start()
    writers = [Writer(app) for app in apps]
    best: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        for name in ("create", "replace", "patch"):
            for position, writer in enumerate(writers):
                writer.round = number
                taken = await _seconds(getattr(writer, name)) / OBJECTS * 1e6
                before = best.setdefault(name, [taken, taken])
                before[position] = min(before[position], taken)
    for app in apps:
        await app.stop()
    return {name: (taken[0], taken[1]) for name, taken in best.items()}


async def _seconds(step: Callable[[int], Awaitable[None]]) -> float:
    """The processor time of a step for every object, as many at a time as there are clients."""
    numbers = iter(range(OBJECTS))

    async def work() -> None:
        for number in numbers:
            await step(number)

    began = process_time()
    await asyncio.gather(*(work() for _ in range(TOGETHER)))
    return process_time() - began


def _app(ownership: MakeOwnership | None) -> App:
    return App(
        (CORE,),
        lambda: open_sqlite("sqlite://:memory:"),
        authentication=Authentication([TokenAuthenticator({"root": User("root", "", (MASTERS,))})]),
        authorizer=standard_authorizer(),
        ownership=ownership,
    )


def _document(name: str) -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop", "tier": "web"}
    ports = [{"name": each, "port": port} for each, port in (("http", 80), ("https", 443))]
    return {
        "metadata": {"name": name, "labels": labels, "annotations": {"step": "0"}},
        "spec": {"selector": {"app": name}, "ports": ports, "clusterIP": "None"},
    }
