"""A decoder for the events of an etcd v2 server: the same watcher over another protocol.

etcd announces `{"action": "set", "node": {"value": ...}, "prevNode": ...}`; the value is an object
of ours. It shows that nothing but the decoder knows how events are written, and serves as the
pattern for other sources (a message queue, a log).
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, TypeVar

import orjson

from apimachinery.errors import APIError, Expired, InternalError
from apimachinery.meta.status import Status
from apimachinery.meta.types import Object
from apimachinery.model.decoding import DecodeError
from apimachinery.serialization.serializer import LineFrames
from apimachinery.watch import EventType, ObjectEvent
from client.watches.stream_watcher import EndOfStream, UnexpectedEndOfStream

ObjectT = TypeVar("ObjectT", bound=Object)

_REMOVED: Final = ("delete", "expire", "compareAndDelete")
_WRITTEN: Final = ("create", "set", "update", "compareAndSwap")
_CLEARED: Final = 401
"""etcd's code for an index whose events it has forgotten."""


class EtcdEventDecoder(Generic[ObjectT]):
    """Events of etcd as events of objects; the modified index becomes the resourceVersion."""

    def __init__(
        self,
        read: Callable[[], Awaitable[bytes]],
        decode_object: Callable[[bytes], ObjectT],
        close: Callable[[], None],
    ) -> None:
        self._read = read
        self._decode_object = decode_object
        self._close = close
        self._frames = LineFrames()
        self._ready: list[bytes] = []

    async def decode(self) -> ObjectEvent[ObjectT | Status]:
        while not self._ready:
            chunk = await self._read()
            if not chunk:
                raise UnexpectedEndOfStream() if self._frames.pending else EndOfStream()
            self._ready = list(self._frames.feed(chunk))
        return self._event(self._ready.pop(0))

    def close(self) -> None:
        self._close()

    def _event(self, frame: bytes) -> ObjectEvent[ObjectT | Status]:
        document = _object(_loads(frame), "event")
        if "errorCode" in document:
            return ObjectEvent(EventType.ERROR, _error(document).status)
        node = _object(document.get("node"), "node")
        before = document.get("prevNode")
        kind = _kind(document.get("action"), before is not None)
        holder = _object(before, "prevNode") if kind is EventType.DELETED else node
        value = holder.get("value")
        if not isinstance(value, str):
            raise DecodeError("etcd event: value: must be a string")
        made = self._decode_object(value.encode())
        made.metadata.resource_version = str(node.get("modifiedIndex", ""))
        return ObjectEvent(kind, made)


def _error(document: dict[str, Any]) -> APIError:
    said = str(document.get("message", ""))
    if document["errorCode"] == _CLEARED:
        return Expired(said)
    return InternalError.of(f"etcd: {said} ({document['errorCode']})")


def _kind(action: Any, existed: bool) -> EventType:
    if action in _REMOVED:
        return EventType.DELETED
    if action in _WRITTEN:
        return EventType.MODIFIED if existed else EventType.ADDED
    raise DecodeError(f"etcd event: unknown action {action!r}")


def _loads(frame: bytes) -> Any:
    try:
        return orjson.loads(frame)
    except ValueError as error:
        raise DecodeError(f"etcd event: {error}") from None


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DecodeError(f"etcd event: {name}: must be an object")
    return value
