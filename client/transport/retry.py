"""Trying again: which answers and failures allow it, and when.

Only what is safe is repeated: an answer that says when to come back (429, or a server error with
Retry-After), and a lost connection of a read. A write whose connection broke may have been done.
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
LOST_CONNECTION_WAIT: Final = 1.0


def retry_delay_after_response(status: int, headers: Headers) -> float | None:
    """Seconds after which an answer wants to be asked for again; None when it does not."""
    if status != 429 and status < 500:
        return None
    return retry_after_seconds(headers)


def retry_delay_after_error(request: Request, error: TransportError) -> float | None:
    """Seconds after which to try again what brought no answer; None when it must not be."""
    if request.verb == "watch":
        retryable = isinstance(error, ConnectionLost | RequestTimeout)
    else:
        retryable = request.method == "GET" and isinstance(error, ConnectionLost)
    return LOST_CONNECTION_WAIT if retryable else None


async def retry_on_conflict(
    attempt: Callable[[], Awaitable[T]],
    *,
    steps: int = 5,
    wait: float = 0.01,
    jitter: float = 0.1,
    clock: Clock | None = None,
) -> T:
    """ASGICall *attempt* until it does not end in a Conflict; it must read again each time."""
    ticking = clock or SystemClock()
    for _ in range(steps - 1):
        try:
            return await attempt()
        except Conflict:
            await ticking.sleep(wait * (1 + jitter * random.random()))
    return await attempt()
