"""JSON patch (RFC 6902): a list of operations, applied in order, all or none.

Where the RFC and Kubernetes (version 4 of evanphx/json-patch) differ, this module follows
Kubernetes: a missing object member reads as null, so `replace` adds it and `test` matches null;
negative indices count from the end; text before the first slash of a path is ignored; the root can
only be replaced and tested.

The document is copied on write: a container is copied when an operation first changes it, and
untouched parts are shared with the result. A patch of ten thousand operations therefore costs ten
thousand small steps, not ten thousand copies.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

from apimachinery.patch.json_values import (
    MAX_DEPTH,
    Container,
    JSONList,
    JSONObject,
    JSONValue,
    containers,
    equal,
    json_type,
    require_depth,
    rough_size,
)
from apimachinery.patch.patch_errors import MalformedPatch, PatchFailed, PatchTooLarge

MAX_OPERATIONS = 10_000
MAX_COPIED = 3 * 1024 * 1024
"""Maximum characters that all copy operations together may add: each can double the document."""

MEMBERS: Final = ("op", "path", "from", "value")
"""The members of an operation."""

_INDEX: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_ESCAPE: Final = re.compile("~[01]")

_MAX_TOKENS: Final = 2 * MAX_DEPTH
"""No document is nested deeper, so the rest of a longer path need not be split."""

Pointer = tuple[str, ...]


class _OperationFailed(Exception):
    """An operation failed; the message gives the reason."""


def apply(document: JSONValue, operations: JSONValue) -> JSONValue:
    """Return *document* with *operations* applied.

    Raises MalformedPatch if *operations* is not a list of objects, PatchTooLarge if there are too
    many, and PatchFailed if one does not fit the document.
    """
    operation_list = _operations(operations)
    draft = _Draft(document)
    for index, operation in enumerate(operation_list):
        try:
            _perform(draft, operation)
        except _OperationFailed as reason:
            raise PatchFailed(f"{_describe(index, operation)}: {reason}") from None
    if any("from" in step for step in operation_list):
        require_depth(draft.root, "the patched document", PatchFailed)
    return draft.root


def check(operations: JSONValue) -> None:
    """Raise MalformedPatch or PatchTooLarge for operations that fit no document."""
    _operations(operations)


def _operations(patch: JSONValue) -> list[JSONObject]:
    if patch is None:
        return []
    if not isinstance(patch, list):
        raise MalformedPatch(_unmarshal_message(patch, "jsonpatch.Patch"))
    if len(patch) > MAX_OPERATIONS:
        raise PatchTooLarge(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        )
    operations: list[JSONObject] = []
    for index, operation in enumerate(patch):
        if operation is not None and not isinstance(operation, dict):
            raise MalformedPatch(_unmarshal_message(operation, "jsonpatch.Operation"))
        operations.append(operation or {})
        above = str(operations[-1].get("path")).count("/")
        value = operations[-1].get("value")
        require_depth(value, f"operation {index}: the value", MalformedPatch, above=above)
    return operations


def _unmarshal_message(value: JSONValue, go_type: str) -> str:
    return f"json: cannot unmarshal {json_type(value)} into Go value of type {go_type}"


def _describe(index: int, operation: JSONObject) -> str:
    return f'operation {index}: {operation.get("op")} "{operation.get("path")}"'


def _text(operation: JSONObject, member: str) -> str:
    text = operation.get(member)
    if not isinstance(text, str):
        raise _OperationFailed(f'"{member}" must be a string')
    return text


@dataclass(frozen=True, slots=True)
class _Place:
    """A parsed path: the tokens of the parent containers, and the last token."""

    parents: Pointer
    token: str


def _place(text: str) -> _Place:
    before, *tokens = text.split("/", _MAX_TOKENS)
    if not tokens:
        raise _OperationFailed(f'path "{before}" must contain a "/"')
    if "~" in text:
        tokens = [_ESCAPE.sub(_unescape, token) for token in tokens]
    return _Place(tuple(tokens[:-1]), tokens[-1])


def _unescape(escape: re.Match[str]) -> str:
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
            raise _OperationFailed(
                "unknown operation: use add, remove, replace, move, copy or test"
            )


def _replace(draft: "_Draft", path: str, value: JSONValue) -> None:
    if path:
        draft.replace(_place(path), value)
    elif isinstance(value, (dict, list)):
        draft.root = value
    else:
        raise _OperationFailed("the root must be an object or a list")


def _test(draft: "_Draft", path: str, value: JSONValue) -> None:
    actual = draft.get(_place(path)) if path else draft.root
    if not equal(actual, value):
        raise _OperationFailed("the value differs")


class _Draft:
    """A document with copy-on-write containers."""

    def __init__(self, document: JSONValue) -> None:
        self.root = document
        self._copied = 0
        # Containers that this draft copied and that are reachable by one path only: they can be
        # changed in place. Keyed by id; holding the values keeps an id from being reused.
        self._owned: dict[int, Container] = {}

    def get(self, place: _Place) -> JSONValue:
        value = self.root
        for token in (*place.parents, place.token):
            value = _child(value, token)
        return value

    def add(self, place: _Place, value: JSONValue) -> None:
        parent = self._writable_parent(place)
        if isinstance(parent, dict):
            parent[place.token] = value
        elif place.token == "-":
            parent.append(value)
        else:
            parent.insert(_index(place.token, len(parent) + 1), value)

    def remove(self, place: _Place) -> JSONValue:
        parent = self._writable_parent(place)
        if isinstance(parent, list):
            return parent.pop(_index(place.token, len(parent)))
        if place.token not in parent:
            raise _OperationFailed(f'member "{place.token}" does not exist')
        return parent.pop(place.token)

    def replace(self, place: _Place, value: JSONValue) -> None:
        _set(self._writable_parent(place), place.token, value)

    def copy(self, source: _Place, target: _Place) -> None:
        value = self.get(source)
        self._copied += rough_size(value, MAX_COPIED)
        if self._copied > MAX_COPIED:
            raise _OperationFailed(
                f"copy operations may add at most {MAX_COPIED} characters in total"
            )
        # Two paths now lead to the value, so its containers may not be changed in place any more.
        for container in containers(value):
            self._owned.pop(id(container), None)
        self.add(target, value)

    def _writable_parent(self, place: _Place) -> Container:
        path = (*place.parents, place.token)
        self.root = node = self._writable(self.root, path[0])
        for token, following in pairwise(path):
            child = self._writable(_child(node, token), following)
            _set(node, token, child)
            node = child
        return node

    def _writable(self, value: JSONValue, token: str) -> Container:
        if not isinstance(value, (dict, list)):
            raise _OperationFailed(f'"{token}" has a parent that is neither an object nor a list')
        if id(value) in self._owned:
            return value
        copy = value.copy()
        self._owned[id(copy)] = copy
        return copy


def _child(parent: JSONValue, token: str) -> JSONValue:
    if isinstance(parent, dict):
        return parent.get(token)
    if isinstance(parent, list):
        return parent[_index(token, len(parent))]
    raise _OperationFailed(f'"{token}" has a parent that is neither an object nor a list')


def _set(parent: Container, token: str, value: JSONValue) -> None:
    if isinstance(parent, dict):
        parent[token] = value
    else:
        parent[_index(token, len(parent))] = value


def _index(token: str, length: int) -> int:
    """Parse a list index; negative ones count from the end of *length* positions."""
    if not _INDEX.fullmatch(token):
        raise _OperationFailed(f'"{token[:20]}" is not a list index')
    index = int(token)
    if not -length <= index < length:
        raise _OperationFailed(f"index {token[:20]} is out of range")
    return index + length if index < 0 else index


def create(source: JSONValue, target: JSONValue) -> JSONList:
    """Return operations that turn *source* into *target*, not necessarily the fewest."""
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
    start = _common_length(zip(source, target, strict=False))
    end = _common_length(zip(reversed(source[start:]), reversed(target[start:]), strict=False))
    old, new = source[start : len(source) - end], target[start : len(target) - end]
    for offset, (before, after) in enumerate(zip(old, new, strict=False)):
        yield from _differences(before, after, f"{path}/{start + offset}")
    for offset in range(len(old) - 1, len(new) - 1, -1):
        yield {"op": "remove", "path": f"{path}/{start + offset}"}
    for offset in range(len(old), len(new)):
        yield {"op": "add", "path": f"{path}/{start + offset}", "value": new[offset]}


def _common_length(pairs: Iterator[tuple[JSONValue, JSONValue]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: equal(*pair), pairs))
