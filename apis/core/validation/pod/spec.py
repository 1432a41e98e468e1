"""Validation of the spec of a pod, or of the template of one."""

from collections.abc import Sequence

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import dns_subdomain_name, validate_labels
from apimachinery.meta.types import ObjectMeta
from apimachinery.names import ID_MAX, is_in_range, is_qualified_name
from apis.core.pod_containers import all_containers
from apis.core.v1.pod import PodSpec
from apis.core.v1.scheduling import PodReadinessGate, PodSchedulingGate, PodSchedulingGroup
from apis.core.v1.volume import Volume
from apis.core.validation.pod.affinity import validate_affinity
from apis.core.validation.pod.container_ports import validate_host_network_ports
from apis.core.validation.pod.containers import (
    ContainerSurroundings,
    validate_containers,
    validate_ephemeral_containers,
    validate_init_containers,
)
from apis.core.validation.pod.names_and_dns import (
    validate_dns_config,
    validate_dns_policy,
    validate_host_aliases,
    validate_host_name,
    validate_host_name_override,
)
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.pod.resource_claims import validate_pod_resource_claims
from apis.core.validation.pod.resources import validate_overhead, validate_pod_resources
from apis.core.validation.pod.restart_policies import validate_pod_restart_policy
from apis.core.validation.pod.security_context import validate_pod_security_context
from apis.core.validation.pod.topology_spread import validate_topology_spread
from apis.core.validation.pod.volumes import validate_volumes
from apis.core.validation.pod.windows import validate_host_processes, validate_os
from apis.core.validation.tolerations import validate_tolerations

_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")


def validate_pod_spec(
    spec: PodSpec, metadata: ObjectMeta | None, path: Path, options: PodValidationOptions
) -> FieldErrors:
    """Validate a spec; *metadata* are those of the pod, and None for a template."""
    if spec.termination_grace_period_seconds is None:
        yield required(path.child("terminationGracePeriodSeconds"))
    yield from _validate_containers(spec, metadata, path, options)
    yield from validate_host_network_ports(spec, path, in_pod=options.in_pod)
    yield from validate_pod_restart_policy(spec.restart_policy, path.child("restartPolicy"))
    yield from validate_dns_policy(spec.dns_policy, path.child("dnsPolicy"))
    yield from validate_labels(spec.node_selector, path.child("nodeSelector"))
    yield from validate_pod_security_context(
        spec.security_context, path.child("securityContext"), spec, options
    )
    if spec.share_process_namespace and spec.host_pid:
        rule = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(path.child("shareProcessNamespace"), True, rule)
    yield from validate_affinity(spec.affinity, path.child("affinity"), options)
    yield from validate_dns_config(spec.dns_config, spec.dns_policy, path.child("dnsConfig"))
    yield from _validate_readiness_gates(spec.readiness_gates, path.child("readinessGates"))
    yield from _validate_scheduling_gates(spec.scheduling_gates, path.child("schedulingGates"))
    yield from validate_topology_spread(
        spec.topology_spread_constraints, path.child("topologySpreadConstraints"), options
    )
    yield from validate_host_processes(spec, path, options)
    yield from _validate_host_users(spec, path, options)
    yield from validate_host_name_override(spec, path.child("hostnameOverride"))
    yield from _validate_names_and_scheduling(spec, path)
    yield from validate_overhead(spec.overhead, path.child("overhead"), options)
    yield from validate_os(spec, path)
    yield from _validate_scheduling_group(spec, path.child("schedulingGroup"))
    yield from _validate_file_key_volumes(spec, path)


def _validate_containers(
    spec: PodSpec, metadata: ObjectMeta | None, path: Path, options: PodValidationOptions
) -> FieldErrors:
    volumes: dict[str, Volume] = {}
    yield from validate_volumes(spec.volumes, metadata, path.child("volumes"), options, volumes)
    claim_names = {claim.name for claim in spec.resource_claims if claim.name}
    yield from validate_pod_resource_claims(
        spec.resource_claims, metadata, path.child("resourceClaims")
    )
    pod = ContainerSurroundings(spec, volumes, claim_names, options)
    yield from validate_containers(spec.containers, path.child("containers"), pod)
    yield from validate_init_containers(spec.init_containers, path.child("initContainers"), pod)
    yield from validate_ephemeral_containers(
        spec.ephemeral_containers, path.child("ephemeralContainers"), pod
    )
    yield from validate_pod_resources(spec, claim_names, path.child("resources"), options)


def _validate_readiness_gates(gates: Sequence[PodReadinessGate], path: Path) -> FieldErrors:
    for position, gate in enumerate(gates):
        for error in is_qualified_name(gate.condition_type):
            yield invalid(path.index(position).child("conditionType"), gate.condition_type, error)


def _validate_scheduling_gates(gates: Sequence[PodSchedulingGate], path: Path) -> FieldErrors:
    names: set[str] = set()
    for position, gate in enumerate(gates):
        for error in is_qualified_name(gate.name):
            yield invalid(path.index(position), gate.name, error)
        if gate.name in names:
            yield duplicate(path.index(position), gate.name)
        names.add(gate.name)


def _validate_host_users(spec: PodSpec, path: Path, options: PodValidationOptions) -> FieldErrors:
    """Validate that a pod with its own users shares nothing with the host that they could reach."""
    if spec.host_users is not False:
        return
    rule = "when `hostUsers` is false"
    # As in Kubernetes, the second and third path are spelt as in its source.
    for wire, shared in (
        ("hostNetwork", spec.host_network),
        ("HostPID", spec.host_pid),
        ("HostIPC", spec.host_ipc),
    ):
        if shared:
            yield forbidden(path.child(wire), rule)
    if options.allow_devices_in_user_namespaces:
        return
    for container, here in all_containers(spec, path):
        if container.volume_devices:
            yield forbidden(here.child("volumeDevices"), rule)


def _validate_names_and_scheduling(spec: PodSpec, path: Path) -> FieldErrors:
    yield from _validate_name(spec.service_account_name, path.child("serviceAccountName"))
    yield from _validate_name(spec.node_name, path.child("nodeName"))
    if spec.active_deadline_seconds is not None:
        for error in is_in_range(spec.active_deadline_seconds, 1, ID_MAX):
            yield invalid(path.child("activeDeadlineSeconds"), spec.active_deadline_seconds, error)
    yield from validate_host_name(spec.hostname, path.child("hostname"))
    yield from validate_host_name(spec.subdomain, path.child("subdomain"))
    yield from validate_tolerations(spec.tolerations, path.child("tolerations"))
    yield from validate_host_aliases(spec.host_aliases, path.child("hostAliases"))
    yield from _validate_name(spec.priority_class_name, path.child("priorityClassName"))
    if spec.runtime_class_name is not None:
        for error in dns_subdomain_name(spec.runtime_class_name, False):
            yield invalid(path.child("runtimeClassName"), spec.runtime_class_name, error)
    policy, here = spec.preemption_policy, path.child("preemptionPolicy")
    if policy == "":
        yield required(here)
    elif policy is not None and policy not in _PREEMPTION_POLICIES:
        yield not_supported(here, policy, _PREEMPTION_POLICIES)


def _validate_name(name: str, path: Path) -> FieldErrors:
    for error in dns_subdomain_name(name, False) if name else ():
        yield invalid(path, name, error)


def _validate_scheduling_group(spec: PodSpec, path: Path) -> FieldErrors:
    group: PodSchedulingGroup | None = spec.scheduling_group
    if group is None:
        return
    if group.pod_group_name is None:
        yield invalid(path.child("podGroupName"), None, "must specify one of: `podGroupName`")
    else:
        for error in dns_subdomain_name(group.pod_group_name, False):
            yield invalid(path.child("podGroupName"), group.pod_group_name, error)
    if spec.eviction_responders:
        yield forbidden(path, "may not be set when evictionResponders is set")


def _validate_file_key_volumes(spec: PodSpec, path: Path) -> FieldErrors:
    """Validate that variables are read from files of empty directories only."""
    volumes = {volume.name: volume for volume in spec.volumes}
    for container, here in all_containers(spec, path):
        for position, variable in enumerate(container.env):
            source = variable.value_from
            if source is None or source.file_key_ref is None:
                continue
            name = source.file_key_ref.volume_name
            reference = here.child("env").index(position).child("valueFrom", "fileKeyRef")
            if name not in volumes:
                yield not_found(reference.child("volumeName"), name)
            elif volumes[name].empty_dir is None:
                rule = "referenced volume must be of type emptyDir"
                yield invalid(reference.child("volumeName"), name, rule)
