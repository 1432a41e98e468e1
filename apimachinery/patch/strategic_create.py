"""Create strategic merge patches, two-way and three-way, in one walk.

A three-way patch sets the fields in which *current* differs from *modified*, and removes the
fields that *original* has and *modified* lacks. Fields that only *current* has were set by other
clients and stay. A two-way patch is the same with *original* as the current document.
"""

from apimachinery.model.type_shape import Shape, StructShape
from apimachinery.patch.json_values import JSONList, JSONObject, JSONValue, equal, require_depth
from apimachinery.patch.patch_errors import PatchFailed
from apimachinery.patch.strategic_schema import (
    DELETE_FROM_LIST,
    PATCH,
    RETAIN_KEYS,
    SET_ELEMENT_ORDER,
    FieldRule,
    Identity,
    child_path,
    describe,
    element_kind,
    identity,
    list_rule,
    object_rule,
)


def create_two_way(original: JSONValue, modified: JSONValue, shape: StructShape) -> JSONObject:
    """Return the patch that turns *original* into *modified*; null in *modified* means absent."""
    return create_three_way(original=original, modified=modified, current=original, shape=shape)


def create_three_way(
    *, original: JSONValue, modified: JSONValue, current: JSONValue, shape: StructShape
) -> JSONObject:
    """Return the patch of *current* that client-side `kubectl apply` sends.

    *original* is the last applied configuration, *modified* the one to apply now.
    """
    require_depth(modified, "the modified document", PatchFailed)
    return _object_patch(
        original=_object(original, "original"),
        modified=_object(modified, "modified"),
        current=_object(current, "current"),
        rule=FieldRule(shape),
        path="",
    )


def _object(document: JSONValue, name: str) -> JSONObject:
    if not isinstance(document, dict):
        raise PatchFailed(f"the {name} document must be an object")
    return document


def _object_patch(
    *, original: JSONObject, modified: JSONObject, current: JSONObject, rule: FieldRule, path: str
) -> JSONObject:
    patch: JSONObject = {}
    for key, value in modified.items():
        if key in current:
            old, live = original.get(key), current[key]
            patch.update(
                _field_patch(key, rule.shape, original=old, modified=value, current=live, path=path)
            )
        else:
            patch[key] = value
    patch.update((key, None) for key in original if key not in modified)
    retained: JSONList = [key for key in sorted(modified) if modified[key] is not None]
    if rule.retain_keys and retained and (patch or _has_members_outside(current, modified)):
        patch[RETAIN_KEYS] = retained
    return patch


def _has_members_outside(document: JSONObject, reference: JSONObject) -> bool:
    return any(value is not None and key not in reference for key, value in document.items())


def _field_patch(
    key: str,
    shape: Shape,
    *,
    original: JSONValue,
    modified: JSONValue,
    current: JSONValue,
    path: str,
) -> JSONObject:
    """Return the patch members for the field *key*, directives included."""
    place = child_path(path, key)
    same = equal(current, modified)
    if same and equal(original, modified):
        return {}
    if isinstance(modified, dict) and isinstance(current, dict):
        rule = object_rule(shape, key, path)
        if rule.strategy != "replace":
            old = original if isinstance(original, dict) else {}
            nested = _object_patch(
                original=old, modified=modified, current=current, rule=rule, path=place
            )
            return {key: nested} if nested else {}
    if isinstance(modified, list) and isinstance(current, list):
        rule = list_rule(shape, key, path)
        if rule.strategy == "merge":
            old_list = original if isinstance(original, list) else []
            return _list_patch(
                key, rule, original=old_list, modified=modified, current=current, path=place
            )
    return {} if same else {key: modified}


def _list_patch(
    key: str,
    rule: FieldRule,
    *,
    original: JSONList,
    modified: JSONList,
    current: JSONList,
    path: str,
) -> JSONObject:
    if element_kind(path, original, modified, current) is dict:
        if not rule.merge_key:
            raise PatchFailed("cannot merge lists without merge key", path)
        changed, deleted = _keyed_changes(
            rule, original=original, modified=modified, current=current, path=path
        )
        patch: JSONObject = {key: changed + deleted} if changed or deleted else {}
    else:
        changed, deleted = _plain_changes(
            original=original, modified=modified, current=current, path=path
        )
        patch = {key: changed} if changed else {}
        if deleted:
            patch[f"{DELETE_FROM_LIST}/{key}"] = deleted
    live, new = (
        _index_by_identity(elements, rule.merge_key, path) for elements in (current, modified)
    )
    if new and (deleted or (live and (changed or list(live) != list(new)))):
        patch[f"{SET_ELEMENT_ORDER}/{key}"] = [
            {rule.merge_key: element[rule.merge_key]} if isinstance(element, dict) else element
            for element in new.values()
        ]
    return patch


def _plain_changes(
    *, original: JSONList, modified: JSONList, current: JSONList, path: str
) -> tuple[JSONList, JSONList]:
    """Return the values to add and the values to delete."""
    old, new, live = (
        _index_by_identity(elements, "", path) for elements in (original, modified, current)
    )
    added = [value for element_id, value in new.items() if element_id not in live]
    deleted = [value for element_id, value in old.items() if element_id not in new]
    return added, sorted(deleted, key=describe)


def _keyed_changes(
    rule: FieldRule, *, original: JSONList, modified: JSONList, current: JSONList, path: str
) -> tuple[JSONList, JSONList]:
    """Return the patches of elements to add or change, and the delete directives."""
    key = rule.merge_key
    old, new, live = (
        _index_by_identity(elements, key, path) for elements in (original, modified, current)
    )
    changed: JSONList = []
    for element_id, element in new.items():
        old_element, live_element = old.get(element_id), live.get(element_id)
        if not isinstance(element, dict) or not isinstance(live_element, dict):
            changed.append(element)
            continue
        nested = _object_patch(
            original=old_element if isinstance(old_element, dict) else {},
            modified=element,
            current=live_element,
            rule=rule,
            path=f"{path}[{describe(element[key])}]",
        )
        if nested:
            changed.append({**nested, key: element[key]})
    deleted = [element_id[1] for element_id in old if element_id not in new]
    return changed, [{key: value, PATCH: "delete"} for value in sorted(deleted, key=describe)]


def _index_by_identity(elements: JSONList, merge_key: str, path: str) -> dict[Identity, JSONValue]:
    index: dict[Identity, JSONValue] = {}
    for element in elements:
        index.setdefault(identity(element, merge_key, path), element)
    return index
