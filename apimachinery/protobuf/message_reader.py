"""Reading: a parsed message becomes a plain document, by a table per class that is made once.

The document has the keys of JSON and values that need no more conversion; pydantic makes the
object, so constraints hold and errors are placed as for a JSON document. (To fill in the objects
here was measured to be no faster.) What is absent is left out, for the class to say its default.

The library's objects are slow to ask, so they are asked little: plain scalars come from one call,
lists and maps from another, and presence is asked only where it makes a difference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any

from apimachinery.model.model import Model
from apimachinery.protobuf.descriptors import Descriptors, inlined_name
from apimachinery.protobuf.field_forms import Convert
from apimachinery.protobuf.layout import Element, FieldSlot, Layout
from apimachinery.protobuf.protobuf_errors import InvalidProtobuf

Document = dict[str, Any]
Read = Callable[[Any], Document]
Fill = Callable[[Document, Any], None]
Zero = Callable[[], Any] | None


@dataclass(slots=True)
class _Table:
    """How to read one message."""

    scalars: list[tuple[str, str]] = field(default_factory=list)
    """Keys and names of what is itself, present or not."""
    repeated: list[tuple[str, str, Convert, Zero]] = field(default_factory=list)
    """Keys, names, functions of a list or map that is not empty, and what is put when it is."""
    singles: list[tuple[str, str, Convert, Zero]] = field(default_factory=list)
    """The same for fields whose presence matters."""
    inlined: dict[int, "_Table"] = field(default_factory=dict)
    """The tables of messages that JSON does not show."""


class Readers:
    """One reader per class."""

    def __init__(self, descriptors: Descriptors, layouts: Mapping[type[Model], Layout]) -> None:
        self._descriptors = descriptors
        self._layouts = layouts
        self._readers: dict[type[Model], Read] = {}

    def reader(self, cls: type[Model]) -> Read:
        """A function from a message of *cls* to a document."""
        known = self._readers.get(cls)
        if known is not None:
            return known
        # A type that holds itself meets this stand-in while it is being prepared.
        self._readers[cls] = lambda message: read(message)
        table = _Table()
        for slot in self._layouts[cls].slots:
            self._add(table, slot)
        read = self._readers[cls] = _reader(table)
        return read

    def _add(self, table: _Table, slot: FieldSlot) -> None:
        for number in slot.path[:-1]:
            table = table.inlined.setdefault(number, _Table())
        key, name, convert = slot.field.wire, slot.field.name, self._element_reader(slot.element)
        if slot.arity == "list":
            table.repeated.append((key, name, _list_reader(convert), _if_required(slot, list)))
        elif slot.arity == "map":
            table.repeated.append((key, name, _map_reader(convert), _if_required(slot, dict)))
        elif _is_simple(slot):
            table.scalars.append((key, name))
        else:
            zero = _if_required(slot, self._zero(slot.element))
            table.singles.append((key, name, self._single_reader(slot, convert), zero))

    def _element_reader(self, element: Element) -> Convert | None:
        if element.model is not None:
            return self.reader(element.model)
        if element.either is not None:
            read = self.reader(element.either)
            return lambda found: read(found.schema) if found.HasField("schema") else found.allows
        if element.items is not None:
            read_items = _list_reader(self._element_reader(element.items))
            return lambda message: read_items(message.items)
        return element.form.read if element.form is not None else None

    def _single_reader(self, slot: FieldSlot, convert: Convert | None) -> Convert:
        form = slot.element.form
        if form is not None and form.read_optional is not None and slot.field.type.optional:
            return form.read_optional
        return convert or _itself

    def _zero(self, element: Element) -> Zero:
        if element.model is None:
            return element.form.zero if element.form is not None else None
        empty, read = self._descriptors.model(element.model), self.reader(element.model)
        return lambda: read(empty())


def _itself(value: Any) -> Any:
    return value


def _if_required(slot: FieldSlot, zero: Zero) -> Zero:
    return zero if slot.field.required else None


def _is_simple(slot: FieldSlot) -> bool:
    """Whether the library's value is right whether the field is present or not."""
    form = slot.element.form
    if form is None or form.message or form.read is not None or slot.field.type.optional:
        return False
    return slot.field.required or bool(slot.field.default == form.zero())


_ALL = itemgetter(slice(None))


def _list_reader(convert: Convert | None) -> Convert:
    if convert is None:
        return _ALL
    return lambda values: [convert(value) for value in values]


def _map_reader(convert: Convert | None) -> Convert:
    if convert is None:
        return lambda values: {key: values[key] for key in values}
    return lambda values: {key: convert(values[key]) for key in values}


def _reader(table: _Table) -> Read:
    keys = tuple(key for key, _ in table.scalars)
    get = _getter([name for _, name in table.scalars])
    parts: list[Fill] = []
    if table.repeated:
        parts.append(_repeated_part(table))
    if table.singles:
        parts.append(_singles_part(table))
    parts.extend(_inlined_part(number, inner) for number, inner in table.inlined.items())

    def read(message: Any) -> Document:
        document = dict(zip(keys, get(message), strict=True))
        for fill in parts:
            fill(document, message)
        return document

    return read


def _repeated_part(table: _Table) -> Fill:
    get = _getter([name for _, name, _, _ in table.repeated])
    rules = [(key, convert, zero) for key, _, convert, zero in table.repeated]

    def fill(document: Document, message: Any) -> None:
        key = ""
        try:
            for (key, convert, zero), found in zip(rules, get(message), strict=True):
                if found:
                    document[key] = convert(found)
                elif zero is not None:
                    document[key] = zero()
        except InvalidProtobuf as error:
            raise error.under(key) from None

    return fill


def _singles_part(table: _Table) -> Fill:
    rules = [
        (key, name, attrgetter(name), convert, zero) for key, name, convert, zero in table.singles
    ]

    def fill(document: Document, message: Any) -> None:
        key, is_present = "", message.HasField
        try:
            for key, name, get, convert, zero in rules:
                if is_present(name):
                    document[key] = convert(get(message))
                elif zero is not None:
                    document[key] = zero()
        except InvalidProtobuf as error:
            raise error.under(key) from None

    return fill


def _inlined_part(number: int, table: _Table) -> Fill:
    get, read = attrgetter(inlined_name(number)), _reader(table)

    def fill(document: Document, message: Any) -> None:
        document.update(read(get(message)))

    return fill


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What takes all of *names* from an object at once; `attrgetter` does so only from two up."""
    if not names:
        return lambda message: ()
    getter = attrgetter(*names)
    return getter if len(names) > 1 else lambda message: (getter(message),)
