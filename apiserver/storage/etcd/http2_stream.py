"""HTTP/2 stream: one request of a client, and what receives its response.

The connection reads and writes the slots; subclasses implement the callbacks.
"""

from collections.abc import Mapping
from typing import Final

STREAM_WINDOW: Final = 4 << 20
"""The bytes of one response that may be on the way or unread."""


class StreamFailed(Exception):
    """A stream ended without a complete response."""

    def __init__(self, message: str, *, processed: bool = True) -> None:
        super().__init__(message)
        self.processed = processed
        """Whether the peer may have acted on the request."""


class Http2Stream:
    """One request; subclasses receive its response."""

    __slots__ = ("block", "consumed", "credit", "ends", "id", "unsent", "window")

    def __init__(self, block: bytes, content: bytes, *, ends: bool) -> None:
        self.id = 0
        """0 until the first frame is sent."""
        self.block = block
        """The headers."""
        self.unsent: bytes | memoryview = content
        self.ends = ends
        """Whether the request ends after `unsent`."""
        self.window = 0
        """The bytes that the peer still takes."""
        self.credit = STREAM_WINDOW
        """The bytes that the peer may still send."""
        self.consumed = 0
        """The bytes that were consumed and are not yet credited to the peer."""

    def on_headers(self, fields: Mapping[str, str]) -> None:
        """Receive a header block: the headers of the response, or its trailers."""
        raise NotImplementedError

    def on_data(self, content: bytes) -> None:
        """Receive a part of the response; `Http2Connection.consume` makes room for more."""
        raise NotImplementedError

    def on_end(self) -> None:
        """Receive the end of the response."""
        raise NotImplementedError

    def on_failure(self, failure: StreamFailed) -> None:
        """Receive the failure of the stream, after which nothing else is received."""
        raise NotImplementedError
