"""Young objects: keep the garbage collector from scanning all decoded objects while they are read.

A program that reads the nested objects of a large list allocates some containers for each, which it
keeps. After every hundred thousand of them Python scans the whole list for garbage, which takes
longer than reading it. So the young objects are scanned here when they would be scanned anyway, and
what is no garbage moves to the oldest generation, which then does not count as having grown.
"""

import gc
from threading import Lock
from typing import Final

NEARLY: Final = 0.85
"""The part of Python's threshold for young objects at which they are scanned here."""
FULL_COLLECTION: Final = 600_000
"""Scanned objects after which a full collection runs; it finds the cycles that became old here."""


class YoungObjects:
    """Scans young objects and makes them old."""

    def __init__(self, *, full_collection: int = FULL_COLLECTION) -> None:
        self._full_collection = full_collection
        self._scanned = 0

    def settle(self) -> None:
        """Scan the young objects if Python is about to; to be called before some are allocated."""
        threshold, young = gc.get_threshold()[0], gc.get_count()[0]
        if young < threshold * NEARLY or not threshold or not gc.isenabled():
            return
        # Objects, because a program may have set a threshold that is seldom reached.
        self._scanned += young
        if self._scanned >= self._full_collection:
            self._scanned = 0
            gc.collect()
            return
        gc.collect(0)
        promote_young_objects()


class FrozenObjects:
    """Makes all objects old, and knows whether the program keeps frozen objects of its own.

    Objects become old by being frozen and released again, and `gc.unfreeze` releases every frozen
    object: it is not called in a program that has frozen some. Another thread must not look in
    between, or it would take the objects that are frozen for a moment for those of the program and
    never release an object again; hence the lock.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._found = False

    def freeze(self) -> None:
        """Freeze all objects, for a program that keeps them frozen."""
        with self._lock:
            self._found = True
            gc.freeze()

    def make_all_old(self, *, freeze: bool = False) -> None:
        """Move all objects to the oldest generation, without scanning them.

        In a program with frozen objects nothing happens, or all are frozen as well with *freeze*.
        """
        with self._lock:
            # Remembered, because counting them takes time.
            self._found = self._found or gc.get_freeze_count() > 0
            if not self._found:
                gc.freeze()
                gc.unfreeze()
            elif freeze:
                gc.freeze()


FROZEN_OBJECTS: Final = FrozenObjects()
"""Global because a process has only one garbage collector."""


def promote_young_objects() -> None:
    """Move all objects to the oldest generation, unless the program has frozen objects."""
    FROZEN_OBJECTS.make_all_old()
