"""Patches: what the expression of a mutation says becomes a changed document.

An apply configuration is merged as server-side apply merges, without owners of fields. It may not
contain lists and maps that are replaced as a whole: the author of a policy would remove what others
have set. JSON patches can do that.
"""

from collections.abc import Iterator
from typing import Any, Final

from apimachinery.apply import InvalidValue, merge, validate
from apimachinery.apply.typed_values import check_scalars
from apimachinery.apply.value_shapes import as_list, as_map, is_atomic, resolve
from apimachinery.cel.interpreter.objects import JSONPatchValue, ObjectValue, to_json
from apimachinery.cel.interpreter.values import CELError, type_name
from apimachinery.model.type_shape import ListShape, Scalar, Shape, StructShape
from apimachinery.patch import json_patch
from apimachinery.patch.json_patch_failures import failure_message
from apimachinery.patch.json_values import JSONList, JSONObject
from apimachinery.patch.patch_errors import PatchError, PatchFailed

_FAILED_TEST: Final = "testing value "


class MutationFailed(Exception):
    """A mutation cannot be applied, in Kubernetes' words."""


def apply_configuration(value: Any, document: Any, shape: Shape) -> Any:
    """Return a document merged with an apply configuration, a value of type Object."""
    if not isinstance(value, ObjectValue):
        raise MutationFailed(
            f"unsupported return type from ApplyConfiguration expression: {type_name(value)}"
        )
    _check_types(value)
    try:
        patch = to_json(value)
    except CELError as error:
        raise MutationFailed(f"invalid return type: {error}") from None
    patch |= {key: document[key] for key in ("apiVersion", "kind") if key in document}
    try:
        validate(patch, shape)
        check_scalars(patch, shape)
    except InvalidValue as error:
        problem = f"failed to convert patch object to typed object: {error}"
        raise MutationFailed(f"error applying patch: {problem}") from None
    if atomic := list(_atomic_parts(patch, shape, "")):
        raise MutationFailed(
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps"
            f" or structs: {', '.join(atomic)}"
        )
    try:
        return merge(document, patch, shape)
    except InvalidValue as error:
        raise MutationFailed(f"error applying patch: failed to merge patch: {error}") from None


def _atomic_parts(value: Any, shape: Shape, path: str) -> Iterator[str]:
    """Yield the paths of lists and maps that would be replaced as a whole."""
    concrete = resolve(shape, value)
    if isinstance(concrete, Scalar) or not isinstance(value, list | dict):
        return
    if is_atomic(concrete):
        yield path
    if isinstance(concrete, ListShape):
        for position, item in enumerate(as_list(value)):
            yield from _atomic_parts(item, concrete.items, f"{path}[{position}]")
    elif isinstance(concrete, StructShape):
        for name, part in as_map(value).items():
            if name in concrete.fields:
                yield from _atomic_parts(part, concrete.fields[name], f"{path}.{name}")


def apply_json_patch(value: Any, document: Any) -> Any:
    """Return a document changed by a JSON patch, a list of values of type JSONPatch.

    A patch whose test fails changes nothing.
    """
    if not isinstance(value, list):
        raise MutationFailed("type mismatch: JSONPatchType.expression should evaluate to array")
    operations: JSONList = [_operation(item) for item in value]
    try:
        return json_patch.apply(document, operations)
    except PatchFailed as error:
        problem = failure_message(document, operations) or error.message
        if problem.startswith(_FAILED_TEST):
            return document
        raise MutationFailed(f"JSON Patch: {problem}") from None
    except PatchError as error:
        raise MutationFailed(f"JSON Patch: {error.message}") from None


def _operation(value: Any) -> JSONObject:
    if not isinstance(value, JSONPatchValue):
        raise MutationFailed(
            "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got"
            f" element of {type_name(value)}"
        )
    operation: JSONObject = {
        "op": value.fields.get("op", ""),
        "path": value.fields.get("path", ""),
    }
    if value.fields.get("from"):
        operation["from"] = value.fields["from"]
    if "value" in value.fields:
        operation["value"] = _json_value(value.fields["value"])
    return operation


def _json_value(value: Any) -> Any:
    if isinstance(value, ObjectValue):
        _check_types(value)
    try:
        return to_json(value)
    except CELError as error:
        raise MutationFailed(
            f"JSONPath valueExpression evaluated to a type that could not marshal to JSON: {error}"
        ) from None


def _check_types(value: ObjectValue) -> None:
    if mismatched := value.mismatched_types():
        raise MutationFailed("type mismatch: " + "\n".join(mismatched))
