"""Supervised worker: a worker as its master sees it, and the step from there to one that serves.

The master forks workers, watches their heartbeats and forwards signals. For that it needs neither
an event loop nor the application, and does not import them: the process of a worker does, when it
has been forked.
"""

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from mmap import mmap
from typing import Any, Final

from gunicorn.workers.base import Worker as WorkerBase

from apimachinery.lenient.young_objects import FROZEN_OBJECTS
from apiserver.connections.connection_shares import ConnectionShare

SHUTDOWN_MARGIN: Final = 5
"""Seconds of gunicorn's graceful timeout reserved for the shutdown of the application."""


class SupervisedWorker(WorkerBase):  # type: ignore[misc]  # gunicorn has no types
    """One process that will serve requests."""

    share: ConnectionShare
    """Assigned by the master before the process is forked, or becomes a worker."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        share_byte()

    def init_process(self) -> None:
        """Serve until the process is stopped."""
        end_when_stopped()
        # Before the worker has handlers of its own: they take effect when its event loop runs, and
        # importing the application takes long enough for a stop to come in between.
        with importing():
            from apiserver.process.worker import Worker

            self.app.wsgi()
        worker = Worker.in_place_of(self)
        try:
            worker.init_process()
        finally:
            self.booted = worker.booted


@contextmanager
def importing() -> Iterator[None]:
    """Collect no garbage while modules are imported, and exclude what they consist of for longer.

    Imports make little garbage, and the search would take a sixth of their time. Afterwards a full
    collection would visit all modules and classes, which lasts as long as a tenth of a start: they
    are frozen, until the first sweep of `process_memory`.
    """
    gc.disable()
    try:
        yield
    finally:
        FROZEN_OBJECTS.freeze()
        gc.enable()


def end_when_stopped() -> None:
    """Have this process end at once if it is stopped before it serves.

    It has inherited the handlers of the master, which would only note the signal, and nobody would
    stop the worker again once it has imported what it serves.
    """
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT):
        signal.signal(number, _end)


def _end(*_: object) -> None:
    os._exit(0)


@cache
def share_byte() -> mmap:
    """Return a byte that is shared by all processes that are forked after the first call.

    It says whether any worker has served.
    """
    return mmap(-1, 1)
