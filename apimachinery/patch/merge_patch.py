"""JSON merge patch (RFC 7386): a document with the values to set, and null for members to remove.

The format cannot express two changes: setting an object member to null, and changing a single list
element (lists are replaced as a whole). `create` treats a null in its target as absent.
"""

from apimachinery.patch.json_values import JSONObject, JSONValue, equal, require_depth
from apimachinery.patch.patch_errors import MalformedPatch, PatchFailed


def apply(document: JSONValue, patch: JSONValue) -> JSONValue:
    """Return *document* merged with *patch*; a patch that is not an object replaces it.

    Raises MalformedPatch if the patch is nested too deeply.
    """
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
    """Return the patch that turns *source* into *target*, as far as the format can express it."""
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
    """Return the patch of *current* that client-side `kubectl apply` sends.

    The patch sets the fields in which *current* differs from *modified*, and removes only fields
    of *original*, the last applied configuration: fields that other clients added stay.
    """
    removals = _only_nulls(_object_patch(original, modified, "original"))
    return _union(removals, _without_nulls(_object_patch(current, modified, "current")))


def _object_patch(source: JSONValue, target: JSONValue, name: str) -> JSONObject:
    if not isinstance(source, dict) or not isinstance(target, dict):
        invalid = "modified" if isinstance(source, dict) else name
        raise PatchFailed(f"the {invalid} document must be an object")
    require_depth(target, "the modified document", PatchFailed)
    return _difference(source, target)


def _only_nulls(patch: JSONObject) -> JSONObject:
    removals: JSONObject = {}
    for key, value in patch.items():
        if value is None:
            removals[key] = None
        elif isinstance(value, dict) and (nested := _only_nulls(value)):
            removals[key] = nested
    return removals


def _without_nulls(patch: JSONObject) -> JSONObject:
    changes: JSONObject = {}
    for key, value in patch.items():
        # An empty object is a value to set; an object emptied here only held removals.
        if isinstance(value, dict) and value:
            if nested := _without_nulls(value):
                changes[key] = nested
        elif value is not None:
            changes[key] = value
    return changes


def _union(removals: JSONObject, changes: JSONObject) -> JSONObject:
    """Combine both patches; keys they share hold an object in each."""
    union = dict(removals)
    for key, value in changes.items():
        before = union.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            union[key] = _union(before, value)
        else:
            union[key] = value
    return union
