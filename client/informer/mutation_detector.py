"""Finding those who change objects of a cache, which belong to everybody.

A mutation detector keeps a copy of every object that enters a cache and compares. It costs memory
and time, so it is for tests: give one to an informer or a factory, and a changed object ends the
informer with the fields that were changed. Setting KUBE_CACHE_MUTATION_DETECTOR=true gives one to
every informer of every factory, as it does to programs in Go.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from apimachinery.meta.types import Object
from client.cache.keys import object_key
from client.runtime.clock import Clock, SystemClock

CHECK_PERIOD: Final = 1.0
KEEP: Final = 120.0
"""Seconds after which an object is no longer compared."""


VARIABLE: Final = "KUBE_CACHE_MUTATION_DETECTOR"
_TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")


class CacheMutated(Exception):
    """Somebody changed an object of a cache."""


class MutationDetector:
    """Compares cached objects with copies of them, every second while it runs."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._kept: list[tuple[Object, Object]] = []
        self._before: list[tuple[Object, Object]] = []
        self._since = self._clock.monotonic()

    def add(self, obj: Object) -> None:
        """Compare this object from now on."""
        self._kept.append((obj, obj.deep_copy()))

    def check(self) -> None:
        """Raise CacheMutated if an object is not what it was."""
        changed = [
            f"{type(obj).__name__} {object_key(copy)}: {', '.join(_differences(copy, obj))}"
            for obj, copy in (*self._before, *self._kept)
            if obj != copy
        ]
        if changed:
            raise CacheMutated(f"objects of a cache were changed: {'; '.join(changed)}")
        if self._clock.monotonic() - self._since > KEEP:
            self._before, self._kept = self._kept, []
            self._since = self._clock.monotonic()

    async def run(self) -> None:
        """Check for ever; ends with CacheMutated only."""
        while True:
            await self._clock.sleep(CHECK_PERIOD)
            self.check()


def is_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment asks for the objects of all caches to be compared."""
    return environ.get(VARIABLE, "") in _TRUE


def _differences(copy: Object, obj: Object) -> list[str]:
    before, after = copy.model_dump(mode="json"), obj.model_dump(mode="json")
    return sorted(_paths(before, after, "")) or ["something that is not on the wire"]


def _paths(before: Any, after: Any, path: str) -> Iterator[str]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in {**before, **after}:
            yield from _paths(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    else:
        yield f"{path} was {before!r} and is {after!r}"
