"""Unclaimed changes: recent changes of resources that are not yet registered.

Custom resources are registered only after the objects that define them have been read. By then the
feed has passed changes that a watch of such a resource may have missed; they are kept here.
"""

from collections import deque

from apiserver.storage.cache.cache_limits import WindowSize
from apiserver.storage.interface import StoredChange


class UnclaimedChanges:
    """Changes of unregistered resources after *start*; never more than a window holds."""

    def __init__(self, size: WindowSize, *, max_changes: int) -> None:
        self.start = 0
        self._age = size.age
        self._max_changes = min(size.max_changes, max_changes)
        self._changes: deque[tuple[float, StoredChange]] = deque()

    def __len__(self) -> int:
        return len(self._changes)

    def append(self, change: StoredChange, now: float) -> None:
        self._changes.append((now, change))
        self.prune(now)

    def prune(self, now: float) -> None:
        """Drop changes that are too old or too many."""
        changes, oldest_kept = self._changes, now - self._age
        while changes and (changes[0][0] < oldest_kept or len(changes) > self._max_changes):
            self.start = changes.popleft()[1].revision

    def reset(self, revision: int) -> None:
        """Drop all changes; the record restarts after *revision*."""
        self._changes.clear()
        self.start = revision

    def of(self, prefix: str) -> list[StoredChange]:
        """Return the changes of keys that begin with *prefix*."""
        return [change for _, change in self._changes if change.key.startswith(prefix)]
