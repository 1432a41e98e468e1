"""Validation of RuntimeClasses."""

from apimachinery.fieldpath import (
    NULL,
    FieldErrors,
    Path,
    duplicate,
    immutable,
    invalid,
    required,
)
from apimachinery.meta.metadata_validation import validate_labels
from apimachinery.names import is_dns1123_label
from apis.core.validation.internal_form import internal_form
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.pod.resources import validate_overhead
from apis.core.validation.tolerations import validate_tolerations
from apis.node.v1 import RuntimeClass, Scheduling


def validate_runtime_class(runtime_class: RuntimeClass) -> FieldErrors:
    handler, path = runtime_class.handler, Path("handler")
    if not handler:
        yield required(path)
    else:
        for error in is_dns1123_label(handler):
            yield invalid(path, handler, error)
    if runtime_class.overhead is not None:
        fixed = runtime_class.overhead.pod_fixed
        yield from validate_overhead(fixed, Path("overhead"), PodValidationOptions())
    if runtime_class.scheduling is not None:
        yield from _validate_scheduling(runtime_class.scheduling, Path("scheduling"))


def validate_runtime_class_update(new: RuntimeClass, old: RuntimeClass) -> FieldErrors:
    yield from validate_runtime_class(new)
    if new.handler != old.handler:
        # As in Kubernetes, the message does not show the new value.
        yield immutable(Path("handler"), NULL)


def _validate_scheduling(scheduling: Scheduling, path: Path) -> FieldErrors:
    yield from validate_labels(scheduling.node_selector, path.child("nodeSelector"))
    here = path.child("tolerations")
    yield from validate_tolerations(scheduling.tolerations, here)
    seen: set[tuple[str, ...]] = set()
    for position, toleration in enumerate(scheduling.tolerations):
        key = toleration.key, toleration.operator, toleration.value, toleration.effect
        if key in seen:
            yield duplicate(here.index(position), internal_form(toleration))
        seen.add(key)
