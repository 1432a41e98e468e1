"""New defaults: take fields that a defaulting function has set from one document to another."""

from collections.abc import Iterable
from typing import Any


def take_fields(document: Any, source: Any, paths: Iterable[str]) -> bool:
    """Copy the values at *paths* that only *source* has; return whether there were any.

    Both documents are of the same object, so their lists have the same elements; a list that a
    conversion has changed is left alone.
    """
    return sum(_take(document, source, path.split(".")) for path in paths) > 0


def _take(target: Any, source: Any, steps: list[str]) -> bool:
    if isinstance(target, list) and isinstance(source, list):
        if len(target) != len(source):
            return False
        return sum(_take(*pair, steps) for pair in zip(target, source, strict=True)) > 0
    if not isinstance(target, dict) or not isinstance(source, dict):
        return False
    first, *rest = steps
    if rest and first not in target and first not in source:
        # A map: the path continues in its values.
        return sum(_take(target[key], source[key], steps) for key in target if key in source) > 0
    if first not in source:
        return False
    if first not in target:
        if rest:
            return False
        target[first] = source[first]
        return True
    return _take(target[first], source[first], rest) if rest else False
