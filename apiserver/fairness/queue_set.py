"""QueueSet: the seats of one priority level, and the queues in which requests wait for them.

Fair queuing gives each queue that has requests the same share of the seats. It measures progress in
seat-seconds: `progress` (R in the literature) is what each active queue has been entitled to since
the start. A queue's `next_start` is the progress at which its next request is due; it grows by the
estimated work of each request that is dispatched, and is corrected when the request's true duration
is known. The queue whose head would finish first is dispatched first.

A request that finds seats free, and nothing waiting, is executed without entering a queue. Nothing
here waits: a request that is queued is told when it is dispatched.
"""

from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final

from apiserver.fairness.flow_configuration import Queuing
from apiserver.fairness.seat_demand import DemandIntegrator

ESTIMATED_SECONDS: Final = 0.003
"""The duration that a request is expected to have, until it is known."""
WAITING: Final = -1.0
"""The start of a request that has not been executed yet."""

KEPT_QUEUES: Final = 256

Clock = Callable[[], float]


class Start(Enum):
    """What has become of a request that arrived."""

    EXECUTING = "executing"
    QUEUED = "queued"
    QUEUE_FULL = "queue-full"
    CONCURRENCY_LIMIT = "concurrency-limit"


class SeatRequest:
    """A request for seats: while it waits, while it is executed, and for a time after that.

    Most requests take one seat for as long as they are executed; only what differs is set.
    """

    initial_seats = seats = 1
    final_seats = 0
    linger_seconds = 0.0
    """How long the final seats stay occupied after the response."""
    work = ESTIMATED_SECONDS
    """The estimated work in seat-seconds."""
    queue: "RequestQueue | None" = None
    arrived = arrived_at_progress = 0.0
    started = WAITING
    dispatched: Callable[[], None] | None = None
    """Called when the request leaves its queue to be executed."""

    def __init__(self, hand: tuple[int, ...] = ()) -> None:
        self.hand = hand
        """The queues that the request may wait in."""

    def set_work(self, initial_seats: int, final_seats: int, linger_seconds: float) -> None:
        """Set the estimated work; without it a request takes one seat."""
        self.initial_seats, self.final_seats = initial_seats, final_seats
        self.linger_seconds = linger_seconds
        self.seats = max(initial_seats, final_seats)
        self.work = initial_seats * ESTIMATED_SECONDS + final_seats * linger_seconds


class RequestQueue:
    """Requests of one or several flows, which are dispatched in the order of their arrival."""

    __slots__ = ("executing", "index", "next_start", "seats_in_use", "waiting", "waiting_work")

    def __init__(self, index: int) -> None:
        self.index = index
        self.waiting: deque[SeatRequest] = deque()
        self.waiting_work = 0.0
        self.executing = 0
        self.seats_in_use = 0
        self.next_start = 0.0


class QueueSet:
    """The seats and queues of one level.

    The level is exempt if *limit* is None. Queues are created when they are used, and beyond
    KEPT_QUEUES forgotten when they are idle, since their number may be large.
    """

    def __init__(self, clock: Clock, limit: int | None = None) -> None:
        self._clock = clock
        self.limit = limit
        """The number of seats; None for an exempt level."""
        self.queuing: Queuing | None = None
        self.queues: dict[int, RequestQueue] = {}
        self._active = 0
        """The number of queues with requests or occupied seats."""
        self._nonempty: dict[int, RequestQueue] = {}
        """The queues in which requests wait."""
        self.waiting = self.executing = 0
        """Numbers of requests."""
        self.seats_waiting = self.seats_in_use = 0
        self.dispatched = self.rejected = self.timed_out = self.cancelled = 0
        """Numbers of requests since the start."""
        self.demand = DemandIntegrator(clock())
        self.progress = 0.0
        self.synchronized = clock()
        """The time of the last change."""
        self._enqueued = 0
        self._last_index = -1
        self._unqueued_seats = 0
        """Seats in use by requests that did not belong to a queue."""
        self._wide_seats = 0
        """Seats in use by requests that take several."""

    @property
    def is_idle(self) -> bool:
        return not self.waiting and not self.executing

    def configure(self, queuing: Queuing | None, limit: int | None) -> None:
        """Change the queues and the seats, and dispatch the requests that now fit."""
        self._advance(self._clock())
        self.queuing, self.limit = queuing, limit
        self._dispatch_all()

    def start(self, request: SeatRequest) -> Start:
        """Execute a request that arrives, enqueue it, or reject it."""
        now = self._clock()
        self._advance(now)
        request.arrived = now
        queuing = self.queuing
        if queuing is None:
            if not self._fits(request.seats):
                self.rejected += 1
                return Start.CONCURRENCY_LIMIT
            self._unqueued_seats += request.seats
            self._execute(request, None, now)
            return Start.EXECUTING
        queue = self._shortest_queue(request.hand)
        assert self.limit is not None, "an exempt level has no queues"
        if self.seats_in_use >= self.limit and len(queue.waiting) >= queuing.length_limit:
            self.rejected += 1
            return Start.QUEUE_FULL
        request.arrived_at_progress = self.progress
        if not queue.executing and not queue.waiting:
            queue.next_start = self.progress
            if not queue.seats_in_use:
                self._active += 1
        if (
            not self.waiting
            and self.seats_in_use < self.limit
            and self._fits(request.seats)
            and (request.seats == 1 or not self._is_full_of_wide)
        ):
            self._last_index = queue.index
            self._execute(request, queue, now)
            return Start.EXECUTING
        self._enqueue(request, queue, now)
        self._dispatch_all()
        return Start.QUEUED if request.started == WAITING else Start.EXECUTING

    def withdraw(self, request: SeatRequest, *, cancelled: bool = False) -> bool:
        """Remove a request from its queue; return False if it is not waiting any more."""
        queue = request.queue
        if request.started != WAITING or queue is None or request not in queue.waiting:
            return False
        now = self._clock()
        self._advance(now)
        queue.waiting.remove(request)
        self._leave_queue(request, queue)
        self.rejected += 1
        if cancelled:
            self.cancelled += 1
        else:
            self.timed_out += 1
        self._bound(queue)
        self._forget_idle(queue)
        self.demand.set(self.seats_in_use + self.seats_waiting, now)
        self._dispatch_all()
        return True

    def finish(self, request: SeatRequest) -> float:
        """Note that a request has been executed; return the seconds before it is to be released.

        With 0 its seats are free already.
        """
        now = self._clock()
        self._advance(now)
        self.executing -= 1
        queue = request.queue
        if queue is not None:
            queue.executing -= 1
            seconds = now - request.started
            queue.next_start -= request.initial_seats * (ESTIMATED_SECONDS - seconds)
            self._bound(queue)
        if request.linger_seconds > 0:
            return request.linger_seconds
        self._release(request, now)
        return 0.0

    def release(self, request: SeatRequest) -> None:
        """Free the seats of a finished request whose time after the response is over."""
        now = self._clock()
        self._advance(now)
        self._release(request, now)

    def _release(self, request: SeatRequest, now: float) -> None:
        self.seats_in_use -= request.seats
        if request.seats > 1:
            self._wide_seats -= request.seats
        queue = request.queue
        if queue is None:
            self._unqueued_seats -= request.seats
        else:
            queue.seats_in_use -= request.seats
            self._forget_idle(queue)
        self.demand.set(self.seats_in_use + self.seats_waiting, now)
        if self.waiting:
            self._dispatch_all()

    def _advance(self, now: float) -> None:
        """Let each active queue progress by its share of the seats since the last change."""
        active = self._active
        if active and self.limit is not None:
            wanted = self.seats_in_use - self._unqueued_seats + self.seats_waiting
            rate = (wanted if wanted < self.limit else self.limit) / active
            self.progress += rate * (now - self.synchronized)
        self.synchronized = now

    def _fits(self, seats: int) -> bool:
        limit = self.limit
        if limit is None:
            return True
        if seats > limit:
            # A request that is wider than the level is executed alone.
            return self.executing == 0 and self.seats_in_use == 0
        return self.seats_in_use + seats <= limit

    @property
    def _is_full_of_wide(self) -> bool:
        """Whether requests that take several seats have half of all.

        They have to wait then, and leave the other half to small ones, which take a fraction of a
        millisecond: a user who lists everything must not keep the others from every seat.
        """
        return self.limit is not None and self._wide_seats >= max(1, self.limit // 2)

    def _shortest_queue(self, hand: tuple[int, ...]) -> RequestQueue:
        """Return the queue of a hand with the least work waiting."""
        # A level that had no queues when the request was classified has dealt it no hand.
        hand = hand or (0,)
        # Begin with another queue each time, so that no queue is preferred among equals.
        self._enqueued = first = (self._enqueued + 1) % len(hand)
        best = self._queue(hand[first])
        if not best.waiting:
            return best
        for index in (*hand[first + 1 :], *hand[:first]):
            queue = self._queue(index)
            if not queue.waiting:
                return queue
            if queue.waiting_work < best.waiting_work:
                best = queue
        return best

    def _queue(self, index: int) -> RequestQueue:
        queue = self.queues.get(index)
        if queue is None:
            queue = self.queues[index] = RequestQueue(index)
        return queue

    def _enqueue(self, request: SeatRequest, queue: RequestQueue, now: float) -> None:
        request.queue = queue
        queue.waiting.append(request)
        self._nonempty[queue.index] = queue
        queue.waiting_work += request.work
        self.waiting += 1
        self.seats_waiting += request.seats
        self._bound(queue)
        self.demand.set(self.seats_in_use + self.seats_waiting, now)

    def _leave_queue(self, request: SeatRequest, queue: RequestQueue) -> None:
        queue.waiting_work -= request.work
        if not queue.waiting:
            queue.waiting_work = 0.0
            del self._nonempty[queue.index]
        self.waiting -= 1
        self.seats_waiting -= request.seats

    def _dispatch_all(self) -> None:
        """Execute waiting requests while seats are free."""
        while self.waiting and (self.limit is None or self.seats_in_use < self.limit):
            queue = self._next_queue()
            if queue is None:
                return
            request = queue.waiting[0]
            if not self._fits(request.seats):
                return
            queue.waiting.popleft()
            self._leave_queue(request, queue)
            self._last_index = queue.index
            self._execute(request, queue, self._clock())
            self._bound(queue)
            if request.dispatched is not None:
                request.dispatched()

    def _next_queue(self) -> RequestQueue | None:
        """Return the queue whose first request would finish first; among equals take turns.

        None if wide requests are first in all queues, and have to wait.
        """
        only_small = self._is_full_of_wide
        best: RequestQueue | None = None
        best_finish, best_turn = 0.0, 0
        last, count = self._last_index, self.queuing.queues if self.queuing else 1 << 30
        for queue in self._nonempty.values():
            if only_small and queue.waiting[0].seats > 1:
                continue
            finish = queue.next_start + queue.waiting[0].work
            if best is None or finish <= best_finish:
                turn = (queue.index - last - 1) % count
                if best is None or finish < best_finish or turn < best_turn:
                    best, best_finish, best_turn = queue, finish, turn
        return best

    def _execute(self, request: SeatRequest, queue: RequestQueue | None, now: float) -> None:
        limit = self.limit
        if limit is not None and request.final_seats > limit > 0:
            # The same work after the response, on fewer seats and for longer.
            request.linger_seconds *= request.final_seats / limit
            request.final_seats = limit
            request.seats = min(request.seats, limit)
        request.started = now
        self.dispatched += 1
        self.executing += 1
        self.seats_in_use += request.seats
        if request.seats > 1:
            self._wide_seats += request.seats
        if queue is not None:
            request.queue = queue
            queue.executing += 1
            queue.seats_in_use += request.seats
            queue.next_start += request.work
        self.demand.set(self.seats_in_use + self.seats_waiting, now)

    def _bound(self, queue: RequestQueue) -> None:
        """Keep a queue from saving up turns: no request is due before its arrival."""
        if queue.waiting and queue.next_start < queue.waiting[0].arrived_at_progress:
            queue.next_start = queue.waiting[0].arrived_at_progress

    def _forget_idle(self, queue: RequestQueue) -> None:
        if not queue.executing and not queue.waiting and not queue.seats_in_use:
            self._active -= 1
            if len(self.queues) > KEPT_QUEUES:
                del self.queues[queue.index]
