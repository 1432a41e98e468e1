"""Decoding much at once, without the garbage collector searching what cannot be garbage.

A page of five hundred objects is a quarter of a million small ones, and the collector looks at them
again and again while they are made: it takes longer than the decoding. All of them are wanted and
none is in a cycle, so they are made while it rests, and then count as old.

What counts as old is searched when the collector thinks that enough of it is new, and of this it
has not heard. So it is told to search everything whenever a good deal has been made here.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

LARGE: Final = 64 * 1024
"""Bytes of JSON from which on this is worth the while."""
MUCH: Final = 256 * 1024 * 1024
"""Bytes of JSON after which everything is searched; they take many times as long to decode."""


class Collector:
    """Python's garbage collector, as those see it who decode."""

    def __init__(self, *, much: int = MUCH) -> None:
        self._much = much
        self._made = 0

    @contextmanager
    def paused(self, size: int) -> Iterator[None]:
        """Make objects of *size* bytes without the collector; nothing may be awaited meanwhile."""
        if not self.expect(size):
            yield
            return
        with resting():
            yield

    def expect(self, size: int) -> bool:
        """Whether *size* bytes are so many that the collector should rest; makes it ready to."""
        if size < LARGE or not gc.isenabled():
            return False
        self._made += size
        if self._made > self._much:
            self._made = 0
            gc.collect()
        else:
            # The young garbage of others would pass for old together with what is made here.
            gc.collect(1)
        return True


COLLECTOR: Final = Collector()
"""There is one in a process, so there is one here."""


@contextmanager
def resting() -> Iterator[None]:
    """Without the collector, if it runs; what was made counts as old afterwards."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        _let_young_be_old()
        gc.enable()


def _let_young_be_old() -> None:
    # What a program has frozen itself must stay so, and unfreezing takes everything.
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
