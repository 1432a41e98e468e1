"""Message readers: convert a parsed message to a plain document, by a table built once per class.

The document has the keys of JSON and values that need no further conversion. Pydantic builds the
object from it, so constraints are checked and errors have the same locations as for a JSON
document. (Filling in the objects directly was measured to be no faster.) Absent fields are left
out of the document, so the class applies its defaults.

Accessing the library's message objects is slow, so reads are batched: plain scalars take one call,
lists and maps another, and presence is checked only where it makes a difference.
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
    """The rules for reading one message."""

    scalars: list[tuple[str, str]] = field(default_factory=list)
    """Keys and names of scalars that need no conversion and no check of presence."""
    repeated: list[tuple[str, str, Convert, Zero]] = field(default_factory=list)
    """Keys, names, converters and empty values of lists and maps."""
    singles: list[tuple[str, str, Convert, Zero]] = field(default_factory=list)
    """The same for fields whose presence is checked."""
    inlined: dict[int, "_Table"] = field(default_factory=dict)
    """The tables of messages that JSON inlines."""


class Readers:
    """Builds and caches one reader per class."""

    def __init__(self, descriptors: Descriptors, layouts: Mapping[type[Model], Layout]) -> None:
        self._descriptors = descriptors
        self._layouts = layouts
        self._readers: dict[type[Model], Read] = {}

    def reader(self, cls: type[Model]) -> Read:
        """Return the function that converts a message of *cls* to a document."""
        cached = self._readers.get(cls)
        if cached is not None:
            return cached
        # A recursive type uses this placeholder while its reader is being built.
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
        elif _is_plain_scalar(slot):
            table.scalars.append((key, name))
        else:
            zero = _if_required(slot, self._zero(slot.element))
            table.singles.append((key, name, self._single_reader(slot, convert), zero))

    def _element_reader(self, element: Element) -> Convert | None:
        if element.model is not None:
            return self.reader(element.model)
        if element.either is not None:
            read = self.reader(element.either)
            return lambda either: (
                read(either.schema) if either.HasField("schema") else either.allows
            )
        if element.one_or_list is not None:
            return _one_or_list_reader(self.reader(element.one_or_list))
        if element.items is not None:
            read_items = _list_reader(self._element_reader(element.items))
            return lambda message: read_items(message.items)
        return element.form.read if element.form is not None else None

    def _single_reader(self, slot: FieldSlot, convert: Convert | None) -> Convert:
        form = slot.element.form
        if form is not None and form.read_optional is not None and slot.field.type.optional:
            return form.read_optional
        return convert or _identity

    def _zero(self, element: Element) -> Zero:
        if element.model is None:
            return element.form.zero if element.form is not None else None
        empty, read = self._descriptors.model(element.model), self.reader(element.model)
        return lambda: read(empty())


def _one_or_list_reader(read: Read) -> Convert:
    def convert(message: Any) -> Any:
        if message.schemas:
            return [read(schema) for schema in message.schemas]
        return read(message.schema) if message.HasField("schema") else None

    return convert


def _identity(value: Any) -> Any:
    return value


def _if_required(slot: FieldSlot, zero: Zero) -> Zero:
    return zero if slot.field.required else None


def _is_plain_scalar(slot: FieldSlot) -> bool:
    """Return whether the library's value is correct even if the field is absent."""
    form = slot.element.form
    if form is None or form.message or form.read is not None or slot.field.type.optional:
        return False
    return slot.field.required or bool(slot.field.default == form.zero())


_COPY_LIST = itemgetter(slice(None))


def _list_reader(convert: Convert | None) -> Convert:
    if convert is None:
        return _COPY_LIST
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
            for (key, convert, zero), values in zip(rules, get(message), strict=True):
                if values:
                    document[key] = convert(values)
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
    """Return a function that gets all *names* of an object as a tuple.

    `attrgetter` returns a tuple only for two or more names.
    """
    if not names:
        return lambda message: ()
    getter = attrgetter(*names)
    return getter if len(names) > 1 else lambda message: (getter(message),)
