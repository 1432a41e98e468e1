"""Sender: from a request to an answer, or to the error that it tells of.

The life of a request on this side: wait for the rate limit, add who is asking, send, ask the
credentials again when they were refused, pass on warnings, try again where that is safe. What the
bytes mean is not known here.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from apimachinery.errors import APIError, from_status
from client.auth.credentials import AnonymousCredentials, ClientIdentity, Credentials
from client.runtime.clock import Clock, SystemClock
from client.transport.error_responses import error_from_response, parse_status
from client.transport.request import Pairs, Request
from client.transport.request_rate import RequestRateLimiter, Unlimited
from client.transport.retry import MAX_RETRIES, retry_delay_after_error, retry_delay_after_response
from client.transport.transport import Headers, RequestTimeout, Response, Transport, TransportError
from client.transport.warnings import WarningHandler, WarningLogger, parse_warnings

log = logging.getLogger("apimachinery.client")

TIMEOUT: Final = 60.0
"""Seconds for one attempt; no server works longer on one request."""
WATCH_IDLE_TIMEOUT: Final = 150.0
"""Seconds without a byte after which a watch counts as dead; bookmarks come every minute."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful answer."""

    status: int
    headers: Headers
    body: bytes


class Sender:
    """Sends requests to one server as one user."""

    def __init__(
        self,
        transport: Transport,
        *,
        credentials: Credentials | None = None,
        headers: Pairs = (),
        limiter: RequestRateLimiter | None = None,
        timeout: float = TIMEOUT,
        watch_idle_timeout: float = WATCH_IDLE_TIMEOUT,
        max_retries: int = MAX_RETRIES,
        warn: WarningHandler | None = None,
        observe: Callable[[Request, int], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.transport = transport
        self.timeout = timeout
        self.watch_idle_timeout = watch_idle_timeout
        self.clock = clock or SystemClock()
        self._credentials = credentials or AnonymousCredentials()
        self._headers = headers
        self._limiter = limiter or Unlimited()
        self._max_retries = max_retries
        self._warn = warn or WarningLogger()
        self._observe = observe

    async def send(self, request: Request) -> Reply:
        """The answer with its whole body; raises APIError or TransportError."""
        retries = _Retries(request, self._max_retries, self.clock)
        while True:
            await self._limiter.wait(request)
            try:
                async with _deadline(request, self.timeout):
                    reply = await self._exchange(request)
            except TransportError as error:
                await retries.again(error, retry_delay_after_error(request, error))
                continue
            problem = _problem(request, reply)
            if problem is None:
                return reply
            await retries.again(problem, retry_delay_after_response(reply.status, reply.headers))

    async def stream(self, request: Request) -> Response | None:
        """An open answer whose body is read as it comes; None when there will be none.

        Opening a watch is not held up by the rate limit, unless it is tried again. When the
        server keeps cutting the connection or stays silent, that is a watch without events.
        """
        retries = _Retries(request, self._max_retries, self.clock)
        while True:
            if retries.failure is not None:
                await self._limiter.wait(request)
            try:
                async with _deadline(request, self.timeout):
                    response = await self._open(request)
                    if response.status in (101, 200):
                        return response
                    body = await _read(response)
            except TransportError as error:
                wait = retry_delay_after_error(request, error)
                if wait is not None and not retries.left:
                    log.debug("watch of %s could not be opened: %s", request.path, error)
                    return None
                await retries.again(error, wait)
                continue
            problem = error_from_response(request, response.status, response.headers, body)
            await retries.again(
                problem, retry_delay_after_response(response.status, response.headers)
            )

    async def read_chunk(self, response: Response) -> bytes:
        """The next part of a stream; RequestTimeout when it is silent for too long."""
        try:
            async with asyncio.timeout(self.watch_idle_timeout):
                return await response.chunk()
        except TimeoutError as error:
            if isinstance(error, TransportError):
                raise
            raise RequestTimeout(
                f"the stream was silent for {self.watch_idle_timeout:g}s"
            ) from None

    async def aclose(self) -> None:
        await self.transport.aclose()

    async def _exchange(self, request: Request) -> Reply:
        response = await self._open(request)
        return Reply(response.status, response.headers, await _read(response))

    async def _open(self, request: Request) -> Response:
        """One attempt, or two when the first one's credentials were no longer good."""
        identity = await self._credentials.identity()
        response = await self._open_as(request, identity)
        if response.status == 401:
            fresh = await self._credentials.renew(identity)
            if fresh is not None:
                response.close()
                response = await self._open_as(request, fresh)
        if self._observe is not None:
            self._observe(request, response.status)
        for warning in parse_warnings(response.headers.all("warning")):
            self._warn(warning)
        return response

    async def _open_as(self, request: Request, identity: ClientIdentity) -> Response:
        complete = request.with_headers((*self._headers, *identity.headers))
        return await self.transport.open(complete, identity.certificate)


class _Retries:
    """How often one request may still be tried, and what went wrong last."""

    def __init__(self, request: Request, left: int, clock: Clock) -> None:
        self.left = left
        self.failure: Exception | None = None
        self._request = request
        self._clock = clock

    async def again(self, error: Exception, wait: float | None) -> None:
        """Wait before the next attempt, or raise *error* when there is to be none."""
        if wait is None or not self.left:
            if self.failure is not None:
                error.add_note(f"error from a previous attempt: {self.failure}")
            raise error
        self.left -= 1
        self.failure = error
        log.debug("%s %s again in %gs: %s", self._request.method, self._request.path, wait, error)
        await self._clock.sleep(wait)


@asynccontextmanager
async def _deadline(request: Request, timeout: float) -> AsyncIterator[None]:
    """Bound one attempt, so that nobody waits for ever on a server that is gone."""
    seconds = request.timeout if request.timeout is not None else timeout
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        if isinstance(error, TransportError):
            raise
        message = f"{request.method} {request.path}: no answer within {seconds:g}s"
        raise RequestTimeout(message) from None


async def _read(response: Response) -> bytes:
    try:
        return await response.read()
    except BaseException:
        response.close()
        raise


def _problem(request: Request, reply: Reply) -> APIError | None:
    """The error in an answer; a failed Status may hide behind a code of success."""
    if not 200 <= reply.status < 300:
        return error_from_response(request, reply.status, reply.headers, reply.body)
    found = parse_status(reply.body)
    return from_status(found) if found is not None and found.status == "Failure" else None
