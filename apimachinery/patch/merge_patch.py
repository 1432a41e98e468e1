"""JSON merge patch (RFC 7386): a document with the values to set, and null for those to remove.

The format cannot say two things: that an object member becomes null, and how one element of a list
changes (lists are replaced whole). `create` treats a null in its target as "absent".
"""

from apimachinery.patch.json_values import JSONObject, JSONValue, equal, require_depth
from apimachinery.patch.patch_errors import MalformedPatch, PatchFailed


def apply(document: JSONValue, patch: JSONValue) -> JSONValue:
    """Return *document* changed by *patch*; a patch that is no object replaces it."""
    require_depth(patch, "the patch", MalformedPatch)
    return _merge(document, patch)


def _merge(document: JSONValue, patch: JSONValue) -> JSONValue:
    if not isinstance(patch, dict):
        return patch
    merged = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


def create(source: JSONValue, target: JSONValue) -> JSONValue:
    """Return the patch that makes *target* of *source*, as far as the format can say it."""
    require_depth(target, "the target", PatchFailed)
    if isinstance(source, dict) and isinstance(target, dict):
        return _difference(source, target)
    return target


def _difference(source: JSONObject, target: JSONObject) -> JSONObject:
    patch: JSONObject = {key: None for key in source if key not in target}
    for key, value in target.items():
        if key not in source:
            patch[key] = value
            continue
        before = source[key]
        if isinstance(before, dict) and isinstance(value, dict):
            if nested := _difference(before, value):
                patch[key] = nested
        elif not equal(before, value):
            patch[key] = value
    return patch


def create_three_way(*, original: JSONValue, modified: JSONValue, current: JSONValue) -> JSONObject:
    """Return the patch of *current* that `kubectl apply` sends.

    It sets what *modified* has and *current* has not, and removes only what was in *original*, the
    configuration applied last: fields that somebody else added stay.
    """
    removals = _nulls(_object_patch(original, modified, "original"))
    return _union(removals, _without_nulls(_object_patch(current, modified, "current")))


def _object_patch(source: JSONValue, target: JSONValue, name: str) -> JSONObject:
    if not isinstance(source, dict) or not isinstance(target, dict):
        wrong = "modified" if isinstance(source, dict) else name
        raise PatchFailed(f"the {wrong} document must be an object")
    require_depth(target, "the modified document", PatchFailed)
    return _difference(source, target)


def _nulls(patch: JSONObject) -> JSONObject:
    kept: JSONObject = {}
    for key, value in patch.items():
        if value is None:
            kept[key] = None
        elif isinstance(value, dict) and (nested := _nulls(value)):
            kept[key] = nested
    return kept


def _without_nulls(patch: JSONObject) -> JSONObject:
    kept: JSONObject = {}
    for key, value in patch.items():
        # An object that is empty from the start is a value; one emptied here was only removals.
        if isinstance(value, dict) and value:
            if nested := _without_nulls(value):
                kept[key] = nested
        elif value is not None:
            kept[key] = value
    return kept


def _union(removals: JSONObject, changes: JSONObject) -> JSONObject:
    """Both patches in one; where they meet, each holds an object."""
    union = dict(removals)
    for key, value in changes.items():
        before = union.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            union[key] = _union(before, value)
        else:
            union[key] = value
    return union
