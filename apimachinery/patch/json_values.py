"""JSON values: equality, depth and size, computed without recursion.

Python's `==` treats `1` and `True` as equal, and a recursive walk raises RecursionError on a
deeply nested document. The functions here iterate instead. The patch formats do recurse, but only
over a value whose depth they have checked first.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from apimachinery.patch.patch_errors import PatchError

JSONValue: TypeAlias = "dict[str, JSONValue] | list[JSONValue] | str | int | float | bool | None"
JSONObject: TypeAlias = dict[str, JSONValue]
JSONList: TypeAlias = list[JSONValue]
Container: TypeAlias = JSONObject | JSONList

MAX_DEPTH = 200
"""Maximum nesting depth: the JSON encoder cannot encode more than 254 levels."""


def equal(left: JSONValue, right: JSONValue) -> bool:
    """Return whether two values are equal JSON: `1` equals `1.0`, but not `true`."""
    pending = [(left, right)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, dict):
            if not isinstance(b, dict) or a.keys() != b.keys():
                return False
            pending.extend((value, b[key]) for key, value in a.items())
        elif isinstance(a, list):
            if not isinstance(b, list) or len(a) != len(b):
                return False
            pending.extend(zip(a, b, strict=True))
        elif isinstance(a, bool) is not isinstance(b, bool) or a != b:
            return False
    return True


def json_type(value: JSONValue) -> str:
    """Return the JSON type of a value as Go's decoder names it in messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def require_depth(value: JSONValue, name: str, error: type[PatchError], *, above: int = 0) -> None:
    """Raise *error* if *value*, with *above* levels above it, is nested deeper than `MAX_DEPTH`."""
    level: list[Container] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(MAX_DEPTH - above):
        if not level:
            return
        level = _next_level(level)
    if level:
        raise error(f"{name} is nested deeper than {MAX_DEPTH} levels")


def _next_level(parents: list[Container]) -> list[Container]:
    containers: list[Container] = []
    for parent in parents:
        children: Iterable[JSONValue] = parent.values() if isinstance(parent, dict) else parent
        containers += [child for child in children if isinstance(child, (dict, list))]
    return containers


def containers(value: JSONValue) -> Iterator[Container]:
    """Yield *value* and the containers in it, at any depth."""
    level: list[Container] = [value] if isinstance(value, (dict, list)) else []
    while level:
        yield from level
        level = _next_level(level)


def rough_size(value: JSONValue, limit: int) -> int:
    """Estimate the length of *value* as JSON text; stop counting soon after *limit*."""
    size = 0
    pending = [value]
    while pending and size <= limit:
        item = pending.pop()
        if isinstance(item, dict):
            size += 2 + sum(len(key) + 4 for key in item)
            pending.extend(item.values())
        elif isinstance(item, list):
            size += 2 + len(item)
            pending.extend(item)
        elif isinstance(item, str):
            size += len(item) + 2
        else:
            size += 4
    return size
