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
        before=_object(original, "original"),
        wanted=_object(modified, "modified"),
        present=_object(current, "current"),
        rule=FieldRule(shape),
        path="",
    )


def _object(document: JSONValue, name: str) -> JSONObject:
    if not isinstance(document, dict):
        raise PatchFailed(f"the {name} document must be an object")
    return document


def _object_patch(
    *, before: JSONObject, wanted: JSONObject, present: JSONObject, rule: FieldRule, path: str
) -> JSONObject:
    patch: JSONObject = {}
    for key, value in wanted.items():
        if key in present:
            old, live = before.get(key), present[key]
            patch.update(
                _field_patch(key, rule.shape, before=old, wanted=value, present=live, path=path)
            )
        else:
            patch[key] = value
    patch.update((key, None) for key in before if key not in wanted)
    retained: JSONList = [key for key in sorted(wanted) if wanted[key] is not None]
    if rule.retain_keys and retained and (patch or _has_other_members(present, wanted)):
        patch[RETAIN_KEYS] = retained
    return patch


def _has_other_members(document: JSONObject, than: JSONObject) -> bool:
    return any(value is not None and key not in than for key, value in document.items())


def _field_patch(
    key: str, shape: Shape, *, before: JSONValue, wanted: JSONValue, present: JSONValue, path: str
) -> JSONObject:
    """Return the patch members for the field *key*, directives included."""
    place = child_path(path, key)
    same = equal(present, wanted)
    if same and equal(before, wanted):
        return {}
    if isinstance(wanted, dict) and isinstance(present, dict):
        rule = object_rule(shape, key, path)
        if rule.strategy != "replace":
            old = before if isinstance(before, dict) else {}
            nested = _object_patch(
                before=old, wanted=wanted, present=present, rule=rule, path=place
            )
            return {key: nested} if nested else {}
    if isinstance(wanted, list) and isinstance(present, list):
        rule = list_rule(shape, key, path)
        if rule.strategy == "merge":
            old_list = before if isinstance(before, list) else []
            return _list_patch(
                key, rule, before=old_list, wanted=wanted, present=present, path=place
            )
    return {} if same else {key: wanted}


def _list_patch(
    key: str, rule: FieldRule, *, before: JSONList, wanted: JSONList, present: JSONList, path: str
) -> JSONObject:
    if element_kind(path, before, wanted, present) is dict:
        if not rule.merge_key:
            raise PatchFailed("cannot merge lists without merge key", path)
        changed, deleted = _keyed_changes(
            rule, before=before, wanted=wanted, present=present, path=path
        )
        patch: JSONObject = {key: changed + deleted} if changed or deleted else {}
    else:
        changed, deleted = _plain_changes(before=before, wanted=wanted, present=present, path=path)
        patch = {key: changed} if changed else {}
        if deleted:
            patch[f"{DELETE_FROM_LIST}/{key}"] = deleted
    live, new = (
        _index_by_identity(elements, rule.merge_key, path) for elements in (present, wanted)
    )
    if new and (deleted or (live and (changed or list(live) != list(new)))):
        patch[f"{SET_ELEMENT_ORDER}/{key}"] = [
            {rule.merge_key: element[rule.merge_key]} if isinstance(element, dict) else element
            for element in new.values()
        ]
    return patch


def _plain_changes(
    *, before: JSONList, wanted: JSONList, present: JSONList, path: str
) -> tuple[JSONList, JSONList]:
    """Return the values to add and the values to delete."""
    old, new, live = (
        _index_by_identity(elements, "", path) for elements in (before, wanted, present)
    )
    added = [value for element_id, value in new.items() if element_id not in live]
    deleted = [value for element_id, value in old.items() if element_id not in new]
    return added, sorted(deleted, key=describe)


def _keyed_changes(
    rule: FieldRule, *, before: JSONList, wanted: JSONList, present: JSONList, path: str
) -> tuple[JSONList, JSONList]:
    """Return the patches of elements to add or change, and the delete directives."""
    key = rule.merge_key
    old, new, live = (
        _index_by_identity(elements, key, path) for elements in (before, wanted, present)
    )
    changed: JSONList = []
    for element_id, element in new.items():
        old_element, live_element = old.get(element_id), live.get(element_id)
        if not isinstance(element, dict) or not isinstance(live_element, dict):
            changed.append(element)
            continue
        nested = _object_patch(
            before=old_element if isinstance(old_element, dict) else {},
            wanted=element,
            present=live_element,
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
