"""Every bound of the watch cache in one place; `docs/watch.md` says what happens at each."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WindowSize:
    """How much of a resource's past is kept."""

    age: float = 75.0
    """Seconds after which a change may be forgotten."""
    fewest: int = 100
    """So many are kept however old they are."""
    most: int = 100 * 1024
    """No more than these are kept however young they are."""


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """What one watcher may use."""

    queue: int = 4096
    """Events that may wait for one watcher before its stream is ended."""
    batch: int = 512
    """Events handed over at once: so many may have to be encoded without a break."""
    bookmark_every: float = 60.0
    """Seconds between two bookmarks of one watcher."""
    bookmark_slots: int = 60
    """Groups among which the watchers are dealt out, so that not all get theirs at once."""


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """What the cache may use, and how long it makes others wait."""

    wait: float = 3.0
    """Seconds a read waits for a revision that has not come, or for the first list."""
    grace: float = 0.005
    """Seconds in which the feed should bring a write by itself before it is asked for progress."""
    progress: float = 0.25
    """Seconds in which the feed should answer that."""
    page: int = 500
    """Records fetched, and looked at without a break, when a resource is listed."""
    lists: int = 4
    """Resources listed at the same time."""
    replay: int = 10_000
    """Revisions before the start that the store is asked to tell, for watches from then."""
    chunk: int = 256
    """Changes applied before watchers and readers get a turn."""
    retry_first: float = 0.05
    """Seconds before the backend is tried again; doubled each time."""
    retry_longest: float = 5.0
    window: WindowSize = field(default_factory=WindowSize)
    watch: WatchLimits = field(default_factory=WatchLimits)
