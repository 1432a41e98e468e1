"""Watches: a stream of frames turned into events, and the parts to turn other streams into them.

`StreamWatcher` asks a *decoder* for one event after the other and hands each to whoever iterates
its `result()`. Nothing is read ahead: a slow reader holds up the decoder, and through it the
server. The decoder can be exchanged (`etcd_events` has one for another protocol), and a
*reporter* turns its errors into the object of a last ERROR event.
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
from client.runtime.gc_pause import GC_PAUSER, gc_paused
from client.transport.error_responses import generic_status
from client.transport.transport import Response

log = logging.getLogger("apimachinery.client.watch")

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

CLIENT_WATCH_DECODING: Final = "ClientWatchDecoding"


class EndOfStream(Exception):
    """A stream came to its end between two events."""


class UnexpectedEndOfStream(EndOfStream):
    """A stream broke off in the middle of an event."""


class Decoder(Protocol[T_co]):
    """Makes events of some stream."""

    async def decode(self) -> ObjectEvent[T_co]:
        """The next event; EndOfStream when there are no more, DecodeError for what is none."""

    def close(self) -> None:
        """Let go of the stream; a waiting `decode` ends. Called once."""


class Reporter(Protocol):
    """Makes the object of an ERROR event of an exception."""

    def as_object(self, error: Exception) -> Status: ...


@dataclass(frozen=True, slots=True)
class StatusReporter:
    """Reports errors as the Status of a request that failed on this side."""

    code: int = 500
    verb: str = "GET"
    reason: str = CLIENT_WATCH_DECODING

    def as_object(self, error: Exception) -> Status:
        made = generic_status(self.code, verb=self.verb, text=str(error))
        details = made.details or StatusDetails()
        details.causes.append(StatusCause(reason=self.reason, message=str(error)))
        made.details = details
        return made


class StreamWatcher(Generic[T]):
    """The events of a decoder, until it ends or `stop` is called."""

    def __init__(self, decoder: Decoder[T | Status], reporter: Reporter | None = None) -> None:
        self._decoder = decoder
        self._reporter = reporter or StatusReporter()
        self._stopped = False

    def result(self) -> AsyncIterator[ObjectEvent[T | Status]]:
        """The events; every one is given to one reader only."""
        return self

    def stop(self) -> None:
        """End the stream, also under somebody who waits for its next event; may be repeated."""
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
            report = self._ending(error)
            self.stop()
            if report is None:
                raise StopAsyncIteration from None
            return report
        if self._stopped:  # while the event was on its way; nobody waits for it any more
            raise StopAsyncIteration
        return event

    async def __aenter__(self) -> "StreamWatcher[T]":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()

    async def aclose(self) -> None:
        self.stop()

    def _ending(self, error: BaseException) -> ObjectEvent[T | Status] | None:
        """What the end of the decoder means: most often nothing that needs saying."""
        if not isinstance(error, Exception):
            self.stop()
            raise error
        if self._stopped or type(error) is EndOfStream:
            return None
        if isinstance(error, UnexpectedEndOfStream):
            log.info("unexpected end of a watch: %s", error)
            return None
        if isinstance(error, _PROBABLE_END):
            log.debug("watch ended: %s", error)
            return None
        return ObjectEvent(EventType.ERROR, self._reporter.as_object(error))


@dataclass(frozen=True, slots=True)
class ListWatch(Generic[T]):
    """How to list a collection and how to watch it: all that a cache must know of a server."""

    list: Callable[[ListOptions], Awaitable[Page[T]]]
    watch: Callable[[ListOptions], Awaitable[StreamWatcher[T]]]


class EmptyDecoder:
    """A stream without events."""

    async def decode(self) -> ObjectEvent[Any]:
        raise EndOfStream

    def close(self) -> None:
        return None


class FrameDecoder(Generic[T]):
    """Events in Kubernetes' own form: `{"type": ..., "object": ...}`, one to a line."""

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
        # A bookmark has nothing but metadata, so it may lack what every object must have.
        self._decode_bookmark = decode_bookmark or decode_object
        self._read = read or _read
        self._frames = frames or LineFrames()
        self._ready: list[bytes] = []
        self._many = False

    async def decode(self) -> ObjectEvent[T | Status]:
        while not self._ready:
            chunk = await self._read(self._response)
            if not chunk:
                raise self._end()
            self._ready = list(self._frames.feed(chunk))
            self._ready.reverse()
            self._many = GC_PAUSER.prepare(len(chunk))
        frame = self._ready.pop()
        bookmark = _BOOKMARK in frame[:_BEGINNING]
        decode_object = self._decode_bookmark if bookmark else self._decode_object
        if not self._many:
            return decode_event(frame, decode_object)
        # One at a time all the same: who does not keep the object has its memory for the next.
        with gc_paused():
            return decode_event(frame, decode_object)

    def close(self) -> None:
        self._response.close()

    def _end(self) -> EndOfStream:
        if self._frames.pending:
            return UnexpectedEndOfStream("in the middle of an event")
        return EndOfStream()


def decode_event(frame: bytes, decode_object: Callable[[bytes], T]) -> ObjectEvent[T | Status]:
    """The event of one frame; its object is decoded by *decode_object*, an error's as a Status."""
    for start, kind in _STARTS:
        # As servers write it, the object can be cut out and is parsed only once.
        if frame.startswith(start):
            try:
                return ObjectEvent(kind, decode_object(frame.rstrip()[len(start) : -1]))
            except DecodeError:
                break  # written differently after all, or really wrong: say what
    return _decode_event(frame, decode_object)


def _decode_event(frame: bytes, decode_object: Callable[[bytes], T]) -> ObjectEvent[T | Status]:
    try:
        document = orjson.loads(frame)
    except ValueError as error:
        raise DecodeError(f"unable to decode watch event: {error}") from None
    if not isinstance(document, dict):
        raise DecodeError("unable to decode watch event: not an object")
    try:
        kind = EventType(document.get("type", ""))
    except ValueError:
        raise DecodeError(f"got invalid watch event type: {document.get('type')}") from None
    data = orjson.dumps(document.get("object"))
    try:
        if kind is EventType.ERROR:
            return ObjectEvent(kind, decode_json(Status, data, find_unknown=False).object)
        return ObjectEvent(kind, decode_object(data))
    except DecodeError as error:
        raise DecodeError(f"unable to decode watch event: {error}") from None


async def _read(response: Response) -> bytes:
    return await response.chunk()


_PROBABLE_END: Final = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, TimeoutError)
"""How the end of a stream looks when the other side did not say goodbye."""
_BOOKMARK: Final = b'"BOOKMARK"'
_BEGINNING: Final = 40
"""Bytes of a frame in which its type is, however it is spaced."""
_STARTS: Final = tuple(
    (f'{{"type":"{kind}","object":'.encode(), kind)
    for kind in EventType
    if kind is not EventType.ERROR
)
