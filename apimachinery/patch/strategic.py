"""Strategic merge patch: a merge patch that uses the type of a field to merge lists.

Objects are merged as in a JSON merge patch. A list is replaced unless its type declares the
strategy "merge": then elements are matched by their merge key or, for primitives, by value. The
patch may hold directives:

    {"$patch": "replace"}            in an object or list: replace the whole value
    {"$patch": "delete"}             in an object: empty it; in an element: delete that element
    "$deleteFromPrimitiveList/<x>"   the values to delete from list x
    "$setElementOrder/<x>"           the order of those elements of x that the client has
    "$retainKeys"                    the only members that the object keeps

`strategic_create` creates such patches; its functions are re-exported here.
"""

from apimachinery.model.type_shape import Shape, StructShape
from apimachinery.patch.json_values import JSONList, JSONObject, JSONValue, require_depth
from apimachinery.patch.patch_errors import MalformedPatch, PatchFailed
from apimachinery.patch.strategic_create import create_three_way, create_two_way
from apimachinery.patch.strategic_order import arrange, require_order, server_order
from apimachinery.patch.strategic_schema import (
    BAD_DELETION,
    BAD_RETAIN_KEYS,
    DELETE_FROM_LIST,
    PATCH,
    RETAIN_KEYS,
    SET_ELEMENT_ORDER,
    FieldRule,
    Identity,
    child_path,
    describe,
    directive_target,
    element_kind,
    elements_without_directives,
    has_directive,
    identity,
    is_directive,
    list_rule,
    members_without_directives,
    object_rule,
    without_directives,
    wrong_type,
)

__all__ = ["apply", "create_three_way", "create_two_way"]


def apply(document: JSONValue, patch: JSONValue, shape: StructShape) -> JSONObject:
    """Return *document*, a value of *shape*, merged with *patch*; the result has no directives.

    Raises MalformedPatch for invalid directives, PatchFailed if the patch does not fit the type.
    """
    if not isinstance(patch, dict):
        raise MalformedPatch("a strategic merge patch must be an object")
    if not isinstance(document, dict):
        raise PatchFailed("a strategic merge patch applies to objects only")
    require_depth(patch, "the patch", MalformedPatch)
    return _merge_object(document, patch, shape, "")


def _merge_object(document: JSONObject, patch: JSONObject, shape: Shape, path: str) -> JSONObject:
    if PATCH in patch:
        return _replace_object(patch, path)
    result = _retain_keys(document, patch, path)
    merged_lists = _merge_ordered_lists(result, patch, shape, path)
    for key, value in patch.items():
        if key not in merged_lists and not is_directive(key):
            _merge_field(result, key, value, shape, path)
    for key, value in patch.items():
        if key.startswith(DELETE_FROM_LIST):
            _delete_from_list(result, key, value, shape, path)
    return result


def _replace_object(patch: JSONObject, path: str) -> JSONObject:
    match patch[PATCH]:
        case "replace":
            return members_without_directives(patch)
        case "delete":
            return {}
        case unknown:
            message = f"unknown patch type: {describe(unknown)} in map: {describe(patch)}"
            raise MalformedPatch(message, path)


def _retain_keys(document: JSONObject, patch: JSONObject, path: str) -> JSONObject:
    """Return a copy of *document* with only the members that `$retainKeys` lists, if present."""
    if RETAIN_KEYS not in patch:
        return dict(document)
    listed = patch[RETAIN_KEYS]
    if not isinstance(listed, list) or not all(isinstance(key, str) for key in listed):
        raise MalformedPatch(BAD_RETAIN_KEYS, path)
    keys = frozenset(listed)
    for key, value in patch.items():
        if value is not None and not is_directive(key) and key not in keys:
            raise MalformedPatch(BAD_RETAIN_KEYS, path)
    return {key: value for key, value in document.items() if key in keys}


def _merge_field(result: JSONObject, key: str, value: JSONValue, shape: Shape, path: str) -> None:
    current = result.get(key)
    if isinstance(current, dict) and isinstance(value, dict):
        rule = object_rule(shape, key, path)
        if rule.strategy == "replace":
            result[key] = members_without_directives(value, keep_nulls=True)
        else:
            result[key] = _merge_object(current, value, rule.shape, child_path(path, key))
    elif isinstance(current, list) and isinstance(value, list):
        rule = list_rule(shape, key, path)
        result[key] = _merge_list(current, value, rule, child_path(path, key))
    elif value is None or has_directive(value):
        result.pop(key, None)
    else:
        result[key] = without_directives(value)


def _merge_list(current: JSONList, patch: JSONList, rule: FieldRule, path: str) -> JSONList:
    if rule.strategy != "merge":
        return elements_without_directives(patch, keep_nulls=True)
    if element_kind(path, current, patch) is dict:
        return _merge_keyed_list(current, patch, rule, path)
    unique = {identity(element, rule.merge_key, path): element for element in current + patch}
    return arrange(
        list(unique.values()), preferred=patch, server=current, merge_key=rule.merge_key, path=path
    )


def _merge_keyed_list(current: JSONList, patch: JSONList, rule: FieldRule, path: str) -> JSONList:
    key = rule.merge_key
    if not key:
        raise PatchFailed("cannot merge lists without merge key", path)
    changes, deleted, replaces = _sort_directives(patch, key, path)
    if replaces:
        return arrange(
            elements_without_directives(changes),
            preferred=[],
            server=changes,
            merge_key=key,
            path=path,
        )
    remaining = [element for element in current if identity(element, key, path) not in deleted]
    merged = list(remaining)
    positions = {
        identity(element, key, path): index for index, element in reversed([*enumerate(remaining)])
    }
    for change in changes:
        element_id = identity(change, key, path)
        before = merged[positions[element_id]] if element_id in positions else None
        if isinstance(before, dict):
            place = f"{path}[{describe(change[key])}]"
            merged[positions[element_id]] = _merge_object(before, change, rule.shape, place)
        else:
            positions[element_id] = len(merged)
            merged.append(members_without_directives(change))
    return arrange(merged, preferred=changes, server=remaining, merge_key=key, path=path)


def _sort_directives(
    patch: JSONList, merge_key: str, path: str
) -> tuple[list[JSONObject], set[Identity], bool]:
    """Return the elements to merge, the identities to delete, and whether to replace the list."""
    changes: list[JSONObject] = []
    deleted: set[Identity] = set()
    replaces = False
    for element in patch:
        if not isinstance(element, dict):
            raise wrong_type("map[string]interface {}", element, path)
        if PATCH not in element:
            changes.append(element)
            continue
        match element[PATCH]:
            case "delete":
                deleted.add(identity(element, merge_key, path))
            case "replace":
                replaces = True
            case "merge":
                raise MalformedPatch("merging lists cannot yet be specified in the patch", path)
            case unknown:
                message = f"unknown patch type: {describe(unknown)} in map: {describe(element)}"
                raise MalformedPatch(message, path)
    return changes, deleted, replaces


def _merge_ordered_lists(
    result: JSONObject, patch: JSONObject, shape: Shape, path: str
) -> set[str]:
    """Merge into *result* the lists whose order the patch sets; return their field names."""
    merged_lists: set[str] = set()
    for directive, order in patch.items():
        if not directive.startswith(SET_ELEMENT_ORDER):
            continue
        key = directive_target(directive, SET_ELEMENT_ORDER, path)
        place = child_path(path, key)
        if not isinstance(order, list):
            raise wrong_type("[]interface {}", order, place)
        current, change = _list_at(result, key, place), _list_at(patch, key, place)
        rule = list_rule(shape, key, path)
        require_order(change or [], order, rule.merge_key, place)
        if current is not None or change is not None:
            result[key] = _merge_in_order(current, change, order, rule, place)
            merged_lists.add(key)
    return merged_lists


def _merge_in_order(
    current: JSONList | None,
    change: JSONList | None,
    order: JSONList,
    rule: FieldRule,
    path: str,
) -> JSONList:
    key = rule.merge_key
    if current is None:
        merged, server = elements_without_directives(change or []), []
    elif change is None:
        merged, server = current, current
    else:
        merged = _merge_list(current, change, rule, path)
        server = server_order(current, change, key, path) if rule.strategy == "merge" else current
    return arrange(merged, preferred=order, server=server, merge_key=key, path=path)


def _list_at(container: JSONObject, key: str, path: str) -> JSONList | None:
    if key not in container:
        return None
    value = container[key]
    if not isinstance(value, list):
        raise wrong_type("[]interface {}", value, path)
    return value


def _delete_from_list(
    result: JSONObject, directive: str, values: JSONValue, shape: Shape, path: str
) -> None:
    key = directive_target(directive, DELETE_FROM_LIST, path)
    if values is None:
        result.pop(key, None)
        return
    if not isinstance(values, list):
        raise MalformedPatch(BAD_DELETION, path)
    current = result.get(key)
    if not isinstance(current, list):
        return
    list_rule(shape, key, path)
    place = child_path(path, key)
    if element_kind(place, current, values) is dict:
        raise MalformedPatch(BAD_DELETION, place)
    deleted = {identity(value, "", place) for value in values}
    result[key] = [element for element in current if identity(element, "", place) not in deleted]
