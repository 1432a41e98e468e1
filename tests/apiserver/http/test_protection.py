"""What the server does not let happen to it."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apiserver.app import App
from apiserver.auth.authorization import AlwaysAllow
from apiserver.http.client_connection import CONNECTION, ClientConnection
from apiserver.http.request_limits import Limits
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import CONFIG_MAPS, GADGETS, gadget

LIMIT = 3 * 1024 * 1024


async def test_a_body_that_says_it_is_too_large_is_not_read(client: Driver) -> None:
    headers = {"content-length": str(LIMIT + 1)}

    answer = await client.send("POST", GADGETS, chunks=[b"{}"], headers=headers)

    assert (answer.code, answer.json["reason"]) == (413, "RequestEntityTooLarge")
    assert answer.json["message"] == f"Request entity too large: limit is {LIMIT}"


async def test_a_body_that_turns_out_too_large_is_not_read_to_its_end(client: Driver) -> None:
    read = 0
    codes = []

    async def receive() -> Any:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b"x" * 1024 * 1024, "more_body": True}

    async def send(message: Any) -> None:
        codes.append(message.get("status"))

    await client.app(client._scope("POST", GADGETS, {}), receive, send)

    assert (codes[0], read) == (413, 4)


async def test_bodies_may_come_in_pieces(client: Driver) -> None:
    pieces = [b'{"metadata":{"na', b"", b'me":"x"}}']

    assert (await client.send("POST", CONFIG_MAPS, chunks=pieces)).code == 201


async def test_a_url_can_be_too_long(client: Driver) -> None:
    answer = await client.get(f"{GADGETS}?labelSelector=" + "a" * 70_000)
    head = await client.send("HEAD", f"{GADGETS}?labelSelector=" + "a" * 70_000)

    assert answer.code == 414
    assert (head.code, head.body) == (414, b"")


async def test_a_request_may_ask_for_less_time(client: Driver) -> None:
    """A body that never comes is given up when the time is over."""
    scope = client._scope("POST", f"{GADGETS}?timeout=50ms", {})
    messages: list[Any] = []

    async def receive() -> Any:
        await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        messages.append(message)

    await client.app(scope, receive, send)

    assert messages[0]["status"] == 504
    assert b"request did not complete within the allotted timeout" in messages[1]["body"]


async def test_an_answer_that_is_not_read_is_broken_off(client: Driver) -> None:
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)
        await asyncio.get_running_loop().create_future()

    async with asyncio.timeout(5):
        await client.app(client._scope("GET", f"{GADGETS}?timeout=50ms", {}), receive, send)

    assert [message["type"] for message in messages] == ["http.response.start"]


@pytest.mark.parametrize(
    ("timeout", "code"), [("nonsense", 400), ("0s", 200), ("1h", 200), ("-5s", 200), ("", 200)]
)
async def test_times_that_are_asked_for(client: Driver, timeout: str, code: int) -> None:
    answer = await client.get(f"{GADGETS}?timeout={timeout}")

    assert answer.code == code
    if code == 400:
        assert answer.json["message"].startswith(
            "invalid timeout specified in the request URL - time: invalid duration"
        )


async def test_too_many_at_once_are_turned_away() -> None:
    app = make_app(limits=Limits(reads=1, writes=1), authorizer=AlwaysAllow())
    await app.start()
    client = Driver(app, authorization="Bearer alice")
    entered, leave = asyncio.Event(), asyncio.Event()

    async def slow(req: Any, resp: Any) -> None:
        entered.set()
        await leave.wait()

    app.router.add_path("/slow", get=slow)
    first = asyncio.create_task(client.get("/slow"))
    await entered.wait()

    refused = await client.get(GADGETS)
    written = await client.post(GADGETS, gadget())
    async with client.stream(f"{GADGETS}?watch=1") as watch:
        assert watch.code == 200
    leave.set()
    await first
    after = await client.get(GADGETS)
    await app.stop()

    assert (refused.code, refused.body) == (429, b"Too many requests, please try again later.\n")
    assert refused.header("retry-after") == "1"
    assert refused.header("content-type") == "text/plain; charset=utf-8"
    assert (written.code, after.code) == (201, 200)


async def test_a_client_that_leaves_in_the_middle_is_no_error(
    app: App, client: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    with caplog.at_level(logging.WARNING):
        await app(client._scope("POST", GADGETS, {}), receive, send)

    assert not caplog.records
    assert await requests_with_code(client, 499) == 1


@pytest.mark.parametrize("verb", ["POST", "GET"])
async def test_a_client_that_has_left_before_its_answer_is_recorded_as_gone(
    app: App, client: Driver, caplog: pytest.LogCaptureFixture, verb: str
) -> None:
    """The write has happened; its log line has the code that nobody received."""
    scope = client._scope(verb, GADGETS, {})
    scope[CONNECTION] = connection = ClientConnection()
    body = orjson.dumps(gadget())

    async def receive() -> Any:
        connection.is_open = False
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        connection.is_open = False

    with caplog.at_level(logging.DEBUG, logger="apiserver.request"):
        await app(scope, receive, send)

    (record,) = (vars(record) for record in caplog.records if record.name == "apiserver.request")
    assert (record["code"], record["unsent"]) == (499, 201 if verb == "POST" else 200)
    assert await requests_with_code(client, 499) == 1
    assert len((await client.get(GADGETS)).json["items"]) == (1 if verb == "POST" else 0)


async def requests_with_code(client: Driver, code: int) -> int:
    """The number of requests for gadgets that metrics have with *code*."""
    return await counted(client, f'apiserver_request_total{{code="{code}",group="gadgets')


async def counted(client: Driver, metric: str) -> int:
    lines = (await client.get("/metrics")).body.decode().splitlines()
    return sum(int(float(line.split()[-1])) for line in lines if line.startswith(metric))


async def test_a_watch_whose_client_stalled_is_counted_as_terminated(
    app: App, client: Driver
) -> None:
    for stalled in (False, True):
        connection = ClientConnection()
        async with client.stream(f"{GADGETS}?watch=1", connection=connection):
            connection.stalled = stalled

        count = await counted(client, "apiserver_terminated_watchers_total{")
        assert count == (1 if stalled else 0)
    assert await requests_with_code(client, 200) == 2


@pytest.mark.parametrize(
    ("name", "code"),
    [("..", 404), (".", 404), ("%2e%2e", 404), ("a%00b", 404), ("%ff", 400), ("a%0ab", 404)],
)
async def test_hostile_names(client: Driver, name: str, code: int) -> None:
    answer = await client.get(f"{CONFIG_MAPS}/{name}")

    assert answer.code in (code, 400)


async def test_an_encoded_slash_is_a_slash(client: Driver) -> None:
    answer = await client.get(f"{CONFIG_MAPS}/a%2fb")

    assert answer.json["message"] == "the server could not find the requested resource"


@pytest.fixture(scope="module")
def runner() -> Iterator[tuple[asyncio.Runner, Driver]]:
    with asyncio.Runner() as found:
        app = make_app()
        found.run(app.start())
        yield found, Driver(app, authorization="Bearer root")
        found.run(app.stop())


SEGMENTS = (
    *("api", "apis", "v1", "gadgets.example.io", "namespaces", "default", "gadgets", "configmaps"),
    *("lamp", "status", "scale", "..", ".", "", "%2f", "%00", "%ff", "openapi", "v3"),
)
PARAMETERS = (
    *("limit", "continue", "resourceVersion", "labelSelector", "fieldSelector", "timeoutSeconds"),
    *("dryRun", "fieldManager", "fieldValidation", "pretty", "includeObject", "timeout", "hash"),
)
PATCHES = ("json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml")
MEDIA_TYPES = (
    *("", "x/y", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"),
    *(f"application/{kind}" for kind in PATCHES),
)
FORMS = ("application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=X;g=y;v=z", "*/*")
BODIES = (b"null", b"{}", b'{"metadata":{"name":"lamp"},"spec":{"model":"x"}}', b"k8s\x00\x0a\x00")

paths = st.lists(st.sampled_from(SEGMENTS) | st.text(max_size=8), max_size=8).map("/".join)
values = st.text(max_size=12) | st.sampled_from(["0", "1", "true", "%ff", "metadata.name%3Dlamp"])
queries = st.lists(st.tuples(st.sampled_from(PARAMETERS), values), max_size=4)
bodies = st.binary(max_size=60) | st.sampled_from(BODIES)
types = st.sampled_from(MEDIA_TYPES)
accepts = types | st.sampled_from(FORMS)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"]),
    paths,
    queries,
    bodies,
    types,
    accepts,
)
def test_no_request_is_a_bug(
    runner: tuple[asyncio.Runner, Driver],
    method: str,
    path: str,
    query: list[tuple[str, str]],
    body: bytes,
    content_type: str,
    accept: str,
) -> None:
    """Whatever is sent, the answer is never an internal error."""
    loop, client = runner
    url = f"/{path}?" + "&".join(f"{name}={value}" for name, value in query)
    headers = {"content-type": content_type, "accept": accept}
    answer = loop.run(client.send(method, url, body=body, headers=headers))

    assert answer.code
    assert answer.code < 500 or answer.code == 504, answer.body
