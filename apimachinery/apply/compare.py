"""Comparison of two values of one shape: the fields added, modified and removed.

A container that is added or removed is in the set itself, together with everything below it. A
leaf that both values have but that differs is modified.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from apimachinery.apply import path_elements as paths
from apimachinery.apply.apply_errors import ApplyProblem, InvalidValue
from apimachinery.apply.fieldset import EMPTY, FieldSet, SetBuilder
from apimachinery.apply.path_elements import Element
from apimachinery.apply.value_shapes import (
    ABSENT,
    CONTAINERS,
    JSON,
    MAPS,
    NOT_DECLARED,
    Concrete,
    as_list,
    as_map,
    check_depth,
    equal,
    field_shape,
    go_text,
    is_atomic,
    item_elements,
    resolve,
    same_serialization,
    undeclared_shape,
)
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape

_SERIALIZED_LEVELS: Final = 10
"""The levels of a document on which values are compared by their serialization first."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The fields in which a new value differs from an old one."""

    added: FieldSet = EMPTY
    modified: FieldSet = EMPTY
    removed: FieldSet = EMPTY

    @property
    def changed(self) -> FieldSet:
        """Return every field that was added, modified or removed."""
        return self.added | self.modified | self.removed

    def without(self, fields: FieldSet) -> "Comparison":
        """Return the comparison without *fields* and everything below them."""
        if not fields:
            return self
        return Comparison(
            self.added.recursive_difference(fields),
            self.modified.recursive_difference(fields),
            self.removed.recursive_difference(fields),
        )


def compare(old: JSON, new: JSON, shape: Shape) -> Comparison:
    """Return the fields that *new* adds to, modifies in and removes from *old*.

    Equal parts are skipped, and so are not validated against the shape. Raises InvalidValue if a
    part that differs does not match the shape.
    """
    comparer = _Comparer()
    try:
        comparer.visit(old, new, shape)
    except InvalidValue as error:
        raise error.under(paths.path_text(comparer.path)) from None
    return Comparison(comparer.added.build(), comparer.modified.build(), comparer.removed.build())


def compare_to_empty(new: JSON, shape: Shape) -> Comparison:
    """Return every field of *new* as added; raise InvalidValue if it does not match *shape*."""
    return Comparison(added=_all_below(new, shape, 0))


class _Comparer:
    def __init__(self) -> None:
        self.added = SetBuilder()
        self.modified = SetBuilder()
        self.removed = SetBuilder()
        self.path: list[Element] = []

    def visit(self, old: JSON, new: JSON, shape: Shape) -> None:
        if old is ABSENT:
            self.added.graft(self.path, _all_below(new, shape, len(self.path)))
        elif new is ABSENT:
            self.removed.graft(self.path, _all_below(old, shape, len(self.path)))
        else:
            check_depth(len(self.path))
            before, after = resolve(shape, old), resolve(shape, new)
            if before is not after:
                # An untyped value changed its kind, such as from map to list: the fields of the
                # old content are removed too.
                self._visit_as(old, new, before)
            self._visit_as(old, new, after)

    def _visit_as(self, old: JSON, new: JSON, shape: Concrete) -> None:
        if isinstance(shape, Scalar):
            self._visit_scalars(old, new)
        elif isinstance(shape, ListShape):
            old_items, new_items = as_list(old), as_list(new)
            if shape.type == "atomic" or not (old_items or new_items):
                self._visit_leaf(old, new)
            elif not (old_items and new_items and self._is_same(old_items, new_items)):
                self._visit_items(old_items, new_items, shape)
        else:
            old_fields, new_fields = as_map(old), as_map(new)
            if shape.atomic or not (old_fields or new_fields):
                self._visit_leaf(old, new)
            elif not (old_fields and new_fields and self._is_same(old_fields, new_fields)):
                self._visit_fields(old_fields, new_fields, shape)

    def _is_same(self, old: JSON, new: JSON) -> bool:
        # A serialization takes time in proportion to the size: at every level of a deep document,
        # that would be in proportion to the square of its depth.
        return len(self.path) < _SERIALIZED_LEVELS and same_serialization(old, new)

    def _visit_leaf(self, old: JSON, new: JSON) -> None:
        if not equal(old, new):
            self.modified.insert(self.path)

    def _visit_fields(
        self, old: dict[str, JSON], new: dict[str, JSON], shape: MapShape | StructShape
    ) -> None:
        for name in old | new:
            before, after = old.get(name, ABSENT), new.get(name, ABSENT)
            are_strings = isinstance(before, str) and isinstance(after, str)
            if are_strings and before == after:
                continue
            self.path.append(paths.field(name))
            field_type = field_shape(shape, name)
            if field_type is None:
                raise InvalidValue(ApplyProblem("", NOT_DECLARED))
            if are_strings and isinstance(field_type, Scalar):
                self.modified.insert(self.path)
            else:
                self.visit(before, after, field_type)
            self.path.pop()

    def _visit_items(self, old: list[JSON], new: list[JSON], shape: ListShape) -> None:
        before, after = _group_by_element(old, shape), _group_by_element(new, shape)
        for element in before | after:
            self.path.append(element)
            self._visit_item(before.get(element, ()), after.get(element, ()), shape.items)
            self.path.pop()

    def _visit_item(self, old: Sequence[JSON], new: Sequence[JSON], shape: Shape) -> None:
        """Compare the items of one identity; duplicates count as a single leaf."""
        if len(old) <= 1 and len(new) <= 1:
            self.visit(old[0] if old else ABSENT, new[0] if new else ABSENT, shape)
        elif len(old) > 1 and len(new) > 1:
            if not equal(list(old), list(new)):
                self.modified.insert(self.path)
        elif len(old) > 1:
            if new:
                self.visit(ABSENT, new[0], shape)
            self.removed.insert(self.path)
        else:
            if old:
                self.visit(old[0], ABSENT, shape)
            self.added.insert(self.path)

    def _visit_scalars(self, old: JSON, new: JSON) -> None:
        """Compare scalars; a container on one side only is a replaced leaf."""
        if isinstance(old, CONTAINERS) and isinstance(new, CONTAINERS):
            raise InvalidValue(ApplyProblem("", f"expected any scalar, got &{{{go_text(new)}}}"))
        self._visit_leaf(old, new)


def _all_below(value: JSON, shape: Shape, depth: int) -> FieldSet:
    """Return every field below an added or removed value, containers included."""
    check_depth(depth)
    concrete = resolve(shape, value)
    if not value or is_atomic(concrete):
        return EMPTY
    if isinstance(concrete, ListShape):
        return _all_items(as_list(value), concrete, depth)
    assert isinstance(concrete, MAPS)
    return _all_fields(as_map(value), concrete, depth)


def _all_items(items: list[JSON], shape: ListShape, depth: int) -> FieldSet:
    children: dict[Element, FieldSet] = {}
    grouped = _group_by_element(items, shape)
    for element, duplicates in grouped.items():
        if len(duplicates) == 1 and isinstance(duplicates[0], CONTAINERS):
            _add_below(children, element, duplicates[0], shape.items, depth)
    return FieldSet(frozenset(grouped), children)


def _all_fields(fields: dict[str, JSON], shape: MapShape | StructShape, depth: int) -> FieldSet:
    children: dict[Element, FieldSet] = {}
    members = []
    declared = shape.fields if isinstance(shape, StructShape) else {}
    undeclared = undeclared_shape(shape)
    for name, item in fields.items():
        field_type = declared.get(name, undeclared)
        if field_type is None:
            raise InvalidValue(ApplyProblem(f".{name}", NOT_DECLARED))
        element = f"f:{name}"
        members.append(element)
        if isinstance(item, CONTAINERS):
            _add_below(children, element, item, field_type, depth)
    return FieldSet(frozenset(members), children)


def _add_below(
    children: dict[Element, FieldSet], element: Element, value: JSON, shape: Shape, depth: int
) -> None:
    try:
        below = _all_below(value, shape, depth + 1)
    except InvalidValue as error:
        raise error.under(paths.element_text(element)) from None
    if below:
        children[element] = below


def _group_by_element(items: list[JSON], shape: ListShape) -> dict[Element, list[JSON]]:
    grouped: dict[Element, list[JSON]] = {}
    for element, item in zip(item_elements(shape, items), items, strict=True):
        grouped.setdefault(element, []).append(item)
    return grouped
