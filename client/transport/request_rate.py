"""Client-side rate limiting of requests: a token bucket with a rate and a burst.

API servers enforce priority and fairness themselves, so by default a client is not limited.
Opening a watch is not limited either, but each retry of any request counts as another request.
"""

import logging
from typing import Protocol

from client.runtime.clock import Clock, SystemClock
from client.transport.request import Request

log = logging.getLogger("apimachinery.client.rate")

MIN_LOGGED_DELAY = 0.05
"""Seconds up to which a delay is not logged."""
MIN_WARNING_DELAY = 1.0
"""Seconds above which a delay is logged as a warning, because users notice it."""


class RequestRateLimiter(Protocol):
    async def wait(self, request: Request) -> None:
        """Wait until *request* may be sent."""


class Unlimited:
    """Never delays a request."""

    async def wait(self, request: Request) -> None:
        return None


class TokenBucket:
    """Permits *burst* requests at once, and *qps* more per second."""

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
        # A negative balance counts the waiting requests. Each computes its own delay from it, so
        # they are sent in order.
        self._tokens -= 1
        if self._tokens >= 0:
            return
        delay = -self._tokens / self._qps
        try:
            await self._clock.sleep(delay)
        except BaseException:  # a cancelled request returns its token
            self._tokens += 1
            raise
        if delay > MIN_LOGGED_DELAY:
            log.log(
                logging.WARNING if delay > MIN_WARNING_DELAY else logging.DEBUG,
                "waited %.3fs due to client-side rate limiting (%g requests per second): %s %s",
                delay,
                self._qps,
                request.method,
                request.path,
            )
