"""Event correlation: aggregates, counts and rate limits repeated events, as client-go does.

Similar events, which differ only in their message, are combined when there are too many of them. An
event that was recorded before increments the count of the existing one. Events about one object
beyond a rate limit are dropped. Each step keeps state for the 4,096 most recent entries.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Generic, NamedTuple, TypeVar

from client.runtime.clock import Clock

K = TypeVar("K")
V = TypeVar("V")

CACHE_SIZE: Final = 4096
SIMILAR_EVENTS: Final = 10
SIMILAR_SECONDS: Final = 600.0
"""Similar events are combined from the tenth different message within this time."""
SPAM_BURST: Final = 25
SPAM_QPS: Final = 1 / 300
"""The rate limit of events about one object: a burst, then one every five minutes."""
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
    def object_identity(self) -> "EventSubject":
        """The subject without resourceVersion and field path."""
        return self._replace(resource_version="", field_path="")


class EventReporter(NamedTuple):
    """The component that records an event, and its host."""

    component: str
    host: str


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event, before or after correlation."""

    subject: EventSubject
    type: str
    reason: str
    message: str
    source: EventReporter
    time: datetime
    name: str
    """The name of the Event object."""
    count: int = 1
    first_time: datetime | None = None

    @property
    def namespace(self) -> str:
        """The namespace of the subject; "default" for a cluster-scoped one."""
        return self.subject.namespace or "default"

    @property
    def similarity_key(self) -> tuple[object, ...]:
        """The key of similar events: everything but the message."""
        return (self.source, self.subject.object_identity, self.type, self.reason)

    @property
    def repetition_key(self) -> tuple[object, ...]:
        """The key of repetitions of this event."""
        subject = self.subject._replace(resource_version="")
        return (self.source, subject, self.type, self.reason, self.message)


class Correlated(NamedTuple):
    """An event to write, as a new one or as a repetition; *key* identifies its repetitions."""

    record: EventRecord
    key: tuple[object, ...]

    @property
    def is_repetition(self) -> bool:
        return self.record.count > 1


class Correlator:
    """Correlates the events of one program."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._similar: _LRUCache[tuple[object, ...], _Similar] = _LRUCache()
        self._recorded: _LRUCache[tuple[object, ...], EventRecord] = _LRUCache()
        self._buckets: _LRUCache[tuple[object, ...], _Bucket] = _LRUCache()

    def correlate(self, record: EventRecord, new_name: Callable[[], str]) -> Correlated | None:
        """Return the event to write, or None; *new_name* generates names of combined events."""
        combined, key = self._combine(record, new_name)
        counted = self._count(combined, key)
        return Correlated(counted, key) if self._allow(counted) else None

    def record_written(self, correlated: Correlated) -> None:
        """Continue counting from the event that was written to the server."""
        self._recorded.put(correlated.key, correlated.record)

    def _combine(
        self, record: EventRecord, new_name: Callable[[], str]
    ) -> tuple[EventRecord, tuple[object, ...]]:
        now = self._clock.monotonic()
        similar = self._similar.get(record.similarity_key)
        if similar is None or now - similar.last > SIMILAR_SECONDS:
            similar = _Similar(now)
        similar.messages[record.message] = None
        similar.last = now
        self._similar.put(record.similarity_key, similar)
        if len(similar.messages) < SIMILAR_EVENTS:
            return record, record.repetition_key
        # Drop the oldest message: only the number of messages matters, and it is at the limit.
        del similar.messages[next(iter(similar.messages))]
        message = COMBINED + record.message
        return replace(record, message=message, name=new_name()), record.similarity_key

    def _count(self, record: EventRecord, key: tuple[object, ...]) -> EventRecord:
        last = self._recorded.get(key)
        counted = replace(record, first_time=record.time)
        if last is not None:
            counted = replace(
                record, name=last.name, count=last.count + 1, first_time=last.first_time
            )
        self._recorded.put(key, counted)
        return counted

    def _allow(self, record: EventRecord) -> bool:
        key = (record.source, record.subject.object_identity)
        bucket = self._buckets.get(key) or _Bucket(self._clock)
        self._buckets.put(key, bucket)
        return bucket.take()


@dataclass(slots=True)
class _Similar:
    """The messages of events that differ only in their message."""

    last: float
    messages: dict[str, None] = field(default_factory=dict)


class _Bucket:
    """A token bucket that rejects instead of waiting."""

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


class _LRUCache(Generic[K, V]):
    """A cache of the most recently used entries."""

    def __init__(self) -> None:
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def put(self, key: K, value: V) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > CACHE_SIZE:
            self._entries.popitem(last=False)
