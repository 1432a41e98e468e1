"""HTTP/2 requests: the open streams of a connection, and sending within the limits of the peer.

A request that cannot be sent yet waits in order: in `_queue` for the limit of streams or for the
socket, in `_unsent` for the peer's windows. Its caller waits with it, so both are bounded by the
number of callers.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from apiserver.storage.etcd import http2_frames as h2
from apiserver.storage.etcd.http2_frames import ProtocolError
from apiserver.storage.etcd.http2_stream import Http2Stream, StreamFailed

DEFAULT_WINDOW: Final = 65535
_LAST_STREAM: Final = (1 << 31) - 1


class Http2Requests:
    """The streams of one connection; *write* takes the bytes to send."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.streams: dict[int, Http2Stream] = {}
        """Those that were opened and have not ended."""
        self.next_stream = 1
        self.greeted = False
        """Whether the peer has sent its settings; nothing is sent before."""
        self.blocked = False
        """Whether the socket takes no more."""
        self._write = write
        self._queue: deque[Http2Stream] = deque()
        self._unsent: dict[int, Http2Stream] = {}
        self._window = DEFAULT_WINDOW
        self._max_streams = _LAST_STREAM
        self._initial_window = DEFAULT_WINDOW
        self._largest_frame = h2.MAX_FRAME_SIZE

    @property
    def is_exhausted(self) -> bool:
        """Whether the connection has no numbers for new streams."""
        return self.next_stream > _LAST_STREAM

    def start(self, stream: Http2Stream) -> None:
        """Send the request of *stream*, at once or when the peer takes it."""
        size = len(stream.unsent)
        if (
            self._queue
            or not stream.ends
            or size > min(self._window, self._initial_window, self._largest_frame)
            or not self._may_open()
        ):
            self._queue.append(stream)
            self.pump()
            return
        # Nearly all requests fit into one frame: headers and data are one write.
        headers = self._open(stream)
        stream.window -= size
        self._window -= size
        self._write(headers + h2.frame(h2.DATA, h2.END_STREAM, stream.id, stream.unsent))
        stream.unsent = b""

    def send(self, stream: Http2Stream, content: bytes) -> None:
        """Send more of a request that has not ended."""
        stream.unsent = bytes(stream.unsent) + content
        if stream.id in self.streams:
            self._unsent[stream.id] = stream
            self.pump()

    def pump(self) -> None:
        """Send what the peer takes now, in order."""
        while self._queue and self._may_open():
            stream = self._queue.popleft()
            self._write(self._open(stream))
            self._unsent[stream.id] = stream
        if self._unsent:
            for stream in list(self._unsent.values()):
                self._send_data(stream)

    def forget(self, stream: Http2Stream) -> None:
        """Take out a stream that has ended."""
        del self.streams[stream.id]
        self._unsent.pop(stream.id, None)

    def withdraw(self, stream: Http2Stream) -> None:
        """Take out a stream if it was not opened yet."""
        if not stream.id and stream in self._queue:
            self._queue.remove(stream)

    def fail(self, reason: str) -> None:
        """Fail all streams: the connection has ended."""
        streams, self.streams = list(self.streams.values()), {}
        self._unsent.clear()
        for stream in streams:
            stream.on_failure(StreamFailed(reason))
        self._refuse_queue(reason)

    def refuse_after(self, last: int, reason: str) -> None:
        """Fail the streams that the peer has not processed: those after the *last* one."""
        self._refuse_queue(reason)
        for stream in [each for each in self.streams.values() if each.id > last]:
            self.forget(stream)
            stream.on_failure(StreamFailed(reason, processed=False))

    def change_setting(self, name: int, value: int) -> None:
        """Apply a setting of the peer. Raises ProtocolError."""
        if name == h2.MAX_CONCURRENT_STREAMS:
            self._max_streams = value
        elif name == h2.INITIAL_WINDOW_SIZE:
            self._resize_windows(value)
        elif name == h2.LARGEST_FRAME:
            if not h2.MAX_FRAME_SIZE <= value < 1 << 24:
                raise ProtocolError(f"frames of {value} bytes")
            self._largest_frame = value

    def widen(self, stream: Http2Stream | None, increment: int) -> None:
        """Take a window update, of the connection if *stream* is None. Raises ProtocolError."""
        if stream is None:
            self._window += increment
            window = self._window
        else:
            stream.window += increment
            window = stream.window
        if window > h2.MAX_WINDOW:
            raise ProtocolError("a window that is too large", h2.FLOW_CONTROL_ERROR)
        self.pump()

    def _may_open(self) -> bool:
        return (
            self.greeted
            and not self.blocked
            and len(self.streams) < self._max_streams
            and self.next_stream <= _LAST_STREAM
        )

    def _open(self, stream: Http2Stream) -> bytes:
        """Give *stream* its number and return the frames of its headers."""
        stream.id, self.next_stream = self.next_stream, self.next_stream + 2
        stream.window = self._initial_window
        self.streams[stream.id] = stream
        return h2.header_frames(stream.id, stream.block)

    def _send_data(self, stream: Http2Stream) -> None:
        while not self.blocked:
            size = min(len(stream.unsent), stream.window, self._window, self._largest_frame)
            if size <= 0 and stream.unsent:
                return
            unsent = memoryview(stream.unsent)
            content, stream.unsent = unsent[:size], unsent[size:]
            stream.window -= size
            self._window -= size
            last = not stream.unsent
            if content or stream.ends:
                flags = h2.END_STREAM if last and stream.ends else 0
                self._write(h2.frame(h2.DATA, flags, stream.id, content))
            if last:
                self._unsent.pop(stream.id, None)
                return

    def _refuse_queue(self, reason: str) -> None:
        while self._queue:
            self._queue.popleft().on_failure(StreamFailed(reason, processed=False))

    def _resize_windows(self, size: int) -> None:
        if size > h2.MAX_WINDOW:
            raise ProtocolError(f"a window of {size} bytes", h2.FLOW_CONTROL_ERROR)
        for stream in self.streams.values():
            # This may make a window negative, until the peer has taken that much.
            stream.window += size - self._initial_window
        self._initial_window = size
