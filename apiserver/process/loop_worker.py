"""Loop worker: a gunicorn worker that runs an event loop, and nothing that it does not need.

gunicorn's own ASGI worker is not its base: it imports gunicorn's HTTP protocol, which builds tables
of two megabytes that the connections of this server do not use.
"""

import asyncio
import signal
from abc import abstractmethod
from typing import Any, Final

from gunicorn.workers.base import Worker as WorkerBase

_QUICK_SECONDS: Final = 1.0
"""The time for tasks to end when the worker must not wait for requests."""


class LoopWorker(WorkerBase):  # type: ignore[misc]  # gunicorn has no types
    """One process with an event loop; a subclass serves in it."""

    alive: bool
    loop: asyncio.AbstractEventLoop

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.state: dict[str, Any] = {}
        """What the application and its connections share."""
        self.quick_shutdown = False
        """Whether the worker was told to stop without completing requests."""

    def init_process(self) -> None:
        self.loop = _new_event_loop()
        asyncio.set_event_loop(self.loop)
        super().init_process()

    def load_wsgi(self) -> None:
        self.asgi = self.app.wsgi()

    def init_signals(self) -> None:
        for number in self.SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        for number, handle in (
            (signal.SIGQUIT, self.handle_quit_signal),
            (signal.SIGTERM, self.handle_exit_signal),
            (signal.SIGINT, self.handle_quit_signal),
            (signal.SIGUSR1, self.log.reopen_files),
            (signal.SIGWINCH, _ignore),
            (signal.SIGABRT, self.handle_abort_signal),
        ):
            self.loop.add_signal_handler(number, handle)

    def handle_quit_signal(self) -> None:
        """Stop without completing requests."""
        self.quick_shutdown = True
        if self.alive:
            self.alive = False
            self.cfg.worker_int(self)

    def handle_exit_signal(self) -> None:
        """Complete the requests and stop."""
        self.alive = False

    def handle_abort_signal(self) -> None:
        """End at once: the heartbeat has stopped."""
        self.alive = False
        self.cfg.worker_abort(self)
        raise SystemExit(1)

    def run(self) -> None:
        """Serve until the worker is stopped; called by gunicorn."""
        try:
            self.loop.run_until_complete(self.serve())
        except Exception:
            self.log.exception("the worker failed")
        finally:
            self._clean_up()

    @abstractmethod
    async def serve(self) -> None:
        """Serve, and return after the worker was stopped."""

    def _clean_up(self) -> None:
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        if tasks:
            seconds = _QUICK_SECONDS if self.quick_shutdown else None
            self.loop.run_until_complete(_ended(tasks, seconds))
        self.loop.close()
        for listening in self.sockets:
            listening.close()


async def _ended(tasks: set[asyncio.Task[Any]], seconds: float | None) -> None:
    """Wait until *tasks* have ended, at most for *seconds*."""
    # A timeout around `gather` would wait for tasks that do not end when they are cancelled.
    await asyncio.wait(tasks, timeout=seconds)


def _new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a loop of uvloop, which is faster, where it exists."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def _ignore() -> None:
    return None
