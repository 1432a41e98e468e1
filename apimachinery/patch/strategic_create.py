"""Creating strategic merge patches, two-way and three-way, in one walk.

Three-way: set what *modified* has and *current* has not, and remove what *original* had and
*modified* has no more. What *current* has beyond both belongs to somebody else and stays. Two-way
is the same walk with the original as the current document.
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
    """Return the patch that makes *modified* of *original*; a null there means "absent"."""
    return create_three_way(original=original, modified=modified, current=original, shape=shape)


def create_three_way(
    *, original: JSONValue, modified: JSONValue, current: JSONValue, shape: StructShape
) -> JSONObject:
    """Return the patch of *current* that `kubectl apply` sends.

    *original* is the configuration applied last and *modified* the one to apply now.
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
    if rule.retain_keys and retained and (patch or _has_more(present, wanted)):
        patch[RETAIN_KEYS] = retained
    return patch


def _has_more(document: JSONObject, than: JSONObject) -> bool:
    return any(value is not None and key not in than for key, value in document.items())


def _field_patch(
    key: str, shape: Shape, *, before: JSONValue, wanted: JSONValue, present: JSONValue, path: str
) -> JSONObject:
    """Return the members of a patch that concern the field *key*."""
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
            past = before if isinstance(before, list) else []
            return _list_patch(key, rule, before=past, wanted=wanted, present=present, path=place)
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
    live, new = (_by_name(elements, rule.merge_key, path) for elements in (present, wanted))
    if new and (deleted or (live and (changed or list(live) != list(new)))):
        patch[f"{SET_ELEMENT_ORDER}/{key}"] = [
            {rule.merge_key: element[rule.merge_key]} if isinstance(element, dict) else element
            for element in new.values()
        ]
    return patch


def _plain_changes(
    *, before: JSONList, wanted: JSONList, present: JSONList, path: str
) -> tuple[JSONList, JSONList]:
    """Return the values to add and those to delete."""
    old, new, live = (_by_name(elements, "", path) for elements in (before, wanted, present))
    added = [value for name, value in new.items() if name not in live]
    deleted = [value for name, value in old.items() if name not in new]
    return added, sorted(deleted, key=describe)


def _keyed_changes(
    rule: FieldRule, *, before: JSONList, wanted: JSONList, present: JSONList, path: str
) -> tuple[JSONList, JSONList]:
    """Return the patches of the elements to add or change, and the directives that delete."""
    key = rule.merge_key
    old, new, live = (_by_name(elements, key, path) for elements in (before, wanted, present))
    changed: JSONList = []
    for name, element in new.items():
        past, now = old.get(name), live.get(name)
        if not isinstance(element, dict) or not isinstance(now, dict):
            changed.append(element)
            continue
        nested = _object_patch(
            before=past if isinstance(past, dict) else {},
            wanted=element,
            present=now,
            rule=rule,
            path=f"{path}[{describe(element[key])}]",
        )
        if nested:
            changed.append({**nested, key: element[key]})
    gone = [name[1] for name in old if name not in new]
    return changed, [{key: value, PATCH: "delete"} for value in sorted(gone, key=describe)]


def _by_name(elements: JSONList, merge_key: str, path: str) -> dict[Identity, JSONValue]:
    named: dict[Identity, JSONValue] = {}
    for element in elements:
        named.setdefault(identity(element, merge_key, path), element)
    return named
