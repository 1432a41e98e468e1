"""Correlation of events: what happens again and again is told once, with a count.

Three steps, as in client-go. Events that differ in their message only are combined when there are
too many of them; an event that was told before is counted on instead of told again; and who tells
too much of one object is not listened to for a while. All of it is remembered for the most recent
few thousand, no more.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Generic, NamedTuple, TypeVar

from client.runtime.clock import Clock

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED: Final = 4096
SIMILAR_EVENTS: Final = 10
SIMILAR_SECONDS: Final = 600.0
"""So many different messages of similar events within this time are combined from then on."""
SPAM_BURST: Final = 25
SPAM_QPS: Final = 1 / 300
"""Of one object so many events are told, and then one every five minutes."""
COMBINED: Final = "(combined from similar events): "


class EventSubject(NamedTuple):
    """The object that an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str = ""
    field_path: str = ""

    @property
    def same(self) -> "EventSubject":
        """The object apart from its state, and from which part of it is meant."""
        return self._replace(resource_version="", field_path="")


class EventReporter(NamedTuple):
    """Who tells."""

    component: str
    host: str


@dataclass(frozen=True, slots=True)
class Happening:
    """An event before and after correlation."""

    subject: EventSubject
    type: str
    reason: str
    message: str
    source: EventReporter
    time: datetime
    name: str
    """The name of its object on the server."""
    count: int = 1
    first_time: datetime | None = None

    @property
    def namespace(self) -> str:
        """Events about objects without a namespace are in "default"."""
        return self.subject.namespace or "default"

    @property
    def similar(self) -> tuple[object, ...]:
        """What similar events have in common: all but the message."""
        return (self.source, self.subject.same, self.type, self.reason)

    @property
    def identity(self) -> tuple[object, ...]:
        about = self.subject._replace(resource_version="")
        return (self.source, about, self.type, self.reason, self.message)


class Correlated(NamedTuple):
    """What to do: tell of it under this key, as a new event or as one more of an old one."""

    happening: Happening
    key: tuple[object, ...]

    @property
    def is_repetition(self) -> bool:
        return self.happening.count > 1


class Correlator:
    """Decides about each event of one program."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._similar: _Recent[tuple[object, ...], _Similar] = _Recent()
        self._told: _Recent[tuple[object, ...], Happening] = _Recent()
        self._buckets: _Recent[tuple[object, ...], _Bucket] = _Recent()

    def correlate(self, happening: Happening, rename: Callable[[], str]) -> Correlated | None:
        """What to tell of an event, None if nothing; *rename* makes the name of a combined one."""
        combined, key = self._combine(happening, rename)
        counted = self._count(combined, key)
        return Correlated(counted, key) if self._allow(counted) else None

    def told(self, correlated: Correlated) -> None:
        """Remember what the server has, to count on from there."""
        self._told.put(correlated.key, correlated.happening)

    def _combine(
        self, happening: Happening, rename: Callable[[], str]
    ) -> tuple[Happening, tuple[object, ...]]:
        now = self._clock.monotonic()
        similar = self._similar.get(happening.similar)
        if similar is None or now - similar.last > SIMILAR_SECONDS:
            similar = _Similar(now)
        similar.messages[happening.message] = None
        similar.last = now
        self._similar.put(happening.similar, similar)
        if len(similar.messages) < SIMILAR_EVENTS:
            return happening, happening.identity
        # Not all messages are kept: it is enough to know that there are too many.
        del similar.messages[next(iter(similar.messages))]
        message = COMBINED + happening.message
        return replace(happening, message=message, name=rename()), happening.similar

    def _count(self, happening: Happening, key: tuple[object, ...]) -> Happening:
        last = self._told.get(key)
        counted = replace(happening, first_time=happening.time)
        if last is not None:
            counted = replace(
                happening, name=last.name, count=last.count + 1, first_time=last.first_time
            )
        self._told.put(key, counted)
        return counted

    def _allow(self, happening: Happening) -> bool:
        key = (happening.source, happening.subject.same)
        bucket = self._buckets.get(key) or _Bucket(self._clock)
        self._buckets.put(key, bucket)
        return bucket.take()


@dataclass(slots=True)
class _Similar:
    """The messages of events that differ in nothing else."""

    last: float
    messages: dict[str, None] = field(default_factory=dict)


class _Bucket:
    """A token bucket that answers at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tokens = float(SPAM_BURST)
        self._last = clock.monotonic()

    def take(self) -> bool:
        now = self._clock.monotonic()
        self._tokens = min(SPAM_BURST, self._tokens + (now - self._last) * SPAM_QPS)
        self._last = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class _Recent(Generic[K, V]):
    """The most recently used entries."""

    def __init__(self) -> None:
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def put(self, key: K, value: V) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > REMEMBERED:
            self._entries.popitem(last=False)
