"""Validation of status updates of pods, which nodes and the scheduler write."""

from collections.abc import Mapping, Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, internal_error, invalid
from apimachinery.ip_addresses import is_strict_ip, parse_ip, unmapped
from apimachinery.meta.metadata_validation import dns_subdomain_name, validate_immutable
from apimachinery.names import is_qualified_name
from apis.core.v1.container import Container
from apis.core.v1.container_status import ContainerStatus
from apis.core.v1.pod import Pod
from apis.core.v1.pod_status import HostIP, PodCondition, PodIP
from apis.core.validation.internal_form import internal_form
from apis.core.validation.pod.claim_statuses import (
    validate_claim_statuses,
    validate_extended_claim_status,
)
from apis.core.validation.pod.container_statuses import (
    validate_allocated_resources,
    validate_no_allocated_resources,
    validate_users,
)
from apis.core.validation.pod.pod_update import validate_updated_annotations
from apis.core.validation.pod.restart_policies import can_restart_all, should_restart
from apis.core.validation.pod.stored_exceptions import pod_options

_STATUS: Final = Path("status")
_SYSTEM_CONDITIONS: Final = ("PodScheduled", "Ready", "Initialized")
_NONNEGATIVE: Final = "must be a non-negative integer"


def validate_pod_status_update(new: Pod, old: Pod) -> FieldErrors:
    yield from validate_updated_annotations(new, old, pod_options(old))
    status, spec = new.status, new.spec
    yield from _validate_conditions(status.conditions, _STATUS.child("conditions"))
    if spec.node_name != old.spec.node_name:
        yield forbidden(_STATUS.child("nodeName"), "may not be changed directly")
    yield from _validate_nominated_node(new, old)
    if status.observed_generation < 0:
        here = _STATUS.child("observedGeneration")
        yield invalid(here, status.observed_generation, _NONNEGATIVE)
    yield from validate_immutable(status.qos_class, old.status.qos_class, _STATUS.child("qosClass"))
    yield from _validate_transitions(new, old)
    yield from validate_claim_statuses(
        status.resource_claim_statuses,
        spec.resource_claims,
        _STATUS.child("resourceClaimStatuses"),
    )
    yield from validate_extended_claim_status(
        status.extended_resource_claim_status, spec, _STATUS.child("extendedResourceClaimStatus")
    )
    yield from _validate_pod_ips(new, old, _STATUS.child("podIPs"))
    yield from _validate_host_ips(new, old, _STATUS.child("hostIPs"))
    yield from _validate_container_statuses(new)


def _validate_conditions(conditions: Sequence[PodCondition], path: Path) -> FieldErrors:
    for position, condition in enumerate(conditions):
        here = path.index(position)
        if condition.observed_generation < 0:
            generation = condition.observed_generation
            yield invalid(here.child("observedGeneration"), generation, _NONNEGATIVE)
        if condition.type in _SYSTEM_CONDITIONS:
            continue
        for error in is_qualified_name(condition.type):
            # As in Kubernetes, the field is spelt as in its source.
            yield invalid(here.child("Type"), condition.type, error)


def _validate_nominated_node(new: Pod, old: Pod) -> FieldErrors:
    name, path = new.status.nominated_node_name, _STATUS.child("nominatedNodeName")
    if not name or name == old.status.nominated_node_name:
        return
    for error in dns_subdomain_name(name, False):
        yield invalid(path, name, error)
    if old.spec.node_name:
        yield forbidden(path, "may not be set on pods that are already bound to a node")


def _validate_transitions(new: Pod, old: Pod) -> FieldErrors:
    """Validate that no container leaves its terminated state that is not restarted."""
    spec = old.spec
    if not can_restart_all([*spec.init_containers, *spec.containers]):
        yield from _validate_restarts(
            new.status.container_statuses,
            old.status.container_statuses,
            _STATUS.child("containerStatuses"),
            {container.name: container for container in reversed(spec.containers)},
            spec.restart_policy,
        )
        yield from _validate_restarts(
            new.status.init_container_statuses,
            old.status.init_container_statuses,
            _STATUS.child("initContainerStatuses"),
            {container.name: container for container in reversed(spec.init_containers)},
            spec.restart_policy,
        )
    yield from _validate_restarts(
        new.status.ephemeral_container_statuses,
        old.status.ephemeral_container_statuses,
        _STATUS.child("ephemeralContainerStatuses"),
        {},
        spec.restart_policy,
    )


def _validate_restarts(
    new: Sequence[ContainerStatus],
    old: Sequence[ContainerStatus],
    path: Path,
    containers: Mapping[str, Container],
    pod_restart_policy: str,
) -> FieldErrors:
    running = {status.name: status.state.terminated is None for status in reversed(new)}
    for position, status in enumerate(old):
        terminated = status.state.terminated
        if terminated is None or not running.get(status.name):
            continue
        container = containers.get(status.name)
        if container is None or not should_restart(
            container, pod_restart_policy, terminated.exit_code
        ):
            rule = "may not be transitioned to non-terminated state"
            yield forbidden(path.index(position).child("state"), rule)


def _validate_pod_ips(new: Pod, old: Pod, path: Path) -> FieldErrors:
    ips, first = new.status.pod_ips, new.status.pod_ip
    yield from _validate_addresses(ips, old.status.pod_ips, path)
    if bool(ips) != bool(first):
        rule = "podIP and podIPs must either both be set or both be unset"
        given = bool(ips) or "pod_ips" in new.status.model_fields_set
        yield invalid(path, internal_form(ips) if given else None, rule)
    elif ips and ips[0].ip != first:
        yield invalid(path.index(0).child("ip"), ips[0].ip, "must be equal to `podIP`")


def _validate_host_ips(new: Pod, old: Pod, path: Path) -> FieldErrors:
    ips = new.status.host_ips
    if ips and ips[0].ip != new.status.host_ip:
        yield invalid(path.index(0).child("ip"), ips[0].ip, "must be equal to `hostIP`")
    yield from _validate_addresses(ips, old.status.host_ips, path)


def _validate_addresses(
    new: Sequence[PodIP | HostIP], old: Sequence[PodIP | HostIP], path: Path
) -> FieldErrors:
    """Validate that new addresses are valid, and that there is one of each family at most."""
    stored = {item.ip for item in old}
    for position, item in enumerate(new):
        for error in is_strict_ip(item.ip) if item.ip not in stored else ():
            yield invalid(path.index(position), item.ip, error)
    if len(new) < 2:
        return
    addresses = [parse_ip(item.ip) for item in new]
    families = {unmapped(address).version for address in addresses if address is not None}
    if None in addresses:
        position = addresses.index(None)
        problem = f"invalid IP[{position}]: {new[position].ip}"
        rule = f"failed to check for dual stack with error:{problem}"
        yield internal_error(path, ValueError(rule))
        families = set()
    if len(families) != 2 or len(new) > 2:
        rule = "may specify no more than one IP for each IP family"
        yield invalid(path, internal_form(list(new)), rule)


def _validate_container_statuses(pod: Pod) -> FieldErrors:
    lists = {
        "containerStatuses": pod.status.container_statuses,
        "initContainerStatuses": pod.status.init_container_statuses,
        "ephemeralContainerStatuses": pod.status.ephemeral_container_statuses,
    }
    for wire, statuses in lists.items():
        yield from validate_users(statuses, _STATUS.child(wire), pod.spec.os)
    extended = pod.status.extended_resource_claim_status
    for wire, containers in (
        ("containerStatuses", pod.spec.containers),
        ("initContainerStatuses", pod.spec.init_containers),
    ):
        yield from validate_allocated_resources(
            lists[wire], _STATUS.child(wire), containers, extended
        )
    wire = "ephemeralContainerStatuses"
    yield from validate_no_allocated_resources(lists[wire], _STATUS.child(wire))
