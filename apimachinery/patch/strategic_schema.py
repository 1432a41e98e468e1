"""Patch strategies, directives and messages of strategic merge patch.

A `FieldRule` holds the patch strategy of one field. It is looked up in a `Shape`, and is the same
for declared fields, map values and untyped values. Directives (patch members that start with `$`)
and messages are here too, because both applying and creating patches need them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape, Untyped
from apimachinery.patch.json_values import JSONList, JSONObject, JSONValue
from apimachinery.patch.patch_errors import MalformedPatch, PatchFailed

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM_LIST = "$deleteFromPrimitiveList"
SET_ELEMENT_ORDER = "$setElementOrder"

BAD_ORDER = "invalid patch format of setElementOrder list"
BAD_DELETION = "invalid patch format of primitive list"
BAD_RETAIN_KEYS = "invalid patch format of retainKeys"

Identity = tuple[type, str | int | float | bool | None]
"""Type and value that identify a list element: 1, 1.0 and true are three elements."""


@dataclass(frozen=True, slots=True)
class FieldRule:
    """The patch strategy of one field."""

    shape: Shape
    """The shape of the value or, for a list, of its elements."""
    strategy: str = ""
    """"merge", "replace" or empty: by default maps are merged and lists are replaced."""
    merge_key: str = ""
    retain_keys: bool = False


def object_rule(shape: Shape, key: str, path: str) -> FieldRule:
    """Return the rule for field *key* of a value of *shape*, if the field holds an object.

    Raises PatchFailed if the field is unknown or a list.
    """
    declared = _field(shape, key, path)
    match declared:
        case Scalar():
            return FieldRule(declared, "replace")
        case ListShape():
            raise PatchFailed(
                "merging an object in json but data type is not struct, instead is: slice",
                child_path(path, key),
            )
        case Untyped():
            return FieldRule(declared)
        case MapShape() | StructShape():
            return _rule(shape, declared, declared.patch_strategy)


def list_rule(shape: Shape, key: str, path: str) -> FieldRule:
    """Return the rule for field *key* of a value of *shape*, if the field holds a list.

    Raises PatchFailed if the field is unknown, a map or a struct.
    """
    declared = _field(shape, key, path)
    match declared:
        case ListShape():
            return _rule(shape, declared.items, declared.patch_strategy, declared.patch_merge_key)
        case Scalar() | Untyped():
            return FieldRule(Untyped(), "replace")
        case MapShape() | StructShape():
            kind = "map" if isinstance(declared, MapShape) else "struct"
            raise PatchFailed(
                f"expected slice or array type, but got: {kind}", child_path(path, key)
            )


def _rule(parent: Shape, shape: Shape, strategy: frozenset[str], merge_key: str = "") -> FieldRule:
    # Only struct fields declare strategies; map values have none.
    if not isinstance(parent, StructShape):
        return FieldRule(shape)
    strategies = sorted(strategy - {"retainKeys"})
    name = strategies[0] if strategies else ""
    return FieldRule(shape, name, merge_key, "retainKeys" in strategy)


def _field(shape: Shape, key: str, path: str) -> Shape:
    match shape:
        case StructShape():
            if key in shape.fields:
                return shape.fields[key]
            if shape.preserves_unknown:
                return Untyped()
            raise PatchFailed(
                f'unable to find api field in struct {shape.name} for the json field "{key}"', path
            )
        case MapShape():
            return shape.values
        case Untyped() | Scalar():
            return Untyped()
        case ListShape():
            raise PatchFailed(
                "merging an object in json but data type is not struct, instead is: slice", path
            )


def is_directive(key: str) -> bool:
    """Return whether a patch member is a directive, not part of the document."""
    return key.startswith("$") and (
        key in (PATCH, RETAIN_KEYS) or key.startswith((DELETE_FROM_LIST, SET_ELEMENT_ORDER))
    )


def has_directive(value: JSONValue) -> bool:
    """Return whether *value* is an object with a `$patch` directive."""
    return isinstance(value, dict) and PATCH in value


def directive_target(directive: str, prefix: str, path: str) -> str:
    """Return the field name of the directive `<prefix>/<field>`; raise MalformedPatch."""
    name, slash, target = directive.partition("/")
    if name != prefix or not slash:
        raise MalformedPatch(BAD_ORDER if prefix == SET_ELEMENT_ORDER else BAD_DELETION, path)
    return target


def element_kind(path: str, *lists: JSONList) -> type | None:
    """Return the type that all elements of *lists* share, or None if there are no elements.

    Raises PatchFailed if the types differ, or if an element is null or a list.
    """
    kinds = {type(element) for elements in lists for element in elements}
    if list in kinds:
        raise PatchFailed("lists of lists are not supported", path)
    if type(None) in kinds or len(kinds) > 1:
        raise PatchFailed(f"list element types are not identical: {describe(list(lists))}", path)
    return kinds.pop() if kinds else None


def identity(element: JSONValue, merge_key: str, path: str) -> Identity:
    """Return the identity of *element* in its list: its *merge_key* value, or else itself.

    Raises PatchFailed if the element lacks the merge key or cannot be compared.
    """
    value = element
    if merge_key:
        if not isinstance(element, dict):
            raise wrong_type("map[string]interface {}", element, path)
        if merge_key not in element:
            message = f"map: {describe(element)} does not contain declared merge key: {merge_key}"
            raise PatchFailed(message, path)
        value = element[merge_key]
    if isinstance(value, dict | list):
        raise PatchFailed(f"{describe(value)} cannot identify a list element", path)
    return type(value), value


def wrong_type(expected: str, value: JSONValue, path: str) -> PatchFailed:
    """Return the error for a value whose type differs from that of its field."""
    names: dict[type, str] = {
        dict: "map[string]interface {}",
        list: "[]interface {}",
        str: "string",
        bool: "bool",
        int: "int64",
        float: "float64",
    }
    actual = names.get(type(value), "<nil>")
    return PatchFailed(f"expected a {expected}, but received a {actual}", path)


def child_path(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def describe(value: JSONValue, levels: int = 20) -> str:
    """Format *value* as Kubernetes' messages do: `map[image:nginx name:web]`."""
    match value:
        case dict() | list() if levels == 0:
            return "..."
        case dict():
            members = (f"{key}:{describe(value[key], levels - 1)}" for key in sorted(value))
            return f"map[{' '.join(members)}]"
        case list():
            return f"[{' '.join(describe(element, levels - 1) for element in value)}]"
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def without_directives(value: JSONValue, *, keep_nulls: bool = False) -> JSONValue:
    """Return a patch value as it is stored in a document that has no such field yet.

    Objects with `$patch` are left out at every level: there is nothing to replace or delete. Null
    members mean absent, unless *keep_nulls* is set because a value is replaced as a whole.
    """
    if isinstance(value, list):
        return elements_without_directives(value, keep_nulls=keep_nulls)
    if isinstance(value, dict):
        return members_without_directives(value, keep_nulls=keep_nulls)
    return value


# Loops instead of comprehensions: in Python 3.11 comprehensions would double the stack depth.
def elements_without_directives(
    elements: Sequence[JSONValue], *, keep_nulls: bool = False
) -> JSONList:
    """Return the elements of a patch list that are stored in the document."""
    stored: JSONList = []
    for element in elements:
        if not has_directive(element):
            stored.append(without_directives(element, keep_nulls=keep_nulls))
    return stored


def members_without_directives(value: JSONObject, *, keep_nulls: bool = False) -> JSONObject:
    """Return the members of a patch object that are stored in the document."""
    stored: JSONObject = {}
    for key, member in value.items():
        absent = member is None and not keep_nulls
        if not absent and not is_directive(key) and not has_directive(member):
            stored[key] = without_directives(member, keep_nulls=keep_nulls)
    return stored
