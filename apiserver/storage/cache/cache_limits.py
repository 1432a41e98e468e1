"""Limits of the watch cache; `docs/watch.md` describes what happens when each is reached."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WindowSize:
    """How many recent changes of a resource are kept."""

    age: float = 75.0
    """Seconds after which a change may be dropped."""
    min_changes: int = 100
    """The number of changes kept regardless of their age."""
    max_changes: int = 100 * 1024
    """The maximum number of changes kept, even if they are recent."""


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """The limits of one watcher."""

    queue: int = 4096
    """Events that may be queued for one watcher before its stream is ended."""
    batch: int = 512
    """Events delivered at once, as one write."""
    bookmark_every: float = 60.0
    """Seconds between two bookmarks of one watcher."""
    bookmark_slots: int = 60
    """Groups that watchers are distributed over, so that bookmarks are not all sent at once."""


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """The limits of the cache, and how long requests wait for it."""

    wait: float = 3.0
    """Seconds that a read waits for a revision in the future, or for the first list."""
    grace: float = 0.005
    """Seconds in which the feed should deliver a write before progress is requested."""
    progress: float = 0.25
    """Seconds in which the feed should answer a progress request."""
    page: int = 500
    """Records fetched at once when a resource is listed."""
    lists: int = 4
    """The number of resources listed at the same time."""
    replay: int = 10_000
    """Revisions before the start that the store replays, for watches that resume from there."""
    chunk: int = 256
    """Changes applied, if the time suffices, before watchers and readers get a turn."""
    retry_first: float = 0.05
    """Seconds before the first retry of the backend; doubled for each further one."""
    retry_longest: float = 5.0
    window: WindowSize = field(default_factory=WindowSize)
    watch: WatchLimits = field(default_factory=WatchLimits)
