"""Flow metrics: the numbers of priority and fairness, under Kubernetes' names.

Requests are counted in plain integers, since a Prometheus counter costs more than the rest of a
dispatch. They are carried over to the registry every second, and when it is scraped.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from apiserver.fairness.priority_levels import PriorityLevel, PriorityLevels

DURATIONS: Final = (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30)
LENGTHS: Final = (0, 10, 25, 50, 100, 250, 500, 1000)
SEATS: Final = (1, 2, 4, 8, 16, 32, 64, 100)

_PREFIX: Final = "apiserver_flowcontrol_"
_LEVEL: Final = ("priority_level",)
_FLOW: Final = ("priority_level", "flow_schema")


class Tally:
    """A histogram that has not been carried over yet."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.total += value * times

    def carry_over(self, histogram: Any) -> None:
        """Add everything to a histogram of the same buckets, and begin again."""
        for position, count in enumerate(self.counts):
            if count:
                # Observing each value anew would cost what this class saves.
                histogram._buckets[position].inc(count)
                self.counts[position] = 0
        histogram._sum.inc(self.total)
        self.total = 0.0


class FlowCounts:
    """The requests of one schema in one level."""

    __slots__ = (
        "durations",
        "executing",
        "immediate",
        "lengths",
        "rejected",
        "seats",
        "seats_executing",
        "seats_waiting",
        "waited",
        "waiting",
        "watches",
    )

    def __init__(self) -> None:
        self.immediate = 0
        """Requests with one seat that were executed at once, since the last time."""
        self.executing = self.seats_executing = self.waiting = self.seats_waiting = 0
        self.rejected: dict[str, int] = {}
        self.waited = {"true": Tally(DURATIONS), "false": Tally(DURATIONS)}
        self.durations = Tally(DURATIONS)
        self.watches = Tally(DURATIONS)
        self.lengths = Tally(LENGTHS)
        self.seats = Tally(SEATS)

    def reject(self, reason: str, waited: float) -> None:
        self.rejected[reason] = self.rejected.get(reason, 0) + 1
        self.waited["false"].add(waited)


class FlowMetrics:
    """Carries the numbers of a worker over to its registry."""

    def __init__(self, registry: CollectorRegistry, levels: PriorityLevels) -> None:
        self._levels = levels
        self.flows: dict[tuple[str, str], FlowCounts] = {}
        """By level and schema."""
        self.seat_fraction = 1.0
        # Registered first, so that a scrape carries the numbers over before it collects them.
        registry.register(self)

        def counter(name: str, text: str, labels: Iterable[str]) -> Counter:
            return Counter(_PREFIX + name, text, tuple(labels), registry=registry)

        def gauge(name: str, text: str, labels: Iterable[str]) -> Gauge:
            return Gauge(
                _PREFIX + name,
                text,
                tuple(labels),
                registry=registry,
                multiprocess_mode="livesum",
            )

        def histogram(
            name: str, text: str, labels: Iterable[str], buckets: tuple[float, ...]
        ) -> Histogram:
            return Histogram(
                _PREFIX + name, text, tuple(labels), buckets=buckets, registry=registry
            )

        self._rejected = counter(
            "rejected_requests_total", "Number of requests rejected.", (*_FLOW, "reason")
        )
        self._dispatched = counter(
            "dispatched_requests_total", "Number of requests executed.", _FLOW
        )
        self._flow_gauges = {
            "waiting": gauge(
                "current_inqueue_requests", "Number of requests waiting in queues.", _FLOW
            ),
            "seats_waiting": gauge(
                "current_inqueue_seats", "Number of seats that waiting requests will take.", _FLOW
            ),
            "executing": gauge(
                "current_executing_requests", "Number of requests being executed.", _FLOW
            ),
            "seats_executing": gauge(
                "current_executing_seats", "Number of seats taken by executed requests.", _FLOW
            ),
        }
        self._level_gauges = {
            "nominal": gauge("nominal_limit_seats", "Configured number of seats.", _LEVEL),
            "lowest": gauge("lower_limit_seats", "Least number of seats.", _LEVEL),
            "highest": gauge("upper_limit_seats", "Greatest number of seats.", _LEVEL),
            "current": gauge("current_limit_seats", "Number of seats now.", _LEVEL),
            "target": gauge("target_seats", "Number of seats that the level could use.", _LEVEL),
        }
        self._demand_gauges = {
            "highest": gauge(
                "demand_seats_high_watermark", "Highest demand in the last period.", _LEVEL
            ),
            "average": gauge("demand_seats_average", "Average demand in the last period.", _LEVEL),
            "deviation": gauge(
                "demand_seats_stdev", "Deviation of the demand in the last period.", _LEVEL
            ),
            "smoothed": gauge("demand_seats_smoothed", "Smoothed demand.", _LEVEL),
        }
        self._progress = gauge("current_r", "Progress of the level's queues.", _LEVEL)
        self._fair_fraction = gauge(
            "seat_fair_frac", "Fraction of its demand that each level gets.", ()
        )
        self._seat_fraction = Gauge(
            "apiserver_event_loop_seat_fraction",
            "Fraction of the seats that is given out; less than 1 while the event loop is late.",
            registry=registry,
            multiprocess_mode="livemin",
        )
        self._waited = histogram(
            "request_wait_duration_seconds",
            "Time that requests waited in queues.",
            (*_FLOW, "execute"),
            DURATIONS,
        )
        self._executed = histogram(
            "request_execution_seconds",
            "Time that requests were executed; watches only until they have begun.",
            (*_FLOW, "type"),
            DURATIONS,
        )
        self._lengths = histogram(
            "request_queue_length_after_enqueue",
            "Length of queues as seen by each request that enters.",
            _FLOW,
            LENGTHS,
        )
        self._seats = histogram(
            "work_estimated_seats", "Number of seats that requests take.", _FLOW, SEATS
        )

    def counts(self, level: str, schema: str) -> FlowCounts:
        """Return the counts of a schema in a level."""
        key = level, schema
        found = self.flows.get(key)
        if found is None:
            found = self.flows[key] = FlowCounts()
        return found

    def describe(self) -> Iterable[Any]:
        return ()

    def collect(self) -> Iterable[Any]:
        """Carry everything over; the metrics themselves collect it."""
        self.carry_over()
        return ()

    def carry_over(self) -> None:
        # Copies: a scrape runs in another thread than the event loop.
        for (level, schema), counts in list(self.flows.items()):
            self._carry_over_flow(level, schema, counts)
        for level_state in list(self._levels.by_name.values()):
            self._set_level(level_state)
        self._fair_fraction.set(self._levels.fair_fraction)
        self._seat_fraction.set(self.seat_fraction)

    def _carry_over_flow(self, level: str, schema: str, counts: FlowCounts) -> None:
        immediate, counts.immediate = counts.immediate, 0
        waited = counts.waited["true"]
        if immediate:
            waited.add(0.0, immediate)
            counts.lengths.add(1, immediate)
            counts.seats.add(1, immediate)
        if dispatched := sum(waited.counts):
            self._dispatched.labels(level, schema).inc(dispatched)
        for reason, number in counts.rejected.items():
            self._rejected.labels(level, schema, reason).inc(number)
        counts.rejected = {}
        for execute, tally in counts.waited.items():
            tally.carry_over(self._waited.labels(level, schema, execute))
        counts.durations.carry_over(self._executed.labels(level, schema, "regular"))
        counts.watches.carry_over(self._executed.labels(level, schema, "watch"))
        counts.lengths.carry_over(self._lengths.labels(level, schema))
        counts.seats.carry_over(self._seats.labels(level, schema))
        for name, gauge in self._flow_gauges.items():
            gauge.labels(level, schema).set(getattr(counts, name))

    def _set_level(self, level: PriorityLevel) -> None:
        for name, gauge in self._level_gauges.items():
            gauge.labels(level.name).set(getattr(level, name))
        for name, gauge in self._demand_gauges.items():
            gauge.labels(level.name).set(getattr(level.demand, name))
        self._progress.labels(level.name).set(level.queue_set.progress)
