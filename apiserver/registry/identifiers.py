"""Randomness for uids and generated names, fetched in bulk.

Asking the operating system lets other threads run first, which under load costs more than all the
rest of a creation; so it is asked once for many. A process that was forked must not go on with what
its parent had fetched: the two would hand out the same uids.
"""

import os
from random import Random, SystemRandom
from typing import Final

_BULK: Final = 4096


class PooledRandom(SystemRandom):
    """The randomness of the operating system, some of it held ready."""

    def __init__(self) -> None:
        super().__init__()
        self._pool = b""
        self._used = 0
        self._process = os.getpid()

    def getrandbits(self, k: int, /) -> int:
        size = (k + 7) // 8
        if size > _BULK:
            return super().getrandbits(k)
        if self._used + size > len(self._pool) or self._process != os.getpid():
            self._pool, self._used, self._process = os.urandom(_BULK), 0, os.getpid()
        start = self._used
        self._used = start + size
        return int.from_bytes(self._pool[start : self._used], "big") >> (size * 8 - k)


def new_uid(random: Random) -> str:
    """A UUID of version 4."""
    digits = f"{random.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
