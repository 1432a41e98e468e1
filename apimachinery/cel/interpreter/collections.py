"""Collections: the functions of lists, sets and maps."""

from collections.abc import Iterator
from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from apimachinery.cel.checked_expression import Unsigned
from apimachinery.cel.interpreter.evaluation import Evaluation
from apimachinery.cel.interpreter.operators import add
from apimachinery.cel.interpreter.overloads import Overload, overload
from apimachinery.cel.interpreter.values import (
    OVERLOAD,
    CELError,
    Duration,
    Optional,
    ValueComparison,
    equal,
    less,
    type_name,
)

_LONGEST_RANGE: Final = 10_000_000
_SUMMABLE: Final = frozenset((int, Unsigned, float, Duration))


def overloads() -> Iterator[Overload]:
    """Yield the functions of lists, sets and maps."""
    yield overload("isSorted", "list", _is_sorted, _reading)
    yield overload("sum", "list", _sum, _reading)
    yield overload("min", "list", lambda items: _extreme("min", items, largest=False), _reading)
    yield overload("max", "list", lambda items: _extreme("max", items, largest=True), _reading)
    yield overload("indexOf", "list dyn", _index_of, _comparing)
    yield overload("lastIndexOf", "list dyn", _last_index_of, _comparing)
    yield overload(
        "includes", "list dyn", lambda items, item: _index_of(items, item) >= 0, _comparing
    )
    yield overload("includes", "dyn dyn", equal)
    yield overload("distinct", "list", _distinct, _every_pair)
    yield overload("flatten", "list", lambda items: _flatten(items, 1), _flattening)
    yield overload("flatten", "list int", _flatten, _flattening)
    yield overload("slice", "list int int", _slice, _reading)
    yield overload("sort", "list", _sort, _sorting)
    yield overload("@sortByAssociatedKeys", "list list", _sort_by_keys, _sorting)
    yield overload("reverse", "list", lambda items: items[::-1], _reading)
    yield overload("first", "list", lambda items: _optional(items[:1]))
    yield overload("last", "list", lambda items: _optional(items[-1:]))
    yield overload("lists.range", "int", _range, lambda count: max(1, count // 5))
    yield overload("sets.contains", "list list", _contains, _pairs(1))
    yield overload(
        "sets.equivalent",
        "list list",
        lambda left, right: _contains(left, right) and _contains(right, left),
        _pairs(2),
    )
    yield overload("sets.intersects", "list list", _intersects, _pairs(1))
    yield overload("cel.@mapInsert", "map dyn dyn", _insert)
    yield overload("cel.@mapInsert", "map map", _insert_all)


def _reading(items: list[Any], *others: Any) -> int:
    return len(items)


def _weight(value: Any) -> int:
    """Return the number of values within a value, as the time to compare it depends on it."""
    if isinstance(value, list):
        return 1 + sum(map(_weight, value))
    if isinstance(value, dict):
        return 1 + sum(map(_weight, value.values()))
    return 1


def _comparing(items: list[Any], item: Any) -> int:
    return len(items) * _weight(item)


def _every_pair(items: list[Any]) -> int:
    if all(type(item) is str for item in items):
        return len(items)
    return len(items) * _weight(items)


def _pairs(factor: int) -> Any:
    def cost(left: list[Any], right: list[Any]) -> int:
        compared = min(_weight(left) * len(right), _weight(right) * len(left))
        return 1 + factor * compared

    return cost


def _is_sorted(items: list[Any]) -> bool:
    return not any(less(after, before) for before, after in pairwise(items))


def _sum(items: list[Any]) -> Any:
    if not items:
        return 0
    if not all(type(item) in _SUMMABLE for item in items):
        raise CELError(OVERLOAD)
    evaluation = Evaluation({}, 0, limit=2**62)
    total = items[0]
    for item in items[1:]:
        total = add(evaluation, total, item)
    return total


def _extreme(name: str, items: list[Any], *, largest: bool) -> Any:
    if not items:
        raise CELError(f"{name} called on empty list")
    found = items[0]
    for item in items[1:]:
        if less(found, item) if largest else less(item, found):
            found = item
    return found


def _index_of(items: list[Any], item: Any) -> int:
    return next((at for at, candidate in enumerate(items) if equal(candidate, item)), -1)


def _last_index_of(items: list[Any], item: Any) -> int:
    found = _index_of(items[::-1], item)
    return len(items) - 1 - found if found >= 0 else -1


def _distinct(items: list[Any]) -> list[Any]:
    if all(type(item) is str for item in items):
        return list(dict.fromkeys(items))
    found: list[Any] = []
    for item in items:
        if not any(equal(item, known) for known in found):
            found.append(item)
    return found


def _flattening(items: list[Any], depth: int = 1) -> int:
    return len(items) + sum(
        _flattening(item, depth - 1) for item in items if isinstance(item, list) and depth > 0
    )


def _flatten(items: list[Any], depth: int) -> list[Any]:
    if depth < 0:
        raise CELError("level must be non-negative")
    flat: list[Any] = []
    for item in items:
        if not isinstance(item, list) or depth == 0:
            flat.append(item)
        else:
            flat.extend(_flatten(item, depth - 1))
    return flat


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise CELError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CELError(
            f"cannot slice({start}, {end}), start index must be less than or equal to end index"
        )
    if end > len(items):
        raise CELError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _sorting(items: list[Any], *others: Any) -> int:
    return len(items) * max(1, len(items).bit_length())


def _sort(items: list[Any]) -> list[Any]:
    return _sort_by_keys(items, items)


def _sort_by_keys(items: list[Any], keys: list[Any]) -> list[Any]:
    if len(items) != len(keys):
        raise CELError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys"
        )
    kinds = {type_name(key) for key in keys}
    if len(kinds) > 1:
        raise CELError("list elements must have the same type")
    pairs: list[tuple[Any, Any]] = list(zip(keys, items, strict=True))
    pairs.sort(key=cmp_to_key(_order_pairs))
    return [item for _, item in pairs]


def _order_pairs(left: tuple[Any, Any], right: tuple[Any, Any]) -> int:
    return _order(left[0], right[0])


def _order(left: Any, right: Any) -> int:
    try:
        return less(right, left) - less(left, right)
    except CELError as error:
        if str(error) == OVERLOAD:
            raise CELError("list elements must be comparable") from None
        raise


def _optional(items: list[Any]) -> Optional:
    return Optional(items[0], True) if items else Optional()


def _range(count: int) -> list[int]:
    if count < 0:
        raise CELError(f"lists.range: size must be non-negative, got {count}")
    if count > _LONGEST_RANGE:
        raise CELError(f"lists.range: size {count} exceeds maximum allowed ({_LONGEST_RANGE})")
    return list(range(count))


def _contains(items: list[Any], subset: list[Any]) -> bool:
    comparison = ValueComparison()
    return all(any(comparison.equal(item, other) for other in items) for item in subset)


def _intersects(left: list[Any], right: list[Any]) -> bool:
    comparison = ValueComparison()
    return any(any(comparison.equal(item, other) for other in left) for item in right)


def _insert(entries: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    if key in entries:
        raise CELError(f"insert failed: key {key} already exists")
    entries[key] = value
    return entries


def _insert_all(entries: dict[Any, Any], others: dict[Any, Any]) -> dict[Any, Any]:
    for key, value in others.items():
        _insert(entries, key, value)
    return entries
