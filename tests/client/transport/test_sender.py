"""Sender: retries, rate limits, warnings, timeouts, and error responses without a Status."""

import asyncio
import logging
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.errors import (
    APIError,
    Conflict,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
)
from apimachinery.schema import GroupResource
from client import AsyncClient, Config
from client.auth.credentials import ClientIdentity, bearer_header
from client.transport.error_responses import error_from_response
from client.transport.request import Request
from client.transport.request_rate import TokenBucket, Unlimited
from client.transport.retry import retry_on_conflict
from client.transport.sender import Sender
from client.transport.tls import ClientCertificate
from client.transport.transport import (
    ConnectionLost,
    ConnectionRefused,
    Headers,
    RequestTimeout,
    TransportError,
)
from client.transport.warnings import ServerWarning, WarningLogger, parse_warnings
from tests.client.fakes import FakeClock

READ = Request("get", "GET", "/a", resource=GroupResource("", "pods"), name="a")
WRITE = Request("create", "POST", "/a", body=b"{}", resource=GroupResource("", "pods"))


class Reply:
    """A complete response."""

    def __init__(self, status: int, body: bytes = b"{}", *headers: tuple[str, str]) -> None:
        self.status = status
        self.headers = Headers(headers)
        self._body = body

    async def read(self) -> bytes:
        return self._body

    async def chunk(self) -> bytes:
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        return None


class ScriptedTransport:
    """Returns the prepared replies in order, and repeats the last one."""

    def __init__(self, *script: Reply | Exception) -> None:
        self.script = list(script)
        self.requests: list[Request] = []

    async def open(self, request: Request, certificate: ClientCertificate | None = None) -> Reply:
        self.requests.append(request)
        reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def aclose(self) -> None:
        return None


def sender(*script: Reply | Exception, **kwargs: Any) -> tuple[Sender, ScriptedTransport]:
    transport = ScriptedTransport(*script)
    return Sender(transport, **kwargs), transport


@pytest.mark.parametrize("request_", [READ, WRITE])
@pytest.mark.parametrize("code", [429, 500, 503, 504])
async def test_an_answer_that_says_when_is_asked_for_again(
    code: int, request_: Request, clock: FakeClock
) -> None:
    sending, transport = sender(Reply(code, b"", ("Retry-After", "2")), Reply(200), clock=clock)

    assert (await sending.send(request_)).status == 200
    assert clock.slept == [2]
    assert len(transport.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        Reply(503, b""),
        Reply(503, b"", ("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT")),
        Reply(409, b"", ("Retry-After", "1")),
    ],
)
async def test_an_answer_that_does_not_say_when_is_final(reply: Reply, clock: FakeClock) -> None:
    sending, transport = sender(reply, clock=clock)

    with pytest.raises(APIError):
        await sending.send(READ)

    assert len(transport.requests) == 1


async def test_ten_retries_are_the_most(clock: FakeClock) -> None:
    sending, transport = sender(Reply(429, b"", ("Retry-After", "1")), clock=clock)

    with pytest.raises(TooManyRequests) as caught:
        await sending.send(READ)

    assert len(transport.requests) == 11
    assert caught.value.retry_after == 1


async def test_a_lost_connection_is_tried_again_for_reads_only(clock: FakeClock) -> None:
    """The server may have executed a write before its connection was lost."""
    reading, _ = sender(ConnectionLost("reset"), Reply(200), clock=clock)
    writing, transport = sender(ConnectionLost("reset"), Reply(200), clock=clock)

    assert (await reading.send(READ)).status == 200
    with pytest.raises(ConnectionLost):
        await writing.send(WRITE)

    assert clock.slept == [1]
    assert len(transport.requests) == 1


@pytest.mark.parametrize("failure", [ConnectionRefused("no"), RequestTimeout("late")])
async def test_other_failures_are_final(failure: TransportError, clock: FakeClock) -> None:
    sending, transport = sender(failure, clock=clock)

    with pytest.raises(type(failure)):
        await sending.send(READ)

    assert len(transport.requests) == 1


async def test_the_last_error_mentions_the_one_before(clock: FakeClock) -> None:
    busy = Reply(503, b"", ("Retry-After", "1"))
    sending, _ = sender(busy, Reply(403, b"no"), clock=clock)

    with pytest.raises(APIError) as caught:
        await sending.send(READ)

    (note,) = caught.value.__notes__
    assert note.startswith("error from a previous attempt: the server is currently unable")


async def test_retries_are_throttled_too(clock: FakeClock) -> None:
    limiter = TokenBucket(1, 1, clock=clock)
    busy = Reply(429, b"", ("Retry-After", "0"))
    sending, _ = sender(busy, Reply(200), clock=clock, limiter=limiter)

    await sending.send(READ)

    assert clock.slept == [0, 1.0]


async def test_a_watch_waits_for_its_turn_only_when_it_is_opened_again(clock: FakeClock) -> None:
    class Counting:
        turns = 0

        async def wait(self, request: Request) -> None:
            self.turns += 1

    limiter = Counting()
    busy = Reply(429, b"", ("Retry-After", "0"))
    sending, _ = sender(busy, busy, Reply(200), clock=clock, limiter=limiter)

    response = await sending.stream(replace(READ, verb="watch"))

    assert response is not None
    assert limiter.turns == 2


async def test_a_burst_goes_at_once_and_the_rest_in_its_rate(clock: FakeClock) -> None:
    bucket = TokenBucket(10, 3, clock=clock)

    for _ in range(5):
        await bucket.wait(READ)

    assert clock.slept == pytest.approx([0.1, 0.1])


@pytest.mark.parametrize(("qps", "level"), [(100, None), (10, "DEBUG"), (0.5, "WARNING")])
async def test_a_long_wait_is_told(
    qps: float, level: str | None, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "apimachinery.client.rate")
    bucket = TokenBucket(qps, 1, clock=clock)

    await bucket.wait(READ)
    await bucket.wait(READ)

    assert [record.levelname for record in caplog.records] == ([level] if level else [])


async def test_a_client_has_no_limit_and_finite_times_unless_told() -> None:
    config = Config("https://h")
    async with AsyncClient(config) as usual, AsyncClient(replace(config, qps=5)) as limited:
        assert isinstance(usual.sender._limiter, Unlimited)
        assert isinstance(limited.sender._limiter, TokenBucket)
        assert (usual.sender.timeout, usual.sender.watch_idle_timeout) == (60, 150)
    assert (config.connect_timeout, config.max_retries, config.burst) == (10, 10, 10)


async def test_who_gives_up_waiting_takes_no_ones_turn(clock: FakeClock) -> None:
    class Never(FakeClock):
        async def sleep(self, seconds: float) -> None:
            await asyncio.Event().wait()

    never = Never()
    bucket = TokenBucket(1, 1, clock=never)
    await bucket.wait(READ)
    waiting = asyncio.create_task(bucket.wait(READ))
    await asyncio.sleep(0)

    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    never.time += 1

    async with asyncio.timeout(5):
        await bucket.wait(READ)


async def test_a_server_that_does_not_answer_is_a_timeout() -> None:
    class Silent(ScriptedTransport):
        async def open(self, request: Request, certificate: Any = None) -> Reply:
            await asyncio.Event().wait()
            raise AssertionError

    sending = Sender(Silent(Reply(200)), timeout=0.01)

    with pytest.raises(RequestTimeout, match=r"GET /a: no response within 0\.01s") as caught:
        await sending.send(READ)

    assert isinstance(caught.value, TimeoutError)


class Rotating:
    """Credentials that can be renewed."""

    def __init__(self) -> None:
        self.renewals = 0

    async def identity(self) -> ClientIdentity:
        return ClientIdentity(bearer_header("old"))

    async def renew(self, refused: ClientIdentity) -> ClientIdentity | None:
        self.renewals += 1
        return ClientIdentity(bearer_header("new"))


async def test_refused_credentials_are_renewed_once() -> None:
    sending, transport = sender(Reply(401, b""), Reply(200), credentials=Rotating())

    assert (await sending.send(READ)).status == 200
    assert [dict(request.headers)["Authorization"] for request in transport.requests] == [
        "Bearer old",
        "Bearer new",
    ]


async def test_credentials_that_stay_bad_are_unauthorized() -> None:
    credentials = Rotating()
    sending, transport = sender(Reply(401, b""), credentials=credentials)

    with pytest.raises(Unauthorized):
        await sending.send(READ)

    assert credentials.renewals == 1
    assert len(transport.requests) == 2


async def test_warnings_reach_the_handler() -> None:
    warnings: list[ServerWarning] = []
    reply = Reply(200, b"{}", ("Warning", '299 - "old"'), ("Warning", '299 - "older"'))
    sending, _ = sender(reply, warn=warnings.append)

    await sending.send(READ)

    assert [warning.text for warning in warnings] == ["old", "older"]


def test_every_warning_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    handler = WarningLogger()

    for text in ("a", "b", "a"):
        handler(ServerWarning(text))
    handler(ServerWarning("stale", code=110))

    assert [record.getMessage() for record in caplog.records] == ["a", "b"]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('299 - "unknown field \\"spec.x\\""', ['unknown field "spec.x"']),
        ('299 - "a", 299 - "b"', ["a", "b"]),
        ('299 host:80 "a" "Wed, 21 Oct 2015 07:28:00 GMT"', ["a"]),
        ("299 - a", []),
        ("", []),
        ("nonsense", []),
    ],
)
def test_warning_headers_are_read(header: str, expected: list[str]) -> None:
    assert [warning.text for warning in parse_warnings([header])] == expected


@given(st.lists(st.text(), max_size=3))
def test_no_header_is_too_odd_to_look_for_warnings(headers: list[str]) -> None:
    assert all(isinstance(warning, ServerWarning) for warning in parse_warnings(headers))


@given(st.text(st.characters(exclude_categories=("Cs", "Cc"))))
def test_a_warning_survives_its_quoting(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')

    assert [warning.text for warning in parse_warnings([f'299 - "{quoted}"'])] == [text]


@pytest.mark.parametrize(
    ("code", "method", "body", "reason", "message"),
    [
        (400, "GET", "x", "BadRequest", "the server rejected our request for an unknown reason"),
        (403, "GET", "not you", "Forbidden", "not you"),
        (409, "POST", "x", "AlreadyExists", "the server reported a conflict"),
        (409, "PUT", "x", "Conflict", "the server reported a conflict"),
        (
            413,
            "GET",
            "x",
            "",
            "the server responded with the status code 413 but did not return more information",
        ),
        (
            502,
            "GET",
            'bad "gateway"',
            "InternalError",
            'an error on the server ("bad \\"gateway\\"") has prevented the request from'
            " succeeding",
        ),
        (
            429,
            "GET",
            "x",
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
    ],
)
def test_an_answer_in_text_gets_the_words_that_every_client_uses(
    code: int, method: str, body: str, reason: str, message: str
) -> None:
    request = Request("get", method, "/a", resource=GroupResource("apps", "deployments"), name="d")

    error = error_from_response(
        request, code, Headers([("content-type", "text/plain")]), body.encode()
    )

    assert (error.code, error.reason) == (code, reason)
    assert error.message == f"{message} ({method.lower()} deployments.apps d)"
    assert error.causes[0].reason == "UnexpectedServerResponse"


def test_a_retry_after_header_is_kept_in_the_error() -> None:
    error = error_from_response(READ, 503, Headers([("Retry-After", "5")]), b"busy")

    assert isinstance(error, ServiceUnavailable)
    assert error.retry_after == 5


@given(st.integers(300, 599), st.binary(max_size=300))
def test_no_answer_is_too_odd_for_an_error(code: int, body: bytes) -> None:
    assert error_from_response(READ, code, Headers(), body).code == code


async def test_a_failure_behind_a_code_of_success_is_an_error() -> None:
    body = b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}'
    sending, _ = sender(Reply(200, body))

    with pytest.raises(APIError) as caught:
        await sending.send(READ)

    assert caught.value.code == 403


async def test_a_conflict_is_met_four_more_times_ten_milliseconds_apart(clock: FakeClock) -> None:
    attempts = 0

    async def attempt() -> None:
        nonlocal attempts
        attempts += 1
        raise Conflict(f"attempt {attempts}")

    with pytest.raises(Conflict, match="attempt 5"):
        await retry_on_conflict(attempt, clock=clock)

    assert len(clock.slept) == 4
    assert all(0.01 <= slept <= 0.011 for slept in clock.slept)


async def test_only_a_conflict_is_tried_again(clock: FakeClock) -> None:
    async def attempt() -> None:
        raise TooManyRequests("no")

    with pytest.raises(TooManyRequests):
        await retry_on_conflict(attempt, clock=clock)

    assert clock.slept == []
