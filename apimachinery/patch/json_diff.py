"""JSON diff: the JSON patch that turns one document into another.

A program that decodes a document to a class, changes the object and encodes it again has lost the
fields that the class does not know. `carry_over` puts them back, so that the patch contains the
changes of the program and nothing else.
"""

from collections import defaultdict
from collections.abc import Iterator

import orjson

from apimachinery.patch.json_values import JSONList, JSONObject, JSONValue, equal


def diff(old: JSONValue, new: JSONValue) -> JSONList:
    """Return the operations of a JSON patch that turns *old* into *new*; none if they are equal.

    Lists keep their common beginning and end; what is between is changed item by item if there are
    as many as before, and otherwise replaced.
    """
    return list(_differences(old, new, ""))


def carry_over(document: JSONValue, before: JSONValue, after: JSONValue) -> JSONValue:
    """Return *document* with the changes that lead from *before* to *after*.

    *before* is what a class made of *document*, and *after* the same object after a change. Fields
    that the class added, such as defaults, are part of the result; fields that it does not know,
    and the spelling of values that did not change, are those of *document*.
    """
    if isinstance(document, dict) and isinstance(before, dict) and isinstance(after, dict):
        return _merge_objects(document, before, after)
    if isinstance(document, list) and isinstance(before, list) and isinstance(after, list):
        return _merge_lists(document, before, after)
    return document if equal(before, after) else after


def _merge_objects(document: JSONObject, before: JSONObject, after: JSONObject) -> JSONObject:
    merged: JSONObject = {}
    for name, value in document.items():
        if name in after:
            known = name in before
            merged[name] = carry_over(value, before[name], after[name]) if known else after[name]
        elif name not in before:
            merged[name] = value
    merged.update((name, value) for name, value in after.items() if name not in document)
    return merged


def _merge_lists(document: JSONList, before: JSONList, after: JSONList) -> JSONList:
    if len(document) != len(before):
        return document if equal(before, after) else after
    # An item that has only moved keeps its unknown fields.
    moved: dict[bytes, list[int]] = defaultdict(list)
    for position in reversed(range(len(before))):
        moved[_identity(before[position])].append(position)
    remaining = {_identity(item) for item in after}
    merged: JSONList = []
    for position, item in enumerate(after):
        origins = moved[_identity(item)]
        if origins:
            origin = origins.pop()
            merged.append(carry_over(document[origin], before[origin], item))
        elif len(after) == len(before) and _identity(before[position]) not in remaining:
            merged.append(carry_over(document[position], before[position], item))
        else:
            merged.append(item)
    return merged


def _identity(value: JSONValue) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _differences(old: JSONValue, new: JSONValue, path: str) -> Iterator[JSONObject]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            if name in new:
                yield from _differences(value, new[name], f"{path}/{_escape(name)}")
            else:
                yield {"op": "remove", "path": f"{path}/{_escape(name)}"}
        for name, value in new.items():
            if name not in old:
                yield {"op": "add", "path": f"{path}/{_escape(name)}", "value": value}
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_differences(old, new, path)
    elif not equal(old, new):
        yield {"op": "replace", "path": path, "value": new}


def _list_differences(old: JSONList, new: JSONList, path: str) -> Iterator[JSONObject]:
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and equal(old[start], new[start]):
        start += 1
    end = 0
    while end < shorter - start and equal(old[-1 - end], new[-1 - end]):
        end += 1
    removed, added = old[start : len(old) - end], new[start : len(new) - end]
    if len(removed) == len(added):
        for position, (left, right) in enumerate(zip(removed, added, strict=True), start):
            yield from _differences(left, right, f"{path}/{position}")
        return
    for position in reversed(range(start, start + len(removed))):
        yield {"op": "remove", "path": f"{path}/{position}"}
    for position, value in enumerate(added, start):
        yield {"op": "add", "path": f"{path}/{position}", "value": value}


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
