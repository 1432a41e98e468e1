"""Writing: an object becomes the arguments of a message, by a table per class that is made once.

What the library takes as it is (texts, numbers, lists and maps of them) is handed over untouched;
only fields that have another form in protobuf are visited. As in Kubernetes, a field that is not
optional is always written, even when it is zero or an empty message; None is not written.
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

_WRONG_VALUE = (TypeError, ValueError, AttributeError, LookupError)

Changes = list[tuple[str, Convert]]
Moves = list[tuple[str, tuple[str, ...]]]


class Writers:
    """One writer per class."""

    def __init__(self, layouts: Mapping[type[Model], Layout]) -> None:
        self._layouts = layouts
        self._writers: dict[type[Model], Callable[[Any], dict[str, Any]]] = {}

    def writer(self, cls: type[Model]) -> Callable[[Any], dict[str, Any]]:
        """A function from an object of *cls* to the arguments of its message."""
        known = self._writers.get(cls)
        if known is not None:
            return known
        dropped = tuple(field.name for field in fields_of(cls) if is_type_meta(cls, field))
        changes: Changes = []
        slots = self._layouts[cls].slots
        moves = [
            (slot.field.name, tuple(inlined_name(number) for number in slot.path[:-1]))
            for slot in slots
            if len(slot.path) > 1
        ]
        # Known before it is complete, because a type may hold itself.
        alone = frozenset(slot.field.name for slot in slots if _is_alone(slot, slots))
        self._writers[cls] = writer = _writer(dropped, changes, moves, alone)
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
        if element.items is not None:
            write = self._element_writer(element.items)
            if write is None:
                return lambda values: {"items": values}
            return lambda values: {"items": [write(value) for value in values]}
        return element.form.write if element.form is not None else None


def _is_alone(slot: FieldSlot, slots: tuple[FieldSlot, ...]) -> bool:
    """Whether a field is all that is in the message that JSON does not show."""
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
    """The bytes of a message, its maps in the order of their keys."""
    try:
        return message(**values).SerializeToString(deterministic=True)
    except EncodeError as error:
        raise InvalidProtobuf(str(error)) from error
    except _WRONG_VALUE as error:
        raise InvalidProtobuf(str(error), _culprit(message, values)) from error


def _culprit(message: type[Message], values: dict[str, Any]) -> str:
    """The path of the first value that *message* does not take; empty if it takes each alone."""
    fields = descriptor_of(message).fields_by_name
    for name, value in values.items():
        try:
            message(**{name: value})
        except _WRONG_VALUE:
            field = fields.get(name)
            inner = field.message_type if field is not None else None
            documents = [item for item in _listed(value) if isinstance(item, dict)]
            if inner is None or inner.GetOptions().map_entry or not documents:
                return name
            places = (_culprit(GetMessageClass(inner), document) for document in documents)
            return ".".join(filter(None, (name, next(filter(None, places), ""))))
    return ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _writer(
    dropped: tuple[str, ...], changes: Changes, moves: Moves, unless_none: frozenset[str]
) -> Callable[[Any], dict[str, Any]]:
    """*unless_none* are the fields whose message is only there if they are."""

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
        except _WRONG_VALUE as error:
            raise InvalidProtobuf(str(error), name) from error
        for name, path in moves:
            value = values.pop(name)
            if value is None and name in unless_none:
                continue
            holder = values
            for step in path:
                holder = holder.setdefault(step, {})
            holder[name] = value
        return values

    return write
