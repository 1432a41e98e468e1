"""A worker and a transport in memory, for the tests of connections."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

from apiserver.connections.connection import HTTPConnection


class FakeTransport(asyncio.Transport):
    """Keeps what is written; it never blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.writes = 0
        self.closing = False
        self.reading = True

    def write(self, data: Any) -> None:
        self.writes += 1
        self.written += data

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    abort = close

    def can_write_eof(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        return None

    def get_write_buffer_size(self) -> int:
        return 0


class FakeWorker:
    """The attributes of a worker that a connection uses."""

    def __init__(self, app: Any) -> None:
        self.loop = asyncio.get_running_loop()
        self.asgi = app
        self.cfg = SimpleNamespace(keepalive=120, websocket_max_message_size=1000)
        self.log = logging.getLogger("tests.worker")
        self.alive = True
        self.is_stopping = False
        self.state: dict[str, Any] = {}
        self.connections: WeakSet[HTTPConnection] = WeakSet()
