"""New defaults: take fields that a defaulting function has set from one document to another."""

from collections.abc import Iterable
from typing import Any

from apimachinery.evolution.document_paths import Fields, nodes_at

Pair = tuple[Any, Any]


def take_fields(document: Any, source: Any, paths: Iterable[str], fields: Fields) -> bool:
    """Copy the values at *paths* that only *source* has; return whether there were any.

    Both documents are of the same object and have *fields*, so their lists have the same elements;
    a list that a conversion has changed is left alone.
    """
    has_taken = False
    for path in paths:
        *outer, name = path.split(".")
        for target, defaulted in nodes_at((document, source), outer, fields, PairForm()):
            if name not in target and name in defaulted:
                target[name] = defaulted[name]
                has_taken = True
    return has_taken


class PairForm:
    """Two documents of the same object, entered together."""

    def field(self, node: Pair, name: str) -> Pair | None:
        pair = node[0].get(name), node[1].get(name)
        return None if None in pair else pair

    def elements(self, node: Pair, *, is_list: bool) -> list[Pair]:
        first, second = node
        if is_list and isinstance(first, list) and isinstance(second, list):
            return list(zip(first, second, strict=True)) if len(first) == len(second) else []
        if not is_list and isinstance(first, dict) and isinstance(second, dict):
            return [(first[key], second[key]) for key in first if key in second]
        return []

    def is_object(self, node: Pair) -> bool:
        return all(isinstance(document, dict) for document in node)
