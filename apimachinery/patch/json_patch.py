"""JSON patch (RFC 6902): a list of operations, done in order, all or none.

The document is copied on write: a container is copied when an operation first touches it, and
what no operation touches is shared with the result. A patch of ten thousand operations therefore
costs ten thousand small steps and not ten thousand copies.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile

from apimachinery.patch.errors import MalformedPatch, PatchFailed, PatchTooLarge
from apimachinery.patch.values import (
    Container,
    JSONList,
    JSONObject,
    JSONValue,
    equal,
    require_depth,
    rough_size,
)

MAX_OPERATIONS = 10_000
MAX_COPIED = 3 * 1024 * 1024
"""Copies can double a document each; this many characters all of them together may add."""

_NEEDS_VALUE = frozenset({"add", "replace", "test"})
_NEEDS_FROM = frozenset({"move", "copy"})
_OPERATIONS = _NEEDS_VALUE | _NEEDS_FROM | {"remove"}

Pointer = tuple[str, ...]


class _Refused(Exception):
    """The reason why one operation cannot be done."""


def apply(document: JSONValue, operations: JSONValue) -> JSONValue:
    """Return *document* after *operations*; a malformed one is refused before any is tried."""
    if not isinstance(operations, list):
        raise MalformedPatch("a JSON patch must be a list of operations")
    if len(operations) > MAX_OPERATIONS:
        raise PatchTooLarge(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS},"
            f" got {len(operations)}"
        )
    steps = [_parse(index, operation) for index, operation in enumerate(operations)]
    draft = _Draft(document)
    for step in steps:
        try:
            _perform(draft, step)
        except _Refused as reason:
            raise PatchFailed(f"{step}: {reason}") from None
    if any(step.op in _NEEDS_FROM for step in steps):
        require_depth(draft.root, "the patched document", PatchFailed)
    return draft.root


@dataclass(frozen=True, slots=True)
class _Step:
    index: int
    op: str
    path: Pointer
    source: Pointer
    value: JSONValue

    def __str__(self) -> str:
        return f'operation {self.index}: {self.op} "{_pointer(self.path)}"'


def _parse(index: int, operation: JSONValue) -> _Step:
    place = f"operation {index}"
    if not isinstance(operation, dict):
        raise MalformedPatch(f"{place}: must be an object")
    op = operation.get("op")
    if not isinstance(op, str) or op not in _OPERATIONS:
        raise MalformedPatch(f'{place}: "op" must be one of {", ".join(sorted(_OPERATIONS))}')
    place = f"{place}: {op}"
    path = _parse_pointer(operation, "path", place)
    if op in _NEEDS_VALUE and "value" not in operation:
        raise MalformedPatch(f'{place} "{_pointer(path)}": "value" is missing')
    require_depth(operation.get("value"), f"{place}: the value", MalformedPatch, above=len(path))
    source = _parse_pointer(operation, "from", place) if op in _NEEDS_FROM else ()
    return _Step(index, op, path, source, operation.get("value"))


def _parse_pointer(operation: JSONObject, member: str, place: str) -> Pointer:
    text = operation.get(member)
    if not isinstance(text, str):
        raise MalformedPatch(f'{place}: "{member}" must be a string')
    if not text:
        return ()
    if not text.startswith("/"):
        raise MalformedPatch(f'{place}: "{member}" must be empty or start with "/", not "{text}"')
    tokens = text[1:].split("/")
    if "~" not in text:
        return tuple(tokens)
    if text.count("~") != text.count("~0") + text.count("~1"):
        raise MalformedPatch(f'{place}: "~" must be followed by 0 or 1 in "{text}"')
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


def _pointer(tokens: Pointer) -> str:
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)


def _perform(draft: "_Draft", step: _Step) -> None:
    match step.op:
        case "add":
            draft.add(step.path, step.value)
        case "remove":
            draft.remove(step.path)
        case "replace":
            draft.replace(step.path, step.value)
        case "move":
            _move(draft, step)
        case "copy":
            draft.copy(step.source, step.path)
        case _:
            if not equal(draft.get(step.path), step.value):
                raise _Refused("the value there is another one")


def _move(draft: "_Draft", step: _Step) -> None:
    if step.source == step.path:
        draft.get(step.path)
        return
    if step.path[: len(step.source)] == step.source:
        raise _Refused("a value cannot move into itself")
    draft.add(step.path, draft.remove(step.source))


class _Draft:
    """A document that is copied where it is written to."""

    def __init__(self, document: JSONValue) -> None:
        self.root = document
        self._copied = 0
        # Containers made by this draft and reachable by one path only: these can be changed in
        # place. The values keep them alive, so that no identity is used a second time.
        self._own: dict[int, Container] = {}

    def get(self, pointer: Pointer) -> JSONValue:
        value = self.root
        for token in pointer:
            value = _child(value, token)
        return value

    def add(self, pointer: Pointer, value: JSONValue) -> None:
        if not pointer:
            self.root = value
            return
        parent, token = self._parent(pointer), pointer[-1]
        if isinstance(parent, dict):
            parent[token] = value
        else:
            parent.insert(_index(token, len(parent), appending=True), value)

    def remove(self, pointer: Pointer) -> JSONValue:
        if not pointer:
            raise _Refused("the whole document cannot be removed")
        parent, token = self._parent(pointer), pointer[-1]
        removed = _child(parent, token)
        if isinstance(parent, dict):
            del parent[token]
        else:
            del parent[int(token)]
        return removed

    def replace(self, pointer: Pointer, value: JSONValue) -> None:
        if not pointer:
            self.root = value
            return
        parent, token = self._parent(pointer), pointer[-1]
        _child(parent, token)
        _set(parent, token, value)

    def copy(self, source: Pointer, target: Pointer) -> None:
        value = self.get(source)
        self._copied += rough_size(value, MAX_COPIED)
        if self._copied > MAX_COPIED:
            raise PatchTooLarge(f"the copies of a JSON patch may add {MAX_COPIED} characters")
        # From here on two paths lead to the value, so nothing may be changed in place any more.
        self._own.clear()
        self.add(target, value)

    def _parent(self, pointer: Pointer) -> Container:
        self.root = node = self._writable(self.root, pointer[0])
        for token, following in pairwise(pointer):
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
        if token not in parent:
            raise _Refused(f'member "{token}" does not exist')
        return parent[token]
    if isinstance(parent, list):
        return parent[_index(token, len(parent))]
    raise _Refused(f'"{token}" is looked up in a value that is no object and no list')


def _set(parent: Container, token: str, value: JSONValue) -> None:
    """Put *value* where `_child` has found one."""
    if isinstance(parent, dict):
        parent[token] = value
    else:
        parent[int(token)] = value


def _index(token: str, length: int, *, appending: bool = False) -> int:
    if appending and token == "-":
        return length
    if not (token.isascii() and token.isdigit()) or (token[0] == "0" and token != "0"):
        raise _Refused(f'"{token}" is not the index of a list element')
    last = length if appending else length - 1
    # The length is compared first: Python refuses to read numbers of thousands of digits.
    if len(token) > len(str(length)) or int(token) > last:
        raise _Refused(f"index {token[:20]} is outside of a list of {length}")
    return int(token)


def create(source: JSONValue, target: JSONValue) -> JSONList:
    """Return operations that make *target* of *source*; not always the fewest."""
    require_depth(target, "the target", PatchFailed)
    operations: JSONList = [*_differences(source, target, "")]
    if len(operations) > MAX_OPERATIONS:
        return [{"op": "replace", "path": "", "value": target}]
    return operations


def _differences(source: JSONValue, target: JSONValue, path: str) -> Iterator[JSONObject]:
    if isinstance(source, dict) and isinstance(target, dict):
        yield from _object_differences(source, target, path)
    elif isinstance(source, list) and isinstance(target, list):
        yield from _list_differences(source, target, path)
    elif not equal(source, target):
        yield {"op": "replace", "path": path, "value": target}


def _object_differences(source: JSONObject, target: JSONObject, path: str) -> Iterator[JSONObject]:
    for key in source.keys() - target.keys():
        yield {"op": "remove", "path": path + _pointer((key,))}
    for key, value in target.items():
        place = path + _pointer((key,))
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
