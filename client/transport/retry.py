"""Retries: which responses and transport errors permit one, and after which delay.

A request is retried only if that is safe: if the response requests it (429 or a server error, with
a Retry-After header), or if the connection of a read was lost. A write is not repeated after its
connection was lost, because the server may have executed it.
"""

import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from apimachinery.errors import Conflict
from client.runtime.clock import Clock, SystemClock
from client.transport.error_responses import retry_after_seconds
from client.transport.request import Request
from client.transport.transport import ConnectionLost, Headers, RequestTimeout, TransportError

T = TypeVar("T")

MAX_RETRIES: Final = 10
LOST_CONNECTION_DELAY: Final = 1.0
"""Seconds before a request whose connection was lost is retried."""


def retry_delay_after_response(status: int, headers: Headers) -> float | None:
    """Return the seconds to wait before a retry, or None if the response permits no retry."""
    if status != 429 and status < 500:
        return None
    return retry_after_seconds(headers)


def retry_delay_after_error(request: Request, error: TransportError) -> float | None:
    """Return the seconds to wait before a retry, or None if *request* must not be repeated."""
    if request.verb == "watch":
        retryable = isinstance(error, ConnectionLost | RequestTimeout)
    else:
        retryable = request.method == "GET" and isinstance(error, ConnectionLost)
    return LOST_CONNECTION_DELAY if retryable else None


async def retry_on_conflict(
    attempt: Callable[[], Awaitable[T]],
    *,
    steps: int = 5,
    wait: float = 0.01,
    jitter: float = 0.1,
    clock: Clock | None = None,
) -> T:
    """Call *attempt* up to *steps* times, until it does not raise Conflict; return its result.

    *attempt* must read the object anew each time. Raises the Conflict of the last attempt.
    """
    clock = clock or SystemClock()
    for _ in range(steps - 1):
        try:
            return await attempt()
        except Conflict:
            await clock.sleep(wait * (1 + jitter * random.random()))
    return await attempt()
