"""Scale mapping: convert between an object and its Scale.

autoscaling/v1 Scale shows the replica counts of every scalable kind in one form. The server
implements the subresource; a group only declares the paths of the fields.
"""

from collections.abc import Mapping
from typing import Any

from apimachinery.codec import dump_json
from apimachinery.errors import BadRequest, Conflict, InternalError, Invalid
from apimachinery.fieldpath import Path
from apimachinery.lenient.constraint_errors import stored_errors
from apimachinery.meta.metadata_validation import validate_nonnegative
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.ratcheting import new_errors
from apimachinery.scale import Scale
from apimachinery.schema import GroupKind, GroupResource, GroupVersion, GroupVersionKind
from apimachinery.scheme import Scheme
from apimachinery.selectors import label_selector as labels
from apiserver.group import Subresource

GROUP_VERSION = GroupVersion("autoscaling", "v1")
KIND = GroupVersionKind("autoscaling", "v1", "Scale")


def scale_scheme() -> Scheme:
    """Return a scheme with the kind of scale subresources."""
    scheme = Scheme("autoscaling")
    scheme.add(GROUP_VERSION, Scale, internal=True)
    return scheme


def scale_of(obj: Object, subresource: Subresource) -> Scale:
    """Return the scale of an internal object."""
    source = obj.metadata
    scale = Scale(kind=KIND.kind, api_version=KIND.api_version)
    scale.metadata.name = source.name
    scale.metadata.namespace = source.namespace
    scale.metadata.uid = source.uid
    scale.metadata.resource_version = source.resource_version
    scale.metadata.creation_timestamp = source.creation_timestamp
    scale.spec.replicas = _number(obj, subresource.spec_replicas)
    scale.status.replicas = _number(obj, subresource.status_replicas)
    scale.status.selector = _selector(_value(obj, subresource.selector))
    return scale


def with_scale(
    obj: Object,
    scale: Scale,
    subresource: Subresource,
    *,
    resource: GroupResource,
    kind: GroupKind,
) -> Object:
    """Return a copy of an internal object with the desired replicas of *scale*.

    Raises Invalid, or Conflict if the uid of *scale* is not that of the object. *resource* and
    *kind* are those of the object, for the errors.
    """
    name = obj.metadata.name
    _check(name, scale)
    uid, version = scale.metadata.uid, scale.metadata.resource_version
    if uid and uid != obj.metadata.uid:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
        scale_resource = GroupResource(resource.group, f"{resource.resource}/scale")
        raise Conflict.of(scale_resource, name, why + obj.metadata.uid)
    changed = with_replicas(obj, subresource, scale.spec.replicas)
    if isinstance(changed, Unstructured):
        changed.metadata.resource_version = version or obj.metadata.resource_version
        return changed
    changed.metadata.resource_version = version
    try:
        # Decoding checks the bounds of fields, and the replicas were set without it.
        decode_json(type(changed), dump_json(changed), find_unknown=False)
    except DecodeError as error:
        errors = new_errors(error.fields, stored_errors(type(obj), dump_json(obj)))
        if errors or not error.fields:
            raise Invalid.of(kind, name, errors) from None
    return changed


def require_replicas(obj: Object, subresource: Subresource) -> None:
    """Raise InternalError for a custom resource whose object lacks the replicas field."""
    path = subresource.spec_replicas
    if isinstance(obj, Unstructured) and _value(obj, path) is None:
        raise InternalError.of(f'the spec replicas field ".{path}" does not exist')


def with_replicas(obj: Object, subresource: Subresource, count: int) -> Object:
    """Return a copy of an internal object with *count* desired replicas."""
    changed = obj.deep_copy()
    path = subresource.spec_replicas
    *steps, last = path.split(".")
    if isinstance(changed, Unstructured):
        content: Any = changed.content
        for step in steps:
            content = content.setdefault(step, {})
            if not isinstance(content, dict):
                raise BadRequest(f'the spec replicas field ".{path}" is not in an object')
        content[last] = count
    else:
        holder: Any = changed
        for step in steps:
            holder = getattr(holder, step)
        setattr(holder, last, count)
    return changed


def _check(name: str, scale: Scale) -> None:
    if errors := list(validate_nonnegative(scale.spec.replicas, Path("spec", "replicas"))):
        raise Invalid.of(GroupKind(KIND.group, KIND.kind), name, errors)


def _value(obj: Any, path: str) -> Any:
    if not path:
        return None
    for step in path.split("."):
        obj = obj.get(step) if isinstance(obj, Mapping) else getattr(obj, step, None)
    return obj


def _number(obj: Object, path: str) -> int:
    value = _value(obj, path)
    return value if isinstance(value, int) else 0


def _selector(value: Any) -> str:
    """Return a selector as text, from any of the forms that kinds use."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, Mapping):
        return str(labels.from_set(value))
    return str(labels.from_label_selector(value))
