"""Not asking too often: a token bucket of so many requests a second, and a burst above it.

Servers have their own fairness today, so a client is unlimited unless told otherwise. Watches are
never held up; a request that is tried again counts again.
"""

import logging
from typing import Protocol

from client.runtime.clock import Clock, SystemClock
from client.transport.request import Request

log = logging.getLogger("apimachinery.client.rate")

QUIET = 0.05
"""A shorter wait is nobody's business."""
LONG = 1.0
"""A longer wait is a warning: somebody is going to wonder where the time goes."""


class RequestRateLimiter(Protocol):
    async def wait(self, request: Request) -> None:
        """Return when *request* may be sent."""


class Unlimited:
    """Every request may go at once."""

    async def wait(self, request: Request) -> None:
        return None


class TokenBucket:
    """*burst* requests at once, and *qps* more for each second."""

    def __init__(self, qps: float, burst: int, *, clock: Clock | None = None) -> None:
        if qps <= 0 or burst < 1:
            raise ValueError(f"qps={qps} and burst={burst} must be positive")
        self._qps = qps
        self._burst = burst
        self._clock = clock or SystemClock()
        self._tokens = float(burst)
        self._last = self._clock.monotonic()

    async def wait(self, request: Request) -> None:
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._last) * self._qps)
        self._last = now
        # Below zero are those who wait: each knows its own moment, so they go in order.
        self._tokens -= 1
        if self._tokens >= 0:
            return
        delay = -self._tokens / self._qps
        try:
            await self._clock.sleep(delay)
        except BaseException:
            self._tokens += 1
            raise
        if delay > QUIET:
            log.log(
                logging.WARNING if delay > LONG else logging.DEBUG,
                "waited %.3fs because of this client's own limit of %g requests a second: %s %s",
                delay,
                self._qps,
                request.method,
                request.path,
            )
