"""What is known of a resource while it is being listed: a part of the list, and what changes.

The changes wait in the order in which they came. Those up to the list's revision tell the past,
those after it what happened to the list since; so none may be left out, and there may be more of
them than a window holds. Then the oldest give up their place: of these only the last one of each
key is kept, which is enough for the state, and the past begins after them.
"""

from collections import deque
from collections.abc import Iterable

from apiserver.storage.cache.entry import Entry
from apiserver.storage.interface import StoredChange


class Filling:
    """The list so far, and the changes after *start* that wait for it to be complete."""

    def __init__(self, start: int, *, most: int, waiting: Iterable[StoredChange] = ()) -> None:
        self.start = start
        """Every change after this revision is waiting."""
        self.listed = start
        """The revision that the list is of."""
        self.staged: dict[str, Entry] = {}
        self._most = most
        self._waiting = deque(waiting)
        self._folded: dict[str, StoredChange] = {}
        self._complete = False

    def __len__(self) -> int:
        return len(self._waiting)

    def list_at(self, revision: int) -> None:
        """Begin to read the list, or begin again."""
        self.listed = revision
        self.staged = {}
        self._complete = False

    def add(self, change: StoredChange) -> None:
        self._waiting.append(change)
        if len(self._waiting) > self._most and not self._complete:
            oldest = self._waiting.popleft()
            self._folded[oldest.key] = oldest
            self.start = oldest.revision

    def complete(self) -> tuple[dict[str, Entry], list[StoredChange]]:
        """The list, which is all there, and what is newer than it and no longer waits."""
        self._complete = True
        staged, self.staged = self.staged, {}
        return staged, [each for each in self._folded.values() if each.revision > self.listed]

    def take(self, most: int) -> list[StoredChange]:
        """The next of those that wait; a list that is begun again after this knows them."""
        taken = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
        if taken:
            self.start = taken[-1].revision
        return taken
