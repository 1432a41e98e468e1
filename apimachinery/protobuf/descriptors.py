"""Protobuf descriptors of Model classes, built from their layouts at run time.

The descriptors live in a pool of their own, and the library's C code parses the messages. Each
call of `Descriptors.add` adds one file to the pool, with the classes that it lacks. Messages have
explicit presence and expanded (not packed) lists, as in proto2; strings are checked to be UTF-8.
"""

from collections.abc import Iterable
from typing import cast

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from apimachinery.model.model import Model
from apimachinery.protobuf.field_forms import BOOL, MESSAGE, MESSAGES, PACKAGE, STRING
from apimachinery.protobuf.layout import Element, Layout
from apimachinery.protobuf.protobuf_errors import NoProtobufForm

_OPTIONAL = FieldDescriptorProto.LABEL_OPTIONAL
_REPEATED = FieldDescriptorProto.LABEL_REPEATED


class Descriptors:
    """The message classes of Models. Not thread-safe: callers hold a lock."""

    def __init__(self) -> None:
        self._pool = DescriptorPool()
        self._names: dict[type[Model], str] = {}
        self._files: list[str] = []
        self._add(_forms_file())

    def add(self, layouts: Iterable[Layout]) -> None:
        """Add classes; every class they refer to must be among them or added before.

        Raises NoProtobufForm if the library rejects a descriptor.
        """
        file = _file(f"models{len(self._files)}.proto")
        file.dependency.extend(self._files)
        layouts = tuple(layouts)
        names = dict(self._names)
        for layout in layouts:
            names[layout.cls] = f"{_identifier(layout.cls.__name__)}_{len(names)}"
        for layout in layouts:
            _describe(file.message_type.add(name=names[layout.cls]), layout, names)
        self._add(file)
        self._names = names

    def form(self, name: str) -> type[Message]:
        """Return the message class of a form, such as Time or Quantity."""
        return GetMessageClass(self._pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))

    def model(self, cls: type[Model]) -> type[Message]:
        """Return the message class of a Model class."""
        return self.form(self._names[cls])

    def _add(self, file: FileDescriptorProto) -> None:
        try:
            self._pool.Add(file)
        except TypeError as error:
            raise NoProtobufForm(str(error)) from None
        self._files.append(file.name)


def descriptor_of(message: type[Message]) -> Descriptor:
    # The type stubs cover both implementations of the library, so the type must be narrowed.
    return cast(Descriptor, message.DESCRIPTOR)


def inlined_name(number: int) -> str:
    """Return the field name of a message that JSON inlines; no Model field starts with `_`."""
    return f"_{number}"


def is_inlined(name: str) -> bool:
    return name.startswith("_")


def _file(name: str) -> FileDescriptorProto:
    file = FileDescriptorProto(
        name=name, package=PACKAGE, syntax="editions", edition=descriptor_pb2.EDITION_2023
    )
    file.options.features.repeated_field_encoding = descriptor_pb2.FeatureSet.EXPANDED
    return file


def _forms_file() -> FileDescriptorProto:
    file = _file("forms.proto")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_name, (number, kind) in fields.items():
            field = message.field.add(name=field_name, number=number, label=_OPTIONAL)
            if isinstance(kind, str):
                _refer(field, kind)
            else:
                field.type = kind
    return file


def _identifier(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name)


def _describe(message: DescriptorProto, layout: Layout, names: dict[type[Model], str]) -> None:
    for slot in layout.slots:
        parent, full_name = _message_at(message, slot.path[:-1])
        field = parent.field.add(
            name=slot.field.name, json_name=slot.field.wire, number=slot.path[-1]
        )
        field.label = _OPTIONAL if slot.arity == "one" else _REPEATED
        if slot.arity == "map":
            entry = parent.nested_type.add(name=f"_{field.number}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, label=_OPTIONAL, type=STRING)
            value = entry.field.add(name="value", number=2, label=_OPTIONAL)
            _refer(field, f"{full_name}.{entry.name}")
            field = value
        _set_type(field, slot.element, parent, full_name, names)


def _message_at(message: DescriptorProto, path: tuple[int, ...]) -> tuple[DescriptorProto, str]:
    """Return the message at *path* and its full name; create missing messages on the way."""
    full_name = message.name
    for number in path:
        name = f"Inlined{number}"
        full_name = f"{full_name}.{name}"
        nested_message = next(
            (nested for nested in message.nested_type if nested.name == name), None
        )
        if nested_message is None:
            field = message.field.add(name=inlined_name(number), number=number, label=_OPTIONAL)
            _refer(field, full_name)
            nested_message = message.nested_type.add(name=name)
        message = nested_message
    return message, full_name


def _set_type(
    field: FieldDescriptorProto,
    element: Element,
    parent: DescriptorProto,
    parent_name: str,
    names: dict[type[Model], str],
) -> None:
    if element.model is not None:
        _refer(field, names[element.model])
    elif element.either is not None:
        wrapper = parent.nested_type.add(name=f"Either{len(parent.nested_type)}")
        _refer(field, f"{parent_name}.{wrapper.name}")
        wrapper.field.add(name="allows", number=1, label=_OPTIONAL, type=BOOL)
        _refer(wrapper.field.add(name="schema", number=2, label=_OPTIONAL), names[element.either])
    elif element.one_or_list is not None:
        wrapper = parent.nested_type.add(name=f"OneOrList{len(parent.nested_type)}")
        _refer(field, f"{parent_name}.{wrapper.name}")
        model = names[element.one_or_list]
        _refer(wrapper.field.add(name="schema", number=1, label=_OPTIONAL), model)
        _refer(wrapper.field.add(name="schemas", number=2, label=_REPEATED), model)
    elif element.items is not None:
        wrapper = parent.nested_type.add(name=f"Items{len(parent.nested_type)}")
        _refer(field, f"{parent_name}.{wrapper.name}")
        items = wrapper.field.add(name="items", number=1, label=_REPEATED)
        _set_type(items, element.items, wrapper, f"{parent_name}.{wrapper.name}", names)
    elif element.form is not None and element.form.message:
        _refer(field, element.form.message)
    elif element.form is not None:
        field.type = element.form.type


def _refer(field: FieldDescriptorProto, message: str) -> None:
    field.type = MESSAGE
    field.type_name = f".{PACKAGE}.{message}"
