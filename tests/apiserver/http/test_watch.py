"""Watches, as an application sends them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from apimachinery.protobuf import ProtobufCodec, Unframer
from apiserver.app import App
from apiserver.handlers.watch import write_parts
from apiserver.storage.cache.entry_event import WRITE_BYTES
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import CONFIG_MAPS, GADGETS, gadget

PROTOBUF = "application/vnd.kubernetes.protobuf"
LAMP = f"{GADGETS}/lamp"


async def test_a_watch_begins_before_there_is_anything_to_tell(client: Driver) -> None:
    async with client.stream(f"{GADGETS}?watch=1") as stream:
        assert stream.code == 200
        assert ("content-type", "application/json") in stream.headers


def test_events_are_written_in_parts_of_bounded_size() -> None:
    small, large = b"s" * 1000, b"l" * (3 * WRITE_BYTES + 1)
    frames = [small] * 100 + [large] + [small] * 2

    parts = list(write_parts(frames))

    assert b"".join(parts) == b"".join(frames)
    assert max(map(len, parts)) <= WRITE_BYTES
    assert len(parts) == 2 + 4 + 1
    assert list(write_parts([small])) == [small]


async def test_what_there_is_comes_first_and_a_bookmark_ends_it(client: Driver) -> None:
    await client.post(GADGETS, gadget())
    url = f"{GADGETS}?watch=1&allowWatchBookmarks=true&sendInitialEvents=true"

    async with client.stream(f"{url}&resourceVersionMatch=NotOlderThan") as stream:
        added, bookmark = await stream.events(2)

    assert added["type"] == "ADDED"
    assert bookmark["type"] == "BOOKMARK"
    annotations = {"k8s.io/initial-events-end": "true"}
    assert bookmark["object"]["metadata"]["annotations"] == annotations
    assert bookmark["object"]["kind"] == "Gadget"


async def test_events_follow_a_resource_version(client: Driver) -> None:
    created = (await client.post(GADGETS, gadget())).json
    await client.patch(LAMP, {"spec": {"replicas": 2}})
    await client.delete(LAMP)
    version = created["metadata"]["resourceVersion"]

    async with client.stream(f"{GADGETS}?watch=1&resourceVersion={version}") as stream:
        events = await stream.events(2)

    assert [event["type"] for event in events] == ["MODIFIED", "DELETED"]
    assert int(events[1]["object"]["metadata"]["resourceVersion"]) > int(
        events[0]["object"]["metadata"]["resourceVersion"]
    )


async def test_leaving_the_selection_is_a_deletion(client: Driver) -> None:
    await client.post(GADGETS, gadget(labels={"a": "1"}))

    async with client.stream(f"{GADGETS}?watch=1&labelSelector=a%3D1") as stream:
        await stream.event()
        changed = await client.patch(LAMP, {"metadata": {"labels": {"a": "2"}}})
        event = await stream.event()

    assert event["type"] == "DELETED"
    assert event["object"]["metadata"]["labels"] == {"a": "1"}
    assert (
        event["object"]["metadata"]["resourceVersion"]
        == changed.json["metadata"]["resourceVersion"]
    )


async def test_one_object_by_field_selector_and_by_the_old_path(client: Driver) -> None:
    await client.post(GADGETS, gadget("other"))
    await client.post(GADGETS, gadget())
    old = LAMP.replace("/v1/", "/v1/watch/")

    for url in (f"{GADGETS}?watch=1&fieldSelector=metadata.name%3Dlamp", old):
        async with client.stream(url) as stream:
            event = await stream.event()

        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "lamp")


async def test_a_get_of_one_object_is_no_watch(client: Driver) -> None:
    await client.post(GADGETS, gadget())

    assert (await client.get(f"{LAMP}?watch=1")).json["kind"] == "Gadget"


async def test_a_forgotten_resource_version_is_an_event(tmp_path: Path) -> None:
    """A server that starts on a compacted store has no older history."""
    storage = f"sqlite:///{tmp_path}/store"
    before = make_app(storage=storage)
    await before.start()
    await Driver(before, authorization="Bearer root").post(GADGETS, gadget())
    await before.backend.compact(await before.backend.current_revision())
    await before.stop()
    app = make_app(storage=storage)
    await app.start()

    client = Driver(app, authorization="Bearer root")
    async with client.stream(f"{GADGETS}?watch=1&resourceVersion=1") as stream:
        event = await stream.event()
        end = await stream.event()
    await app.stop()

    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    assert event["object"]["message"].startswith("too old resource version: 1 (")
    assert end is None


async def test_time_ends_a_watch_with_a_last_bookmark(client: Driver) -> None:
    url = f"{GADGETS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1"

    async with client.stream(url) as stream:
        first = await stream.event()
        assert await stream.event() is None

    assert first["type"] == "BOOKMARK"


async def test_the_end_of_the_server_is_the_end_of_its_streams(app: App, client: Driver) -> None:
    async with client.stream(f"{GADGETS}?watch=1") as stream:
        app.drain()
        assert await stream.event() is None

    async with client.stream(f"{GADGETS}?watch=1") as late:
        assert await late.event() is None
    assert (await client.get("/readyz")).code == 500
    assert (await client.get("/livez")).code == 200


async def test_a_client_that_leaves_leaves_nothing_behind(app: App, client: Driver) -> None:
    async with client.stream(f"{GADGETS}?watch=1"):
        assert len(app.watches._open) == 1

    assert not app.watches._open


async def test_only_the_first_event_of_a_table_defines_the_columns(client: Driver) -> None:
    accept = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    await client.post(GADGETS, gadget())

    async with client.stream(f"{GADGETS}?watch=1", headers=accept) as stream:
        await client.patch(LAMP, {"spec": {"replicas": 2}})
        first, second = await stream.events(2)

    assert first["object"]["kind"] == second["object"]["kind"] == "Table"
    assert first["object"]["columnDefinitions"][0]["name"] == "Name"
    assert second["object"]["columnDefinitions"] is None
    assert second["object"]["rows"][0]["cells"][:3] == ["lamp", "a1", 2]


async def test_metadata_alone_can_be_watched(client: Driver) -> None:
    accept = {"accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}
    await client.post(GADGETS, gadget())

    async with client.stream(f"{GADGETS}?watch=1", headers=accept) as stream:
        event = await stream.event()

    assert event["object"]["kind"] == "PartialObjectMetadata"
    assert "spec" not in event["object"]


async def test_protobuf_streams_are_frames(client: Driver) -> None:
    await client.post(CONFIG_MAPS, {"metadata": {"name": "a"}})

    async with client.stream(f"{CONFIG_MAPS}?watch=1", headers={"accept": PROTOBUF}) as stream:
        piece = await stream.write()

    assert ("content-type", f"{PROTOBUF};stream=watch") in stream.headers
    (frame,) = Unframer().feed(piece or b"")
    event_type, body = ProtobufCodec().decode_watch_event(frame)
    assert event_type == "ADDED"
    assert ProtobufCodec().read_envelope(body).kind == "ConfigMap"


async def test_what_is_waiting_is_one_write(client: Driver) -> None:
    for number in range(20):
        await client.post(GADGETS, gadget(f"g{number}"))

    async with client.stream(f"{GADGETS}?watch=1") as stream:
        piece = await stream.write()

    assert (piece or b"").count(b"\n") == 20


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("watch=1&resourceVersion=abc", 400),
        ("watch=1&sendInitialEvents=true", 422),
        ("watch=1&timeoutSeconds=x", 400),
        ("watch=1&labelSelector=%3D", 400),
    ],
)
async def test_watches_that_cannot_begin(client: Driver, query: str, code: int) -> None:
    assert (await client.get(f"{GADGETS}?{query}")).code == code


async def test_yaml_has_no_streams(client: Driver) -> None:
    answer = await client.get(f"{GADGETS}?watch=1", accept="application/yaml")

    assert answer.code == 406


async def test_the_lag_of_the_cache_is_in_the_metrics(client: Driver) -> None:
    async def observed() -> float:
        lines = (await client.get("/metrics")).body.decode().splitlines()
        count = "apiserver_watch_cache_lag_revisions_count "
        return next(float(line.removeprefix(count)) for line in lines if line.startswith(count))

    before = await observed()
    await client.get(GADGETS)

    assert await observed() > before


async def test_the_source_of_a_watch_is_in_the_metrics(client: Driver) -> None:
    async with client.stream(f"{GADGETS}?watch=1", headers={"x-source": "lister"}):
        metrics = (await client.get("/metrics")).body.decode()

    open_watches = [line for line in metrics.splitlines() if "longrunning" in line]
    assert any('source="lister"' in line and line.endswith(" 1.0") for line in open_watches)


class Socket:
    """A WebSocket from the client's side."""

    def __init__(self, app: App, url: str, *, subprotocols: tuple[str, ...] = ()) -> None:
        path, _, query = url.partition("?")
        self.app = app
        self.scope: dict[str, Any] = {
            "type": "websocket",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "scheme": "ws",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(b"host", b"test")],
            "server": ("test", 80),
            "client": ("test", 1),
            "subprotocols": list(subprotocols),
        }


async def talk(socket: Socket, until: int) -> list[Any]:
    """What a server sends over a WebSocket until there are so many messages, then leave."""
    messages: list[Any] = []
    enough = asyncio.Event()
    incoming = [{"type": "websocket.connect"}]

    async def receive() -> Any:
        if incoming:
            return incoming.pop()
        await enough.wait()
        return {"type": "websocket.disconnect", "code": 1000}

    async def send(message: Any) -> None:
        messages.append(message)
        if len(messages) >= until:
            enough.set()

    async with asyncio.timeout(5):
        await socket.app(socket.scope, receive, send)
    return messages


TOKEN = "base64url.bearer.authorization.k8s.io.cm9vdA"  # root


async def test_a_websocket_gets_a_message_for_each_event(app: App, client: Driver) -> None:
    for name in ("a", "b"):
        await client.post(GADGETS, gadget(name))
    socket = Socket(app, f"{GADGETS}?watch=1", subprotocols=(TOKEN, "v1"))

    accepted, first, second, *_ = await talk(socket, 3)

    assert (accepted["type"], accepted["subprotocol"]) == ("websocket.accept", "v1")
    assert first["text"].startswith('{"type":"ADDED"')
    assert second["text"].startswith('{"type":"ADDED"')
    assert not app.watches._open


@pytest.mark.parametrize(
    "token", ["", "base64url.bearer.authorization.k8s.io.d3Jvbmc", TOKEN + "!"]
)
async def test_a_websocket_needs_a_token_too(app: App, token: str) -> None:
    socket = Socket(app, f"{GADGETS}?watch=1", subprotocols=(token,) if token else ())

    (closed,) = await talk(socket, 1)

    assert closed["type"] == "websocket.close"


@pytest.mark.parametrize("path", ["/apis/nobody.example.io/v1/things", "/nowhere", "/a//b"])
async def test_a_websocket_to_nowhere_is_not_found(
    path: str, app: App, caplog: pytest.LogCaptureFixture
) -> None:
    (closed,) = await talk(Socket(app, path, subprotocols=(TOKEN,)), 1)

    assert (closed["type"], closed["code"]) == ("websocket.close", 3404)
    assert "failed" not in caplog.text
