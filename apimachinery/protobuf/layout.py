"""Layout: which fields a Model class and all it reaches have in protobuf, before any descriptor.

Everything that can be wrong with a class is found here, by its path, so what follows (descriptors,
plans) need not fail. A class is laid out once; types may be recursive.
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

Arity = Literal["one", "list", "map"]


@dataclass(frozen=True, slots=True)
class Element:
    """What a field, an item of a list or a value of a map is: exactly one of the four."""

    form: FieldForm | None = None
    model: type[Model] | None = None
    items: "Element | None" = None
    """A list inside a list or a map, which protobuf wraps in a message of its own: {items = 1}."""
    either: type[Model] | None = None
    """A Model or a boolean, which protobuf wraps as well: {allows = 1, schema = 2}."""


@dataclass(frozen=True, slots=True)
class FieldSlot:
    """A field of a Model and its place in the message."""

    field: ModelField
    path: tuple[int, ...]
    arity: Arity
    element: Element


@dataclass(frozen=True, slots=True)
class Layout:
    """One class."""

    cls: type[Model]
    slots: tuple[FieldSlot, ...]

    @property
    def models(self) -> Iterator[tuple[str, type[Model]]]:
        """The wire names of fields that hold other Models, and their classes."""
        for slot in self.slots:
            bottom = _bottom(slot.element)
            model = bottom.model or bottom.either
            if model is not None:
                yield slot.field.wire, model


def lay_out(root: type[Model], known: Container[type[Model]]) -> dict[type[Model], Layout]:
    """The layouts of *root* and of every class it reaches that is not yet *known*."""
    found: dict[type[Model], Layout] = {}
    queue = deque([(root, "")])
    while queue:
        cls, place = queue.popleft()
        if cls in found or cls in known:
            continue
        found[cls] = _layout(root, cls, place)
        queue.extend((model, _join(place, wire)) for wire, model in found[cls].models)
    return found


def _layout(root: type[Model], cls: type[Model], place: str) -> Layout:
    if cls.model_config.get("extra") == "allow":
        raise _no_form(root, place or cls.__name__, "keeps fields that it does not declare")
    slots = []
    for field in fields_of(cls):
        if not is_type_meta(cls, field):
            slots.append(_slot(root, field, _join(place, field.wire)))
    _check_numbers(root, place, slots)
    return Layout(cls, tuple(slots))


def is_type_meta(cls: type[BaseModel], field: ModelField) -> bool:
    """Whether *field* is one of the two that stand in the envelope, not in the message."""
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
        raise _no_form(root, place, f"has a type that protobuf does not have: {field.type.python}")
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
        return Element(model=info.python)
    if (model := _or_boolean(info)) is not None:
        return Element(either=model)
    if info.category == "list" and info.item is not None:
        inner = _element(info.item)
        return None if inner is None else Element(items=inner)
    return None


def _or_boolean(info: TypeInfo) -> type[Model] | None:
    """The Model of a union of one and a boolean."""
    arms = get_args(info.python) if info.category == "scalar" else ()
    models = [arm for arm in arms if isinstance(arm, type) and issubclass(arm, Model)]
    return models[0] if len(models) == 1 and set(arms) == {bool, models[0]} else None


def _bottom(element: Element) -> Element:
    while element.items is not None:
        element = element.items
    return element


def _check_numbers(root: type[Model], place: str, slots: list[FieldSlot]) -> None:
    taken: dict[tuple[int, ...], str] = {}
    for slot in slots:
        where = _join(place, slot.field.wire)
        if not slot.path or not all(map(_is_number, slot.path)):
            raise _no_form(root, where, f"has an illegal protobuf field number: {slot.path}")
        for other, wire in taken.items():
            shorter = min(len(other), len(slot.path))
            if other[:shorter] == slot.path[:shorter]:
                raise _no_form(root, where, f"has the protobuf field number of {wire}")
        taken[slot.path] = slot.field.wire


def _is_number(number: int) -> bool:
    return 0 < number < 2**29 and not 19000 <= number < 20000


def _no_form(root: type[Model], place: str, reason: str) -> NoProtobufForm:
    return NoProtobufForm(f"{root.__name__} has no protobuf form: {place} {reason}")


def _join(place: str, step: str) -> str:
    return f"{place}.{step}" if place else step
