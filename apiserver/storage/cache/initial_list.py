"""Initial list: the pages of a list in progress, and the changes that arrive meanwhile.

Changes are pending in the order of their arrival. Those up to the revision of the list are history,
the later ones update the list; so none may be dropped, although there may be more than a window
holds. In that case the oldest are folded: only the last change of each key is kept, which suffices
for the state, and the history starts after them.
"""

from collections import deque
from collections.abc import Iterable

from apiserver.storage.cache.entry import Entry
from apiserver.storage.interface import StoredChange


class InitialList:
    """The pages of the list so far, and the pending changes after *start*."""

    def __init__(
        self, start: int, *, max_changes: int, pending: Iterable[StoredChange] = ()
    ) -> None:
        self.start = start
        """Every change after this revision is pending."""
        self.listed = start
        """The revision of the list."""
        self.staged: dict[str, Entry] = {}
        self._max_changes = max_changes
        self._pending = deque(pending)
        self._folded: dict[str, StoredChange] = {}
        self.is_complete = False
        """Whether the list is complete: the changes that are not pending have been applied."""

    def __len__(self) -> int:
        return len(self._pending)

    def list_at(self, revision: int) -> None:
        """Start the list, or start it again."""
        self.listed = revision
        self.staged = {}
        self.is_complete = False

    def add(self, change: StoredChange) -> None:
        self._pending.append(change)
        if len(self._pending) > self._max_changes and not self.is_complete:
            oldest = self._pending.popleft()
            self._folded[oldest.key] = oldest
            self.start = oldest.revision

    def pending(self) -> list[StoredChange]:
        """Return the changes that are pending; a list that is in progress may include them."""
        return list(self._pending)

    def complete(self) -> tuple[dict[str, Entry], list[StoredChange]]:
        """Return the complete list, and the folded changes that are newer than it."""
        self.is_complete = True
        staged, self.staged = self.staged, {}
        newer = [change for change in self._folded.values() if change.revision > self.listed]
        return staged, newer

    def take(self, max_changes: int) -> list[StoredChange]:
        """Take the next pending changes; a list that is started again includes them."""
        changes = [self._pending.popleft() for _ in range(min(max_changes, len(self._pending)))]
        if changes:
            self.start = changes[-1].revision
        return changes
