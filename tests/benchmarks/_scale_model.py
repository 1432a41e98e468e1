"""The model behind `docs/scale.md`: what a size costs, from the constants of `docs/scale.json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

WORKER_BYTES: Final = 120 * 2**20
"""Memory of an idle worker with all kinds (docs/performance.md)."""
EXTRAPOLATED: Final = 10
"""The checks predict a size from one that is this many times smaller."""

LEAST_FOR_MEMORY: Final = 1_000_000
"""Objects beside which the memory in which they were loaded does not count."""

Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Constants:
    """What one thing costs: microseconds of processor time, or bytes of memory."""

    get: float
    page: float
    write: float
    follow: float
    deliver: float
    start: float
    object_bytes: float
    watcher_bytes: float


def constants(figures: Figures, *, objects: int, watchers: int) -> Constants:
    """Return the constants that were measured at these sizes, on SQLite."""
    row = figures["objects"]["sqlite"][str(objects)]
    watched = figures["watchers"]["everything"]
    crowd, few = watched[str(watchers)], watched[min(watched, key=int)]
    return Constants(
        get=row["get"],
        page=row["page"],
        write=row["write"],
        follow=row["follow"],
        deliver=(crowd["event"] - few["event"]) / (watchers - int(min(watched, key=int))),
        start=row["start"] / objects,
        object_bytes=_slope(figures["objects"]["sqlite"], objects),
        watcher_bytes=crowd["memory"] / watchers,
    )


def _slope(rows: Mapping[str, Mapping[str, float]], size: int) -> float:
    """Return the memory of one object more: the first ones come with what loading them needs."""
    fewer = size // EXTRAPOLATED
    return (rows[str(size)]["memory"] - rows[str(fewer)]["memory"]) / (size - fewer)


@dataclass(frozen=True, slots=True)
class Installation:
    """Servers on one store, what they hold, and what happens each second."""

    servers: int
    workers: int
    """Of each server."""
    objects: int
    watchers: int
    writes: float
    """For each second, in total."""
    matching: float
    """Watchers that each event is for."""

    @property
    def all_workers(self) -> int:
        return self.servers * self.workers

    def worker_bytes(self, of: Constants) -> float:
        """Return the memory of one worker: everybody's objects, and its share of the watchers."""
        share = self.watchers / self.all_workers
        return WORKER_BYTES + self.objects * of.object_bytes + share * of.watcher_bytes

    def writing_cores(self, of: Constants) -> float:
        """Return the cores that answer the writes."""
        return self.writes * of.write / 1e6

    def following_cores(self, of: Constants) -> float:
        """Return the cores with which every worker follows the writes of all."""
        return self.writes * self.all_workers * of.follow / 1e6

    def delivering_cores(self, of: Constants) -> float:
        return self.writes * self.matching * of.deliver / 1e6

    def start_seconds(self, of: Constants) -> float:
        """Return the processor time in which a worker fills its cache."""
        return self.objects * of.start / 1e6

    def stored_bytes(self) -> float:
        return self.objects * 1_100.0

    def feed_bytes(self) -> float:
        """Return what the store sends to the workers, each second."""
        return self.writes * self.all_workers * 1_100.0


def checks(figures: Figures) -> dict[str, tuple[float, float]]:
    """Return predictions from a tenth of the largest sizes, and what was measured there."""
    sqlite, watched = figures["objects"]["sqlite"], figures["watchers"]["everything"]
    objects, watchers = max(map(int, sqlite)), max(map(int, watched))
    of = constants(figures, objects=objects // EXTRAPOLATED, watchers=watchers // EXTRAPOLATED)
    large, crowd = sqlite[str(objects)], watched[str(watchers)]
    tenth = sqlite[str(objects // EXTRAPOLATED)]
    few = int(min(watched, key=int))
    event = watched[str(few)]["event"] + (watchers - few) * of.deliver
    crowded = watchers * of.watcher_bytes / 1e6
    among = f"among {objects:,} objects, µs"
    checked = {
        f"start with {objects:,} objects, s": (objects * of.start / 1e6, large["start"] / 1e6),
        f"get {among}": (of.get, large["get"]),
        f"page {among}": (of.page, large["page"]),
        f"write {among}": (of.write, large["write"]),
        f"follow a write {among}": (of.follow, large["follow"]),
        f"event for {watchers:,} watchers, ms": (event / 1e3, crowd["event"] / 1e3),
        f"memory of {watchers:,} watchers, MB": (crowded, crowd["memory"] / 1e6),
    }
    if objects >= LEAST_FOR_MEMORY:
        held = tenth["memory"] + (objects - objects // EXTRAPOLATED) * of.object_bytes
        checked[f"memory of {objects:,} objects, MB"] = (held / 1e6, large["memory"] / 1e6)
    return checked
