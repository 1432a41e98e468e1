"""Rules that schemas imply beyond their keywords: unique list items and embedded resources.

A list of type "set" holds each value once, and a list of type "map" each combination of its keys.
An embedded resource must have an apiVersion, a kind and valid metadata.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from apimachinery.fieldpath import FieldError, FieldErrors, Path, duplicate, invalid, required
from apimachinery.meta.metadata_validation import path_segment_name, validate_object_meta
from apimachinery.meta.types import ObjectMeta
from apimachinery.meta.unstructured import dump_content
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.names import is_dns1035_label
from apimachinery.schema import GroupVersion, InvalidGroupVersion
from apimachinery.structural.schema_node import SchemaNode
from apimachinery.structural.value_checks import canonical

Inspect = Callable[[Any, Path], FieldErrors]


def compile_embedded(node: SchemaNode) -> Inspect | None:
    """Compile the check of resources embedded in values of *node*; None if it has none."""
    return _compile_checks(node, lambda part: _validate_embedded if part.embedded else None)


def compile_unique(node: SchemaNode) -> Inspect | None:
    """Compile the check for duplicate list items; None if *node* allows them everywhere."""
    return _compile_checks(node, _compile_unique_items)


def _compile_checks(
    node: SchemaNode, compile_node: Callable[[SchemaNode], Inspect | None]
) -> Inspect | None:
    """Combine the checks of *node* and of all nodes below it; None if there are none."""
    own = compile_node(node)
    members = {
        name: below
        for name, part in node.properties.items()
        if (below := _compile_checks(part, compile_node))
    }
    additional = _compile_checks(node.additional, compile_node) if node.additional else None
    items = _compile_checks(node.items, compile_node) if node.items else None
    if own is None and not members and additional is None and items is None:
        return None
    declared = frozenset(node.properties)

    def inspect(value: Any, path: Path) -> FieldErrors:
        if own is not None:
            yield from own(value, path)
        if isinstance(value, dict):
            for name, member in value.items():
                below = members.get(name) if name in declared else additional
                if below is not None:
                    place = path.child(name) if name in declared else path.key(name)
                    yield from below(member, place)
        elif isinstance(value, list) and items is not None:
            for position, item in enumerate(value):
                yield from items(item, path.index(position))

    return inspect


def _compile_unique_items(node: SchemaNode) -> Inspect | None:
    if node.list_type == "set":
        return lambda value, path: _report_duplicates(value, path, lambda item: item)
    if node.list_type == "map":
        keys = node.list_keys
        return lambda value, path: _report_duplicates(
            value, path, lambda item: _select_keys(item, keys)
        )
    return None


def _report_duplicates(
    value: Any, path: Path, identity: Callable[[Any], Any]
) -> Iterator[FieldError]:
    if not isinstance(value, list) or len(value) < 2:
        return
    keys: set[bytes] = set()
    reported: set[bytes] = set()
    for position, item in enumerate(value):
        item_identity = identity(item)
        key = canonical(item_identity)
        # Report each duplicate once, as Kubernetes does.
        if key in keys and key not in reported:
            reported.add(key)
            yield duplicate(path.index(position), item_identity)
        keys.add(key)


def _select_keys(item: Any, keys: tuple[str, ...]) -> Any:
    if not isinstance(item, dict):
        return item
    return {key: item[key] for key in keys if key in item}


_MIXED_CASE: Final = "may have mixed case, but should otherwise match: "


def _validate_embedded(value: Any, path: Path) -> FieldErrors:
    if not isinstance(value, dict):
        return
    for name in ("apiVersion", "kind"):
        if name not in value:
            yield required(path.child(name), "")
    if "apiVersion" in value:
        yield from _validate_api_version(value["apiVersion"], path.child("apiVersion"))
    if "kind" in value:
        yield from _validate_kind(value["kind"], path.child("kind"))
    if value.get("metadata") is not None:
        yield from _validate_metadata(value["metadata"], path.child("metadata"))


def _validate_api_version(value: Any, path: Path) -> FieldErrors:
    if not isinstance(value, str):
        yield invalid(path, value, "must be a string")
        return
    if not value:
        yield invalid(path, value, "must not be empty")
    try:
        GroupVersion.parse(value)
    except InvalidGroupVersion as error:
        yield invalid(path, value, str(error))


def _validate_kind(value: Any, path: Path) -> FieldErrors:
    if not isinstance(value, str):
        yield invalid(path, value, "must be a string")
    elif not value:
        yield invalid(path, value, "must not be empty")
    elif problems := is_dns1035_label(value.lower()):
        yield invalid(path, value, _MIXED_CASE + ",".join(problems))


def _validate_metadata(value: Any, path: Path) -> FieldErrors:
    try:
        metadata = decode_json(ObjectMeta, dump_content(value), find_unknown=False).object
    except DecodeError as error:
        yield invalid(path, value, str(error).replace("type object", "type v1.ObjectMeta"))
        return
    # An embedded resource may omit its name, but the validation of metadata requires one.
    metadata.name = metadata.name or "fakename"
    yield from validate_object_meta(
        metadata, namespaced=bool(metadata.namespace), name_rule=path_segment_name, path=path
    )
