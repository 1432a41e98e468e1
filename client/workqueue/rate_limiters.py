"""Rate limiters: how long an item has to wait before it is tried again.

They only answer; waiting is the queue's. All but the bucket count the failures of each item, which
`forget` sets back to none.
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
    """Decides about items that are put back into a queue."""

    def when(self, item: T_contra) -> float:
        """Note that *item* comes back, and return the seconds it has to wait."""

    def forget(self, item: T_contra) -> None:
        """*item* is done with, well or badly: its failures no longer count."""

    def num_requeues(self, item: T_contra) -> int:
        """How often *item* came back since it was forgotten."""


class ExponentialFailure(Generic[T]):
    """Twice as long for each failure of an item in a row: *base* seconds up to *longest*."""

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
    """A few quick attempts, and slow ones after them."""

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
    """*qps* items a second and a burst above it, all items together; it knows no single one."""

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
        # Below zero are those who wait, each for its own moment.
        self._tokens -= 1
        return max(0.0, -self._tokens / self._qps)

    def forget(self, item: T) -> None:
        return None

    def num_requeues(self, item: T) -> int:
        return 0


class MaxOf(Generic[T]):
    """The longest wait that any of several limiters asks for."""

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
    """Another limiter's wait, but never more than *longest* seconds."""

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
    """Another limiter's wait, stretched by chance to at most 1 + *jitter* times its length."""

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
    """What a controller's queue has: each item's failures, and a bucket over all of them."""
    return MaxOf(ExponentialFailure(), Bucket(clock=clock))
