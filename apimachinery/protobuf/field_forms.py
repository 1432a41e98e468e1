"""Field forms: how each type that is not a Model is represented in a protobuf field.

Plain scalars are protobuf scalars. Times, quantities, raw documents and the like are small messages
that only this module reads and writes. The messages of the envelope (`Unknown`) and of watch events
are defined here too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args, get_origin

import orjson
from pydantic_core import from_json, to_json

from apimachinery.model.class_fields import TypeInfo
from apimachinery.model.wire_rules import sorted_deep
from apimachinery.protobuf.protobuf_errors import InvalidProtobuf
from apimachinery.scalars.duration import DURATION
from apimachinery.scalars.intstr import INT_OR_STRING
from apimachinery.scalars.quantity import InvalidQuantity, Quantity, parse_quantity
from apimachinery.scalars.time import MICRO_TIME, TIME
from apimachinery.scalars.wire_types import BASE64, FIELDS_V1, INT32, RAW
from apimachinery.serialization.document_size import check_values

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto

    ProtoType: TypeAlias = FieldDescriptorProto.Type.ValueType
else:
    ProtoType = int

Convert = Callable[[Any], Any]

# The numbers of descriptor.proto: which class has a form is known without the protobuf library.
DOUBLE: Final = cast(ProtoType, 1)
INT_64: Final = cast(ProtoType, 3)
INT_32: Final = cast(ProtoType, 5)
BOOL: Final = cast(ProtoType, 8)
STRING: Final = cast(ProtoType, 9)
MESSAGE: Final = cast(ProtoType, 11)
BYTES: Final = cast(ProtoType, 12)

PACKAGE: Final = "k8s"

MESSAGES: Final[Mapping[str, Mapping[str, tuple[int, ProtoType | str]]]] = {
    "Time": {"seconds": (1, INT_64), "nanos": (2, INT_32)},
    "Quantity": {"string": (1, STRING)},
    "IntOrString": {"type": (1, INT_64), "int_val": (2, INT_32), "str_val": (3, STRING)},
    "Duration": {"duration": (1, INT_64)},
    "Raw": {"raw": (1, BYTES)},
    "TypeMeta": {"api_version": (1, STRING), "kind": (2, STRING)},
    "Unknown": {
        "type_meta": (1, "TypeMeta"),
        "raw": (2, BYTES),
        "content_encoding": (3, STRING),
        "content_type": (4, STRING),
    },
    "WatchEvent": {"type": (1, STRING), "object": (2, "Raw")},
}
"""Name -> field -> number and type (or the name of another message)."""

ZERO_TIME: Final = datetime(1, 1, 1, tzinfo=UTC)
"""Go's zero time: an empty message in protobuf, null in JSON."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_OUT_OF_RANGE: Final = "the year is not between 1 and 9999"
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class FieldForm:
    """The form of one type; *read* and *write* are None if no conversion is needed."""

    type: ProtoType
    message: str = ""
    zero: Callable[[], Any] = str
    read: Convert | None = None
    write: Convert | None = None
    read_optional: Convert | None = None
    """Reads optional fields, for types whose zero value means unset: both become None."""


def form_of(info: TypeInfo) -> FieldForm | None:
    """Return the form of a scalar, a raw document or `Any`; None for other types."""
    for marker, form in _BY_MARKER:
        if info.marked(marker):
            return form
    if info.category == "any":
        return _ANY
    if info.category != "scalar":
        return None
    return _scalar(info.python)


def _scalar(python: Any) -> FieldForm | None:
    while hasattr(python, "__supertype__"):
        python = python.__supertype__
    if get_origin(python) is Literal:
        return _literal(get_args(python))
    if not isinstance(python, type):
        return None
    if issubclass(python, Enum):
        return _enum(python)
    return _BY_TYPE.get(python)


def _literal(values: tuple[Any, ...]) -> FieldForm | None:
    kinds = {type(value) for value in values}
    form = _BY_TYPE.get(kinds.pop()) if len(kinds) == 1 else None
    return None if form is None else FieldForm(form.type, zero=form.zero)


def _enum(python: type[Enum]) -> FieldForm | None:
    if not issubclass(python, str):
        return None
    members = {member.value: member for member in python}
    # Leave unknown values as strings: the validation of the whole object rejects them.
    return FieldForm(STRING, read=lambda text: members.get(text, text))


def _read_time(message: Any) -> datetime:
    # Ignore fractions of a second, as Kubernetes does: JSON cannot represent them.
    seconds = message.seconds
    return _to_datetime(seconds) if seconds or not _is_empty(message) else ZERO_TIME


def _read_micro_time(message: Any) -> datetime:
    if _is_empty(message):
        return ZERO_TIME
    try:
        return _to_datetime(message.seconds) + timedelta(microseconds=int(message.nanos / 1000))
    except OverflowError:
        raise InvalidProtobuf(_YEAR_OUT_OF_RANGE) from None


def _is_empty(message: Any) -> bool:
    return not message.HasField("seconds") and not message.HasField("nanos")


def _to_datetime(seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        raise InvalidProtobuf(f"{seconds} seconds: {_YEAR_OUT_OF_RANGE}") from None


def _none_if_zero(read: Callable[[Any], datetime]) -> Convert:
    def read_optional(message: Any) -> datetime | None:
        time = read(message)
        return None if time == ZERO_TIME else time

    return read_optional


def _write_time(value: datetime) -> dict[str, int]:
    if value == ZERO_TIME:
        return {}
    elapsed = value - _EPOCH
    return {"seconds": elapsed.days * 86400 + elapsed.seconds, "nanos": 0}


def _write_micro_time(value: datetime) -> dict[str, int]:
    if value == ZERO_TIME:
        return {}
    elapsed = value - _EPOCH
    return {"seconds": elapsed.days * 86400 + elapsed.seconds, "nanos": elapsed.microseconds * 1000}


def _read_quantity(message: Any) -> Quantity:
    if not message.HasField("string"):
        return Quantity(0)
    try:
        return parse_quantity(message.string)
    except InvalidQuantity as error:
        raise InvalidProtobuf(str(error)) from None


def _write_quantity(value: Quantity) -> dict[str, str]:
    return {"string": str(value)}


def _read_int_or_string(message: Any) -> int | str:
    kind = message.type
    if kind == 0:
        return message.int_val  # type: ignore[no-any-return]
    if kind == 1:
        return message.str_val  # type: ignore[no-any-return]
    raise InvalidProtobuf(f"type {kind}: must be 0 for an integer or 1 for a string")


def _write_int_or_string(value: int | str) -> dict[str, int | str]:
    if isinstance(value, str):
        return {"type": 1, "int_val": 0, "str_val": value}
    return {"type": 0, "int_val": value, "str_val": ""}


def _read_duration(message: Any) -> timedelta:
    nanoseconds = message.duration
    # Truncate, but never to zero, as when a duration is parsed from text.
    microseconds = abs(nanoseconds) // 1000 or min(abs(nanoseconds), 1)
    return timedelta(microseconds=-microseconds if nanoseconds < 0 else microseconds)


def _write_duration(value: timedelta) -> dict[str, int]:
    return {"duration": value // _MICROSECOND * 1000}


def _read_document(message: Any) -> dict[str, Any]:
    raw = message.raw
    if not raw:
        return {}
    document = _parse_json(raw)
    if document is None:
        return {}
    if type(document) is not dict:
        raise InvalidProtobuf(f"must be a JSON object, not {_json_type(document)}")
    return document


def _read_optional_document(message: Any) -> dict[str, Any] | None:
    return _read_document(message) if message.raw not in (b"", b"null") else None


def _read_any(message: Any) -> Any:
    return _parse_json(message.raw) if message.raw else None


def _parse_json(raw: bytes) -> Any:
    check_values(raw)
    try:
        return from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidProtobuf(f"must be JSON: {error}") from None


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str | list):
        return "a string" if isinstance(value, str) else "an array"
    return "a number"


def _write_json(value: Any) -> dict[str, bytes]:
    try:
        return {"raw": orjson.dumps(value, option=orjson.OPT_SORT_KEYS)}
    except TypeError:
        # Either an integer of more than 64 bits, which the slower encoder supports, or an
        # unsupported type, for which it raises a ValueError.
        return {"raw": to_json(sorted_deep(value))}


def _none() -> None:
    return None


_TIME: Final = FieldForm(
    MESSAGE, "Time", lambda: ZERO_TIME, _read_time, _write_time, _none_if_zero(_read_time)
)
_MICRO_TIME: Final = FieldForm(
    MESSAGE,
    "Time",
    lambda: ZERO_TIME,
    _read_micro_time,
    _write_micro_time,
    _none_if_zero(_read_micro_time),
)
_DOCUMENT: Final = FieldForm(
    MESSAGE, "Raw", dict, _read_document, _write_json, _read_optional_document
)
_ANY: Final = FieldForm(MESSAGE, "Raw", _none, _read_any, _write_json)

_BY_MARKER: Final[tuple[tuple[object, FieldForm], ...]] = (
    (TIME, _TIME),
    (MICRO_TIME, _MICRO_TIME),
    (RAW, _DOCUMENT),
    (FIELDS_V1, _DOCUMENT),
    (
        INT_OR_STRING,
        FieldForm(MESSAGE, "IntOrString", int, _read_int_or_string, _write_int_or_string),
    ),
    (DURATION, FieldForm(MESSAGE, "Duration", timedelta, _read_duration, _write_duration)),
    (INT32, FieldForm(INT_32, zero=int)),
    (BASE64, FieldForm(BYTES, zero=bytes)),
)

_BY_TYPE: Final[Mapping[Any, FieldForm]] = {
    str: FieldForm(STRING),
    int: FieldForm(INT_64, zero=int),
    bool: FieldForm(BOOL, zero=bool),
    float: FieldForm(DOUBLE, zero=float),
    bytes: FieldForm(BYTES, zero=bytes),
    Quantity: FieldForm(MESSAGE, "Quantity", lambda: Quantity(0), _read_quantity, _write_quantity),
}
