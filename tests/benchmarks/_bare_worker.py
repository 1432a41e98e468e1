"""The floor of the benchmark `verbs`: the server's worker with an application that does nothing.

It serves an object of one kilobyte over TLS to whoever asks, with the worker, the settings and the
connections of a real server.

    python -m tests.benchmarks._bare_worker FOLDER PORT
"""

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from apiserver.config import ServerConfig
from apiserver.process.address import Address
from apiserver.process.data_folder import prepare
from apiserver.process.serving import Application, gunicorn_settings

READY: Final = "bare worker is ready"

_BODY: Final = b'{"data":"' + b"x" * 1000 + b'"}'
_HEADERS: Final = [
    (b"content-type", b"application/json"),
    (b"content-length", str(len(_BODY)).encode()),
]

Message = MutableMapping[str, Any]


async def bare(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Answer every request at once."""
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": _BODY})


def main() -> None:
    folder, port = sys.argv[1:]
    config = ServerConfig(
        data_dir=Path(folder), bind=Address("127.0.0.1", int(port)), log_level="error"
    )
    prepared = prepare(config, now=datetime.now(UTC))
    Application(
        lambda *_: gunicorn_settings(config, prepared),
        lambda: bare,
        when_ready=lambda: print(READY, flush=True),
        invalid=(),
    ).run()


if __name__ == "__main__":
    main()
