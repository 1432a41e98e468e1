"""Sender: sends requests with credentials, rate limiting, timeouts and retries.

For each request the sender waits for the rate limiter, adds the credentials, opens the request,
renews the credentials after a 401, passes warnings to their handler, and retries where that is
safe. It does not decode bodies, except for a Status that reports an error.
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
"""Seconds for one attempt; API servers abort a request after this time too."""
WATCH_IDLE_TIMEOUT: Final = 150.0
"""Seconds without a byte after which a watch is considered dead; servers send a bookmark every
minute."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful response, read completely."""

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
        """Send *request*, with retries, and return the response with its whole body.

        Raises APIError if the server reports an error, and TransportError if there is no response.
        """
        retries = _Retries(request, self._max_retries, self.clock)
        while True:
            await self._limiter.wait(request)
            try:
                async with _deadline(request, self.timeout):
                    reply = await self._exchange(request)
            except TransportError as error:
                await retries.wait_or_raise(error, retry_delay_after_error(request, error))
                continue
            api_error = _error_in_reply(request, reply)
            if api_error is None:
                return reply
            delay = retry_delay_after_response(reply.status, reply.headers)
            await retries.wait_or_raise(api_error, delay)

    async def stream(self, request: Request) -> Response | None:
        """Open a watch and return its response, whose body is then read with `read_chunk`.

        Only retries wait for the rate limiter. Returns None, which means a watch without events,
        if every attempt ends in a lost connection or a timeout. Raises APIError if the server
        reports an error, and TransportError for failures that are not retried.
        """
        retries = _Retries(request, self._max_retries, self.clock)
        while True:
            if retries.last_error is not None:
                await self._limiter.wait(request)
            try:
                async with _deadline(request, self.timeout):
                    response = await self._open(request)
                    if response.status in (101, 200):
                        return response
                    body = await _read(response)
            except TransportError as error:
                delay = retry_delay_after_error(request, error)
                if delay is not None and not retries.left:
                    log.debug("unable to open watch of %s: %s", request.path, error)
                    return None
                await retries.wait_or_raise(error, delay)
                continue
            api_error = error_from_response(request, response.status, response.headers, body)
            delay = retry_delay_after_response(response.status, response.headers)
            await retries.wait_or_raise(api_error, delay)

    async def read_chunk(self, response: Response) -> bytes:
        """Return the next chunk of a watch's body, which is empty at the end.

        Raises RequestTimeout if no byte arrives within the idle timeout.
        """
        try:
            async with asyncio.timeout(self.watch_idle_timeout):
                return await response.chunk()
        except TimeoutError as error:
            if isinstance(error, TransportError):
                raise
            message = f"the watch received no data for {self.watch_idle_timeout:g}s"
            raise RequestTimeout(message) from None

    async def aclose(self) -> None:
        await self.transport.aclose()

    async def _exchange(self, request: Request) -> Reply:
        response = await self._open(request)
        return Reply(response.status, response.headers, await _read(response))

    async def _open(self, request: Request) -> Response:
        """Open *request*; if the server rejects the credentials, renew them and open it again."""
        identity = await self._credentials.identity()
        response = await self._open_as(request, identity)
        if response.status == 401:
            renewed = await self._credentials.renew(identity)
            if renewed is not None:
                response.close()
                response = await self._open_as(request, renewed)
        if self._observe is not None:
            self._observe(request, response.status)
        for warning in parse_warnings(response.headers.all("warning")):
            self._warn(warning)
        return response

    async def _open_as(self, request: Request, identity: ClientIdentity) -> Response:
        complete = request.with_headers((*self._headers, *identity.headers))
        return await self.transport.open(complete, identity.certificate)


class _Retries:
    """Counts the retries left for one request, and keeps its last error."""

    def __init__(self, request: Request, left: int, clock: Clock) -> None:
        self.left = left
        self.last_error: Exception | None = None
        self._request = request
        self._clock = clock

    async def wait_or_raise(self, error: Exception, delay: float | None) -> None:
        """Wait *delay* seconds before a retry; raise *error* if none is permitted or left."""
        if delay is None or not self.left:
            if self.last_error is not None:
                error.add_note(f"error from a previous attempt: {self.last_error}")
            raise error
        self.left -= 1
        self.last_error = error
        method, path = self._request.method, self._request.path
        log.debug("retrying %s %s in %gs: %s", method, path, delay, error)
        await self._clock.sleep(delay)


@asynccontextmanager
async def _deadline(request: Request, timeout: float) -> AsyncIterator[None]:
    """Limit one attempt, so that a server that stopped responding does not block the caller."""
    seconds = request.timeout if request.timeout is not None else timeout
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        if isinstance(error, TransportError):
            raise
        message = f"{request.method} {request.path}: no response within {seconds:g}s"
        raise RequestTimeout(message) from None


async def _read(response: Response) -> bytes:
    try:
        return await response.read()
    except BaseException:
        response.close()
        raise


def _error_in_reply(request: Request, reply: Reply) -> APIError | None:
    """Return the error that *reply* reports, which may be a Status under a 2xx code."""
    if not 200 <= reply.status < 300:
        return error_from_response(request, reply.status, reply.headers, reply.body)
    status = parse_status(reply.body)
    return from_status(status) if status is not None and status.status == "Failure" else None
