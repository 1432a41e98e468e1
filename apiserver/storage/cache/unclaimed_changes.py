"""Unclaimed changes: recent changes of resources that are not registered.

Custom resources are registered only after the objects that define them have been read. By then the
feed has passed changes that a watch of such a resource may have missed; they are kept here. A new
schema replaces the collection of a custom resource by another one, which takes over the history of
the first from here, so that clients resume their watches.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from apiserver.storage.cache.cache_limits import WindowSize
from apiserver.storage.interface import StoredChange


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """Every change of one resource after *start*, oldest first."""

    start: int
    changes: Sequence[StoredChange] = ()


@dataclass(frozen=True, slots=True)
class _Released:
    """The history of a resource up to the revision at which it was unregistered."""

    history: ChangeHistory
    revision: int
    observed: float


class UnclaimedChanges:
    """Changes of unregistered resources after *start*; never more than a window holds.

    The history of a resource that was unregistered is kept for as long as a young change.
    """

    def __init__(self, size: WindowSize, *, max_changes: int) -> None:
        self.start = 0
        self._age = size.age
        self._max_changes = min(size.max_changes, max_changes)
        self._changes: deque[tuple[float, StoredChange]] = deque()
        self._released: dict[str, _Released] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def append(self, change: StoredChange, now: float) -> None:
        self._changes.append((now, change))
        self.prune(now)

    def prune(self, now: float) -> None:
        """Drop changes that are too old or too many, and histories that are too old."""
        changes, oldest_kept = self._changes, now - self._age
        while changes and (changes[0][0] < oldest_kept or len(changes) > self._max_changes):
            self.start = changes.popleft()[1].revision
        for prefix, released in list(self._released.items()):
            if released.observed < oldest_kept:
                # Without the history, its record begins with what was appended since.
                history = ChangeHistory(released.revision)
                self._released[prefix] = _Released(history, released.revision, released.observed)
            if released.revision < self.start:
                del self._released[prefix]

    def reset(self, revision: int) -> None:
        """Drop all changes; the record restarts after *revision*."""
        self._changes.clear()
        self._released.clear()
        self.start = revision

    def release(self, prefix: str, history: ChangeHistory, *, revision: int, now: float) -> None:
        """Keep the history up to *revision* of a resource whose later changes are appended."""
        self._released[prefix] = _Released(history, revision, now)

    def claim(self, prefix: str) -> ChangeHistory:
        """Return the changes of keys that begin with *prefix*, which are not appended any more."""
        released = self._released.pop(prefix, None)
        if released is None or released.revision < self.start:
            return ChangeHistory(self.start, self.of(prefix))
        # What is older was appended before the resource was registered, or never.
        later = [change for change in self.of(prefix) if change.revision > released.revision]
        return ChangeHistory(released.history.start, [*released.history.changes, *later])

    def of(self, prefix: str) -> list[StoredChange]:
        """Return the recorded changes of keys that begin with *prefix*."""
        return [change for _, change in self._changes if change.key.startswith(prefix)]
