"""Validation of ReplicationControllers and PodTemplates."""

from collections.abc import Mapping
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, not_supported, required
from apimachinery.meta.metadata_validation import validate_nonnegative
from apis.core.v1.pod_template import PodTemplate, PodTemplateSpec
from apis.core.v1.replication_controller import (
    ReplicationController,
    ReplicationControllerSpec,
    ReplicationControllerStatus,
)
from apis.core.validation.pod import validate_pod_template_spec

_SPEC: Final = Path("spec")
_STATUS: Final = Path("status")
_TEMPLATE: Final = Path("template")


def validate_pod_template(template: PodTemplate, old: PodTemplate | None = None) -> FieldErrors:
    """Validate a PodTemplate; *old* is the stored one, if there is one."""
    before = old.template if old is not None else None
    yield from validate_pod_template_spec(template.template, _TEMPLATE, before)


def validate_replication_controller(
    controller: ReplicationController, old: ReplicationController | None = None
) -> FieldErrors:
    """Validate a ReplicationController; *old* is the stored one, if there is one."""
    spec = controller.spec
    yield from validate_nonnegative(spec.min_ready_seconds, _SPEC.child("minReadySeconds"))
    if not spec.selector:
        yield required(_SPEC.child("selector"))
    if spec.replicas is None:
        yield required(_SPEC.child("replicas"))
    else:
        yield from validate_nonnegative(spec.replicas, _SPEC.child("replicas"))
    yield from _validate_template(spec, old.spec.template if old is not None else None)


def validate_replication_controller_status(status: ReplicationControllerStatus) -> FieldErrors:
    counts: Mapping[str, int] = {
        "replicas": status.replicas,
        "fullyLabeledReplicas": status.fully_labeled_replicas,
        "readyReplicas": status.ready_replicas,
        "availableReplicas": status.available_replicas,
        "observedGeneration": status.observed_generation,
    }
    for name, count in counts.items():
        yield from validate_nonnegative(count, _STATUS.child(name))
    for name in ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"):
        if counts[name] > status.replicas:
            rule = "cannot be greater than status.replicas"
            yield invalid(_STATUS.child(name), counts[name], rule)
    if status.available_replicas > status.ready_replicas:
        rule = "cannot be greater than readyReplicas"
        yield invalid(_STATUS.child("availableReplicas"), status.available_replicas, rule)


def _validate_template(spec: ReplicationControllerSpec, old: PodTemplateSpec | None) -> FieldErrors:
    path, template = _SPEC.child("template"), spec.template
    if template is None:
        yield required(path)
        return
    labels = template.metadata.labels
    if not spec.selector.items() <= labels.items():
        rule = "`selector` does not match template `labels`"
        yield invalid(path.child("metadata", "labels"), labels or None, rule)
    yield from validate_pod_template_spec(template, path, old)
    if template.spec.restart_policy != "Always":
        place = path.child("spec", "restartPolicy")
        yield not_supported(place, template.spec.restart_policy, ("Always",))
    if template.spec.active_deadline_seconds is not None:
        rule = "activeDeadlineSeconds in ReplicationController is not Supported"
        yield forbidden(path.child("spec", "activeDeadlineSeconds"), rule)
