"""Young objects: keep the garbage collector from scanning all decoded objects while they are read.

A program that reads the nested objects of a large list allocates some containers for each, which it
keeps. After every hundred thousand of them Python scans the whole list for garbage, which takes
longer than reading it. So the young objects are scanned here when they would be scanned anyway, and
what is no garbage moves to the oldest generation, which then does not count as having grown.
"""

import gc
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


class _FrozenObjects:
    """Whether the program has frozen objects, remembered because counting them takes time."""

    def __init__(self) -> None:
        self._found = False

    def exist(self) -> bool:
        self._found = self._found or gc.get_freeze_count() > 0
        return self._found


_FROZEN_OBJECTS: Final = _FrozenObjects()


def promote_young_objects() -> None:
    """Move all objects to the oldest generation, without scanning them."""
    # unfreeze() releases every frozen object, so objects frozen by the program rule this out.
    if not _FROZEN_OBJECTS.exist():
        gc.freeze()
        gc.unfreeze()
