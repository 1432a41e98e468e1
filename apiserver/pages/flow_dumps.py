"""`/debug/api_priority_and_fairness/`: the levels, queues and requests of a worker, as text.

The columns are those of Kubernetes. With several workers each one reports its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from time import time
from typing import Final

from falcon.asgi import Request, Response

from apiserver.fairness.priority_levels import PriorityLevel
from apiserver.fairness.queue_set import WAITING, Clock, RequestQueue
from apiserver.fairness.request_fairness import FairSeat, RequestFairness
from apiserver.handlers.routes import Router
from apiserver.http.response import exchange_of, write_text

PREFIX: Final = "/debug/api_priority_and_fairness/"
DETAILS: Final = "includeRequestDetails"

_LEVELS: Final = (
    *("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests"),
    *("ExecutingRequests", "DispatchedRequests", "RejectedRequests", "TimedoutRequests"),
    "CancelledRequests",
)
_QUEUES: Final = (
    *("PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse"),
    *("NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"),
)
_REQUESTS: Final = (
    *("PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue"),
    *("FlowDistingsher", "ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency"),
    "StartTime",
)
_REQUEST_DETAILS: Final = (
    *("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource"),
    "SubResource",
)
_NO_TIME: Final = "0001-01-01T00:00:00Z"


class FlowDumps:
    """Serves the pages."""

    def __init__(self, fairness: RequestFairness, clock: Clock) -> None:
        self._fairness = fairness
        self._clock = clock

    def add_to(self, router: Router) -> None:
        router.add_path(PREFIX + "dump_priority_levels", listed=False, get=self.on_get_levels)
        router.add_path(PREFIX + "dump_queues", listed=False, get=self.on_get_queues)
        router.add_path(PREFIX + "dump_requests", listed=False, get=self.on_get_requests)

    async def on_get_levels(self, req: Request, resp: Response) -> None:
        rows = [_level_row(level) for level in self._levels()]
        write_text(resp, _table([_LEVELS, *rows]))

    async def on_get_queues(self, req: Request, resp: Response) -> None:
        rows = [
            _queue_row(level.name, queue) for level in self._levels() for queue in _queues(level)
        ]
        write_text(resp, _table([_QUEUES, *rows]))

    async def on_get_requests(self, req: Request, resp: Response) -> None:
        details = bool(exchange_of(req).parameter(DETAILS))
        header = (*_REQUESTS, *_REQUEST_DETAILS) if details else _REQUESTS
        # Requests note the monotonic time.
        offset = time() - self._clock()
        rows = [
            _request_row(seat, position, offset, details=details)
            for seat, position in self._requests()
        ]
        write_text(resp, _table([header, *rows]))

    def _levels(self) -> list[PriorityLevel]:
        return sorted(self._fairness.levels.by_name.values(), key=lambda level: level.name)

    def _requests(self) -> Iterator[tuple[FairSeat, int]]:
        """Yield every request with its position in its queue, -1 if it is being executed."""
        for level in self._levels():
            for queue in _queues(level):
                for position, waiting in enumerate(queue.waiting):
                    if isinstance(waiting, FairSeat):
                        yield waiting, position
        for seat in self._fairness.executing:
            yield seat, -1


def _queues(level: PriorityLevel) -> list[RequestQueue]:
    queuing = level.configuration.queuing
    if queuing is None:
        return []
    active = level.queue_set.queues
    if queuing.queues > 1024:
        # Idle queues take no memory, and there may be millions of them.
        return [active[index] for index in sorted(active)]
    return [active.get(index) or RequestQueue(index) for index in range(queuing.queues)]


def _level_row(level: PriorityLevel) -> Sequence[str]:
    queue_set = level.queue_set
    active = sum(1 for queue in queue_set.queues.values() if queue.waiting)
    return (
        level.name,
        str(active),
        str(queue_set.is_idle).lower(),
        str(level.quiescing).lower(),
        str(queue_set.waiting),
        str(queue_set.executing),
        str(queue_set.dispatched),
        str(queue_set.rejected),
        str(queue_set.timed_out),
        str(queue_set.cancelled),
    )


def _queue_row(level: str, queue: RequestQueue) -> Sequence[str]:
    return (
        level,
        str(queue.index),
        str(len(queue.waiting)),
        str(queue.executing),
        str(queue.seats_in_use),
        f"{queue.next_start:.8f}ss",
        str(sum(request.initial_seats for request in queue.waiting)),
        str(sum(request.seats for request in queue.waiting)),
        f"{abs(queue.waiting_work):.8f}ss",
    )


def _request_row(seat: FairSeat, position: int, offset: float, *, details: bool) -> Sequence[str]:
    flow, info = seat.flow, seat.exchange.info
    row = (
        flow.level.name,
        flow.schema.name,
        str(seat.queue.index if seat.queue is not None else -1),
        str(position),
        flow.distinguisher,
        _time(seat.arrived + offset),
        str(seat.initial_seats),
        str(seat.final_seats),
        f"{seat.linger_seconds * 1000:g}ms" if seat.linger_seconds else "0s",
        _time(seat.started + offset) if seat.started != WAITING else _NO_TIME,
    )
    if not details:
        return row
    return (
        *row,
        *(seat.exchange.user.name, info.verb, info.path, info.namespace, info.name),
        *(info.group_version, info.resource, info.subresource),
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _table(rows: Iterable[Sequence[str]]) -> str:
    """Align the columns, each followed by a comma, as Go's tabwriter does."""
    # Names come from clients and may contain anything.
    cells = [[text.encode("unicode_escape").decode() for text in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = []
    for row in cells:
        padded = [
            f"{text},".ljust(max(width + 2, 8))
            for text, width in zip(row[:-1], widths, strict=False)
        ]
        lines.append("".join(padded) + row[-1])
    return "\n".join(lines) + "\n"
