"""HTTP/2 connection: the streams of a client on one transport, with flow control both ways.

It carries what gRPC needs and refuses the rest: the peer opens no streams and pushes nothing. This
module receives; `http2_requests` sends. A response is bounded by the window of its stream: one that
nobody reads holds back the peer, and no other stream.

A stream that fails has certainly had no effect only if none of it was sent, or if the peer says so
(`StreamFailed.processed`).
"""

import asyncio
from collections.abc import Callable
from typing import Final, cast

from apiserver.storage.etcd import http2_frames as h2
from apiserver.storage.etcd.http2_frames import FrameReader, ProtocolError
from apiserver.storage.etcd.http2_headers import MAX_BLOCK_BYTES, HeaderDecoder
from apiserver.storage.etcd.http2_requests import DEFAULT_WINDOW, Http2Requests
from apiserver.storage.etcd.http2_stream import STREAM_WINDOW, Http2Stream, StreamFailed

_MAX_UNREAD_ACKNOWLEDGEMENTS: Final = 1 << 20
"""Unsent bytes from which a peer that lets us acknowledge more and more is cut off."""
_PING: Final = b"liveness"


class Http2Connection(asyncio.Protocol):
    """A connection to one peer.

    A peer that sends nothing for *keepalive* seconds while streams are open gets a ping, and has
    *silence* seconds to send something.
    """

    def __init__(self, *, keepalive: float, silence: float) -> None:
        self._loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = self._loop.create_future()
        """Done with the peer's settings: a peer that is stopped accepts connections, too."""
        self.violation: ProtocolError | None = None
        """Why the connection was ended, if the peer was to blame."""
        self._keepalive = keepalive
        self._silence = silence
        self._transport: asyncio.Transport | None = None
        self._reader = FrameReader()
        self._decoder = HeaderDecoder()
        self._requests = Http2Requests(self._write)
        # The stream, the flags and the first part of a header block that is continued.
        self._block: tuple[int, int, bytes] | None = None
        self._outgoing: list[bytes] = []
        self._ending = False
        self._received = 0
        self._heard = self._loop.time()
        self._pinged = False
        self._timer: asyncio.TimerHandle | None = None
        self._lost = asyncio.Event()
        self._handlers: dict[int, Callable[[int, int, bytes], None]] = {
            h2.DATA: self._on_data,
            h2.HEADERS: self._on_headers,
            h2.CONTINUATION: self._on_continuation,
            h2.RST_STREAM: self._on_reset,
            h2.SETTINGS: self._on_settings,
            h2.PUSH_PROMISE: self._on_push,
            h2.PING: self._on_ping,
            h2.GOAWAY: self._on_goaway,
            h2.WINDOW_UPDATE: self._on_window_update,
        }

    # For callers

    @property
    def accepts_streams(self) -> bool:
        """Whether the peer can be expected to serve a new stream."""
        return not self._ending and not self._requests.is_exhausted

    def start(self, stream: Http2Stream) -> None:
        """Send the request of *stream*, at once or when the peer takes it."""
        if not self.accepts_streams:
            stream.on_failure(StreamFailed("the connection has ended", processed=False))
            return
        self._requests.start(stream)

    def send(self, stream: Http2Stream, content: bytes) -> None:
        """Send more of a request that has not ended."""
        self._requests.send(stream, content)

    def consume(self, stream: Http2Stream, size: int) -> None:
        """Let the peer send *size* more bytes of a response."""
        stream.consumed += size
        # Few updates for large amounts, not one for each frame.
        if stream.consumed >= STREAM_WINDOW // 2 and stream.id in self._requests.streams:
            stream.credit += stream.consumed
            self._write(h2.window_update(stream.id, stream.consumed))
            stream.consumed = 0

    def cancel(self, stream: Http2Stream) -> None:
        """Give up a stream, which receives nothing more."""
        if stream.id in self._requests.streams:
            self._forget(stream)
            self._write(h2.reset_frame(stream.id, h2.CANCEL))
            self._requests.pump()
        else:
            self._requests.withdraw(stream)

    def check_silence(self, since: float) -> None:
        """End the connection if the peer sent nothing in the time that it is given, *since* then.

        For a request that timed out: whatever else is sent here would wait in vain, too.
        """
        # Timers may be early by their resolution.
        if self._loop.time() - max(since, self._heard) >= 0.9 * self._silence:
            self.end("the peer does not answer")

    def end(self, reason: str, code: int = h2.NO_ERROR) -> None:
        """End the connection; its streams fail."""
        if self._transport is not None:
            self._write(h2.goaway_frame(code))
            self._flush()
            # A peer that reads nothing, or does not end TLS, must not keep the transport open.
            self._transport.abort()
        self._fail_all(reason)

    async def close(self) -> None:
        """End the connection and wait until its transport is closed."""
        self.end("the channel is closed")
        if self._transport is not None:
            await self._lost.wait()

    # Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        settings = {
            h2.HEADER_TABLE_SIZE: 0,
            h2.ENABLE_PUSH: 0,
            h2.INITIAL_WINDOW_SIZE: STREAM_WINDOW,
        }
        # The windows of the streams are the limit; that of the connection must not be another one.
        room = h2.window_update(0, h2.MAX_WINDOW - DEFAULT_WINDOW)
        self._transport.write(h2.PREFACE + h2.settings_frame(settings) + room)
        self._timer = self._loop.call_later(self._keepalive, self._check_liveness)

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()
        self._pinged = False
        handlers = self._handlers
        try:
            for kind, flags, stream, payload in self._reader.feed(data):
                if self._block is not None and kind != h2.CONTINUATION:
                    raise ProtocolError("a header block is interrupted")
                if not self.ready.done() and kind != h2.SETTINGS:
                    raise ProtocolError("the first frame is not SETTINGS")
                # Frames of unknown types must be ignored.
                if kind in handlers:
                    handlers[kind](flags, stream, payload)
        except ProtocolError as error:
            self.violation = self.violation or error
            self.end(f"the peer violates HTTP/2: {error}", error.code)

    def pause_writing(self) -> None:
        self._requests.blocked = True

    def resume_writing(self) -> None:
        self._requests.blocked = False
        self._requests.pump()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail_all(f"the connection was lost: {exc or 'the peer closed it'}")
        self._lost.set()

    def _write(self, data: bytes) -> None:
        # Requests of one turn of the event loop share a system call, which costs more than they do.
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing.append(data)

    def _flush(self) -> None:
        outgoing, self._outgoing = self._outgoing, []
        if outgoing and self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(outgoing))

    def _close(self) -> None:
        self._flush()
        if self._transport is not None:
            self._transport.close()

    def _acknowledge(self, data: bytes) -> None:
        self._write(data)
        self._flush()
        assert self._transport is not None
        if self._transport.get_write_buffer_size() > _MAX_UNREAD_ACKNOWLEDGEMENTS:
            raise ProtocolError("the peer does not read", h2.ENHANCE_YOUR_CALM)

    def _check_liveness(self) -> None:
        idle = self._loop.time() - self._heard
        if self._pinged:
            self.end("the peer does not answer a ping")
            return
        delay = self._keepalive - idle
        if delay <= 0:
            delay = self._keepalive
            # Members object to pings while no stream is open.
            if self._requests.streams:
                self._pinged = True
                self._write(h2.frame(h2.PING, 0, 0, _PING))
                delay = self._silence
        self._timer = self._loop.call_later(delay, self._check_liveness)

    # Responses

    def _forget(self, stream: Http2Stream) -> None:
        self._requests.forget(stream)
        if self._ending and not self._requests.streams:
            self._close()

    def _fail_all(self, reason: str) -> None:
        self._ending = True
        if self._timer is not None:
            self._timer.cancel()
        if not self.ready.done():
            self.ready.set_exception(StreamFailed(reason, processed=False))
            self.ready.exception()  # Nobody may be waiting for it.
        self._requests.fail(reason)

    def _on_data(self, flags: int, number: int, payload: bytes) -> None:
        self._received += len(payload)
        if self._received >= h2.MAX_WINDOW // 2:
            self._write(h2.window_update(0, self._received))
            self._received = 0
        content = h2.without_padding(flags, payload)
        stream = self._stream(number)
        if stream is None:
            return
        stream.credit -= len(payload)
        if stream.credit < 0:
            raise ProtocolError("more data than the window holds", h2.FLOW_CONTROL_ERROR)
        stream.consumed += len(payload) - len(content)
        stream.on_data(content)
        if flags & h2.END_STREAM:
            self._finish(stream)

    def _on_headers(self, flags: int, number: int, payload: bytes) -> None:
        self._block = number, flags, h2.header_fragment(flags, payload)
        if flags & h2.END_HEADERS:
            self._end_headers()

    def _on_continuation(self, flags: int, number: int, payload: bytes) -> None:
        if self._block is None or self._block[0] != number:
            raise ProtocolError("a continuation of no header block")
        _, first_flags, block = self._block
        self._block = number, first_flags, block + payload
        if len(self._block[2]) > MAX_BLOCK_BYTES:
            raise ProtocolError("a header block is too large", h2.ENHANCE_YOUR_CALM)
        if flags & h2.END_HEADERS:
            self._end_headers()

    def _end_headers(self) -> None:
        assert self._block is not None
        (number, flags, block), self._block = self._block, None
        # Also for a stream that was given up: a block that cannot be decoded ends the connection.
        fields = self._decoder.decode(block)
        stream = self._stream(number)
        if stream is None:
            return
        stream.on_headers(fields)
        if flags & h2.END_STREAM:
            self._finish(stream)

    def _finish(self, stream: Http2Stream) -> None:
        if stream.id not in self._requests.streams:
            return
        unsent = stream.unsent or not stream.ends
        self._forget(stream)
        if unsent:
            # The peer has answered without the rest of the request.
            self._write(h2.reset_frame(stream.id, h2.CANCEL))
        stream.on_end()
        self._requests.pump()

    def _on_reset(self, _: int, number: int, payload: bytes) -> None:
        code = h2.read_number(payload, size=4)
        stream = self._stream(number)
        if stream is not None:
            self._forget(stream)
            processed = code != h2.REFUSED_STREAM
            message = f"the peer has reset the stream with code {code}"
            stream.on_failure(StreamFailed(message, processed=processed))
            self._requests.pump()

    def _stream(self, number: int) -> Http2Stream | None:
        """Return an open stream, None for one that was given up. Raises ProtocolError."""
        stream = self._requests.streams.get(number)
        if stream is None and (number % 2 == 0 or number >= self._requests.next_stream):
            raise ProtocolError(f"a frame of stream {number}, which was never opened")
        return stream

    # The connection itself

    def _on_settings(self, flags: int, number: int, payload: bytes) -> None:
        if number:
            raise ProtocolError("settings of a stream")
        if flags & h2.ACK:
            return
        for name, value in h2.read_settings(payload):
            self._requests.change_setting(name, value)
        self._acknowledge(h2.frame(h2.SETTINGS, h2.ACK, 0))
        if not self.ready.done():
            self.ready.set_result(None)
        self._requests.greeted = True
        self._requests.pump()

    def _on_push(self, _: int, number: int, payload: bytes) -> None:
        raise ProtocolError(f"a push on stream {number}, which we do not accept")

    def _on_ping(self, flags: int, number: int, payload: bytes) -> None:
        if number:
            raise ProtocolError("a ping of a stream")
        h2.read_number(payload, size=len(_PING))
        if not flags & h2.ACK:
            self._acknowledge(h2.frame(h2.PING, h2.ACK, 0, payload))

    def _on_goaway(self, _: int, number: int, payload: bytes) -> None:
        last, code, text = h2.read_goaway(payload)
        reason = f"the peer ends the connection with code {code}: {text[:200]!r}"
        self._ending = True
        self._requests.refuse_after(last, reason)
        if not self._requests.streams:
            self._close()

    def _on_window_update(self, _: int, number: int, payload: bytes) -> None:
        increment = h2.read_increment(payload)
        stream = self._stream(number) if number else None
        if stream is not None or not number:
            self._requests.widen(stream, increment)
