"""Work estimation: how many seats a request takes, and for how long after its response.

A list takes a seat for every 100 objects that it examines. A write takes one seat; after its
response its event is sent to watches, which takes a seat for every ten of them, for 5 ms. A watch
takes its seats only until it has sent the initial state. No request takes more than ten seats, nor
more than a fraction of its level's.
"""

from collections.abc import Callable, Mapping
from math import ceil, inf
from typing import Final, NamedTuple

from apiserver.http.request_info import Query, RequestInfo

OBJECTS_PER_SEAT: Final = 100
WATCHES_PER_SEAT: Final = 10
EVENT_SECONDS: Final = 0.005
"""The time for which the seats of an event's watches are occupied."""
MAX_SEATS: Final = 10
LEVEL_FRACTION: Final = 0.15
"""The fraction of a level's seats that a single request may take."""

ObjectCount = Callable[[RequestInfo], int]


class WorkEstimate(NamedTuple):
    """The seats of a request while it is executed, and after its response."""

    initial_seats: int = 1
    final_seats: int = 0
    linger_seconds: float = 0.0


ONE_SEAT: Final = WorkEstimate()


class WatchCounts:
    """Counts the open watches of a worker, by what they watch."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str, str], int] = {}

    def add(self, info: RequestInfo) -> None:
        key = info.group, info.resource, info.namespace, info.name
        self._counts[key] = self._counts.get(key, 0) + 1

    def remove(self, info: RequestInfo) -> None:
        key = info.group, info.resource, info.namespace, info.name
        count = self._counts.get(key, 0) - 1
        if count > 0:
            self._counts[key] = count
        else:
            self._counts.pop(key, None)

    def interested(self, info: RequestInfo) -> int:
        """Return the number of watches that may get the event of a write."""
        counts = self._counts
        if not counts:
            return 0
        group, resource = info.group, info.resource
        keys = {
            (group, resource, "", ""),
            (group, resource, info.namespace, ""),
            (group, resource, info.namespace, info.name),
        }
        return sum(counts.get(key, 0) for key in keys)


class WorkEstimator:
    """Estimates the work of requests, from the numbers of objects and of watches."""

    def __init__(self, count_objects: ObjectCount, watches: WatchCounts) -> None:
        self._count_objects = count_objects
        self._watches = watches

    def estimate(self, info: RequestInfo, query: Query, most: int) -> WorkEstimate:
        """Return the estimate of a request that may take *most* seats."""
        verb = info.verb
        if verb == "get" or not info.is_resource:
            return ONE_SEAT
        if verb == "list" or (verb == "watch" and _sends_initial_state(query)):
            return self._of_list(info, query, most)
        if verb in ("create", "update", "patch", "delete"):
            return self._of_write(info, most)
        return ONE_SEAT

    def _of_list(self, info: RequestInfo, query: Query, most: int) -> WorkEstimate:
        if info.name:
            return ONE_SEAT
        objects = min(self._count_objects(info), _most_objects(query))
        seats = min(ceil(objects / OBJECTS_PER_SEAT), most)
        return WorkEstimate(seats) if seats > 1 else ONE_SEAT

    def _of_write(self, info: RequestInfo, most: int) -> WorkEstimate:
        watches = self._watches.interested(info)
        if watches < WATCHES_PER_SEAT or info.subresource == "token":
            return ONE_SEAT
        seats = ceil(watches / WATCHES_PER_SEAT)
        fewer = min(seats, most)
        return WorkEstimate(1, fewer, EVENT_SECONDS * seats / fewer)


def most_seats(limit: int, hand_size: int) -> int:
    """Return how many seats a single request of a level may take."""
    return max(1, min(MAX_SEATS, ceil(limit * LEVEL_FRACTION), limit // hand_size))


def _most_objects(query: Mapping[str, object]) -> float:
    """Return how many objects a list looks at, at most: with a selector, all of them."""
    values = query.get("limit")
    limit = values[0] if isinstance(values, list | tuple) and values else ""
    if "labelSelector" in query or "fieldSelector" in query:
        return inf
    # Zero means no limit, and a limit that is no number is refused later.
    return int(limit) or inf if limit.isascii() and limit.isdigit() and len(limit) < 10 else inf


def _sends_initial_state(query: Mapping[str, object]) -> bool:
    values = query.get("sendInitialEvents")
    return isinstance(values, list | tuple) and bool(values) and values[0] in ("true", "1")
