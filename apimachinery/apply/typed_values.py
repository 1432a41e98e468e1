"""Validate a value against its shape and compute its field set, both in one walk.

Leaves (scalars and atomic containers) are members of the set. A granular container is represented
by its content alone, unless it is empty or null, a list item or a map entry: then it is a member
itself.

Validation reports all problems up to a limit, not only the first, because the report is returned to
the client that sent the value.
"""

from typing import Final

from apimachinery.apply import path_elements as paths
from apimachinery.apply.apply_errors import ApplyProblem, InvalidValue
from apimachinery.apply.fieldset import EMPTY, MAX_DEPTH, FieldSet
from apimachinery.apply.path_elements import Element
from apimachinery.apply.scalar_types import go_description, is_of
from apimachinery.apply.value_shapes import (
    CONTAINERS,
    JSON,
    NOT_DECLARED,
    BadItem,
    go_text,
    item_element,
    resolve,
    undeclared_shape,
)
from apimachinery.fieldpath import shorten
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape

MAX_PROBLEMS: Final = 100
"""The maximum number of problems that are reported for one value."""


def field_set_of(
    value: JSON, shape: Shape, *, allow_duplicates: bool = False, context: str = ""
) -> FieldSet:
    """Return every field of *value*; raise InvalidValue with every mismatch with the shape.

    Two list items with the same identity are invalid unless *allow_duplicates* is set: a stored
    object may be older than the keys of its list. Duplicates are in the set once, as a leaf.
    *context* prefixes the error message.
    """
    walker = _Walker(allow_duplicates)
    fields = walker.visit(value, shape)
    if walker.problems:
        check_scalars(value, shape, allow_duplicates=allow_duplicates, context=context)
        raise InvalidValue(*walker.problems, context=context)
    return fields or EMPTY


def check_scalars(
    value: JSON, shape: Shape, *, allow_duplicates: bool = False, context: str = ""
) -> None:
    """Raise InvalidValue with every mismatch, those of scalars included.

    Decoding refuses scalars of other types, too, and much faster: this is for its error.
    """
    walker = _Walker(allow_duplicates, scalars=True)
    walker.visit(value, shape)
    if walker.problems:
        raise InvalidValue(*walker.problems, context=context)


def validate(
    value: JSON, shape: Shape, *, allow_duplicates: bool = False, context: str = ""
) -> None:
    """Raise InvalidValue if *value* does not match *shape*."""
    field_set_of(value, shape, allow_duplicates=allow_duplicates, context=context)


class _Walker:
    def __init__(self, allow_duplicates: bool, *, scalars: bool = False) -> None:
        self.problems: list[ApplyProblem] = []
        self._allow_duplicates = allow_duplicates
        self._scalars = scalars
        self._path: list[Element] = []

    def visit(self, value: JSON, shape: Shape) -> FieldSet | None:
        """Return the fields below *value*, or None if it is a leaf."""
        if len(self._path) > MAX_DEPTH:
            self._report(f"nested more than {MAX_DEPTH} levels deep")
            return None
        concrete = resolve(shape, value)
        if isinstance(concrete, Scalar):
            if isinstance(value, CONTAINERS) or (self._scalars and not is_of(concrete.type, value)):
                self._report(
                    f"expected {concrete.type}, got {go_description(value, concrete.type)}"
                )
            return None
        if isinstance(concrete, ListShape):
            fields = self._visit_list(value, concrete)
            return None if concrete.type == "atomic" else fields
        fields = self._visit_map(value, concrete)
        return None if concrete.atomic else fields

    def _visit_map(self, value: JSON, shape: MapShape | StructShape) -> FieldSet:
        if value is None:
            return EMPTY
        if not isinstance(value, dict):
            self._report(f"expected map, got &{{{go_text(value)}}}")
            return EMPTY
        members: set[Element] = set()
        children: dict[Element, FieldSet] = {}
        declared = shape.fields if isinstance(shape, StructShape) else {}
        undeclared = undeclared_shape(shape)
        for name, item in value.items():
            element = f"f:{name}"
            field_type = declared.get(name, undeclared)
            is_scalar = isinstance(field_type, Scalar) and not isinstance(item, CONTAINERS)
            if is_scalar and isinstance(name, str) and not self._scalars:
                members.add(element)
                continue
            below = self._visit_field(element, name, item, field_type)
            if below:
                children[element] = below
            if below is None or item is None or item == {} or name not in declared:
                members.add(element)
        return FieldSet(frozenset(members), children)

    def _visit_field(
        self, element: Element, name: object, item: JSON, shape: Shape | None
    ) -> FieldSet | None:
        below = None
        self._path.append(element)
        if shape is None:
            self._report(NOT_DECLARED)
        elif not isinstance(name, str):
            self._report(f"expected a string as field name, got {go_text(name)}")
        else:
            below = self.visit(item, shape)
        self._path.pop()
        return below

    def _visit_list(self, value: JSON, shape: ListShape) -> FieldSet:
        if value is None:
            return EMPTY
        if not isinstance(value, list):
            self._report(f"expected list, got &{{{go_text(value)}}}")
            return EMPTY
        members: set[Element] = set()
        children: dict[Element, FieldSet] = {}
        for position, item in enumerate(value):
            try:
                element = _identity(shape, position, item)
            except BadItem as error:
                self._report(f"element {position}: {error}")
                return EMPTY
            self._path.append(element)
            below = self.visit(item, shape.items)
            self._path.pop()
            if element in members:
                self._report_duplicate(element)
                children.pop(element, None)
            elif below:
                children[element] = below
            members.add(element)
        return FieldSet(frozenset(members), children)

    def _report_duplicate(self, element: Element) -> None:
        if not self._allow_duplicates:
            self._report(f"duplicate entries for key {paths.element_text(element)}")

    def _report(self, message: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            path = shorten(paths.path_text(self._path))
            self.problems.append(ApplyProblem(path, shorten(message)))


def _identity(shape: ListShape, position: int, item: JSON) -> Element:
    return paths.index(position) if shape.type == "atomic" else item_element(shape, item)
