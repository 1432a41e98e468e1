"""Loop watchdog: measures the pauses of an event loop and names what ran in them.

One event loop serves all requests of a worker, so a callback that runs for long delays everybody. A
thread looks at the thread of the loop fifty times a second. If the loop is busy, it schedules a
callback and measures how long the callback has to wait; from the next look on, the stack of the
loop is sampled. An idle loop is not woken.

A C function that keeps the interpreter lock stops this thread, too. It gets the lock as soon as the
function returns, and then samples the caller.

Pauses are measured to about ten milliseconds. The thread knows neither gunicorn nor the
application: `async with LoopWatchdog(report): ...` measures any loop.
"""

import asyncio
import gc
import logging
import sys
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Final, Self

from apiserver.http.server_metrics import LONG_PAUSE
from apiserver.process.stack_sample import StackSample, sample_stack

log = logging.getLogger("apiserver.loop")

SHORTEST_PAUSE: Final = 0.025
"""Seconds from which a pause is reported."""
LOG_INTERVAL: Final = 5.0
"""Seconds in which at most one pause is logged; the next line has the number of the others."""

SERVER: Final = "server"
GARBAGE_COLLECTION: Final = "garbage_collection"
OTHER_THREAD: Final = "other_thread"

_CHECK: Final = 0.02


@dataclass(frozen=True, slots=True)
class LoopPause:
    """One pause of an event loop."""

    seconds: float
    cpu_seconds: float
    """The CPU time of the loop's thread: much less if it slept, or the machine was busy."""
    other_cpu_seconds: float
    """The CPU time of all other threads, one of which may have kept the interpreter lock."""
    collection_seconds: float
    """The time of Python's garbage collector."""
    in_loop: StackSample
    """What the loop ran; empty if it ran nothing when the stack was sampled."""
    in_thread: StackSample
    """What the busiest other thread ran."""

    @property
    def is_of_other_thread(self) -> bool:
        """Whether another thread kept the loop waiting."""
        if not self.in_loop.frames:
            return True
        return self.other_cpu_seconds > max(2 * self.cpu_seconds, self.seconds / 2)

    @property
    def sample(self) -> StackSample:
        """The stack of the thread that caused the pause."""
        return self.in_thread if self.is_of_other_thread else self.in_loop

    @property
    def source(self) -> str:
        """The cause: the collector, the module of a group, another thread, or the server itself."""
        if self.collection_seconds > self.seconds / 2:
            return GARBAGE_COLLECTION
        return self.sample.group or (OTHER_THREAD if self.is_of_other_thread else SERVER)


class LoopWatchdog:
    """Calls *report*, on the loop, with each pause of the running event loop.

    Modules in *packages* are code of groups, and are named as the source of pauses.
    """

    def __init__(
        self, report: Callable[[LoopPause], None], *, packages: Collection[str] = ()
    ) -> None:
        self._report = report
        self._packages = frozenset(packages)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="loop watchdog", daemon=True)
        self._collections = CollectionTime()
        self._runner: FrameType | None = None
        self._in_loop = self._in_thread = StackSample(())
        self._sent = 0.0
        """When the callback that has not run yet was scheduled, 0 if there is none."""
        self._at_sending = (0.0, 0.0, 0.0)

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start to measure the running loop."""
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._loop_thread)
        self._collections.start()
        self._loop.call_soon(self._find_runner)
        self._thread.start()

    def stop(self) -> None:
        """Stop measuring; a pause that has not ended is not reported."""
        self._stopped.set()
        self._collections.stop()

    def _find_runner(self) -> None:
        # The frame below a callback is the one in which the loop waits for events.
        self._runner = sys._getframe(1)

    def _watch(self) -> None:
        began = time.perf_counter()
        while not self._stopped.wait(_CHECK):
            late = time.perf_counter() - began - _CHECK
            frame = sys._current_frames().get(self._loop_thread)
            if self._sent:
                self._sample(frame)
            elif late >= SHORTEST_PAUSE and self._lock_was_kept(late):
                self._in_loop = self._in_thread = StackSample(())
                self._sample(frame)
                self._sent = began + _CHECK
                self._call(self._arrive)
            elif not self._is_idle(frame):
                self._send()
            # A reference to a frame keeps all its variables alive.
            del frame
            began = time.perf_counter()
            if not self._sent:
                self._at_sending = self._read_clocks()

    def _lock_was_kept(self, seconds: float) -> bool:
        """Return whether a thread computed meanwhile, so that this one could not run.

        If it was late for another reason, the machine is busy.
        """
        cpu, process_cpu, _ = self._elapsed()
        return max(cpu, process_cpu - cpu) > seconds / 4

    def _sample(self, frame: FrameType | None) -> None:
        # The first sample counts: a later one may see what ran after the pause.
        if not self._in_thread.frames:
            self._in_thread = self._sample_threads()
        if not self._in_loop.frames and not self._is_idle(frame):
            self._in_loop = sample_stack(frame, self._packages)

    def _sample_threads(self) -> StackSample:
        """Return the deepest stack of other threads: those that wait for work have short ones."""
        own = (self._loop_thread, threading.get_ident())
        samples = (
            sample_stack(frame, self._packages)
            for thread, frame in sys._current_frames().items()
            if thread not in own
        )
        return max(samples, key=lambda sample: len(sample.frames), default=StackSample(()))

    def _is_idle(self, frame: FrameType | None) -> bool:
        """Return whether the loop runs no callback."""
        return frame is None or frame is self._runner or frame.f_code.co_name == "select"

    def _send(self) -> None:
        self._in_loop = self._in_thread = StackSample(())
        self._at_sending = self._read_clocks()
        self._sent = time.perf_counter()
        self._call(self._arrive)

    def _call(self, function: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:  # the loop has been closed
            self._stopped.set()

    def _arrive(self) -> None:
        waited = time.perf_counter() - self._sent
        if waited >= SHORTEST_PAUSE and not self._stopped.is_set():
            cpu, process_cpu, collection = self._elapsed()
            pause = LoopPause(
                # It began between two looks of the thread.
                seconds=waited + _CHECK / 2,
                cpu_seconds=cpu,
                other_cpu_seconds=process_cpu - cpu,
                collection_seconds=collection,
                in_loop=self._in_loop,
                in_thread=self._in_thread,
            )
            self._report(pause)
        self._sent = 0.0

    def _elapsed(self) -> tuple[float, ...]:
        """Return what the clocks have advanced since the callback was scheduled."""
        clocks = zip(self._read_clocks(), self._at_sending, strict=True)
        return tuple(now - then for now, then in clocks)

    def _read_clocks(self) -> tuple[float, float, float]:
        """Return the CPU time of the loop and of the process, and the time of the collector."""
        return time.clock_gettime(self._clock), time.process_time(), self._collections.seconds


class CollectionTime:
    """Adds up the time that Python's garbage collector takes."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def start(self) -> None:
        gc.callbacks.append(self._on_phase)

    def stop(self) -> None:
        if self._on_phase in gc.callbacks:
            gc.callbacks.remove(self._on_phase)

    def _on_phase(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._started = time.perf_counter()
        else:
            self.seconds += time.perf_counter() - self._started


class PauseLog:
    """Logs long pauses, with what ran; at most one in LOG_INTERVAL."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = float("-inf")
        self._unlogged = 0

    def write(self, pause: LoopPause) -> None:
        """Log *pause* if it is long."""
        if pause.seconds < LONG_PAUSE:
            return
        now = self._clock()
        if now - self._last < LOG_INTERVAL:
            self._unlogged += 1
            return
        fields: dict[str, Any] = {
            "cpu_seconds": round(pause.cpu_seconds, 3),
            **pause.sample.request,
            "stack": " > ".join(pause.sample.frames),
        }
        if self._unlogged:
            fields["unlogged"] = self._unlogged
        self._last, self._unlogged = now, 0
        milliseconds = round(pause.seconds * 1000)
        log.warning("the event loop paused for %d ms: %s", milliseconds, pause.source, extra=fields)
