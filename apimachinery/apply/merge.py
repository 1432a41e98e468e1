"""Merge an applied configuration into the live object.

A merge removes nothing: leaves of the configuration replace live ones, granular containers are
merged, and null or an empty container leaves a live granular container as it is.
"""

from collections.abc import Iterator

from apimachinery.apply import path_elements as paths
from apimachinery.apply.apply_errors import ApplyProblem, InvalidValue
from apimachinery.apply.path_elements import Element
from apimachinery.apply.value_shapes import (
    ABSENT,
    JSON,
    as_list,
    as_map,
    check_depth,
    is_atomic,
    item_elements,
    require_field_shape,
    resolve,
)
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape


def merge(live: JSON, applied: JSON, shape: Shape) -> JSON:
    """Return *live* merged with *applied*; the result shares unchanged parts with both.

    Callers have validated both values. Only *live* may hold list items with the same identity:
    raises InvalidValue if *applied* does.
    """
    return _merge(live, applied, shape, 0)


def _merge(live: JSON, applied: JSON, shape: Shape, depth: int) -> JSON:
    if applied is ABSENT:
        return live
    check_depth(depth)
    concrete = resolve(shape, applied)
    if isinstance(concrete, Scalar) or is_atomic(concrete):
        return applied
    if isinstance(concrete, ListShape):
        return _merge_lists(live, applied, concrete, depth)
    return _merge_maps(live, applied, concrete, depth)


def _merge_maps(live: JSON, applied: JSON, shape: MapShape | StructShape, depth: int) -> JSON:
    live_fields, applied_fields = as_map(live), as_map(applied)
    if not live_fields and not applied_fields:
        return applied
    merged = dict(live_fields)
    for name, value in applied_fields.items():
        below = require_field_shape(shape, name)
        if isinstance(below, Scalar):
            merged[name] = value
            continue
        try:
            merged[name] = _merge(live_fields.get(name, ABSENT), value, below, depth + 1)
        except InvalidValue as error:
            raise error.under(f".{name}") from None
    return merged


def _merge_lists(live: JSON, applied: JSON, shape: ListShape, depth: int) -> JSON:
    live_items, applied_items = as_list(live), as_list(applied)
    if not live_items and not applied_items:
        return applied
    live_elements = item_elements(shape, live_items)
    applied_elements = item_elements(shape, applied_items)
    applied_positions = _positions(applied_elements)
    live_positions = _unique_positions(live_elements)
    merged = []
    for position, element in _interleave(live_elements, applied_elements):
        if element not in applied_positions:
            merged.append(live_items[position])
            continue
        # Duplicate live items are not merged with: the applied item replaces them.
        at = live_positions.get(element, ABSENT)
        live_item = ABSENT if at is ABSENT else None if at is None else live_items[at]
        applied_item = applied_items[applied_positions[element]]
        try:
            merged.append(_merge(live_item, applied_item, shape.items, depth + 1))
        except InvalidValue as error:
            raise error.under(paths.element_text(element)) from None
    return merged


def _positions(elements: list[Element]) -> dict[Element, int]:
    positions: dict[Element, int] = {}
    for position, element in enumerate(elements):
        if element in positions:
            text = paths.element_text(element)
            raise InvalidValue(ApplyProblem("", f"duplicate entries for key {text}"))
        positions[element] = position
    return positions


def _unique_positions(elements: list[Element]) -> dict[Element, int | None]:
    """Map each element to its position, or to None if it is repeated."""
    positions: dict[Element, int | None] = {}
    for position, element in enumerate(elements):
        positions[element] = None if element in positions else position
    return positions


def _interleave(live: list[Element], applied: list[Element]) -> Iterator[tuple[int, Element]]:
    """Yield the elements of the merged list in order, live-only elements with their position.

    Applied items keep the applied order. Live-only items keep their place relative to the shared
    items around them, as far as the applied order allows.
    """
    in_applied, in_live = set(applied), set(live)
    shared = iter([element for element in applied if element in in_live])
    next_shared = next(shared, None)
    done: set[Element] = set()
    position = 0
    for element in applied:
        while position < len(live):
            current = live[position]
            if current not in in_applied:
                yield position, current
            elif current == element or next_shared in (None, current):
                if current == element or current in done:
                    position += 1
                break
            position += 1
        yield -1, element
        done.add(element)
        if element == next_shared:
            next_shared = next(shared, None)
    for index in range(position, len(live)):
        if live[index] not in in_applied:
            yield index, live[index]
