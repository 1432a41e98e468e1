"""What the server sets in a new pod: quality of service, gates, selectors, profiles."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from apimachinery.meta.types import LabelSelector, LabelSelectorRequirement
from apimachinery.scalars.quantity import Quantity
from apis.core.strategy.pod_disabled_fields import all_containers
from apis.core.v1.pod import Pod
from apis.core.v1.pod_status import PodCondition, PodStatus
from apis.core.v1.resource_requirements import ResourceRequirements
from apis.core.v1.scheduling import Affinity, PodAffinityTerm
from apis.core.v1.security_context import AppArmorProfile, SecurityContext

PENDING: Final = "Pending"
SCHEDULED: Final = "PodScheduled"

BEST_EFFORT: Final = "BestEffort"
BURSTABLE: Final = "Burstable"
GUARANTEED: Final = "Guaranteed"

APP_ARMOR_ANNOTATION: Final = "container.apparmor.security.beta.kubernetes.io/"
"""Prefix, before the name of a container, of the annotation that the field has replaced."""

_ZERO: Final = Quantity(0)


def qos_class(pod: Pod) -> str:
    """Return the quality of service: by the resources of the pod, else by those of containers.

    Guaranteed if all limits for CPU and memory equal the requests, BestEffort without any.
    """
    spec = pod.spec
    if spec.resources is not None and (spec.resources.limits or spec.resources.requests):
        return _class_of_resources(spec.resources)
    containers = (*spec.init_containers, *spec.containers)
    return _combined(_class_of_resources(container.resources) for container in containers)


def set_condition_of_gates(pod: Pod) -> None:
    """Set the condition that a pod with scheduling gates waits for their removal."""
    if not pod.spec.scheduling_gates:
        return
    condition = PodCondition(
        type=SCHEDULED,
        status="False",
        reason="SchedulingGated",
        message="Scheduling is blocked due to non-empty scheduling gates",
    )
    set_pod_condition(pod.status, condition, pod.metadata.creation_timestamp)


def set_pod_condition(status: PodStatus, condition: PodCondition, now: datetime | None) -> None:
    """Add a condition, or replace that of its type; its time is that of the last transition."""
    condition.last_transition_time = now
    for position, current in enumerate(status.conditions):
        if current.type == condition.type:
            if current.status == condition.status:
                condition.last_transition_time = current.last_transition_time
            status.conditions[position] = condition
            return
    status.conditions.append(condition)


def merge_label_keys(pod: Pod) -> None:
    """Add the values of `matchLabelKeys` and `mismatchLabelKeys` to the selectors beside them."""
    labels = pod.metadata.labels
    for term in _affinity_terms(pod.spec.affinity):
        if term.label_selector is not None:
            _add_requirements(term.label_selector, "In", term.match_label_keys, labels)
            _add_requirements(term.label_selector, "NotIn", term.mismatch_label_keys, labels)
    for constraint in pod.spec.topology_spread_constraints:
        if constraint.label_selector is not None:
            keys = constraint.match_label_keys
            _add_requirements(constraint.label_selector, "In", keys, labels)


def set_app_armor_profiles(pod: Pod) -> None:
    """Set the profiles of containers from annotations, where containers have none."""
    if pod.spec.os is not None and pod.spec.os.name == "windows":
        return
    context = pod.spec.security_context
    pod_profile = context.app_armor_profile if context is not None else None
    for container in all_containers(pod.spec):
        annotation = pod.metadata.annotations.get(APP_ARMOR_ANNOTATION + container.name)
        own = container.security_context
        if annotation is None or (own is not None and own.app_armor_profile is not None):
            continue
        profile = app_armor_profile(annotation)
        if profile is not None and profile != pod_profile:
            if container.security_context is None:
                container.security_context = SecurityContext()
            container.security_context.app_armor_profile = profile


def app_armor_profile(annotation: str) -> AppArmorProfile | None:
    """Return the profile that an annotation names, None if it is malformed."""
    match annotation:
        case "unconfined":
            return AppArmorProfile(type="Unconfined")
        case "runtime/default":
            return AppArmorProfile(type="RuntimeDefault")
    name = annotation.removeprefix("localhost/")
    if name in ("", annotation) or name != name.strip():
        return None
    return AppArmorProfile(type="Localhost", localhost_profile=name)


def _combined(classes: Iterable[str]) -> str:
    """Return the class of a whole from those of its parts: Burstable if they differ."""
    found = set(classes)
    return found.pop() if len(found) == 1 else BURSTABLE if found else BEST_EFFORT


def _class_of_resources(resources: ResourceRequirements) -> str:
    return _combined(_class_of_amount(resources, name) for name in ("cpu", "memory"))


def _class_of_amount(resources: ResourceRequirements, name: str) -> str:
    request = resources.requests.get(name, _ZERO)
    if request != resources.limits.get(name, _ZERO):
        return BURSTABLE
    return BEST_EFFORT if request.is_zero else GUARANTEED


def _affinity_terms(affinity: Affinity | None) -> Iterator[PodAffinityTerm]:
    if affinity is None:
        return
    for rules in (affinity.pod_affinity, affinity.pod_anti_affinity):
        if rules is not None:
            for weighted in rules.preferred_during_scheduling_ignored_during_execution:
                yield weighted.pod_affinity_term
            yield from rules.required_during_scheduling_ignored_during_execution


def _add_requirements(
    selector: LabelSelector, operator: str, keys: Iterable[str], labels: Mapping[str, str]
) -> None:
    for key in keys:
        if key in labels:
            requirement = LabelSelectorRequirement(key=key, operator=operator, values=[labels[key]])
            selector.match_expressions.append(requirement)
