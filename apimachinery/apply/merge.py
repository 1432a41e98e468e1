"""Merging an applied configuration into the live object.

Nothing is removed by a merge: leaves of the configuration replace live ones, granular containers
are merged, and null or an empty container over a live granular one changes nothing.
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
    known_field_shape,
    resolve,
)
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape


def merge(live: JSON, applied: JSON, shape: Shape) -> JSON:
    """The *live* value with everything that *applied* says, or InvalidValue.

    Both have been validated; items with the same identity are tolerated in *live* only. The
    result shares its unchanged parts with both.
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
        below = known_field_shape(shape, name)
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
    ours = _indexed(applied_elements)
    theirs = _first_or_repeated(live_elements)
    merged = []
    for position, element in _interleave(live_elements, applied_elements):
        if element not in ours:
            merged.append(live_items[position])
            continue
        # Live items that share an identity are not merged with: the applied one replaces them.
        at = theirs.get(element, ABSENT)
        item = ABSENT if at is ABSENT else None if at is None else live_items[at]
        try:
            merged.append(_merge(item, applied_items[ours[element]], shape.items, depth + 1))
        except InvalidValue as error:
            raise error.under(paths.element_text(element)) from None
    return merged


def _indexed(elements: list[Element]) -> dict[Element, int]:
    found: dict[Element, int] = {}
    for position, element in enumerate(elements):
        if element in found:
            text = paths.element_text(element)
            raise InvalidValue(ApplyProblem("", f"duplicate entries for key {text}"))
        found[element] = position
    return found


def _first_or_repeated(elements: list[Element]) -> dict[Element, int | None]:
    """Where each element is, None if it is in more than one place."""
    found: dict[Element, int | None] = {}
    for position, element in enumerate(elements):
        found[element] = None if element in found else position
    return found


def _interleave(live: list[Element], applied: list[Element]) -> Iterator[tuple[int, Element]]:
    """The order of the merged list: each element, with its position if it is only live.

    Applied items come in the order they were applied in. Items that are only live keep their
    place relative to the shared items around them, as far as the applied order allows it.
    """
    in_applied, in_live = set(applied), set(live)
    shared = iter([element for element in applied if element in in_live])
    awaited = next(shared, None)
    done: set[Element] = set()
    position = 0
    for element in applied:
        while position < len(live):
            current = live[position]
            if current not in in_applied:
                yield position, current
            elif current == element or awaited in (None, current):
                if current == element or current in done:
                    position += 1
                break
            position += 1
        yield -1, element
        done.add(element)
        if element == awaited:
            awaited = next(shared, None)
    for rest in range(position, len(live)):
        if live[rest] not in in_applied:
            yield rest, live[rest]
