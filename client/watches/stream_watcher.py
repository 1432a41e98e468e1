"""StreamWatcher: decodes the stream of one watch request into events.

A `StreamWatcher` is an iterator that reads one event after another from a decoder. It does not
read ahead: a slow reader exerts backpressure on the server. The decoder is exchangeable
(`etcd_events` has one for another protocol). A reporter converts an error of the decoder to the
Status of a final ERROR event.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

import orjson

from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import Status, StatusCause, StatusDetails
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.serialization.serializer import LineFrames
from apimachinery.watch import EventType, ObjectEvent
from client.paging import Page
from client.runtime.gc_pause import GC_PAUSER, pause_gc, resume_gc
from client.transport.error_responses import generic_status
from client.transport.transport import Response

log = logging.getLogger("apimachinery.client.watch")

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

CLIENT_WATCH_DECODING: Final = "ClientWatchDecoding"


class EndOfStream(Exception):
    """The stream ended between two events."""


class UnexpectedEndOfStream(EndOfStream):
    """The stream ended in the middle of an event."""


class Decoder(Protocol[T_co]):
    """Decodes events from a stream."""

    async def decode(self) -> ObjectEvent[T_co]:
        """Return the next event.

        Raises EndOfStream at the end of the stream, and DecodeError if an event is malformed.
        """

    def close(self) -> None:
        """Close the stream and end a pending `decode`; called once."""


class Reporter(Protocol):
    """Converts an exception to the object of an ERROR event."""

    def as_object(self, error: Exception) -> Status: ...


@dataclass(frozen=True, slots=True)
class StatusReporter:
    """Reports errors as the Status of a request that failed in the client."""

    code: int = 500
    verb: str = "GET"
    reason: str = CLIENT_WATCH_DECODING

    def as_object(self, error: Exception) -> Status:
        status = generic_status(self.code, verb=self.verb, text=str(error))
        details = status.details or StatusDetails()
        details.causes.append(StatusCause(reason=self.reason, message=str(error)))
        status.details = details
        return status


class StreamWatcher(Generic[T]):
    """Iterates over the events of a decoder until it ends or `stop` is called."""

    def __init__(self, decoder: Decoder[T | Status], reporter: Reporter | None = None) -> None:
        self._decoder = decoder
        self._reporter = reporter or StatusReporter()
        self._stopped = False

    def result(self) -> AsyncIterator[ObjectEvent[T | Status]]:
        """Return the iterator over the events; several readers would share them."""
        return self

    def stop(self) -> None:
        """End the stream, even while a caller waits for its next event; idempotent."""
        if not self._stopped:
            self._stopped = True
            self._decoder.close()

    @property
    def stopped(self) -> bool:
        return self._stopped

    def __aiter__(self) -> AsyncIterator[ObjectEvent[T | Status]]:
        return self

    async def __anext__(self) -> ObjectEvent[T | Status]:
        if self._stopped:
            raise StopAsyncIteration
        try:
            event = await self._decoder.decode()
        except BaseException as error:
            error_event = self._handle_end(error)
            self.stop()
            if error_event is None:
                raise StopAsyncIteration from None
            return error_event
        if self._stopped:  # stopped while the event arrived: drop it
            raise StopAsyncIteration
        return event

    async def __aenter__(self) -> "StreamWatcher[T]":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()

    async def aclose(self) -> None:
        self.stop()

    def _handle_end(self, error: BaseException) -> ObjectEvent[T | Status] | None:
        """Return the ERROR event for an exception of the decoder; None if the stream just ended."""
        if not isinstance(error, Exception):
            self.stop()
            raise error
        if self._stopped or type(error) is EndOfStream:
            return None
        if isinstance(error, UnexpectedEndOfStream):
            log.info("unexpected end of watch stream: %s", error)
            return None
        if isinstance(error, _CONNECTION_ENDED):
            log.debug("watch ended: %s", error)
            return None
        return ObjectEvent(EventType.ERROR, self._reporter.as_object(error))


@dataclass(frozen=True, slots=True)
class ListWatch(Generic[T]):
    """The functions that list and watch a collection, on which reflectors and informers build."""

    list: Callable[[ListOptions], Awaitable[Page[T]]]
    watch: Callable[[ListOptions], Awaitable[StreamWatcher[T]]]


class EmptyDecoder:
    """Decodes no events: the decoder of a watch that could not be opened."""

    async def decode(self) -> ObjectEvent[Any]:
        raise EndOfStream

    def close(self) -> None:
        return None


class FrameDecoder(Generic[T]):
    """Decodes Kubernetes' watch events: `{"type": ..., "object": ...}`, one per line."""

    def __init__(
        self,
        response: Response,
        decode_object: Callable[[bytes], T],
        *,
        decode_bookmark: Callable[[bytes], T] | None = None,
        read: Callable[[Response], Awaitable[bytes]] | None = None,
        frames: LineFrames | None = None,
    ) -> None:
        self._response = response
        self._decode_object = decode_object
        # A bookmark has only metadata, so it may lack required fields of the object.
        self._decode_bookmark = decode_bookmark or decode_object
        self._read = read or _read_chunk
        self._frames = frames or LineFrames()
        # Reversed, so that the next frame is popped from the end.
        self._pending: list[bytes] = []
        self._in_burst = False

    async def decode(self) -> ObjectEvent[T | Status]:
        while not self._pending:
            chunk = await self._read(self._response)
            if not chunk:
                raise self._end()
            self._pending = list(self._frames.feed(chunk))
            self._pending.reverse()
            self._in_burst = GC_PAUSER.prepare(len(chunk))
        frame = self._pending.pop()
        bookmark = _BOOKMARK in frame[:_TYPE_BYTES]
        decode_object = self._decode_bookmark if bookmark else self._decode_object
        if not self._in_burst:
            return decode_event(frame, decode_object)
        # Even a burst is decoded one event at a time: a reader that does not keep an object frees
        # its memory for the next one.
        paused = pause_gc()
        try:
            return decode_event(frame, decode_object)
        finally:
            if paused:
                resume_gc()

    def close(self) -> None:
        self._response.close()

    def _end(self) -> EndOfStream:
        if self._frames.pending:
            return UnexpectedEndOfStream("in the middle of an event")
        return EndOfStream()


def decode_event(frame: bytes, decode_object: Callable[[bytes], T]) -> ObjectEvent[T | Status]:
    """Decode one frame; *decode_object* decodes its object, except the Status of an ERROR.

    Raises DecodeError if the frame is malformed.
    """
    for prefix, event_type in _FRAME_PREFIXES:
        # In the format that servers write, the object can be sliced out and is parsed only once.
        if frame.startswith(prefix):
            try:
                return ObjectEvent(event_type, decode_object(frame.rstrip()[len(prefix) : -1]))
            except DecodeError:
                break  # more fields follow the object, or it is malformed: decode it completely
    return _decode_event_slowly(frame, decode_object)


def _decode_event_slowly(
    frame: bytes, decode_object: Callable[[bytes], T]
) -> ObjectEvent[T | Status]:
    try:
        document = orjson.loads(frame)
    except ValueError as error:
        raise DecodeError(f"unable to decode watch event: {error}") from None
    if not isinstance(document, dict):
        raise DecodeError("unable to decode watch event: not an object")
    try:
        event_type = EventType(document.get("type", ""))
    except ValueError:
        raise DecodeError(f"got invalid watch event type: {document.get('type')}") from None
    data = orjson.dumps(document.get("object"))
    try:
        if event_type is EventType.ERROR:
            return ObjectEvent(event_type, decode_json(Status, data, find_unknown=False).object)
        return ObjectEvent(event_type, decode_object(data))
    except DecodeError as error:
        raise DecodeError(f"unable to decode watch event: {error}") from None


async def _read_chunk(response: Response) -> bytes:
    return await response.chunk()


_CONNECTION_ENDED: Final = (
    ConnectionResetError,
    ConnectionAbortedError,
    BrokenPipeError,
    TimeoutError,
)
"""Errors of a connection that ended without a proper close; they end a watch like EndOfStream."""
_BOOKMARK: Final = b'"BOOKMARK"'
_TYPE_BYTES: Final = 40
"""Bytes of a frame in which its type must appear, whatever its whitespace."""
_FRAME_PREFIXES: Final = tuple(
    (f'{{"type":"{event_type}","object":'.encode(), event_type)
    for event_type in EventType
    if event_type is not EventType.ERROR
)
