"""EventRateLimit: bounds how many events clients write, so that a storm of them harms nobody else.

Its configuration has up to four kinds of limits: for the server, and for each namespace, user, or
source with its object. A limit is a bucket of tokens. Each worker has buckets of its own.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from apimachinery.errors import TooManyRequests
from apimachinery.fieldpath import NULL, FieldError, Path, invalid, not_supported
from apimachinery.meta.types import TypeMeta
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32
from apimachinery.schema import GroupResource
from apis.core import GROUP
from apis.core.v1.event import Event
from apiserver import Attributes
from apiserver.admission.configuration import ConfigurationKind
from apiserver.storage.clock import MonotonicClock, SystemMonotonicClock

EVENTS: Final = GroupResource(GROUP, "events")
CACHE_SIZE: Final = 4096
"""The buckets of a limit, unless it has another number."""

SERVER: Final = "Server"


class EventLimit(Model):
    """One limit: *burst* events at once, and *qps* per second after that."""

    type: str = field("")
    qps: Int32 = field(0)
    burst: Int32 = field(0)
    cache_size: Int32 = field(0)


class EventRateLimitConfiguration(TypeMeta):
    """The configuration of the plugin."""

    limits: list[EventLimit] = field(default_factory=list)


def _validate(configuration: EventRateLimitConfiguration) -> Iterator[FieldError]:
    path = Path("limits")
    if not configuration.limits:
        yield invalid(path, NULL, "must not be empty")
    for position, limit in enumerate(configuration.limits):
        at = path.index(position)
        if limit.type not in _KEYS:
            yield not_supported(at.child("type"), limit.type, sorted(_KEYS))
        if limit.burst <= 0:
            yield invalid(at.child("burst"), limit.burst, "must be positive")
        if limit.qps <= 0:
            yield invalid(at.child("qps"), limit.qps, "must be positive")
        if limit.type != SERVER and limit.cache_size < 0:
            yield invalid(at.child("cacheSize"), limit.cache_size, "must not be negative")


CONFIGURATION: Final = ConfigurationKind(
    EventRateLimitConfiguration,
    "Configuration",
    ("eventratelimit.admission.k8s.io/v1alpha1",),
    _validate,
)


class EventRateLimit:
    """Rejects events beyond the limits."""

    def __init__(
        self,
        configuration: EventRateLimitConfiguration | None,
        *,
        clock: MonotonicClock | None = None,
    ) -> None:
        limits = configuration.limits if configuration is not None else []
        clock = clock or SystemMonotonicClock()
        self._limits = [_Limit(limit, clock) for limit in limits]

    def __call__(self, attributes: Attributes) -> None:
        if attributes.resource != EVENTS or attributes.object is None or attributes.dry_run:
            return
        # Every limit counts the event, whether others reject it or not.
        reached = dict.fromkeys(filter(None, [limit.take(attributes) for limit in self._limits]))
        if reached:
            text = ", ".join(reached)
            raise TooManyRequests(f"Too many requests: {f'[{text}]' if len(reached) > 1 else text}")


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class _Limit:
    """The buckets of one limit, the least recently used first."""

    def __init__(self, limit: EventLimit, clock: MonotonicClock) -> None:
        self._limit = limit
        self._clock = clock
        self._key_of = _KEYS[limit.type]
        self._size = limit.cache_size or CACHE_SIZE
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, attributes: Attributes) -> str:
        """Take a token; return why there is none, empty if there was one."""
        key, now = self._key_of(attributes), self._clock.now()
        bucket = self._buckets.setdefault(key, _Bucket(self._limit.burst, now))
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._size:
            self._buckets.popitem(last=False)
        refilled = bucket.tokens + (now - bucket.at) * self._limit.qps
        bucket.tokens, bucket.at = min(float(self._limit.burst), refilled), now
        if bucket.tokens < 1:
            return f"limit reached on type {self._limit.type} for key {key}"
        bucket.tokens -= 1
        return ""


def _source_and_object(attributes: Attributes) -> str:
    event = attributes.object
    if not isinstance(event, Event):
        return ""
    source, involved = event.source, event.involved_object
    return "".join(
        (
            source.component,
            source.host,
            involved.kind,
            involved.namespace,
            involved.name,
            involved.uid,
            involved.api_version,
        )
    )


_KEYS: Final[dict[str, Callable[[Attributes], str]]] = {
    SERVER: lambda _: "",
    "Namespace": lambda attributes: attributes.namespace,
    "User": lambda attributes: attributes.user.name,
    "SourceAndObject": _source_and_object,
}
