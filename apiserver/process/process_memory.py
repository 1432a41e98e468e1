"""Process memory: when a worker collects garbage, and when it returns freed memory.

Nearly all objects of a request are freed with their last reference; Python's garbage collector is
needed for cycles only. But a full collection visits every object, and with 100,000 objects in the
watch cache it stopped the event loop for a fifth of a second. So objects that have survived a full
collection are frozen, which excludes them from later ones: each collection visits what has been
added since, some ten thousand objects. Frozen objects are still freed with their last reference;
cycles among them are found by a sweep over everything, in a quiet second, at most every ten
minutes. A start collects nothing; the first sweep, half a minute later, removes what it left.

The C library keeps freed memory for later. After many connections have ended, it is told to return
what it can, in a quiet second: with a fragmented heap of 500 MB that takes 0.1 s. By default it
returns large blocks at once, and the system clears them again for the next: a page of 500 objects,
of which the parts are such blocks, could cost twice as much.
"""

import ctypes
import gc
import time
from collections.abc import Callable
from typing import Final

from apimachinery.lenient.young_objects import FROZEN_OBJECTS

THRESHOLDS: Final = (10_000, 2, 0)
"""The thresholds of the collector: new objects, and collections of each younger generation."""
FIRST_SWEEP_SECONDS: Final = 30.0
"""The time after the start in which its garbage is kept: it would take a tenth of the start."""
SWEEP_SECONDS: Final = 600.0
"""The least time between two sweeps."""
SWEEP_LATEST_SECONDS: Final = 3600.0
"""The time after which a sweep is made in a busy process as well."""
QUIET_SHARE: Final = 0.05
"""The share of one processor below which a process is quiet."""
MANY_CONNECTIONS: Final = 100
"""Memory is returned after half of at least so many connections have ended."""

KEPT_BLOCK: Final = 1 << 20
"""Bytes of the largest block that the C library keeps when it is freed."""
KEPT_TOP: Final = 4 << 20
"""Bytes at the end of the heap that it keeps."""
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3

TRIM_DELAYS: Final = (5.0, 120.0)
"""Seconds after which their memory is returned: when their requests have ended, too, and when the
window of recent changes has moved on.
"""


class ProcessMemory:
    """The memory of one process; *check* is to be called about once a second."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        trim: Callable[[int], object] | None = None,
        set_option: Callable[[int, int], object] | None = None,
    ) -> None:
        self._clock = clock
        self._set_option = set_option or _c_function("mallopt")
        self._trim = trim or _c_function("malloc_trim")
        self._swept_at = 0.0
        self._checked_at = 0.0
        self._cpu_at_check = 0.0
        self._has_frozen = False
        self._sweep_seconds = FIRST_SWEEP_SECONDS
        self._most_connections = 0
        self._trims_due: list[float] = []

    def start(self) -> None:
        """Freeze all objects that exist now, and those that survive full collections."""
        self._swept_at = self._checked_at = self._clock()
        self._cpu_at_check = time.process_time()
        gc.callbacks.append(self._on_collection)
        # Without a collection: it would take as long as a tenth of a start.
        FROZEN_OBJECTS.freeze()
        self._has_frozen = True
        gc.set_threshold(*THRESHOLDS)
        self._set_option(_M_MMAP_THRESHOLD, KEPT_BLOCK)
        self._set_option(_M_TRIM_THRESHOLD, KEPT_TOP)

    def stop(self) -> None:
        if self._on_collection in gc.callbacks:
            gc.callbacks.remove(self._on_collection)

    def check(self, connections: int) -> None:
        """Sweep, or return memory, if it is time; *connections* is the number of open ones."""
        now, cpu = self._clock(), time.process_time()
        is_quiet = cpu - self._cpu_at_check < QUIET_SHARE * (now - self._checked_at)
        self._checked_at, self._cpu_at_check = now, cpu
        due = self._sweep_seconds if is_quiet else SWEEP_LATEST_SECONDS
        if self._has_frozen and now >= self._swept_at + due:
            self._sweep(now)
        self._most_connections = max(self._most_connections, connections)
        if self._most_connections >= MANY_CONNECTIONS and connections < self._most_connections / 2:
            self._most_connections = connections
            self._trims_due = [now + delay for delay in TRIM_DELAYS]
        if is_quiet and self._trims_due and now >= self._trims_due[0]:
            del self._trims_due[0]
            self._trim(0)

    def _sweep(self, now: float) -> None:
        gc.unfreeze()
        gc.collect()
        self._swept_at, self._has_frozen = now, False
        if self._sweep_seconds == FIRST_SWEEP_SECONDS:
            self._sweep_seconds = SWEEP_SECONDS
            self._trim(0)

    def _on_collection(self, phase: str, info: dict[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            gc.freeze()
            self._has_frozen = True


def _c_function(name: str) -> Callable[..., object]:
    """Return a function of glibc about its memory; other C libraries need none."""
    try:
        function: Callable[..., object] = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):
        return lambda *_: None
    return function
