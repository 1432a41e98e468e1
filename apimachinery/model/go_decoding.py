"""The error that Go's JSON decoder reports for a document whose values have wrong types.

Kubernetes passes it on to clients. The decoder goes on after a value of a wrong type and reports
the first one; a type with a parser of its own, such as a quantity, ends it. The error names the
struct that has the field, and the fields on the way to it without list indexes and map keys.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, get_args

from pydantic import BaseModel

from apimachinery.model.class_fields import TypeInfo, fields_of
from apimachinery.model.go_names import (
    field_steps,
    field_type,
    item_type,
    scalar_kind,
    struct_name,
    type_name,
)
from apimachinery.scalars.duration import DURATION, InvalidDuration, parse_duration
from apimachinery.scalars.go_errors import base64_error, time_error
from apimachinery.scalars.intstr import INT_OR_STRING
from apimachinery.scalars.quantity import RULE_FORMAT, InvalidQuantity, Quantity, parse_quantity
from apimachinery.scalars.time import MICRO_TIME
from apimachinery.scalars.wire_types import (
    FIELDS_V1,
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    RAW,
)

_INT_DIGITS: Final = 20
_SHOWN_DIGITS: Final = 4096


class Members(list[tuple[str, Any]]):
    """The members of a JSON object in their order, with duplicates."""


class Number(str):
    """The text of a JSON number."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value is: the struct that has the field, and the path to it."""

    struct: str = ""
    steps: tuple[str, ...] = ()


class _Ended(Exception):
    """An error that ends the decoding."""


@dataclass(slots=True)
class _Decoder:
    """Walks over a document; *saved* is the first value of a wrong type."""

    saved: str = ""
    place: _Place = field(default_factory=_Place)

    def value(self, value: Any, info: TypeInfo, go_type: str) -> None:
        if value is None or info.marked(RAW) or info.marked(FIELDS_V1):
            return
        match info.category:
            case "model":
                self._struct(value, info.python, go_type)
            case "list" | "map":
                self._collection(value, info, go_type)
            case "scalar":
                self._scalar(value, info, go_type)

    def _struct(self, value: Any, cls: type[BaseModel], go_type: str) -> None:
        if not isinstance(value, Members):
            return self._mismatch(value, go_type)
        fields = {field.wire: field for field in fields_of(cls)}
        outer = self.place
        for name, item in value:
            if (known := fields.get(name)) is not None:
                self.place = _Place(struct_name(cls), outer.steps + field_steps(cls, known))
                self.value(item, known.type, field_type(cls, known))
        self.place = outer
        return None

    def _collection(self, value: Any, info: TypeInfo, go_type: str) -> None:
        if info.item is None:
            return None
        is_map = info.category == "map"
        if not isinstance(value, Members if is_map else list) or (
            not is_map and isinstance(value, Members)
        ):
            return self._mismatch(value, go_type)
        for item in (member for _, member in value) if is_map else value:
            self.value(item, info.item, item_type(go_type, info))
        return None

    def _scalar(self, value: Any, info: TypeInfo, go_type: str) -> None:
        match scalar_kind(info):
            case "string":
                self._expect(value, type(value) is str, go_type)
            case "bool":
                self._expect(value, isinstance(value, bool), go_type)
            case "float64":
                self._expect(value, isinstance(value, Number), go_type)
            case "int32" | "int64" as kind:
                self._integer(value, kind)
            case "[]uint8":
                self._bytes(value)
            case _:
                self._parsed(value, info)

    def _parsed(self, value: Any, info: TypeInfo) -> None:
        """Check a type with a parser of its own."""
        if info.marked(INT_OR_STRING):
            if type(value) is not str:
                self._integer(value, "int32", ends=True)
        elif info.python is Quantity:
            _check_quantity(value)
        elif info.python in (datetime, timedelta):
            self._text(value, info)
        elif (model := _schema_or_bool(info)) is not None and not isinstance(value, bool):
            if not isinstance(value, Members):
                raise _Ended("boolean or JSON schema expected")
            self.value(value, model, type_name(model))

    def _integer(self, value: Any, go_type: str, *, ends: bool = False) -> None:
        if not isinstance(value, Number):
            return self._mismatch(value, go_type, ends=ends)
        lowest, highest = (INT32_MIN, INT32_MAX) if go_type == "int32" else (INT64_MIN, INT64_MAX)
        is_short = len(value) <= _INT_DIGITS and value.lstrip("-").isdecimal()
        if not is_short or not lowest <= int(value) <= highest:
            self._mismatch(value, go_type, text=f"number {value[:_SHOWN_DIGITS]}", ends=ends)
        return None

    def _text(self, value: Any, info: TypeInfo) -> None:
        """Check a type whose parser reads a string."""
        if type(value) is not str:
            return self._mismatch(value, "string", ends=True)
        if info.marked(DURATION):
            try:
                parse_duration(value)
            except InvalidDuration as error:
                raise _Ended(str(error)) from None
        elif problem := time_error(value, micro=info.marked(MICRO_TIME)):
            raise _Ended(problem)
        return None

    def _bytes(self, value: Any) -> None:
        if type(value) is str:
            self._save(base64_error(value))
        elif isinstance(value, list) and not isinstance(value, Members):
            for item in value:
                is_byte = isinstance(item, Number) and item.isdecimal() and int(item[:4]) < 256
                text = f"number {item}" if isinstance(item, Number) else ""
                if item is not None and not is_byte:
                    self._mismatch(item, "uint8", text=text)
        else:
            self._mismatch(value, "[]uint8")

    def _expect(self, value: Any, is_right: bool, go_type: str) -> None:
        if not is_right:
            self._mismatch(value, go_type)

    def _mismatch(self, value: Any, go_type: str, *, text: str = "", ends: bool = False) -> None:
        path = ".".join(self.place.steps)
        target = f"struct field {self.place.struct}.{path}" if path else "value"
        message = f"json: cannot unmarshal {text or json_type(value)} into Go {target} of type"
        self._save(f"{message} {go_type}")
        if ends:
            raise _Ended(f"{message} {go_type}")

    def _save(self, message: str) -> None:
        self.saved = self.saved or message


def decoding_error(cls: type[BaseModel], data: bytes | str) -> str:
    """Return what Go's decoder reports for a document; empty if its values have the right types."""
    info = TypeInfo("model", cls)
    return type_error(info, type_name(info), data)


def type_error(info: TypeInfo, go_type: str, data: bytes | str) -> str:
    """Return what Go's decoder reports for a value of that type; empty if it has the type."""
    try:
        value = json.loads(data, object_pairs_hook=Members, parse_int=Number, parse_float=Number)
    except (ValueError, RecursionError):
        return ""
    decoder = _Decoder()
    try:
        decoder.value(value, info, go_type)
    except _Ended as ended:
        return str(ended)
    return decoder.saved


def json_type(value: Any) -> str:
    """Return the type of a JSON value in Go's words."""
    match value:
        case bool():
            return "bool"
        case Number() | int() | float():
            return "number"
        case str():
            return "string"
        case Members() | dict():
            return "object"
        case None:
            return "null"
    return "array"


def _schema_or_bool(info: TypeInfo) -> TypeInfo | None:
    """Return the Model of a union of a Model and a boolean, as in JSON schemas."""
    classes = [cls for cls in get_args(info.python) if isinstance(cls, type)]
    models = (TypeInfo("model", cls) for cls in classes if issubclass(cls, BaseModel))
    return next(models, None) if bool in classes else None


def _check_quantity(value: Any) -> None:
    try:
        if not isinstance(value, str):
            raise InvalidQuantity(json_type(value), RULE_FORMAT)
        parse_quantity(value.strip())
    except InvalidQuantity as error:
        raise _Ended(error.rule) from None
