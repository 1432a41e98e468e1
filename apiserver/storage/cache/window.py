"""Window: the recent changes of one resource, for watches that resume and reads of the past.

The window keeps changes as long as Kubernetes does: for about 75 seconds, never fewer than a
hundred (so a quiet resource keeps a long history), never more than a hundred thousand (so a busy
one does not exhaust the memory). Older changes are dropped; a watch from before them is Expired.
"""

from collections import deque
from sys import intern

from apiserver.storage.cache.cache_limits import WindowSize
from apiserver.storage.cache.entry import Entry
from apiserver.storage.cache.read_revision import RevisionExpired
from apiserver.storage.interface import StoredChange


class Transition:
    """One change of one object: from *old* (None: created) to *new* (None: deleted)."""

    __slots__ = ("_deleted_entry", "key", "namespace", "new", "observed", "old", "revision")

    def __init__(
        self,
        key: str,
        *,
        namespace: str,
        old: Entry | None,
        new: Entry | None,
        revision: int,
        observed: float,
    ) -> None:
        self.key = key
        self.namespace = intern(namespace)
        self.old = old
        self.new = new
        self.revision = revision
        self.observed = observed
        """The time at which the cache received the change."""
        self._deleted_entry: Entry | None = None

    @property
    def name(self) -> str:
        """The name of the object, taken from the key to save memory."""
        return self.key.rpartition("/")[2]

    @property
    def deleted_entry(self) -> Entry:
        """The entry for a watcher that could see *old* and cannot see *new*.

        It has the last visible content, with the revision of this change.
        """
        if self._deleted_entry is None:
            assert self.old is not None, "only an existing object can be deleted"
            self._deleted_entry = self.old.with_revision(self.revision)
        return self._deleted_entry

    def change(self) -> StoredChange:
        """Return the change as the feed has delivered it."""
        last = self.new or self.old
        assert last is not None, "a change has a value before it or after it"
        return StoredChange(
            key=self.key,
            value=None if self.new is None else self.new.record.value,
            previous=None if self.old is None else self.old.record.value,
            revision=self.revision,
            created=last.record.created,
        )


class Window:
    """Every change after *start*, oldest first."""

    __slots__ = ("_size", "_transitions", "start")

    def __init__(self, size: WindowSize) -> None:
        self._size = size
        self._transitions: deque[Transition] = deque()
        self.start = 0

    def __len__(self) -> int:
        return len(self._transitions)

    @property
    def max_changes(self) -> int:
        """The maximum number of changes that the window holds."""
        return self._size.max_changes

    def append(self, transition: Transition) -> None:
        self._transitions.append(transition)
        self.prune(transition.observed)

    def prune(self, now: float) -> None:
        """Drop changes that are too old, unless they are among the minimum, or too many."""
        transitions, size = self._transitions, self._size
        oldest_kept = now - size.age
        while len(transitions) > size.min_changes and (
            transitions[0].observed < oldest_kept or len(transitions) > size.max_changes
        ):
            # Never back: changes may follow that are older than what was expired.
            self.start = max(self.start, transitions.popleft().revision)

    def reset(self, revision: int) -> None:
        """Drop all changes: the history starts at *revision*."""
        self._transitions.clear()
        self.start = revision

    def after(self, revision: int) -> list[Transition]:
        """Return the changes after *revision*. Raises RevisionExpired if some are dropped.

        The cost depends on the size of the result, not of the window.
        """
        if revision < self.start:
            raise RevisionExpired(revision, oldest=self.start)
        newer = []
        for transition in reversed(self._transitions):
            if transition.revision <= revision:
                break
            newer.append(transition)
        newer.reverse()
        return newer
