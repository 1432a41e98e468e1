"""MutationDetector: detects code that modifies cached objects, which all readers share.

It copies every object that enters a cache and compares the two. That costs memory and time, so it
is for tests: pass a detector to an informer or a factory, and a modified object ends the informer
with an error that names the modified fields. As in client-go, KUBE_CACHE_MUTATION_DETECTOR=true
enables a detector for every informer of every factory.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from apimachinery.meta.types import Object
from client.cache.keys import object_key
from client.runtime.clock import Clock, SystemClock

CHECK_PERIOD: Final = 1.0
RETENTION: Final = 120.0
"""Seconds for which an object is compared, at least."""
VARIABLE: Final = "KUBE_CACHE_MUTATION_DETECTOR"
_TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")


class CacheMutated(Exception):
    """A cached object was modified; the message names the objects and their fields."""


class MutationDetector:
    """Compares cached objects with copies of them, every second while it runs."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        # Pairs of a cached object and its copy, in two generations.
        self._current: list[tuple[Object, Object]] = []
        self._previous: list[tuple[Object, Object]] = []
        self._generation_start = self._clock.monotonic()

    def add(self, obj: Object) -> None:
        """Start comparing *obj* with a copy of it."""
        self._current.append((obj, obj.deep_copy()))

    def check(self) -> None:
        """Raise CacheMutated if an object was modified since it was added."""
        modified = [
            f"{type(obj).__name__} {object_key(copy)}: {', '.join(_differences(copy, obj))}"
            for obj, copy in (*self._previous, *self._current)
            if obj != copy
        ]
        if modified:
            raise CacheMutated(f"cached objects were modified: {'; '.join(modified)}")
        if self._clock.monotonic() - self._generation_start > RETENTION:
            self._previous, self._current = self._current, []
            self._generation_start = self._clock.monotonic()

    async def run(self) -> None:
        """Check every second until an object was modified or the task is cancelled."""
        while True:
            await self._clock.sleep(CHECK_PERIOD)
            self.check()


def is_enabled(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the environment enables detectors for all informers."""
    return environ.get(VARIABLE, "") in _TRUE


def _differences(copy: Object, obj: Object) -> list[str]:
    before, after = copy.model_dump(mode="json"), obj.model_dump(mode="json")
    return sorted(_paths(before, after, "")) or ["a part that is not serialized"]


def _paths(before: Any, after: Any, path: str) -> Iterator[str]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in {**before, **after}:
            yield from _paths(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    else:
        yield f"{path} was {before!r} and is {after!r}"
