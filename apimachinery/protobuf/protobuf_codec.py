"""ProtobufCodec: encode and decode objects as `application/vnd.kubernetes.protobuf`.

A body consists of four magic bytes and an envelope with the kind and the message. Decoding takes
two steps, because the caller must look up the class of the kind in between. A watch stream consists
of framed watch events; events have no envelope themselves, but the objects in them do.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError, Message

from apimachinery.lenient.lenient_schema import lenient_validator
from apimachinery.meta.types import ListMeta, TypeMeta
from apimachinery.model.fail_fast import LARGE, fail_fast_validator
from apimachinery.model.model import Model
from apimachinery.protobuf.descriptors import Descriptors, descriptor_of
from apimachinery.protobuf.field_forms import Convert
from apimachinery.protobuf.layout import Layout, lay_out
from apimachinery.protobuf.malformed import check_message
from apimachinery.protobuf.message_reader import Readers
from apimachinery.protobuf.message_size import has_many_fields
from apimachinery.protobuf.message_writer import Writers, serialize
from apimachinery.protobuf.protobuf_errors import InvalidProtobuf, NoProtobufForm
from apimachinery.serialization.document_size import too_many_values
from apimachinery.serialization.media_types import PROTOBUF

MAGIC: Final = b"k8s\x00"

_RAW: Final = 2
"""The number of the field of an envelope that is the message."""
_ENVELOPE_END: Final = b"\x1a\x00\x22\x00"
"""The fields after the message, encoding and type of the content, which are empty."""
_TOO_DEEP: Final = "messages are nested too deep"

ModelT = TypeVar("ModelT", bound=Model)


@dataclass(frozen=True, slots=True)
class Envelope:
    """The decoded envelope of an object; *raw* is its message, still encoded."""

    api_version: str
    kind: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class _Plan:
    message: type[Message]
    write: Convert
    read: Convert


class ProtobufCodec:
    """Encodes and decodes Models whose fields declare their numbers.

    Classes are prepared on first use and cached. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._descriptors = Descriptors()
        self._layouts: dict[type[Model], Layout] = {}
        self._writers = Writers(self._layouts)
        self._readers = Readers(self._descriptors, self._layouts)
        self._plans: dict[type[Model], _Plan | str] = {}
        self._unknown = self._descriptors.form("Unknown")
        self._watch_event = self._descriptors.form("WatchEvent")

    def supports(self, cls: type[Model]) -> bool:
        """Return whether *cls* and all classes it refers to can be encoded as protobuf."""
        try:
            self._plan(cls)
        except NoProtobufForm:
            return False
        return True

    def encode(self, obj: Model, *, api_version: str, kind: str) -> bytes:
        """Encode the whole body: magic bytes, envelope and message.

        Raises NoProtobufForm if the class cannot be encoded, and InvalidProtobuf if the object
        holds a value that its class does not allow.
        """
        return self.wrap(self.encode_raw(obj), api_version=api_version, kind=kind)

    def encode_raw(self, obj: Model) -> bytes:
        """Encode the message alone, as an item of a list."""
        plan = self._plan(type(obj))
        try:
            return serialize(plan.message, plan.write(obj))
        except InvalidProtobuf as error:
            raise error.under(type(obj).__name__) from error.__cause__
        except RecursionError:
            raise InvalidProtobuf(_TOO_DEEP, type(obj).__name__) from None

    def encode_list(
        self, metadata: ListMeta, items: Iterable[bytes], *, api_version: str, kind: str
    ) -> bytes:
        """Encode the body of a list from encoded items: the same bytes as `encode` of the list."""
        encoded = self.encode_items(items)
        head, end = self.enclose_list(metadata, len(encoded), api_version=api_version, kind=kind)
        return b"".join((head, encoded, end))

    def encode_items(self, items: Iterable[bytes]) -> bytes:
        """Encode some items of a list from their messages."""
        return b"".join([_length_delimited(2, item) for item in items])

    def enclose_list(
        self, metadata: ListMeta, size: int, *, api_version: str, kind: str
    ) -> tuple[bytes, bytes]:
        """Return what is before and after the items of a list, which have *size* bytes."""
        encoded = _length_delimited(1, self.encode_raw(metadata))
        envelope = self.wrap(b"", api_version=api_version, kind=kind)
        before = envelope.removesuffix(_field_header(_RAW, 0) + _ENVELOPE_END)
        return before + _field_header(_RAW, len(encoded) + size) + encoded, _ENVELOPE_END

    def wrap(self, raw: bytes, *, api_version: str, kind: str) -> bytes:
        """Wrap a message in its envelope, with the magic bytes."""
        return MAGIC + serialize(
            self._unknown,
            {
                "type_meta": {"api_version": api_version, "kind": kind},
                "raw": raw,
                "content_encoding": "",
                "content_type": "",
            },
        )

    def read_envelope(self, data: bytes) -> Envelope:
        """Decode the envelope of a body, to look up its class; kind and version may be empty.

        Raises InvalidProtobuf if the body is not a valid envelope.
        """
        if not data:
            raise InvalidProtobuf("empty data")
        if not data.startswith(MAGIC):
            raise InvalidProtobuf(
                "provided data does not appear to be a protobuf message, "
                f"expected prefix [{' '.join(map(str, MAGIC))}]"
            )
        if len(data) == len(MAGIC):
            raise InvalidProtobuf("empty body")
        unknown: Any = _parse(self._unknown, data[len(MAGIC) :])
        if unknown.content_encoding:
            raise InvalidProtobuf(
                f"unknown encoding {unknown.content_encoding[:64]!r}", "contentEncoding"
            )
        if unknown.content_type not in ("", PROTOBUF):
            raise InvalidProtobuf(
                f"{unknown.content_type[:64]!r} is not {PROTOBUF!r}", "contentType"
            )
        return Envelope(unknown.type_meta.api_version, unknown.type_meta.kind, unknown.raw)

    def decode(
        self,
        cls: type[ModelT],
        raw: bytes,
        *,
        api_version: str = "",
        kind: str = "",
        lenient: bool = False,
    ) -> ModelT:
        """Decode a message; set *api_version* and *kind* on the object if it has these fields.

        Absent fields get their default, absent required fields their zero value; unknown field
        numbers are ignored. Raises NoProtobufForm, InvalidProtobuf, and pydantic's ValidationError
        for violated constraints, with the same locations as for a JSON document; *lenient*
        decoding does not check constraints. Raises TooLarge for a message with too many fields.
        """
        plan = self._plan(cls)
        if has_many_fields(raw, descriptor_of(plan.message)):
            raise too_many_values()
        message = _parse(plan.message, raw)
        try:
            document = plan.read(message)
        except RecursionError:
            raise InvalidProtobuf(_TOO_DEEP) from None
        if issubclass(cls, TypeMeta):
            document.setdefault("apiVersion", api_version)
            document.setdefault("kind", kind)
        if not lenient and len(raw) <= 2 * LARGE:
            return cls.model_validate(document)
        validator = lenient_validator(cls) if lenient else fail_fast_validator(cls)
        obj: ModelT = validator.validate_python(document)
        return obj

    def encode_watch_event(self, event_type: str, obj: bytes) -> bytes:
        """Encode a watch event without framing it; *obj* is a whole body, with its envelope."""
        return serialize(self._watch_event, {"type": event_type, "object": {"raw": obj}})

    def decode_watch_event(self, data: bytes) -> tuple[str, bytes]:
        """Return the type of an unframed watch event, and its object as a whole body."""
        event: Any = _parse(self._watch_event, data)
        return event.type, event.object.raw

    def _plan(self, cls: type[Model]) -> _Plan:
        plan = self._plans.get(cls)
        if plan is None:
            with self._lock:
                plan = self._plans[cls] = self._plans.get(cls) or self._prepare(cls)
        if isinstance(plan, str):
            raise NoProtobufForm(plan)
        return plan

    def _prepare(self, cls: type[Model]) -> _Plan | str:
        """Build the plan of *cls*, or return the reason why there is none."""
        try:
            layouts = lay_out(cls, self._layouts)
            self._descriptors.add(layouts.values())
        except NoProtobufForm as error:
            return str(error)
        self._layouts.update(layouts)
        message = self._descriptors.model(cls)
        return _Plan(message, self._writers.writer(cls), self._readers.reader(cls))


def _parse(message_class: type[Message], data: bytes) -> Message:
    try:
        message = message_class.FromString(data)
    except DecodeError as error:
        check_message(data, descriptor_of(message_class))
        raise InvalidProtobuf("corrupt message") from error
    message.DiscardUnknownFields()
    if message.ByteSize() != len(data):
        # Unknown field numbers are allowed, but the library also discards fields of a wrong wire
        # type, which must be rejected.
        check_message(data, descriptor_of(message_class))
    return message


def _length_delimited(number: int, content: bytes) -> bytes:
    return _field_header(number, len(content)) + content


def _field_header(number: int, size: int) -> bytes:
    header = bytearray((number << 3 | 2,))
    while size > 0x7F:
        header.append(size & 0x7F | 0x80)
        size >>= 7
    header.append(size)
    return bytes(header)
