"""Validation of StatefulSets."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, GoStruct, Path, invalid, not_supported, required
from apimachinery.meta.internal_form import internal_form
from apimachinery.names import is_dns1123_label
from apimachinery.selectors.label_selector import try_label_selector
from apis.apps.v1.stateful_set import (
    DELETE,
    ON_DELETE,
    ORDERED_READY,
    PARALLEL,
    RETAIN,
    ROLLING_UPDATE,
    RollingUpdateStatefulSetStrategy,
    StatefulSet,
    StatefulSetSpec,
    StatefulSetStatus,
    StatefulSetUpdateStrategy,
)
from apis.apps.validation.counts import (
    is_zero,
    validate_at_most_all,
    validate_count_or_percentage,
)
from apis.apps.validation.workloads import (
    shown_strategy,
    validate_at_most,
    validate_counts,
    validate_not_decremented,
    validate_required_selector,
    validate_runs_for_ever,
    validate_template_labels,
    validate_unchanged,
)
from apis.core.v1.pod_template import PodTemplateSpec
from apis.core.v1.volume import Volume
from apis.core.v1.volume_sources import PersistentVolumeClaimVolumeSource
from apis.core.validation.persistent_volume_claim_spec import validate_claim_spec
from apis.core.validation.pod.pod_creation import validate_pod_template_spec

_SPEC: Final = Path("spec")
_STATUS: Final = Path("status")


def validate_stateful_set(stateful_set: StatefulSet) -> FieldErrors:
    spec = stateful_set.spec
    yield from _validate_policies(spec)
    for position, claim in enumerate(spec.volume_claim_templates):
        path = _SPEC.child("volumeClaimTemplates").index(position).child("spec")
        yield from validate_claim_spec(claim.spec, path)
    yield from _validate_numbers(spec)
    for error in is_dns1123_label(spec.service_name) if spec.service_name else ():
        yield invalid(_SPEC.child("serviceName"), spec.service_name, error)
    yield from _validate_pods(spec, None)


def validate_stateful_set_update(new: StatefulSet, old: StatefulSet) -> FieldErrors:
    """Validate an update. What cannot be changed is not validated again: it may be old."""
    spec, before = new.spec, old.spec
    yield from _validate_policies(spec)
    yield from _validate_numbers(spec)
    yield from _validate_pods(spec, before.template)
    for name, value, stored in (
        ("selector", spec.selector, before.selector),
        ("volumeClaimTemplates", spec.volume_claim_templates, before.volume_claim_templates),
        ("serviceName", spec.service_name, before.service_name),
        ("podManagementPolicy", spec.pod_management_policy, before.pod_management_policy),
    ):
        yield from validate_unchanged(value, stored, _SPEC.child(name))


def validate_stateful_set_status_update(new: StatefulSet, old: StatefulSet) -> FieldErrors:
    yield from _validate_status(new.status)
    yield from validate_not_decremented(
        new.status.collision_count, old.status.collision_count, _STATUS.child("collisionCount")
    )


def _validate_policies(spec: StatefulSetSpec) -> FieldErrors:
    management = spec.pod_management_policy
    if management not in (ORDERED_READY, PARALLEL):
        rule = f"must be '{ORDERED_READY}' or '{PARALLEL}'"
        yield invalid(_SPEC.child("podManagementPolicy"), management, rule)
    yield from _validate_strategy(spec.update_strategy, _SPEC.child("updateStrategy"))
    retention = spec.persistent_volume_claim_retention_policy
    path = _SPEC.child("persistentVolumeClaimRetentionPolicy")
    if retention is not None:
        for name, value in (
            ("whenDeleted", retention.when_deleted),
            ("whenScaled", retention.when_scaled),
        ):
            if value not in (RETAIN, DELETE):
                yield not_supported(path.child(name), value, (RETAIN, DELETE))


def _validate_strategy(strategy: StatefulSetUpdateStrategy, path: Path) -> FieldErrors:
    rolling = strategy.rolling_update
    if not strategy.type:
        yield required(path)
    elif strategy.type == ON_DELETE:
        if rolling is not None:
            rule = f"only allowed for updateStrategy '{ROLLING_UPDATE}'"
            yield invalid(path.child("rollingUpdate"), _shown(rolling), rule)
    elif strategy.type == ROLLING_UPDATE:
        if rolling is not None:
            yield from _validate_rolling_update(rolling, path.child("rollingUpdate"))
    else:
        rule = f"must be '{ROLLING_UPDATE}' or '{ON_DELETE}'"
        yield invalid(path, shown_strategy(strategy.type, _shown(rolling)), rule)


def _validate_rolling_update(rolling: RollingUpdateStatefulSetStrategy, path: Path) -> FieldErrors:
    yield from validate_counts({"partition": rolling.partition}, path)
    unavailable, here = rolling.max_unavailable, path.child("maxUnavailable")
    if unavailable is not None:
        yield from validate_count_or_percentage(unavailable, here)
        if is_zero(unavailable):
            yield invalid(here, unavailable, "cannot be 0")
        yield from validate_at_most_all(unavailable, here)


def _validate_numbers(spec: StatefulSetSpec) -> FieldErrors:
    counts = {"replicas": spec.replicas, "minReadySeconds": spec.min_ready_seconds}
    yield from validate_counts(counts, _SPEC)
    if spec.ordinals is not None:
        yield from validate_counts({"start": spec.ordinals.start}, _SPEC.child("ordinals"))


def _validate_pods(spec: StatefulSetSpec, old: PodTemplateSpec | None) -> FieldErrors:
    """Validate the selector and the template; *old* is the stored template."""
    path = _SPEC.child("selector")
    yield from validate_required_selector(spec.selector, path, kind="statefulset")
    selector, template_path = try_label_selector(spec.selector), _SPEC.child("template")
    if selector is None:
        yield invalid(path, internal_form(spec.selector), "")
    else:
        if not selector.empty:
            yield from validate_template_labels(spec.template, selector, template_path)
        yield from validate_pod_template_spec(_as_created(spec), template_path, old)
    yield from validate_runs_for_ever(
        spec.template.spec, template_path.child("spec"), kind="StatefulSet"
    )


def _as_created(spec: StatefulSetSpec) -> PodTemplateSpec:
    """Return the template with what the controller sets: volumes of claims and host names."""
    template = spec.template.model_copy()
    claims = {claim.metadata.name for claim in spec.volume_claim_templates}
    volumes = [_claim_volume(name) for name in sorted(claims)]
    volumes += [volume for volume in template.spec.volumes if volume.name not in claims]
    changes = {"hostname": "", "subdomain": "", "volumes": volumes}
    template.spec = template.spec.model_copy(update=changes)
    return template


def _claim_volume(name: str) -> Volume:
    source = PersistentVolumeClaimVolumeSource(claim_name=name)
    return Volume(name=name, persistent_volume_claim=source)


def _validate_status(status: StatefulSetStatus) -> FieldErrors:
    parts = {
        "readyReplicas": status.ready_replicas,
        "currentReplicas": status.current_replicas,
        "updatedReplicas": status.updated_replicas,
        "availableReplicas": status.available_replicas,
    }
    yield from validate_counts(
        {
            "replicas": status.replicas,
            **parts,
            "observedGeneration": status.observed_generation,
            "collisionCount": status.collision_count,
        },
        _STATUS,
    )
    yield from validate_at_most(parts, _STATUS, status.replicas, "status.replicas")
    available = {"availableReplicas": status.available_replicas}
    yield from validate_at_most(available, _STATUS, status.ready_replicas, "status.readyReplicas")


def _shown(rolling: RollingUpdateStatefulSetStrategy | None) -> GoStruct | None:
    if rolling is None:
        return None
    return GoStruct(Partition=rolling.partition or 0, MaxUnavailable=rolling.max_unavailable)
