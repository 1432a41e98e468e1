"""The recent past of one resource: what a watch that resumes has missed, and how things were.

The window keeps changes as long as Kubernetes does: about 75 seconds of them, never fewer than a
hundred (a quiet resource remembers for long), never more than a hundred thousand (a busy one must
not eat the memory). What falls out of it is forgotten; a watch from before that is Expired.
"""

from collections import deque
from sys import intern

from apiserver.storage.cache.cache_limits import WindowSize
from apiserver.storage.cache.entry import Entry
from apiserver.storage.cache.read_revision import RevisionExpired


class Transition:
    """One change of one object: from *old* (None: it did not exist) to *new* (None: deleted)."""

    __slots__ = ("_gone", "key", "namespace", "new", "old", "revision", "seen")

    def __init__(
        self,
        key: str,
        *,
        namespace: str,
        old: Entry | None,
        new: Entry | None,
        revision: int,
        seen: float,
    ) -> None:
        self.key = key
        self.namespace = intern(namespace)
        self.old = old
        self.new = new
        self.revision = revision
        self.seen = seen
        """The time at which the cache learned of it."""
        self._gone: Entry | None = None

    @property
    def name(self) -> str:
        """The name of the object; there may be many of these, and the key has it already."""
        return self.key.rpartition("/")[2]

    @property
    def gone(self) -> Entry:
        """What somebody is told who can see *old* and cannot see *new*.

        It is the content that was, with the revision at which it ceased to be.
        """
        if self._gone is None:
            assert self.old is not None, "only what was there can go"
            self._gone = self.old.at(self.revision)
        return self._gone


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
    def most(self) -> int:
        """How many changes it can ever hold."""
        return self._size.most

    def append(self, transition: Transition) -> None:
        self._transitions.append(transition)
        self.prune(transition.seen)

    def prune(self, now: float) -> None:
        """Forget what is both old and not among the fewest, and what is too much."""
        transitions, size = self._transitions, self._size
        oldest_kept = now - size.age
        while len(transitions) > size.fewest and (
            transitions[0].seen < oldest_kept or len(transitions) > size.most
        ):
            self.start = transitions.popleft().revision

    def reset(self, revision: int) -> None:
        """Forget everything: the past begins at *revision*."""
        self._transitions.clear()
        self.start = revision

    def after(self, revision: int) -> list[Transition]:
        """The changes after *revision*, or Expired if some of them are forgotten.

        The cost is that of the answer, not of the window.
        """
        if revision < self.start:
            raise RevisionExpired(revision, oldest=self.start)
        found = []
        for transition in reversed(self._transitions):
            if transition.revision <= revision:
                break
            found.append(transition)
        found.reverse()
        return found
