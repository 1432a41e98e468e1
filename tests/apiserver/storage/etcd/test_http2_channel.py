"""Calls over our own HTTP/2, to peers that do everything that the protocol allows, and the rest.

What counts for a failed write is whether it may have taken effect, so every failure here is held
against the rule that decides that.
"""

import asyncio
from typing import Any

import grpc
import pytest

from apiserver.storage.etcd import http2_frames as h2
from apiserver.storage.etcd.errors import FailureKind, classify
from apiserver.storage.etcd.http2_channel import Http2Channel, StreamMethod, UnaryMethod
from apiserver.storage.etcd.http2_headers import encode_headers
from apiserver.storage.etcd.http2_stream import STREAM_WINDOW
from tests.apiserver.storage.etcd.http2_peer import (
    OK,
    SUCCESS,
    Peer,
    Raw,
    Script,
    message,
    response,
    start_peer,
)


async def by_grpcio(request: object, **_: object) -> bytes:
    return b"by grpcio"


def echo(channel: Http2Channel, content: bytes = b"hello", timeout: float = 5.0) -> Any:
    method = UnaryMethod(channel, "/test/Echo", bytes, by_grpcio)
    return method(Raw(content), timeout=timeout, metadata=())


async def failure(call: Any) -> FailureKind:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    return classify(failed.value)


async def serve_one(peer: Peer) -> None:
    """Answer one request with its own bytes."""
    await peer.greet()
    stream, content = await peer.request()
    await peer.send(response(stream, content[5:]))
    await peer.closed()


async def test_requests_share_a_connection_and_are_answered_in_any_order() -> None:
    async def backwards(peer: Peer) -> None:
        await peer.greet()
        requests = [await peer.request() for _ in range(3)]
        for stream, content in reversed(requests):
            await peer.send(response(stream, content[5:]))
        await peer.closed()

    async with start_peer(backwards) as channel:
        replies = await asyncio.gather(*(echo(channel, bytes([n])) for n in range(3)))

    assert replies == [b"\0", b"\1", b"\2"]


async def test_a_response_may_come_in_any_shape_that_the_protocol_allows() -> None:
    async def answer(peer: Peer) -> None:
        await peer.greet()
        stream, _ = await peer.request()
        content = message(b"x" * 1000)
        trailers = [SUCCESS[:1], SUCCESS[1:3], SUCCESS[3:]]
        await peer.send(
            h2.frame(
                h2.HEADERS,
                h2.PADDED | h2.PRIORITY | h2.END_HEADERS,
                stream,
                b"\x02" + bytes(5) + OK + b"\0\0",
            )
            + h2.frame(h2.DATA, 0, stream)
            + h2.frame(h2.DATA, h2.PADDED, stream, b"\x07" + content[:3] + bytes(7))
            + h2.frame(0x77, 0xFF, stream, b"unknown")
            + h2.frame(h2.PING, 0, 0, b"12345678")
            + h2.window_update(0, 1)
            + h2.frame(h2.DATA, 0, stream, content[3:])
            + h2.frame(h2.HEADERS, h2.END_STREAM, stream, trailers[0])
            + h2.frame(h2.CONTINUATION, 0, stream, trailers[1])
            + h2.frame(h2.CONTINUATION, h2.END_HEADERS, stream, trailers[2])
            # Go's server resets a stream that it has answered, sometimes.
            + h2.reset_frame(stream, h2.NO_ERROR)
        )
        assert (await peer.frame(h2.PING))[1:] == (h2.ACK, 0, b"12345678")
        await peer.closed()

    async with start_peer(answer) as channel:
        assert await echo(channel) == b"x" * 1000


async def test_a_large_request_waits_for_the_windows_of_the_peer() -> None:
    content = bytes(range(256)) * 1000

    async def take_little_by_little(peer: Peer) -> None:
        await peer.greet({h2.INITIAL_WINDOW_SIZE: 10})
        received = b""
        connection_window = 65535
        while True:
            _, flags, stream, payload = await peer.frame(h2.DATA)
            received += payload
            assert len(payload) <= 20_000
            connection_window -= len(payload)
            assert connection_window >= 0
            if flags & h2.END_STREAM:
                break
            connection_window += 20_000
            await peer.send(h2.window_update(0, 20_000) + h2.window_update(stream, 20_000))
        await peer.send(response(stream, received[5:]))
        await peer.closed()

    async with start_peer(take_little_by_little) as channel:
        assert await echo(channel, content) == content


async def test_a_window_that_shrinks_below_zero_holds_a_request_back() -> None:
    async def shrink(peer: Peer) -> None:
        await peer.greet({h2.INITIAL_WINDOW_SIZE: 100})
        _, _, stream, first = await peer.frame(h2.DATA)
        assert len(first) == 100
        await peer.send(h2.settings_frame({h2.INITIAL_WINDOW_SIZE: 40}))
        await peer.frame(h2.SETTINGS)
        # The window is -60 now: 61 more bytes make room for one.
        await peer.send(h2.window_update(stream, 61))
        assert len((await peer.frame(h2.DATA))[3]) == 1
        await peer.send(h2.window_update(stream, 1000))
        await peer.frame(h2.DATA)
        await peer.send(response(stream, b"done"))
        await peer.closed()

    async with start_peer(shrink) as channel:
        assert await echo(channel, b"x" * 500) == b"done"


async def test_a_peer_with_a_limit_of_streams_gets_one_after_another() -> None:
    async def one_at_a_time(peer: Peer) -> None:
        await peer.greet({h2.MAX_CONCURRENT_STREAMS: 1})
        for _ in range(3):
            stream, content = await peer.request()
            await peer.send(response(stream, content[5:]))
        await peer.closed()

    async with start_peer(one_at_a_time) as channel:
        replies = await asyncio.gather(*(echo(channel, bytes([n])) for n in range(3)))

    assert replies == [b"\0", b"\1", b"\2"]


async def test_goaway_refuses_what_was_not_processed_and_lets_the_rest_end() -> None:
    async def leave(peer: Peer) -> None:
        await peer.greet()
        first, content = await peer.request()
        await peer.request()
        await peer.send(h2.frame(h2.GOAWAY, 0, 0, first.to_bytes(4, "big") + bytes(4)))
        await peer.send(response(first, content[5:]))
        await peer.closed()

    async with start_peer(leave, serve_one) as channel:
        first = asyncio.ensure_future(echo(channel, b"first"))
        second = asyncio.ensure_future(echo(channel, b"second"))

        assert await failure(second) is FailureKind.REFUSED
        assert await first == b"first"
        assert await echo(channel, b"third") == b"third"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (h2.REFUSED_STREAM, FailureKind.REFUSED),
        (h2.NO_ERROR, FailureKind.UNKNOWN),
        (h2.CANCEL, FailureKind.UNKNOWN),
        (h2.ENHANCE_YOUR_CALM, FailureKind.UNKNOWN),
    ],
)
async def test_a_stream_that_is_reset(code: int, kind: FailureKind) -> None:
    async def reset(peer: Peer) -> None:
        await peer.greet()
        stream, _ = await peer.request()
        await peer.send(h2.reset_frame(stream, code))
        await peer.closed()

    async with start_peer(reset) as channel:
        assert await failure(echo(channel)) is kind


async def test_a_connection_that_ends_leaves_sent_requests_in_doubt() -> None:
    async def hang_up(peer: Peer) -> None:
        await peer.greet()
        await peer.request()

    async with start_peer(hang_up, serve_one) as channel:
        assert await failure(echo(channel)) is FailureKind.UNKNOWN
        assert await echo(channel) == b"hello"


async def test_a_request_that_waits_for_a_stream_was_not_sent() -> None:
    async def take_none(peer: Peer) -> None:
        await peer.greet({h2.MAX_CONCURRENT_STREAMS: 0})
        await peer.frame(h2.SETTINGS)

    async with start_peer(take_none) as channel:
        assert await failure(echo(channel)) is FailureKind.REFUSED


async def test_a_request_of_which_a_part_was_sent_is_in_doubt() -> None:
    async def take_a_part(peer: Peer) -> None:
        await peer.greet({h2.INITIAL_WINDOW_SIZE: 3})
        await peer.frame(h2.DATA)

    async with start_peer(take_a_part) as channel:
        assert await failure(echo(channel)) is FailureKind.UNKNOWN


async def test_nobody_listens(unused_tcp_port: int) -> None:
    channel = Http2Channel(
        f"127.0.0.1:{unused_tcp_port}", tls=None, server_name=None, timeout=5, keepalive=5
    )

    assert await failure(echo(channel)) is FailureKind.REFUSED
    await channel.close()


async def test_a_peer_that_accepts_and_says_nothing_is_not_connected() -> None:
    """The kernel accepts connections for a process that is stopped."""

    async def say_nothing(peer: Peer) -> None:
        await peer.closed()

    async with start_peer(say_nothing, timeout=0.05) as channel:
        assert await failure(echo(channel)) is FailureKind.REFUSED


async def test_a_deadline_leaves_a_request_in_doubt_and_a_silent_connection_is_given_up() -> None:
    async def fall_silent(peer: Peer) -> None:
        await peer.greet()
        await peer.request()
        await peer.closed()

    async with start_peer(fall_silent, serve_one, timeout=0.4) as channel:
        assert await failure(echo(channel, timeout=0.4)) is FailureKind.UNKNOWN
        assert await echo(channel) == b"hello"


async def test_a_deadline_does_not_end_a_connection_that_is_alive() -> None:
    async def answer_only_the_second(peer: Peer) -> None:
        await peer.greet()
        first, _ = await peer.request()
        assert (await peer.frame(h2.RST_STREAM))[2] == first
        stream, content = await peer.request()
        await peer.send(response(stream, content[5:]))
        await peer.closed()

    async with start_peer(answer_only_the_second, timeout=30) as channel:
        assert await failure(echo(channel, timeout=0.01)) is FailureKind.UNKNOWN
        assert await echo(channel) == b"hello"


async def test_a_peer_that_does_not_answer_a_ping_is_given_up() -> None:
    async def fall_silent(peer: Peer) -> None:
        await peer.greet()
        await peer.request()
        await peer.frame(h2.PING)
        await peer.closed()

    async with start_peer(fall_silent, timeout=0.1) as channel:
        assert await failure(echo(channel, timeout=30)) is FailureKind.UNKNOWN


async def test_a_cancelled_call_resets_its_stream() -> None:
    reset = asyncio.Event()

    async def see_the_reset(peer: Peer) -> None:
        await peer.greet()
        stream, _ = await peer.request()
        call.cancel()
        _, _, number, payload = await peer.frame(h2.RST_STREAM)
        assert (number, int.from_bytes(payload, "big")) == (stream, h2.CANCEL)
        reset.set()
        await peer.closed()

    async with start_peer(see_the_reset) as channel:
        call = asyncio.ensure_future(echo(channel))
        await asyncio.gather(call, return_exceptions=True)
        await reset.wait()

    assert call.cancelled()


@pytest.mark.parametrize(
    ("headers", "content", "kind"),
    [
        (
            [("grpc-status", "14"), ("grpc-message", "etcdserver: no leader")],
            b"",
            FailureKind.REFUSED,
        ),
        ([("grpc-status", "16")], b"", FailureKind.TOKEN),
        (
            [("grpc-status", "7"), ("grpc-message", "etcdserver%3A permission")],
            b"",
            FailureKind.FINAL,
        ),
        ([("grpc-status", "4711")], b"", FailureKind.UNKNOWN),
        ([("grpc-status", "\xb2")], b"", FailureKind.UNKNOWN),
        ([(":status", "503")], b"", FailureKind.UNKNOWN),
        ([(":status", "200")], message(b"reply"), FailureKind.UNKNOWN),
        ([("grpc-status", "0")], b"", FailureKind.UNKNOWN),
        ([("grpc-status", "0")], b"\0\0", FailureKind.UNKNOWN),
        ([("grpc-status", "0")], message(b"reply")[:-1], FailureKind.UNKNOWN),
        ([("grpc-status", "0")], message(b"one") + message(b"two"), FailureKind.UNKNOWN),
        ([("grpc-status", "0")], b"\1" + message(b"compressed")[1:], FailureKind.UNKNOWN),
    ],
)
async def test_a_response_that_is_not_a_success(
    headers: list[tuple[str, str]], content: bytes, kind: FailureKind
) -> None:
    async def answer(peer: Peer) -> None:
        await peer.greet()
        stream, _ = await peer.request()
        data = h2.frame(h2.DATA, 0, stream, content) if content else b""
        block = encode_headers(headers)
        await peer.send(data + h2.header_frames(stream, block, flags=h2.END_STREAM))
        await peer.closed()

    async with start_peer(answer) as channel:
        assert await failure(echo(channel)) is kind


@pytest.mark.parametrize(
    "greeting",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\0" * 9,
        h2.frame(h2.PING, 0, 0, b"12345678"),
        h2.frame(h2.SETTINGS, 0, 0, b"12345"),
        h2.settings_frame({h2.INITIAL_WINDOW_SIZE: 1 << 31}),
        h2.settings_frame({h2.LARGEST_FRAME: 1}),
    ],
)
async def test_a_peer_that_speaks_another_protocol_is_left_to_grpcio(greeting: bytes) -> None:
    async def greet_wrongly(peer: Peer) -> None:
        await peer.send(greeting)
        await peer.closed()

    async with start_peer(greet_wrongly) as channel:
        assert await failure(echo(channel)) is FailureKind.REFUSED
        assert await echo(channel) == b"by grpcio"


VIOLATIONS = {
    "garbage": b"\xff" * 100,
    "a frame that is too large": h2.frame(h2.DATA, 0, 1, b"x" * 16385),
    "a response to no request": h2.header_frames(9, OK),
    "a stream of the peer": h2.header_frames(2, OK),
    "data of no stream": h2.frame(h2.DATA, 0, 0, b"x"),
    "a push": h2.frame(h2.PUSH_PROMISE, h2.END_HEADERS, 1, bytes(4) + OK),
    "an interrupted header block": h2.frame(h2.HEADERS, 0, 1, OK) + h2.frame(h2.DATA, 0, 1),
    "a header block that continues elsewhere": h2.frame(h2.HEADERS, 0, 1, OK)
    + h2.frame(h2.CONTINUATION, 0, 3),
    "a continuation of nothing": h2.frame(h2.CONTINUATION, h2.END_HEADERS, 1, OK),
    "an endless header block": h2.frame(h2.HEADERS, 0, 1)
    + 5 * h2.frame(h2.CONTINUATION, 0, 1, bytes(16384)),
    "an index of the dynamic table": h2.frame(h2.HEADERS, h2.END_HEADERS, 1, b"\xbe"),
    "padding without end": h2.frame(h2.DATA, h2.PADDED, 1, b"\xff"),
    "a window without end": h2.window_update(0, h2.MAX_WINDOW),
    "a stream's window without end": h2.window_update(1, h2.MAX_WINDOW),
    "an update of nothing": h2.frame(h2.WINDOW_UPDATE, 0, 1, bytes(4)),
    "a short ping": h2.frame(h2.PING, 0, 0, b"1"),
    "a ping of a stream": h2.frame(h2.PING, 0, 1, b"12345678"),
    "settings of a stream": h2.frame(h2.SETTINGS, 0, 1),
    "a short reset": h2.frame(h2.RST_STREAM, 0, 1, b"1"),
    "a reset of no stream": h2.reset_frame(9, 0),
    "a short goaway": h2.frame(h2.GOAWAY, 0, 0, b"1"),
}


@pytest.mark.parametrize("bytes_sent", VIOLATIONS.values(), ids=VIOLATIONS.keys())
async def test_a_violation_leaves_requests_in_doubt_and_later_ones_to_grpcio(
    bytes_sent: bytes,
) -> None:
    async def violate(peer: Peer) -> None:
        await peer.greet()
        await peer.request()
        await peer.send(bytes_sent)
        await peer.closed()

    async def not_called(peer: Peer) -> None:
        await peer.greet()
        stream, _ = await peer.request()
        await peer.send(response(stream, b""))
        await peer.closed()

    async with start_peer(violate, not_called) as channel:
        assert await failure(echo(channel)) is FailureKind.UNKNOWN
        assert await echo(channel) == b"by grpcio"


async def test_more_data_than_the_window_holds_is_a_violation() -> None:
    async def flood(peer: Peer) -> None:
        await peer.greet()
        _, _, stream, _ = await peer.frame(h2.DATA)
        await peer.send(h2.header_frames(stream, OK))
        try:
            for _ in range(STREAM_WINDOW // 16384 + 1):
                await peer.send(h2.frame(h2.DATA, 0, stream, bytes(16384)))
        except ConnectionError:
            pass
        await peer.closed()

    async with start_peer(flood) as channel:
        stream = StreamMethod(channel, "/test/Watch", bytes, None)(metadata=())
        await stream.write(Raw(b""))
        await channel.connection._lost.wait()  # type: ignore[union-attr]

    assert channel.connection is not None
    assert channel.connection.violation is not None
    assert channel.connection.violation.code == h2.FLOW_CONTROL_ERROR


async def test_a_peer_that_has_everything_acknowledged_and_reads_nothing_is_cut_off() -> None:
    async def flood(peer: Peer) -> None:
        await peer.greet()
        await peer.request()
        try:
            while True:
                await peer.send(1000 * h2.frame(h2.PING, 0, 0, b"12345678"))
        except ConnectionError:
            pass

    async with start_peer(flood) as channel:
        assert await failure(echo(channel, timeout=60)) is FailureKind.UNKNOWN

    assert channel.connection is not None
    assert channel.connection.violation is not None
    assert channel.connection.violation.code == h2.ENHANCE_YOUR_CALM


async def test_replies_of_a_stream_are_credited_only_when_its_reader_wants_more() -> None:
    half = b"x" * (STREAM_WINDOW // 2)
    credited: list[int] = []

    async def fill_the_window(peer: Peer) -> None:
        await peer.greet()
        _, _, stream, _ = await peer.frame(h2.DATA)
        data = message(half[:-5])
        frames = [
            h2.frame(h2.DATA, 0, stream, data[at : at + 16384]) for at in range(0, len(data), 16384)
        ]
        await peer.send(
            h2.header_frames(stream, OK)
            + b"".join(frames) * 2
            + h2.frame(h2.PING, 0, 0, b"all sent")
        )
        while True:
            kind, _, number, payload = await peer.any_frame()
            if kind == h2.PING:
                filled.set()
            if kind == h2.WINDOW_UPDATE and number == stream:
                credited.append(int.from_bytes(payload, "big"))
                break
        await peer.send(h2.frame(h2.DATA, 0, stream, message(b"third")))
        await peer.closed()

    filled = asyncio.Event()
    async with start_peer(fill_the_window) as channel:
        stream = StreamMethod(channel, "/test/Watch", bytes, None)(metadata=())
        await stream.write(Raw(b""))
        await filled.wait()
        assert credited == []

        replies = [await stream.read() for _ in range(3)]

        stream.cancel()

    assert [len(reply) for reply in replies] == [len(half) - 5, len(half) - 5, 5]
    assert credited == [STREAM_WINDOW]


async def test_a_stream_ends_with_its_status() -> None:
    async def end(peer: Peer) -> None:
        await peer.greet()
        _, _, stream, _ = await peer.frame(h2.DATA)
        await peer.send(
            h2.frame(h2.DATA, 0, stream, message(b"one"))
            + h2.header_frames(stream, SUCCESS, flags=h2.END_STREAM)
        )
        await peer.closed()

    async with start_peer(end) as channel:
        stream = StreamMethod(channel, "/test/Watch", bytes, None)(metadata=())
        await stream.write(Raw(b""))

        assert await stream.read() == b"one"
        assert await stream.read() is grpc.aio.EOF
        with pytest.raises(grpc.aio.AioRpcError):
            await stream.write(Raw(b""))


async def test_a_message_larger_than_the_window_arrives() -> None:
    content = b"x" * (2 * STREAM_WINDOW)

    async def send_as_credited(peer: Peer) -> None:
        await peer.greet()
        _, _, stream, _ = await peer.frame(h2.DATA)
        rest, window = message(content), STREAM_WINDOW
        while rest:
            part, rest = rest[: min(window, 16384)], rest[min(window, 16384) :]
            window -= len(part)
            await peer.send(h2.frame(h2.DATA, 0, stream, part))
            if not window:
                _, _, _, payload = await peer.frame_of(h2.WINDOW_UPDATE, stream)
                window += int.from_bytes(payload, "big")
        await peer.closed()

    async with start_peer(send_as_credited) as channel:
        stream = StreamMethod(channel, "/test/Watch", bytes, None)(metadata=())
        await stream.write(Raw(b""))

        assert await stream.read() == content
        stream.cancel()


async def test_calls_when_the_channel_closes_fail_and_later_ones_are_refused() -> None:
    async def wait(peer: Peer) -> None:
        await peer.greet()
        await peer.request()
        closing.set()
        await peer.closed()

    closing = asyncio.Event()
    script: Script = wait
    async with start_peer(script) as channel:
        call = asyncio.ensure_future(echo(channel))
        await closing.wait()
        await channel.close()

        assert await failure(call) is FailureKind.UNKNOWN
        assert await failure(echo(channel)) is FailureKind.REFUSED
