"""A response whose client does not read it gives its seat back, and only then."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from apiserver.http import gate
from apiserver.http.exchange import KEY, Exchange
from apiserver.http.gate import Gate, Send
from apiserver.http.request_bodies import Receive
from apiserver.http.request_limits import Limits
from apiserver.http.server_metrics import ServerMetrics

PART = {"type": "http.response.body", "body": b"part", "more_body": True}
SHORT = {"type": "http.response.body", "body": b"whole"}


class Seat:
    """Records when it is given back."""

    def __init__(self) -> None:
        self.released = asyncio.Event()

    def release(self) -> None:
        self.released.set()


async def respond(message: MutableMapping[str, Any], send: Send, seat: Seat) -> bool:
    """Begin an answer with *message*; return whether the request has its seat afterwards."""
    keeps: list[bool] = []

    async def application(scope: MutableMapping[str, Any], body: Receive, sending: Send) -> None:
        exchange: Exchange = scope[KEY]
        exchange.seat = seat  # type: ignore[assignment]
        await sending(message)
        for _ in range(3):
            await asyncio.sleep(0)  # a timer that is due would run now
        keeps.append(not seat.released.is_set())

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/version",
        "query_string": b"",
        "headers": [],
    }
    await Gate(application, Limits(), ServerMetrics())(scope, receive, send)
    return keeps == [True]


async def test_a_stalled_stream_gives_its_seat_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "STALL_SECONDS", 0.01)
    seat = Seat()

    async def stalled(message: MutableMapping[str, Any]) -> None:
        await seat.released.wait()

    async with asyncio.timeout(5):
        assert not await respond(PART, stalled, seat)


@pytest.mark.parametrize("message", [PART, SHORT])
async def test_a_message_that_is_read_keeps_the_seat(
    message: MutableMapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "STALL_SECONDS", 0.0)

    async def reading(message: MutableMapping[str, Any]) -> None:
        pass

    assert await respond(message, reading, Seat())
