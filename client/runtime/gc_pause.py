"""Garbage collection pauses: decode large responses and bursts of events without the collector.

Decoding a page of five hundred objects allocates a quarter of a million Python objects. The
collector scans the young ones again and again while they are allocated, which takes longer than
the decoding itself. None of them is garbage and none is part of a cycle, so collection is paused
while they are allocated, and they are then moved to the oldest generation.

The collector scans the oldest generation once enough objects have been promoted to it, but it does
not count the objects moved there by this module. `GCPauser` therefore runs a full collection
itself after every `FULL_COLLECTION_BYTES` of decoded JSON.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from apimachinery.lenient.young_objects import NEARLY, promote_young_objects

MIN_PAUSE_BYTES: Final = 64 * 1024
"""Bytes of JSON below which a pause costs more than it saves."""
FULL_COLLECTION_BYTES: Final = 256 * 1024 * 1024
"""Bytes of JSON after which a full collection runs; decoding them takes many times as long."""


class GCPauser:
    """Decides when to pause garbage collection, and when a full collection is due."""

    def __init__(self, *, full_collection_bytes: int = FULL_COLLECTION_BYTES) -> None:
        self._full_collection_bytes = full_collection_bytes
        self._decoded_bytes = 0

    @contextmanager
    def paused(self, size: int) -> Iterator[None]:
        """Pause collection in a block that decodes *size* bytes; the block must not await."""
        if not self.prepare(size):
            yield
            return
        with gc_paused():
            yield

    def prepare(self, size: int) -> bool:
        """Return whether to pause collection while *size* bytes are decoded.

        If so, collect garbage first: objects that are young now are old after the pause.
        """
        if size < MIN_PAUSE_BYTES or not gc.isenabled():
            return False
        self._decoded_bytes += size
        if self._decoded_bytes > self._full_collection_bytes:
            self._decoded_bytes = 0
            gc.collect()
        else:
            # Young garbage of the rest of the program would be promoted with the decoded objects.
            gc.collect(1)
        return True


GC_PAUSER: Final = GCPauser()
"""Global because a process has only one garbage collector."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause collection in a block, then move its objects to the oldest generation.

    Does nothing if the program has disabled collection itself.
    """
    paused = pause_gc()
    try:
        yield
    finally:
        if paused:
            resume_gc()


def pause_gc() -> bool:
    """Pause collection; return False if the program has disabled it itself.

    For code that pauses for every event: the context manager takes as long as decoding one.
    """
    enabled = gc.isenabled()
    if enabled:
        gc.disable()
    return enabled


def resume_gc() -> None:
    """End a pause: move the objects that it allocated to the oldest generation.

    Not if they are so few that Python would not scan them yet, as after an event of which the
    predecessors are freed already.
    """
    if gc.get_count()[0] >= gc.get_threshold()[0] * NEARLY:
        promote_young_objects()
    gc.enable()
