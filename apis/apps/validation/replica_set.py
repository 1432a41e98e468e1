"""Validation of ReplicaSets, and of the templates that deployments hand on to them."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.meta.internal_form import internal_form
from apimachinery.meta.types import LabelSelector
from apimachinery.selectors.label_selector import try_label_selector
from apis.apps.v1.replica_set import ReplicaSet, ReplicaSetStatus
from apis.apps.validation.workloads import (
    validate_at_most,
    validate_counts,
    validate_required_selector,
    validate_runs_for_ever,
    validate_template_labels,
    validate_unchanged,
)
from apis.core.v1.pod_template import PodTemplateSpec
from apis.core.validation.pod.pod_creation import validate_pod_template_spec

_SPEC: Final = Path("spec")
_STATUS: Final = Path("status")


def validate_replica_set(replica_set: ReplicaSet, old: ReplicaSet | None = None) -> FieldErrors:
    """Validate a replica set; *old* is the stored one, whose template may break newer rules."""
    spec = replica_set.spec
    counts = {"replicas": spec.replicas, "minReadySeconds": spec.min_ready_seconds}
    yield from validate_counts(counts, _SPEC)
    # Kubernetes names the wrong kind in the message.
    yield from validate_required_selector(spec.selector, _SPEC.child("selector"), kind="deployment")
    template = old.spec.template if old else None
    yield from validate_replica_template(spec.template, spec.selector, _SPEC, template)


def validate_replica_set_update(new: ReplicaSet, old: ReplicaSet) -> FieldErrors:
    yield from validate_replica_set(new, old)
    yield from validate_unchanged(new.spec.selector, old.spec.selector, _SPEC.child("selector"))


def validate_replica_set_status(status: ReplicaSetStatus) -> FieldErrors:
    yield from validate_counts(
        {
            "replicas": status.replicas,
            "fullyLabeledReplicas": status.fully_labeled_replicas,
            "readyReplicas": status.ready_replicas,
            "availableReplicas": status.available_replicas,
            "observedGeneration": status.observed_generation,
            "terminatingReplicas": status.terminating_replicas,
        },
        _STATUS,
    )
    parts = {
        "fullyLabeledReplicas": status.fully_labeled_replicas,
        "readyReplicas": status.ready_replicas,
        "availableReplicas": status.available_replicas,
    }
    yield from validate_at_most(parts, _STATUS, status.replicas, "status.replicas")
    available = {"availableReplicas": status.available_replicas}
    yield from validate_at_most(available, _STATUS, status.ready_replicas, "readyReplicas")


def validate_replica_template(
    template: PodTemplateSpec,
    selector: LabelSelector | None,
    path: Path,
    old: PodTemplateSpec | None,
) -> FieldErrors:
    """Validate the template of equal pods against the selector that counts them."""
    parsed, here = try_label_selector(selector), path.child("template")
    if parsed is None:
        yield invalid(path.child("selector"), internal_form(selector), "invalid label selector")
        return
    if not parsed.empty:
        yield from validate_template_labels(template, parsed, here)
    yield from validate_pod_template_spec(template, here, old)
    yield from validate_runs_for_ever(template.spec, here.child("spec"), kind="ReplicaSet")
