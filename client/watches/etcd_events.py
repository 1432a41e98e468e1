"""EtcdEventDecoder: decodes the watch events of an etcd v2 server for a `StreamWatcher`.

An etcd event is `{"action": "set", "node": {"value": ...}, "prevNode": ...}`, with an encoded
object as the value. The decoder demonstrates that only the decoder depends on the format of
events, and is a model for other sources, such as a message queue or a log.
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

_DELETE_ACTIONS: Final = ("delete", "expire", "compareAndDelete")
_WRITE_ACTIONS: Final = ("create", "set", "update", "compareAndSwap")
_EVENT_INDEX_CLEARED: Final = 401
"""etcd's error code for an index whose events it no longer has."""


class EtcdEventDecoder(Generic[ObjectT]):
    """Converts etcd events to object events; the modifiedIndex becomes the resourceVersion."""

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
        self._pending: list[bytes] = []

    async def decode(self) -> ObjectEvent[ObjectT | Status]:
        while not self._pending:
            chunk = await self._read()
            if not chunk:
                raise UnexpectedEndOfStream() if self._frames.pending else EndOfStream()
            self._pending = list(self._frames.feed(chunk))
        return self._decode_frame(self._pending.pop(0))

    def close(self) -> None:
        self._close()

    def _decode_frame(self, frame: bytes) -> ObjectEvent[ObjectT | Status]:
        document = _require_object(_load_json(frame), "event")
        if "errorCode" in document:
            return ObjectEvent(EventType.ERROR, _api_error(document).status)
        node = _require_object(document.get("node"), "node")
        previous = document.get("prevNode")
        event_type = _event_type(document.get("action"), previous is not None)
        # The node of a delete has no value; the last state of the object is in prevNode.
        deleted = event_type is EventType.DELETED
        value = (_require_object(previous, "prevNode") if deleted else node).get("value")
        if not isinstance(value, str):
            raise DecodeError("etcd event: value: must be a string")
        obj = self._decode_object(value.encode())
        obj.metadata.resource_version = str(node.get("modifiedIndex", ""))
        return ObjectEvent(event_type, obj)


def _api_error(document: dict[str, Any]) -> APIError:
    message = str(document.get("message", ""))
    if document["errorCode"] == _EVENT_INDEX_CLEARED:
        return Expired(message)
    return InternalError.of(f"etcd: {message} ({document['errorCode']})")


def _event_type(action: Any, existed: bool) -> EventType:
    if action in _DELETE_ACTIONS:
        return EventType.DELETED
    if action in _WRITE_ACTIONS:
        return EventType.MODIFIED if existed else EventType.ADDED
    raise DecodeError(f"etcd event: unknown action {action!r}")


def _load_json(frame: bytes) -> Any:
    try:
        return orjson.loads(frame)
    except ValueError as error:
        raise DecodeError(f"etcd event: {error}") from None


def _require_object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DecodeError(f"etcd event: {name}: must be an object")
    return value
