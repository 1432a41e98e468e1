"""Defaults of pods, pod templates and their containers.

`POD_DEFAULTS` is for every group with pod templates. Only a Pod has the defaults of
`set_pod_defaults`: a template keeps what its author wrote, and its pods get them later.
"""

from collections.abc import Iterable
from typing import Final

from apis.core.v1.container import Container, ContainerPort
from apis.core.v1.container_status import ContainerStatus
from apis.core.v1.defaults.image_name import pull_policy
from apis.core.v1.defaults.resource_lists import round_up
from apis.core.v1.defaults.volume import VOLUME_DEFAULTS
from apis.core.v1.env import FileKeySelector, ObjectFieldSelector
from apis.core.v1.ephemeral_container import EphemeralContainer
from apis.core.v1.pod import Pod, PodSpec
from apis.core.v1.pod_status import PodIP, PodStatus
from apis.core.v1.probe import GRPCAction, HTTPGetAction, Probe
from apis.core.v1.resource_requirements import ResourceRequirements
from apis.core.v1.security_context import PodSecurityContext

GRACE_PERIOD_SECONDS: Final = 30
SCHEDULER: Final = "default-scheduler"
TERMINATION_MESSAGE_PATH: Final = "/dev/termination-log"


def set_pod_defaults(pod: Pod) -> None:
    spec = pod.spec
    # Negative periods were once allowed, and meant a second.
    if (spec.termination_grace_period_seconds or 0) < 0:
        spec.termination_grace_period_seconds = 1
    for container in (*spec.containers, *spec.init_containers):
        resources = container.resources
        if resources.limits:
            resources.requests = {**resources.limits, **resources.requests}
    if spec.enable_service_links is None:
        spec.enable_service_links = True
    if spec.host_network:
        _set_host_ports((*spec.containers, *spec.init_containers))


def set_pod_spec_defaults(spec: PodSpec) -> None:
    spec.service_account_name = spec.service_account_name or spec.service_account
    spec.service_account = spec.service_account_name
    spec.dns_policy = spec.dns_policy or "ClusterFirst"
    spec.restart_policy = spec.restart_policy or "Always"
    if spec.security_context is None:
        spec.security_context = PodSecurityContext()
    if spec.termination_grace_period_seconds is None:
        spec.termination_grace_period_seconds = GRACE_PERIOD_SECONDS
    spec.scheduler_name = spec.scheduler_name or SCHEDULER
    round_up(spec.overhead)


def set_container_defaults(container: Container) -> None:
    _set_container_defaults(container)


def set_ephemeral_container_defaults(container: EphemeralContainer) -> None:
    _set_container_defaults(container)


def set_container_port_defaults(port: ContainerPort) -> None:
    port.protocol = port.protocol or "TCP"


def set_resource_defaults(resources: ResourceRequirements) -> None:
    round_up(resources.limits)
    round_up(resources.requests)


def set_probe_defaults(probe: Probe) -> None:
    probe.timeout_seconds = probe.timeout_seconds or 1
    probe.period_seconds = probe.period_seconds or 10
    probe.success_threshold = probe.success_threshold or 1
    probe.failure_threshold = probe.failure_threshold or 3


def set_http_get_defaults(action: HTTPGetAction) -> None:
    action.path = action.path or "/"
    action.scheme = action.scheme or "HTTP"


def set_grpc_defaults(action: GRPCAction) -> None:
    if action.service is None:
        action.service = ""


def set_field_selector_defaults(selector: ObjectFieldSelector) -> None:
    selector.api_version = selector.api_version or "v1"


def set_file_key_defaults(selector: FileKeySelector) -> None:
    if selector.optional is None:
        selector.optional = False


def set_pod_status_defaults(status: PodStatus) -> None:
    # Old kubelets set only the single address, so that one is right if the two differ.
    if status.pod_ip:
        if not status.pod_ips or status.pod_ips[0].ip != status.pod_ip:
            status.pod_ips = [PodIP(ip=status.pod_ip)]
    elif status.pod_ips:
        status.pod_ip = status.pod_ips[0].ip
    round_up(status.allocated_resources)


def set_container_status_defaults(status: ContainerStatus) -> None:
    round_up(status.allocated_resources)


def _set_container_defaults(container: Container | EphemeralContainer) -> None:
    container.image_pull_policy = container.image_pull_policy or pull_policy(container.image)
    container.termination_message_path = (
        container.termination_message_path or TERMINATION_MESSAGE_PATH
    )
    container.termination_message_policy = container.termination_message_policy or "File"


def _set_host_ports(containers: Iterable[Container]) -> None:
    for container in containers:
        for port in container.ports:
            port.host_port = port.host_port or port.container_port


POD_DEFAULTS: Final = (
    *VOLUME_DEFAULTS,
    set_container_defaults,
    set_container_port_defaults,
    set_ephemeral_container_defaults,
    set_field_selector_defaults,
    set_file_key_defaults,
    set_grpc_defaults,
    set_http_get_defaults,
    set_pod_spec_defaults,
    set_probe_defaults,
    set_resource_defaults,
)
"""Defaults of pod templates, which every group with templates registers."""
