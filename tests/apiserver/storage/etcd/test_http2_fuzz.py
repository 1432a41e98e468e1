"""Whatever a peer sends: every call ends, nothing else is raised, and what we send is HTTP/2."""

import asyncio
import contextlib
from itertools import zip_longest
from typing import Any

import grpc
from hypothesis import given
from hypothesis import strategies as st

from apiserver.storage.etcd import http2_frames as h2
from apiserver.storage.etcd.grpc_calls import StreamCall, UnaryCall
from apiserver.storage.etcd.http2_connection import Http2Connection
from tests.apiserver.storage.etcd.http2_peer import OK, SUCCESS, Raw, message

STREAMS = st.sampled_from([0, 1, 2, 3, 5, 99])
PAYLOADS = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([OK, SUCCESS, SUCCESS[:2], message(b"reply"), message(b"")[:3], bytes(4)]),
)
# Mostly sensible frames, so that the fuzzing gets behind the first check.
FRAMES = st.one_of(
    st.builds(h2.frame, st.integers(0, 12), st.integers(0, 255), STREAMS, PAYLOADS),
    st.builds(
        h2.header_frames, STREAMS, st.sampled_from([OK, SUCCESS]), flags=st.sampled_from([0, 1])
    ),
    st.builds(h2.frame, st.just(h2.DATA), st.sampled_from([0, 1, 8, 9]), STREAMS, PAYLOADS),
    st.builds(h2.window_update, STREAMS, st.integers(0, h2.MAX_WINDOW)),
    st.builds(
        h2.settings_frame, st.dictionaries(st.integers(1, 6), st.integers(0, 1 << 31), max_size=3)
    ),
    st.binary(max_size=40),
)


class Transport(asyncio.Transport):
    """Takes everything and sends nothing."""

    def __init__(self, protocol: Http2Connection) -> None:
        super().__init__()
        self._protocol = protocol
        self.sent = b""
        self._closing = False

    def write(self, data: Any) -> None:
        assert not self._closing
        self.sent += data

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    abort = close


@given(
    st.lists(FRAMES, max_size=12),
    st.lists(st.sampled_from(["call", "stream", "cancel"])),
    st.booleans(),
)
def test_any_frames_leave_every_call_with_an_end(
    received: list[bytes], actions: list[str], greets: bool
) -> None:
    asyncio.run(_converse(received, actions, greets))


async def _converse(received: list[bytes], actions: list[str], greets: bool) -> None:
    connection = Http2Connection(keepalive=10, silence=5)
    transport = Transport(connection)
    connection.connection_made(transport)
    if greets:
        connection.data_received(h2.settings_frame({}))
    calls, streams = [UnaryCall(connection, OK, Raw(b"x" * 40_000))], list[StreamCall]()
    connection.start(calls[0])
    for action, frames in zip_longest(actions, received):
        _act(action, connection, calls, streams)
        if frames is not None and not transport.is_closing():
            connection.data_received(frames)
        await asyncio.sleep(0)  # The connection writes at the end of a turn.

    connection.connection_lost(None)

    assert connection.ready.done()
    assert all(call.reply.done() for call in calls)
    for call in calls:
        call.reply.exception()  # Retrieved, so that the loop does not complain.
    async with asyncio.timeout(10):
        for stream in streams:
            with contextlib.suppress(grpc.aio.AioRpcError):
                while await stream.read() is not None:
                    pass
    _check_frames(transport.sent.removeprefix(h2.PREFACE))


def _check_frames(sent: bytes) -> None:
    """Fail unless *sent* consists of frames, which may be larger than those that we take."""
    while sent:
        assert sent[3] <= h2.CONTINUATION
        size = 9 + int.from_bytes(sent[:3], "big")
        assert len(sent) >= size
        sent = sent[size:]


def _act(
    action: str | None,
    connection: Http2Connection,
    calls: list[UnaryCall],
    streams: list[StreamCall],
) -> None:
    match action:
        case "call":
            calls.append(UnaryCall(connection, OK, Raw(b"request")))
            connection.start(calls[-1])
        case "stream":
            streams.append(StreamCall(connection, OK, Raw(b"request")))
            connection.start(streams[-1])
        case "cancel":
            calls[-1].expire(0.0)
