"""Validation of updates of pods: almost nothing of a pod may change once it is stored.

Containers may get other images, deadlines may become shorter, tolerations may be added, and gates
removed. A pod that is gated may also be restricted to fewer nodes.
"""

from collections.abc import Sequence
from typing import Any, Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, required
from apimachinery.meta.metadata_validation import validate_object_meta
from apimachinery.names import ID_MAX, is_in_range
from apis.core.v1.container import Container
from apis.core.v1.pod import Pod, PodSpec
from apis.core.v1.scheduling import Affinity, NodeAffinity, PodSchedulingGate, Toleration
from apis.core.validation.pod.annotations import (
    validate_annotation_changes,
    validate_pod_annotations,
)
from apis.core.validation.pod.containers import validate_image_spacing
from apis.core.validation.pod.gated_pod_update import (
    validate_node_affinity_change,
    validate_node_selector_change,
)
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.pod.pod_creation import validate_pod_content
from apis.core.validation.pod.stored_exceptions import pod_options
from apis.core.validation.struct_diff import struct_diff
from apis.core.validation.tolerations import validate_tolerations

_SPEC: Final = Path("spec")
_ANNOTATIONS: Final = Path("metadata", "annotations")
_CHANGEABLE: Final = ",".join(
    [
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` "
        "(allow it to be set to 1 if it was previously negative)",
    ]
)


def validate_pod_update(new: Pod, old: Pod, *, allow_privileged: bool = True) -> FieldErrors:
    options = pod_options(old, allow_privileged=allow_privileged)
    yield from validate_updated_content(new, old, options)
    for wire, containers, stored in (
        ("containers", new.spec.containers, old.spec.containers),
        ("initContainers", new.spec.init_containers, old.spec.init_containers),
    ):
        if len(containers) != len(stored):
            yield forbidden(_SPEC.child(wire), "pod updates may not add or remove containers")
            return
        yield from _validate_images(containers, _SPEC.child(wire))
    errors = list(_validate_deadline(new.spec, old.spec, _SPEC.child("activeDeadlineSeconds")))
    yield from errors
    # As in Kubernetes, a deadline that is no number to compare ends the validation.
    if errors and new.spec.active_deadline_seconds is not None:
        return
    yield from _validate_tolerations(
        new.spec.tolerations, old.spec.tolerations, _SPEC.child("tolerations")
    )
    yield from _validate_gates(
        new.spec.scheduling_gates, old.spec.scheduling_gates, _SPEC.child("schedulingGates")
    )
    if new.spec != old.spec:
        yield from _validate_rest(new.spec, old.spec)


def validate_updated_content(new: Pod, old: Pod, options: PodValidationOptions) -> FieldErrors:
    """Validate a pod as a whole, and the annotations that may not change."""
    # As in Kubernetes, metadata are validated again by the rules for new objects.
    yield from validate_object_meta(new.metadata, namespaced=True)
    yield from validate_pod_content(new, options)
    yield from validate_updated_annotations(new, old, options)


def validate_updated_annotations(new: Pod, old: Pod, options: PodValidationOptions) -> FieldErrors:
    annotations = new.metadata.annotations
    yield from validate_annotation_changes(annotations, old.metadata.annotations, _ANNOTATIONS)
    yield from validate_pod_annotations(annotations, new.spec, _ANNOTATIONS, options)


def _validate_images(containers: Sequence[Container], path: Path) -> FieldErrors:
    for position, container in enumerate(containers):
        if not container.image:
            yield required(path.index(position).child("image"))
        yield from validate_image_spacing(container, path.index(position))


def _validate_deadline(new: PodSpec, old: PodSpec, path: Path) -> FieldErrors:
    seconds, stored = new.active_deadline_seconds, old.active_deadline_seconds
    if seconds is None:
        if stored is not None:
            yield invalid(path, None, "must not update from a positive integer to nil value")
        return
    if errors := is_in_range(seconds, 0, ID_MAX):
        yield invalid(path, seconds, errors[0])
    elif stored is not None and stored < seconds:
        yield invalid(path, seconds, "must be less than or equal to previous value")


def _validate_tolerations(
    new: Sequence[Toleration], old: Sequence[Toleration], path: Path
) -> FieldErrors:
    kept = {_lasting(toleration) for toleration in new}
    if any(_lasting(toleration) not in kept for toleration in old):
        rule = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden(path, rule)
    else:
        yield from validate_tolerations(new, path)


def _lasting(toleration: Toleration) -> tuple[str, str, str, str]:
    """Return what may not change in a toleration: all but its seconds."""
    return toleration.key, toleration.operator, toleration.value, toleration.effect


def _validate_gates(
    new: Sequence[PodSchedulingGate], old: Sequence[PodSchedulingGate], path: Path
) -> FieldErrors:
    stored = {gate.name for gate in old}
    added = {gate.name: position for position, gate in enumerate(new) if gate.name not in stored}
    for name, position in added.items():
        rule = f"only deletion is allowed, but found new scheduling gate '{name}'"
        yield forbidden(path.index(position).child("name"), rule)


def _validate_rest(new: PodSpec, old: PodSpec) -> FieldErrors:
    """Validate that nothing changes beyond the fields that may."""
    masked = new.model_copy()
    _mask(masked, "containers", _with_images_of(new.containers, old.containers))
    _mask(masked, "init_containers", _with_images_of(new.init_containers, old.init_containers))
    _mask(masked, "scheduling_gates", old.scheduling_gates)
    _mask(masked, "tolerations", old.tolerations)
    masked.active_deadline_seconds = old.active_deadline_seconds
    seconds = old.termination_grace_period_seconds
    if seconds is not None and seconds < 0 and new.termination_grace_period_seconds == 1:
        masked.termination_grace_period_seconds = seconds
    if old.scheduling_gates:
        yield from _validate_gated(masked, old)
    if masked != old:
        rule = f"pod updates may not change fields other than {_CHANGEABLE}"
        yield forbidden(_SPEC, f"{rule}\n{struct_diff(old, masked)}")


def _mask(spec: PodSpec, name: str, value: list[Any] | dict[str, str]) -> None:
    """Set a field to its stored value; an empty one is as unset as in the stored document."""
    setattr(spec, name, value)
    if not value:
        spec.model_fields_set.discard(name)


def _with_images_of(new: Sequence[Container], old: Sequence[Container]) -> list[Container]:
    return [
        container.model_copy(update={"image": stored.image})
        for container, stored in zip(new, old, strict=True)
    ]


def _validate_gated(masked: PodSpec, old: PodSpec) -> FieldErrors:
    """Validate what may change as long as a pod has gates, and mask it in *masked*."""
    if masked.node_selector != old.node_selector:
        yield from validate_node_selector_change(masked, old, _SPEC.child("nodeSelector"))
        _mask(masked, "node_selector", old.node_selector)
    before, after = _node_affinity(old), _node_affinity(masked)
    if before != after:
        here = _SPEC.child("affinity", "nodeAffinity")
        yield from validate_node_affinity_change(after, before, here)
        masked.affinity = _masked_affinity(masked.affinity, old.affinity)


def _node_affinity(spec: PodSpec) -> NodeAffinity | None:
    return spec.affinity.node_affinity if spec.affinity is not None else None


def _masked_affinity(new: Affinity | None, old: Affinity | None) -> Affinity | None:
    stored = old.node_affinity if old is not None else None
    if new is None:
        return Affinity(node_affinity=stored)
    if old is None and new.pod_affinity is None and new.pod_anti_affinity is None:
        return None
    return new.model_copy(update={"node_affinity": stored})
