"""Rate limiters: the delay before a work queue retries an item.

A rate limiter only computes delays; the queue waits. All limiters except `Bucket` count the
failures of each item, and `forget` resets the count.
"""

import random
from collections.abc import Callable, Hashable
from typing import Final, Generic, Protocol, TypeVar

from client.runtime.clock import Clock, SystemClock

T = TypeVar("T", bound=Hashable)
T_contra = TypeVar("T_contra", bound=Hashable, contravariant=True)

BASE_DELAY: Final = 0.005
MAX_DELAY: Final = 1000.0
QPS: Final = 10.0
BURST: Final = 100


class RateLimiter(Protocol[T_contra]):
    """Computes the delays of items that are added to a queue again."""

    def when(self, item: T_contra) -> float:
        """Count a failure of *item*, and return the seconds until it should be retried."""

    def forget(self, item: T_contra) -> None:
        """Reset the failure count of *item*, which succeeded or was given up."""

    def num_requeues(self, item: T_contra) -> int:
        """Return the failures of *item* since it was last forgotten."""


class ExponentialFailure(Generic[T]):
    """Exponential backoff per item: *base* seconds, doubled with each failure up to *longest*."""

    def __init__(self, base: float = BASE_DELAY, longest: float = MAX_DELAY) -> None:
        self._base = base
        self._longest = longest
        self._failures: dict[T, int] = {}

    def when(self, item: T) -> float:
        failures = self._failures.get(item, 0)
        self._failures[item] = failures + 1
        try:
            return min(self._base * 2.0**failures, self._longest)
        except OverflowError:
            return self._longest

    def forget(self, item: T) -> None:
        self._failures.pop(item, None)

    def num_requeues(self, item: T) -> int:
        return self._failures.get(item, 0)


class FastSlow(Generic[T]):
    """*fast* seconds for the first *max_fast_attempts* failures of an item, then *slow* seconds."""

    def __init__(self, fast: float, slow: float, max_fast_attempts: int) -> None:
        self._fast = fast
        self._slow = slow
        self._max_fast_attempts = max_fast_attempts
        self._failures: dict[T, int] = {}

    def when(self, item: T) -> float:
        failures = self._failures[item] = self._failures.get(item, 0) + 1
        return self._fast if failures <= self._max_fast_attempts else self._slow

    def forget(self, item: T) -> None:
        self._failures.pop(item, None)

    def num_requeues(self, item: T) -> int:
        return self._failures.get(item, 0)


class Bucket(Generic[T]):
    """A token bucket over all items together: *qps* items a second, with bursts of *burst*."""

    def __init__(self, qps: float = QPS, burst: int = BURST, *, clock: Clock | None = None) -> None:
        if qps <= 0 or burst < 1:
            raise ValueError(f"qps={qps} and burst={burst} must be positive")
        self._qps = qps
        self._burst = burst
        self._clock = clock or SystemClock()
        self._tokens = float(burst)
        self._last = self._clock.monotonic()

    def when(self, item: T) -> float:
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._last) * self._qps)
        self._last = now
        # A negative count is the number of waiting items, each with a delay of its own.
        self._tokens -= 1
        return max(0.0, -self._tokens / self._qps)

    def forget(self, item: T) -> None:
        return None

    def num_requeues(self, item: T) -> int:
        return 0


class MaxOf(Generic[T]):
    """The longest of the delays that several limiters return."""

    def __init__(self, *limiters: RateLimiter[T]) -> None:
        self._limiters = limiters

    def when(self, item: T) -> float:
        return max((limiter.when(item) for limiter in self._limiters), default=0.0)

    def forget(self, item: T) -> None:
        for limiter in self._limiters:
            limiter.forget(item)

    def num_requeues(self, item: T) -> int:
        return max((limiter.num_requeues(item) for limiter in self._limiters), default=0)


class MaxWait(Generic[T]):
    """The delay of another limiter, capped at *longest* seconds."""

    def __init__(self, limiter: RateLimiter[T], longest: float) -> None:
        self._limiter = limiter
        self._longest = longest

    def when(self, item: T) -> float:
        return min(self._limiter.when(item), self._longest)

    def forget(self, item: T) -> None:
        self._limiter.forget(item)

    def num_requeues(self, item: T) -> int:
        return self._limiter.num_requeues(item)


class WithJitter(Generic[T]):
    """The delay of another limiter, multiplied by a random factor from 1 to 1 + *jitter*."""

    def __init__(
        self,
        limiter: RateLimiter[T],
        jitter: float = 0.1,
        *,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._limiter = limiter
        self._jitter = jitter
        self._chance = chance

    def when(self, item: T) -> float:
        return self._limiter.when(item) * (1 + self._jitter * self._chance())

    def forget(self, item: T) -> None:
        self._limiter.forget(item)

    def num_requeues(self, item: T) -> int:
        return self._limiter.num_requeues(item)


def default_rate_limiter(clock: Clock | None = None) -> MaxOf[Hashable]:
    """Return client-go's default: exponential backoff per item and a token bucket over all."""
    return MaxOf(ExponentialFailure(), Bucket(clock=clock))
