"""Changes of resources that nobody has registered yet.

Some resources are known only once others have been read: those that are defined by objects. When
such a resource is registered, the feed has gone past what a watch of it may have missed; here is
what was said of it.
"""

from collections import deque

from apiserver.storage.cache.cache_limits import WindowSize
from apiserver.storage.interface import StoredChange


class Unclaimed:
    """Every change after *start* of whatever was not registered; never more than a window holds."""

    def __init__(self, size: WindowSize, *, most: int) -> None:
        self.start = 0
        self._age = size.age
        self._most = min(size.most, most)
        self._changes: deque[tuple[float, StoredChange]] = deque()

    def __len__(self) -> int:
        return len(self._changes)

    def append(self, change: StoredChange, now: float) -> None:
        self._changes.append((now, change))
        self.prune(now)

    def prune(self, now: float) -> None:
        """Forget what is old, and what is too much."""
        changes, oldest_kept = self._changes, now - self._age
        while changes and (changes[0][0] < oldest_kept or len(changes) > self._most):
            self.start = changes.popleft()[1].revision

    def reset(self, revision: int) -> None:
        """Forget everything: what is kept begins after *revision*."""
        self._changes.clear()
        self.start = revision

    def of(self, prefix: str) -> list[StoredChange]:
        """What is kept of the keys that begin with *prefix*."""
        return [change for _, change in self._changes if change.key.startswith(prefix)]
