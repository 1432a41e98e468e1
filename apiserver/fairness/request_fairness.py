"""RequestFairness: priority and fairness as the concurrency limit of a worker.

The classification of a request is cached by user, verb and resource until the configuration
changes. When seats are free, which is nearly always, a request takes them without waiting.
"""

import asyncio
from collections.abc import Hashable, Iterable
from functools import partial
from time import monotonic, time
from typing import Final, Protocol

from prometheus_client import CollectorRegistry

from apiserver.auth.user import MASTERS, User
from apiserver.fairness.classification import by_precedence, distinguisher, matches
from apiserver.fairness.flow_configuration import (
    CATCH_ALL_SCHEMA,
    LevelConfiguration,
    SchemaConfiguration,
    exempt_schema,
)
from apiserver.fairness.flow_metrics import FlowCounts, FlowMetrics
from apiserver.fairness.loop_pressure import PERIOD, LoopPressure
from apiserver.fairness.priority_levels import ADJUSTMENT_SECONDS, PriorityLevel, PriorityLevels
from apiserver.fairness.queue_set import Clock, SeatRequest, Start
from apiserver.fairness.shuffle_sharding import deal, flow_hash
from apiserver.fairness.work_estimation import ONE_SEAT, ObjectCount, WatchCounts, WorkEstimator
from apiserver.http.concurrency import Overloaded
from apiserver.http.exchange import Exchange
from apiserver.http.request_info import RequestInfo

MOST_FLOWS: Final = 4096
"""Cached classifications; when there are more, all are made anew."""
CACHED_PATH: Final = 1024
"""The length of a path up to which its classification is cached: clients choose it."""
IDLE_PERIOD: Final = 0.25
"""Seconds between two measurements of the event loop while nothing is executed."""
REPORT_SECONDS: Final = 1.0


class FlowSource(Protocol):
    """Where the configuration comes from."""

    @property
    def is_current(self) -> bool:
        """Whether the configuration is up to date."""

    async def catch_up(self) -> None:
        """Bring the configuration up to date."""

    @property
    def levels(self) -> Iterable[LevelConfiguration]: ...

    @property
    def schemas(self) -> Iterable[SchemaConfiguration]: ...


class Flow:
    """The classification of a request."""

    __slots__ = ("counts", "distinguisher", "hand", "level", "schema")

    def __init__(
        self,
        schema: SchemaConfiguration,
        level: PriorityLevel,
        counts: FlowCounts,
        *,
        distinguished: str,
    ) -> None:
        self.schema = schema
        self.level = level
        self.counts = counts
        self.distinguisher = distinguished
        queuing = level.configuration.queuing
        self.hand: tuple[int, ...] = ()
        if queuing is not None:
            flow = flow_hash(schema.name, distinguished)
            self.hand = deal(flow, queuing.queues, queuing.hand_size)


class RequestFairness:
    """Gives the requests of a worker their seats; *seats* is the worker's share of the server's."""

    def __init__(
        self,
        seats: int,
        registry: CollectorRegistry,
        *,
        count_objects: ObjectCount = lambda info: 0,
        clock: Clock = monotonic,
    ) -> None:
        self._clock = clock
        self.levels = PriorityLevels(seats, clock)
        self.metrics = FlowMetrics(registry, self.levels)
        self.executing: dict[FairSeat, None] = {}
        """The requests that hold seats, for the debug pages."""
        self.watches = WatchCounts()
        self.pressure = LoopPressure()
        self._estimator = WorkEstimator(count_objects, self.watches)
        self._source: FlowSource | None = None
        self._schemas: list[SchemaConfiguration] = []
        self._flows: dict[Hashable, Flow] = {}
        self._configure((), ())

    async def follow(self, source: FlowSource) -> None:
        """Take the configuration from *source*, from now on."""
        self._source = source
        await self.catch_up()

    @property
    def is_current(self) -> bool:
        return self._source is None or self._source.is_current

    async def catch_up(self) -> None:
        source = self._source
        if source is not None:
            await source.catch_up()
            self._configure(source.levels, source.schemas)

    def seat_for(self, exchange: Exchange) -> "FairSeat":
        user, info = exchange.user, exchange.info
        key: Hashable
        if info.is_resource:
            resource = info.group, info.resource, info.subresource, info.namespace
            key = user.name, user.groups, info.verb, resource
        else:
            key = user.name, user.groups, info.verb, info.path
        flow = self._flows.get(key)
        if flow is None:
            flow = self._classify(user, info)
            if len(info.path) <= CACHED_PATH:
                if len(self._flows) >= MOST_FLOWS:
                    self._flows.clear()
                self._flows[key] = flow
        return FairSeat(self, flow, exchange)

    def start(self, seat: "FairSeat") -> Start:
        """Execute, enqueue or reject a request."""
        flow, exchange = seat.flow, seat.exchange
        level, counts, info = flow.level, flow.counts, exchange.info
        if info.verb != "get":
            estimate = self._estimator.estimate(info, exchange.query, level.widest)
            if estimate is not ONE_SEAT:
                seat.set_work(*estimate)
                # Under pressure a wide request takes fewer seats, but counts as wide.
                seat.seats = min(seat.seats, level.most_seats)
        outcome = level.queue_set.start(seat)
        if outcome is Start.EXECUTING:
            if seat.seats == 1:
                counts.immediate += 1
            else:
                counts.waited["true"].add(0.0)
                counts.lengths.add(1)
                counts.seats.add(seat.seats)
            self._begin(seat, counts)
        elif outcome is Start.QUEUED:
            assert seat.queue is not None
            counts.waiting += 1
            counts.seats_waiting += seat.seats
            counts.lengths.add(len(seat.queue.waiting))
            counts.seats.add(seat.seats)
        else:
            raise self._reject(seat, outcome.value, 0.0)
        return outcome

    def dispatch(self, seat: "FairSeat") -> None:
        """Note that a waiting request is executed."""
        counts = seat.flow.counts
        counts.waiting -= 1
        counts.seats_waiting -= seat.seats
        counts.waited["true"].add(seat.started - seat.arrived)
        self._begin(seat, counts)

    def withdraw(self, seat: "FairSeat", *, cancelled: bool) -> Overloaded | None:
        """Stop waiting; return None if the request has been dispatched in the meantime."""
        if not seat.flow.level.queue_set.withdraw(seat, cancelled=cancelled):
            return None
        counts = seat.flow.counts
        counts.waiting -= 1
        counts.seats_waiting -= seat.seats
        reason = "cancelled" if cancelled else "time-out"
        return self._reject(seat, reason, self._clock() - seat.arrived)

    def finish(self, seat: "FairSeat") -> None:
        """Note that a request has been executed."""
        del self.executing[seat]
        counts, queue_set = seat.flow.counts, seat.flow.level.queue_set
        counts.executing -= 1
        linger = queue_set.finish(seat)
        tally = counts.watches if seat.exchange.info.verb == "watch" else counts.durations
        tally.add(queue_set.synchronized - seat.started)
        if linger > 0:
            asyncio.get_running_loop().call_later(linger, self._release, seat)
        else:
            counts.seats_executing -= seat.seats

    async def run(self) -> None:
        """Divide seats anew, measure the event loop, and report metrics, until cancelled."""
        try:
            await self._adjust_and_report()
        finally:
            # What was counted since the last report would be lost with this process.
            self.metrics.carry_over()

    async def _adjust_and_report(self) -> None:
        loop = asyncio.get_running_loop()
        adjusted = reported = loop.time()
        while True:
            period = PERIOD if self.executing or self.pressure.fraction < 1 else IDLE_PERIOD
            due = loop.time() + period
            await asyncio.sleep(period)
            now = loop.time()
            if self.pressure.measure(max(0.0, now - due)):
                self.levels.set_pressure(self.pressure.fraction)
                self.metrics.seat_fraction = self.pressure.fraction
            if now - adjusted >= ADJUSTMENT_SECONDS:
                adjusted = now
                self.levels.adjust()
            if now - reported >= REPORT_SECONDS:
                reported = now
                self.metrics.carry_over()

    def _begin(self, seat: "FairSeat", counts: FlowCounts) -> None:
        counts.executing += 1
        counts.seats_executing += seat.seats
        self.executing[seat] = None

    def _release(self, seat: "FairSeat") -> None:
        seat.flow.counts.seats_executing -= seat.seats
        seat.flow.level.queue_set.release(seat)

    def _reject(self, seat: "FairSeat", reason: str, waited: float) -> Overloaded:
        seat.flow.counts.reject(reason, waited)
        return Overloaded(seat.flow.level.retry.reject(time()))

    def _classify(self, user: User, info: RequestInfo) -> Flow:
        schemas = self._schemas
        schema = next((s for s in schemas if matches(s, user, info)), schemas[-1])
        level = self.levels.by_name[schema.level]
        queued = level.configuration.queuing is not None
        distinguished = distinguisher(schema, user, info) if queued else ""
        counts = self.metrics.counts(level.name, schema.name)
        return Flow(schema, level, counts, distinguished=distinguished)

    def _configure(
        self, levels: Iterable[LevelConfiguration], schemas: Iterable[SchemaConfiguration]
    ) -> None:
        """Replace the configuration; the mandatory schemas are added if they are missing."""
        self.levels.configure(levels)
        known = {name for name, level in self.levels.by_name.items() if not level.quiescing}
        usable = {schema.name: schema for schema in schemas if schema.level in known}
        mandatory = {s.name: s for s in (exempt_schema(MASTERS), CATCH_ALL_SCHEMA)}
        self._schemas = by_precedence({**mandatory, **usable}.values())
        self._flows.clear()


class FairSeat(SeatRequest):
    """The seat of one request."""

    _held = False

    def __init__(self, fairness: RequestFairness, flow: Flow, exchange: Exchange) -> None:
        self.hand = flow.hand
        self._fairness = fairness
        self.flow = flow
        self.exchange = exchange
        self.schema_uid = flow.schema.uid
        self.level_uid = flow.level.configuration.uid

    def take(self) -> bool:
        if self._fairness.start(self) is Start.QUEUED:
            return False
        self._hold()
        return True

    async def wait(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self.dispatched = partial(self._take_turn, turn)
        timer = loop.call_later(seconds, self._time_out, turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._fairness.withdraw(self, cancelled=True)
            raise
        finally:
            timer.cancel()
            # It refers to this seat: a cycle would leave the request to the garbage collector.
            self.dispatched = None

    def _take_turn(self, turn: asyncio.Future[None]) -> None:
        self._fairness.dispatch(self)
        self._hold()
        if not turn.done():
            turn.set_result(None)

    def _time_out(self, turn: asyncio.Future[None]) -> None:
        rejection = self._fairness.withdraw(self, cancelled=False)
        if rejection is not None and not turn.done():
            turn.set_exception(rejection)

    def release(self) -> None:
        if self._held:
            self._held = False
            self._fairness.finish(self)

    def _hold(self) -> None:
        self._held = True
        exchange = self.exchange
        if exchange.info.verb == "watch":
            self._fairness.watches.add(exchange.info)
            exchange.opened.callback(self._fairness.watches.remove, exchange.info)
