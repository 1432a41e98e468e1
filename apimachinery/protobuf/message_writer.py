"""Message writers: convert an object to the arguments of a message, by rules built once per class.

Values that the library accepts as they are (strings, numbers, lists and maps of them) are passed
on unchanged; only fields with another form in protobuf are converted. As in Kubernetes, a field
that is not optional is always written, even if it is zero or an empty message; None is not written.
"""

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.message import EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from apimachinery.model.class_fields import fields_of
from apimachinery.model.model import Model
from apimachinery.protobuf.descriptors import descriptor_of, inlined_name
from apimachinery.protobuf.field_forms import Convert
from apimachinery.protobuf.layout import Element, FieldSlot, Layout, is_type_meta
from apimachinery.protobuf.protobuf_errors import InvalidProtobuf

_VALUE_ERRORS = (TypeError, ValueError, AttributeError, LookupError)

Changes = list[tuple[str, Convert]]
Moves = list[tuple[str, tuple[str, ...]]]


class Writers:
    """Builds and caches one writer per class."""

    def __init__(self, layouts: Mapping[type[Model], Layout]) -> None:
        self._layouts = layouts
        self._writers: dict[type[Model], Callable[[Any], dict[str, Any]]] = {}

    def writer(self, cls: type[Model]) -> Callable[[Any], dict[str, Any]]:
        """Return the function that converts an object of *cls* to the arguments of its message."""
        cached = self._writers.get(cls)
        if cached is not None:
            return cached
        dropped = tuple(field.name for field in fields_of(cls) if is_type_meta(cls, field))
        changes: Changes = []
        slots = self._layouts[cls].slots
        moves = [
            (slot.field.name, tuple(inlined_name(number) for number in slot.path[:-1]))
            for slot in slots
            if len(slot.path) > 1
        ]
        # Cached before its rules are complete, because a type may be recursive.
        only_fields = frozenset(slot.field.name for slot in slots if _is_only_field(slot, slots))
        self._writers[cls] = writer = _writer(dropped, changes, moves, only_fields)
        for slot in slots:
            convert = self._field_writer(slot)
            if convert is not None:
                changes.append((slot.field.name, convert))
        return writer

    def _field_writer(self, slot: FieldSlot) -> Convert | None:
        write = self._element_writer(slot.element)
        if write is None or slot.arity == "one":
            return write
        if slot.arity == "list":
            return lambda values: [write(value) for value in values]
        return lambda values: {key: write(value) for key, value in values.items()}

    def _element_writer(self, element: Element) -> Convert | None:
        if element.model is not None:
            return self.writer(element.model)
        if element.either is not None:
            return _either_writer(self.writer(element.either))
        if element.one_or_list is not None:
            write_one = self.writer(element.one_or_list)
            return lambda value: {"schema": write_one(value)}
        if element.items is not None:
            write = self._element_writer(element.items)
            if write is None:
                return lambda values: {"items": values}
            return lambda values: {"items": [write(value) for value in values]}
        return element.form.write if element.form is not None else None


def _is_only_field(slot: FieldSlot, slots: tuple[FieldSlot, ...]) -> bool:
    """Return whether a field is the only one in a message that JSON inlines."""
    return len(slot.path) > 1 and all(
        other is slot or other.path[0] != slot.path[0] for other in slots
    )


def _either_writer(write: Convert) -> Convert:
    def convert(value: Any) -> dict[str, Any]:
        if isinstance(value, bool):
            return {"allows": value}
        return {"allows": True, "schema": write(value)}

    return convert


def serialize(message: type[Message], values: dict[str, Any]) -> bytes:
    """Serialize a message, with maps sorted by key; raise InvalidProtobuf for invalid values."""
    try:
        return message(**values).SerializeToString(deterministic=True)
    except EncodeError as error:
        raise InvalidProtobuf(str(error)) from error
    except _VALUE_ERRORS as error:
        raise InvalidProtobuf(str(error), _invalid_path(message, values)) from error


def _invalid_path(message: type[Message], values: dict[str, Any]) -> str:
    """Return the path of the first value that *message* rejects, or "" if there is none."""
    fields = descriptor_of(message).fields_by_name
    for name, value in values.items():
        try:
            message(**{name: value})
        except _VALUE_ERRORS:
            field = fields.get(name)
            inner = field.message_type if field is not None else None
            documents = [item for item in _as_list(value) if isinstance(item, dict)]
            if inner is None or inner.GetOptions().map_entry or not documents:
                return name
            places = (_invalid_path(GetMessageClass(inner), document) for document in documents)
            return ".".join(filter(None, (name, next(filter(None, places), ""))))
    return ""


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _writer(
    dropped: tuple[str, ...], changes: Changes, moves: Moves, unless_none: frozenset[str]
) -> Callable[[Any], dict[str, Any]]:
    """Build a writer; fields in *unless_none* create their inlined message only if not None."""

    def write(model: Any) -> dict[str, Any]:
        values: dict[str, Any] = model.__dict__.copy()
        for name in dropped:
            del values[name]
        name = ""
        try:
            for name, convert in changes:
                value = values[name]
                if value is not None:
                    values[name] = convert(value)
        except InvalidProtobuf as error:
            raise error.under(name) from error.__cause__
        except _VALUE_ERRORS as error:
            raise InvalidProtobuf(str(error), name) from error
        for name, path in moves:
            value = values.pop(name)
            if value is None and name in unless_none:
                continue
            parent = values
            for step in path:
                parent = parent.setdefault(step, {})
            parent[name] = value
        return values

    return write
