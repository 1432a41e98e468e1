"""JSON patch (RFC 6902): a list of operations, done in order, all or none.

The corners that the RFC and Kubernetes see differently are Kubernetes' (which uses version 4 of
evanphx/json-patch): an object has null for every member it does not have, so that `replace` adds
one and `test` finds null; indices below zero count from the end; what stands before the first
slash of a path is not looked at; the root can be replaced and tested, and nothing else.

The document is copied on write: a container is copied when an operation first touches it, and
what no operation touches is shared with the result. A patch of ten thousand operations therefore
costs ten thousand small steps and not ten thousand copies.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

from apimachinery.patch.json_values import (
    Container,
    JSONList,
    JSONObject,
    JSONValue,
    equal,
    json_type,
    require_depth,
    rough_size,
)
from apimachinery.patch.patch_errors import MalformedPatch, PatchFailed, PatchTooLarge

MAX_OPERATIONS = 10_000
MAX_COPIED = 3 * 1024 * 1024
"""Copies can double a document each; this many characters all of them together may add."""

MEMBERS: Final = ("op", "path", "from", "value")
"""What an operation can have."""

_INDEX: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_ESCAPE: Final = re.compile("~[01]")

Pointer = tuple[str, ...]


class _Refused(Exception):
    """The reason why one operation cannot be done."""


def apply(document: JSONValue, operations: JSONValue) -> JSONValue:
    """Return *document* after *operations*; what is no list of objects is malformed."""
    steps = _operations(operations)
    draft = _Draft(document)
    for index, operation in enumerate(steps):
        try:
            _perform(draft, operation)
        except _Refused as reason:
            raise PatchFailed(f"{_described(index, operation)}: {reason}") from None
    if any("from" in step for step in steps):
        require_depth(draft.root, "the patched document", PatchFailed)
    return draft.root


def _operations(patch: JSONValue) -> list[JSONObject]:
    if patch is None:
        return []
    if not isinstance(patch, list):
        raise MalformedPatch(_mistyped(patch, "jsonpatch.Patch"))
    if len(patch) > MAX_OPERATIONS:
        raise PatchTooLarge(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        )
    found: list[JSONObject] = []
    for index, operation in enumerate(patch):
        if operation is not None and not isinstance(operation, dict):
            raise MalformedPatch(_mistyped(operation, "jsonpatch.Operation"))
        found.append(operation or {})
        above = str(found[-1].get("path")).count("/")
        value = found[-1].get("value")
        require_depth(value, f"operation {index}: the value", MalformedPatch, above=above)
    return found


def _mistyped(value: JSONValue, wanted: str) -> str:
    return f"json: cannot unmarshal {json_type(value)} into Go value of type {wanted}"


def _described(index: int, operation: JSONObject) -> str:
    return f'operation {index}: {operation.get("op")} "{operation.get("path")}"'


def _text(operation: JSONObject, member: str) -> str:
    text = operation.get(member)
    if not isinstance(text, str):
        raise _Refused(f'"{member}" must be a string')
    return text


@dataclass(frozen=True, slots=True)
class _Place:
    """The member or element that a path names, and the containers on the way to it."""

    holders: Pointer
    token: str


def _place(text: str) -> _Place:
    before, *tokens = text.split("/")
    if not tokens:
        raise _Refused(f'"{before}" names no member: a path has a "/"')
    if "~" in text:
        tokens = [_ESCAPE.sub(_unescaped, token) for token in tokens]
    return _Place(tuple(tokens[:-1]), tokens[-1])


def _unescaped(escape: re.Match[str]) -> str:
    return "/" if escape[0] == "~1" else "~"


def _perform(draft: "_Draft", operation: JSONObject) -> None:
    match operation.get("op"):
        case "add":
            draft.add(_place(_text(operation, "path")), operation.get("value"))
        case "remove":
            draft.remove(_place(_text(operation, "path")))
        case "replace":
            _replace(draft, _text(operation, "path"), operation.get("value"))
        case "move":
            value = draft.remove(_place(_text(operation, "from")))
            draft.add(_place(_text(operation, "path")), value)
        case "copy":
            draft.copy(_place(_text(operation, "from")), _place(_text(operation, "path")))
        case "test":
            _test(draft, _text(operation, "path"), operation.get("value"))
        case _:
            raise _Refused("there is no such operation")


def _replace(draft: "_Draft", path: str, value: JSONValue) -> None:
    if path:
        draft.replace(_place(path), value)
    elif isinstance(value, (dict, list)):
        draft.root = value
    else:
        raise _Refused("the root can be an object or a list")


def _test(draft: "_Draft", path: str, value: JSONValue) -> None:
    found = draft.get(_place(path)) if path else draft.root
    if not equal(found, value):
        raise _Refused("the value there is another one")


class _Draft:
    """A document that is copied where it is written to."""

    def __init__(self, document: JSONValue) -> None:
        self.root = document
        self._copied = 0
        # Containers made by this draft and reachable by one path only: these can be changed in
        # place. The values keep them alive, so that no identity is used a second time.
        self._own: dict[int, Container] = {}

    def get(self, place: _Place) -> JSONValue:
        value = self.root
        for token in (*place.holders, place.token):
            value = _child(value, token)
        return value

    def add(self, place: _Place, value: JSONValue) -> None:
        holder = self._holder(place)
        if isinstance(holder, dict):
            holder[place.token] = value
        elif place.token == "-":
            holder.append(value)
        else:
            holder.insert(_index(place.token, len(holder) + 1), value)

    def remove(self, place: _Place) -> JSONValue:
        holder = self._holder(place)
        if isinstance(holder, list):
            return holder.pop(_index(place.token, len(holder)))
        if place.token not in holder:
            raise _Refused(f'member "{place.token}" does not exist')
        return holder.pop(place.token)

    def replace(self, place: _Place, value: JSONValue) -> None:
        _set(self._holder(place), place.token, value)

    def copy(self, source: _Place, target: _Place) -> None:
        value = self.get(source)
        self._copied += rough_size(value, MAX_COPIED)
        if self._copied > MAX_COPIED:
            raise _Refused(f"the copies of a JSON patch may add {MAX_COPIED} characters")
        # From here on two paths lead to the value, so nothing may be changed in place any more.
        self._own.clear()
        self.add(target, value)

    def _holder(self, place: _Place) -> Container:
        path = (*place.holders, place.token)
        self.root = node = self._writable(self.root, path[0])
        for token, following in pairwise(path):
            child = self._writable(_child(node, token), following)
            _set(node, token, child)
            node = child
        return node

    def _writable(self, value: JSONValue, token: str) -> Container:
        if not isinstance(value, (dict, list)):
            raise _Refused(f'"{token}" is looked up in a value that is no object and no list')
        if id(value) in self._own:
            return value
        copy = value.copy()
        self._own[id(copy)] = copy
        return copy


def _child(parent: JSONValue, token: str) -> JSONValue:
    if isinstance(parent, dict):
        return parent.get(token)
    if isinstance(parent, list):
        return parent[_index(token, len(parent))]
    raise _Refused(f'"{token}" is looked up in a value that is no object and no list')


def _set(parent: Container, token: str, value: JSONValue) -> None:
    if isinstance(parent, dict):
        parent[token] = value
    else:
        parent[_index(token, len(parent))] = value


def _index(token: str, length: int) -> int:
    """The position, of *length* there are, that a token names."""
    if not _INDEX.fullmatch(token):
        raise _Refused(f'"{token[:20]}" is not the index of a list element')
    index = int(token)
    if not -length <= index < length:
        raise _Refused(f"index {token[:20]} is outside of a list")
    return index + length if index < 0 else index


def create(source: JSONValue, target: JSONValue) -> JSONList:
    """Return operations that make *target* of *source*; not always the fewest."""
    require_depth(target, "the target", PatchFailed)
    operations: JSONList = [*_differences(source, target, "")]
    if len(operations) > MAX_OPERATIONS:
        return [{"op": "replace", "path": "", "value": target}]
    return operations


def _pointer(token: str) -> str:
    return "/" + token.replace("~", "~0").replace("/", "~1")


def _differences(source: JSONValue, target: JSONValue, path: str) -> Iterator[JSONObject]:
    if isinstance(source, dict) and isinstance(target, dict):
        yield from _object_differences(source, target, path)
    elif isinstance(source, list) and isinstance(target, list):
        yield from _list_differences(source, target, path)
    elif not equal(source, target):
        yield {"op": "replace", "path": path, "value": target}


def _object_differences(source: JSONObject, target: JSONObject, path: str) -> Iterator[JSONObject]:
    for key in source.keys() - target.keys():
        yield {"op": "remove", "path": path + _pointer(key)}
    for key, value in target.items():
        place = path + _pointer(key)
        if key in source:
            yield from _differences(source[key], value, place)
        else:
            yield {"op": "add", "path": place, "value": value}


def _list_differences(source: JSONList, target: JSONList, path: str) -> Iterator[JSONObject]:
    start = _common(zip(source, target, strict=False))
    end = _common(zip(reversed(source[start:]), reversed(target[start:]), strict=False))
    old, new = source[start : len(source) - end], target[start : len(target) - end]
    for offset, (before, after) in enumerate(zip(old, new, strict=False)):
        yield from _differences(before, after, f"{path}/{start + offset}")
    for offset in range(len(old) - 1, len(new) - 1, -1):
        yield {"op": "remove", "path": f"{path}/{start + offset}"}
    for offset in range(len(old), len(new)):
        yield {"op": "add", "path": f"{path}/{start + offset}", "value": new[offset]}


def _common(pairs: Iterator[tuple[JSONValue, JSONValue]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: equal(*pair), pairs))
