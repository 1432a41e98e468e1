"""Rules that schemas imply beyond their keywords: unique items, and resources within resources.

A list of type "set" holds each value once, one of type "map" each combination of its keys. An
embedded resource says what it is, and its metadata is like any other.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import orjson

from apimachinery.fieldpath import FieldError, FieldErrors, Path, duplicate, invalid, required
from apimachinery.meta.metadata_validation import path_segment_name, validate_object_meta
from apimachinery.meta.types import ObjectMeta
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.names import is_dns1035_label
from apimachinery.schema import GroupVersion, InvalidGroupVersion
from apimachinery.structural.node import Node
from apimachinery.structural.value_checks import canonical

Inspect = Callable[[Any, Path], FieldErrors]


def compile_embedded(node: Node) -> Inspect | None:
    """What checks the resources that stand somewhere in values of *node*; None if none can."""
    return _walk(node, lambda found: _validate_embedded if found.embedded else None)


def compile_unique(node: Node) -> Inspect | None:
    """What finds items that stand twice where they may not; None if they may everywhere."""
    return _walk(node, _unique_items)


def _walk(node: Node, of_place: Callable[[Node], Inspect | None]) -> Inspect | None:
    own = of_place(node)
    members = {
        name: below for name, part in node.properties.items() if (below := _walk(part, of_place))
    }
    others = _walk(node.additional, of_place) if node.additional else None
    items = _walk(node.items, of_place) if node.items else None
    if own is None and not members and others is None and items is None:
        return None
    declared = frozenset(node.properties)

    def inspect(value: Any, path: Path) -> FieldErrors:
        if own is not None:
            yield from own(value, path)
        if isinstance(value, dict):
            for name, one in value.items():
                below = members.get(name) if name in declared else others
                if below is not None:
                    yield from below(one, path.child(name) if name in declared else path.key(name))
        elif isinstance(value, list) and items is not None:
            for position, one in enumerate(value):
                yield from items(one, path.index(position))

    return inspect


def _unique_items(node: Node) -> Inspect | None:
    if node.list_type == "set":
        return lambda value, path: _repeated(value, path, lambda item: item)
    if node.list_type == "map":
        keys = node.list_keys
        return lambda value, path: _repeated(value, path, lambda item: _keys_of(item, keys))
    return None


def _repeated(value: Any, path: Path, identity: Callable[[Any], Any]) -> Iterator[FieldError]:
    if not isinstance(value, list) or len(value) < 2:
        return
    seen: set[bytes] = set()
    told: set[bytes] = set()
    for position, item in enumerate(value):
        found = identity(item)
        key = canonical(found)
        if key in seen and key not in told:
            told.add(key)
            yield duplicate(path.index(position), found)
        seen.add(key)


def _keys_of(item: Any, keys: tuple[str, ...]) -> Any:
    if not isinstance(item, dict):
        return item
    return {key: item[key] for key in keys if key in item}


_MIXED_CASE: Final = "may have mixed case, but should otherwise match: "


def _validate_embedded(value: Any, path: Path) -> FieldErrors:
    if not isinstance(value, dict):
        return
    for name in ("apiVersion", "kind"):
        if name not in value:
            yield required(path.child(name), "must not be empty")
    if "apiVersion" in value:
        yield from _api_version(value["apiVersion"], path.child("apiVersion"))
    if "kind" in value:
        yield from _kind(value["kind"], path.child("kind"))
    if isinstance(value.get("metadata"), dict):
        yield from _metadata(value["metadata"], path.child("metadata"))


def _api_version(value: Any, path: Path) -> FieldErrors:
    if not isinstance(value, str):
        yield invalid(path, value, "must be a string")
        return
    if not value:
        yield invalid(path, value, "must not be empty")
    try:
        GroupVersion.parse(value)
    except InvalidGroupVersion as error:
        yield invalid(path, value, str(error))


def _kind(value: Any, path: Path) -> FieldErrors:
    if not isinstance(value, str):
        yield invalid(path, value, "must be a string")
    elif not value:
        yield invalid(path, value, "must not be empty")
    elif problems := is_dns1035_label(value.lower()):
        yield invalid(path, value, _MIXED_CASE + ",".join(problems))


def _metadata(value: dict[str, Any], path: Path) -> FieldErrors:
    try:
        metadata = decode_json(ObjectMeta, orjson.dumps(value), find_unknown=False).object
    except DecodeError as error:
        yield invalid(path, "", str(error))
        return
    # Its name is its owner's affair.
    metadata.name = metadata.name or "fakename"
    yield from validate_object_meta(
        metadata, namespaced=bool(metadata.namespace), name_rule=path_segment_name, path=path
    )
