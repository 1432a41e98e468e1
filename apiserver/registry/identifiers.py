"""Random uids and generated names, from randomness fetched in bulk.

A call of os.urandom releases the GIL, which under load costs more than the rest of a creation; so
one call serves many creations. A forked process must not use the pool of its parent: both would
generate the same uids.
"""

import os
from random import Random, SystemRandom
from typing import Final

_BULK: Final = 4096


class PooledRandom(SystemRandom):
    """Randomness of the operating system, from a pool."""

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
    """Return a UUID of version 4."""
    digits = f"{random.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
