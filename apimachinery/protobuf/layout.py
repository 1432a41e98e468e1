"""Protobuf layout of Model classes: the field numbers and element types, before any descriptor.

All checks of a class happen here and name the path of the offending field, so later steps
(descriptors, readers, writers) do not fail. Each class is laid out once; types may be recursive.
"""

from collections import deque
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import BaseModel

from apimachinery.meta.types import TypeMeta
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apimachinery.model.model import Model
from apimachinery.protobuf.field_forms import FieldForm, form_of
from apimachinery.protobuf.protobuf_errors import NoProtobufForm
from apimachinery.scalars.wire_types import OBJECT_OR_LIST

Arity = Literal["one", "list", "map"]


@dataclass(frozen=True, slots=True)
class Element:
    """The type of a field, list item or map value: exactly one of the attributes is set."""

    form: FieldForm | None = None
    model: type[Model] | None = None
    items: "Element | None" = None
    """A list inside a list or map, which protobuf wraps in a message: {items = 1}."""
    either: type[Model] | None = None
    """A Model or a boolean, which protobuf wraps in a message: {allows = 1, schema = 2}."""
    one_or_list: type[Model] | None = None
    """A Model or a list of them, which protobuf wraps in a message: {schema = 1, schemas = 2}."""


@dataclass(frozen=True, slots=True)
class FieldSlot:
    """A field of a Model and its position in the message."""

    field: ModelField
    path: tuple[int, ...]
    arity: Arity
    element: Element


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of one class."""

    cls: type[Model]
    slots: tuple[FieldSlot, ...]

    @property
    def models(self) -> Iterator[tuple[str, type[Model]]]:
        """Yield the wire names and classes of fields that hold other Models."""
        for slot in self.slots:
            innermost = _innermost(slot.element)
            model = innermost.model or innermost.either or innermost.one_or_list
            if model is not None:
                yield slot.field.wire, model


def lay_out(root: type[Model], existing: Container[type[Model]]) -> dict[type[Model], Layout]:
    """Return the layouts of *root* and of every class it refers to, except *existing* ones.

    Raises NoProtobufForm if a class cannot be represented in protobuf.
    """
    layouts: dict[type[Model], Layout] = {}
    queue = deque([(root, "")])
    while queue:
        cls, place = queue.popleft()
        if cls in layouts or cls in existing:
            continue
        layouts[cls] = _layout(root, cls, place)
        queue.extend((model, _join(place, wire)) for wire, model in layouts[cls].models)
    return layouts


def has_layout(cls: type[Model]) -> bool:
    """Return whether *cls* and all classes it refers to can be represented in protobuf.

    Needs no protobuf library, which only those load who encode or decode a message.
    """
    try:
        lay_out(cls, ())
    except NoProtobufForm:
        return False
    return True


def _layout(root: type[Model], cls: type[Model], place: str) -> Layout:
    if cls.model_config.get("extra") == "allow":
        raise _no_form(root, place or cls.__name__, "keeps undeclared fields")
    slots = []
    for field in fields_of(cls):
        if not is_type_meta(cls, field):
            slots.append(_slot(root, field, _join(place, field.wire)))
    _check_numbers(root, place, slots)
    return Layout(cls, tuple(slots))


def is_type_meta(cls: type[BaseModel], field: ModelField) -> bool:
    """Return whether *field* is apiVersion or kind, which the envelope holds."""
    inherited = issubclass(cls, TypeMeta) and field.name in TypeMeta.__pydantic_fields__
    return inherited and field.markers.proto is None


def _slot(root: type[Model], field: ModelField, place: str) -> FieldSlot:
    number = field.markers.proto
    if number is None:
        raise _no_form(root, place, "declares no protobuf field number")
    if not field.name.isascii():
        raise _no_form(root, place, "has a name that is not ASCII")
    path = (number,) if isinstance(number, int) else number
    arity, element = _arity(field.type)
    if element is None:
        raise _no_form(root, place, f"has a type without protobuf form: {field.type.python}")
    return FieldSlot(field, path, arity, element)


def _arity(info: TypeInfo) -> tuple[Arity, Element | None]:
    if form_of(info) is None and info.item is not None:
        return ("list" if info.category == "list" else "map"), _element(info.item)
    return "one", _element(info)


def _element(info: TypeInfo) -> Element | None:
    form = form_of(info)
    if form is not None:
        return Element(form=form)
    if info.category == "model":
        one_or_list = info.marked(OBJECT_OR_LIST)
        return Element(one_or_list=info.python) if one_or_list else Element(model=info.python)
    if (model := _model_or_boolean(info)) is not None:
        return Element(either=model)
    if info.category == "list" and info.item is not None:
        inner = _element(info.item)
        return None if inner is None else Element(items=inner)
    return None


def _model_or_boolean(info: TypeInfo) -> type[Model] | None:
    """Return the Model in a union of a Model and a boolean, else None."""
    alternatives = get_args(info.python) if info.category == "scalar" else ()
    models = [
        alternative
        for alternative in alternatives
        if isinstance(alternative, type) and issubclass(alternative, Model)
    ]
    return models[0] if len(models) == 1 and set(alternatives) == {bool, models[0]} else None


def _innermost(element: Element) -> Element:
    while element.items is not None:
        element = element.items
    return element


def _check_numbers(root: type[Model], place: str, slots: list[FieldSlot]) -> None:
    wire_names: dict[tuple[int, ...], str] = {}
    for slot in slots:
        field_place = _join(place, slot.field.wire)
        if not slot.path or not all(map(_is_number, slot.path)):
            raise _no_form(root, field_place, f"has an illegal protobuf field number: {slot.path}")
        for other_path, wire in wire_names.items():
            shorter = min(len(other_path), len(slot.path))
            if other_path[:shorter] == slot.path[:shorter]:
                raise _no_form(root, field_place, f"has the protobuf field number of {wire}")
        wire_names[slot.path] = slot.field.wire


def _is_number(number: int) -> bool:
    return 0 < number < 2**29 and not 19000 <= number < 20000


def _no_form(root: type[Model], place: str, reason: str) -> NoProtobufForm:
    return NoProtobufForm(f"{root.__name__} has no protobuf form: {place} {reason}")


def _join(place: str, step: str) -> str:
    return f"{place}.{step}" if place else step
