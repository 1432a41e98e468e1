"""Descriptors: layouts written as the protobuf library wants them, in a pool of their own.

The messages are described at run time and parsed by the library's C code. Each call adds one file
to the pool, with the classes that were not in it yet. The messages have explicit presence and
expanded lists, as in proto2, and texts are checked to be UTF-8.
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
    """The messages of Model classes. Not safe for threads: its owner holds a lock."""

    def __init__(self) -> None:
        self._pool = DescriptorPool()
        self._names: dict[type[Model], str] = {}
        self._files: list[str] = []
        self._add(_forms_file())

    def add(self, layouts: Iterable[Layout]) -> None:
        """Describe classes; those they refer to must be among them or described before."""
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
        """The message class of one of the forms."""
        return GetMessageClass(self._pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))

    def model(self, cls: type[Model]) -> type[Message]:
        """The message class of a Model class."""
        return self.form(self._names[cls])

    def _add(self, file: FileDescriptorProto) -> None:
        try:
            self._pool.Add(file)
        except TypeError as error:
            raise NoProtobufForm(str(error)) from None
        self._files.append(file.name)


def descriptor_of(message: type[Message]) -> Descriptor:
    # The stubs allow for either of the library's two implementations.
    return cast(Descriptor, message.DESCRIPTOR)


def inlined_name(number: int) -> str:
    """The name of a message that JSON does not show; no field of a Model begins like it."""
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
        holder, full_name = _holder(message, slot.path[:-1])
        field = holder.field.add(
            name=slot.field.name, json_name=slot.field.wire, number=slot.path[-1]
        )
        field.label = _OPTIONAL if slot.arity == "one" else _REPEATED
        if slot.arity == "map":
            entry = holder.nested_type.add(name=f"_{field.number}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, label=_OPTIONAL, type=STRING)
            value = entry.field.add(name="value", number=2, label=_OPTIONAL)
            _refer(field, f"{full_name}.{entry.name}")
            field = value
        _set_type(field, slot.element, holder, full_name, names)


def _holder(message: DescriptorProto, path: tuple[int, ...]) -> tuple[DescriptorProto, str]:
    """The message at the end of *path* and its full name; what is missing on the way is made."""
    full_name = message.name
    for number in path:
        name = f"Inlined{number}"
        full_name = f"{full_name}.{name}"
        found = next((nested for nested in message.nested_type if nested.name == name), None)
        if found is None:
            field = message.field.add(name=inlined_name(number), number=number, label=_OPTIONAL)
            _refer(field, full_name)
            found = message.nested_type.add(name=name)
        message = found
    return message, full_name


def _set_type(
    field: FieldDescriptorProto,
    element: Element,
    holder: DescriptorProto,
    holder_name: str,
    names: dict[type[Model], str],
) -> None:
    if element.model is not None:
        _refer(field, names[element.model])
    elif element.either is not None:
        wrapper = holder.nested_type.add(name=f"Either{len(holder.nested_type)}")
        _refer(field, f"{holder_name}.{wrapper.name}")
        wrapper.field.add(name="allows", number=1, label=_OPTIONAL, type=BOOL)
        _refer(wrapper.field.add(name="schema", number=2, label=_OPTIONAL), names[element.either])
    elif element.items is not None:
        wrapper = holder.nested_type.add(name=f"Items{len(holder.nested_type)}")
        _refer(field, f"{holder_name}.{wrapper.name}")
        items = wrapper.field.add(name="items", number=1, label=_REPEATED)
        _set_type(items, element.items, wrapper, f"{holder_name}.{wrapper.name}", names)
    elif element.form is not None and element.form.message:
        _refer(field, element.form.message)
    elif element.form is not None:
        field.type = element.form.type


def _refer(field: FieldDescriptorProto, message: str) -> None:
    field.type = MESSAGE
    field.type_name = f".{PACKAGE}.{message}"
