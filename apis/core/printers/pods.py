"""Printer columns of pods, pod templates and ReplicationControllers."""

from collections.abc import Iterable, Mapping
from typing import Final

from apis.core.printers.pod_status import sidecar_names, summarize_pod
from apis.core.v1.container import Container
from apis.core.v1.pod import Pod
from apis.core.v1.replication_controller import ReplicationController
from apiserver import Column
from apiserver.views.table import NAME, AgeText

NONE: Final = "<none>"


def pod_ready(pod: Pod) -> str:
    total = len(pod.spec.containers) + len(sidecar_names(pod))
    return f"{summarize_pod(pod).ready}/{total}"


def pod_reason(pod: Pod) -> str:
    return summarize_pod(pod).reason


def pod_restarts(pod: Pod) -> AgeText | str:
    summary = summarize_pod(pod)
    if not summary.restarts or summary.last_restart is None:
        return str(summary.restarts)
    return AgeText(f"{summary.restarts} (", summary.last_restart, " ago)")


def pod_ip(pod: Pod) -> str:
    return pod.status.pod_ips[0].ip if pod.status.pod_ips else NONE


def pod_readiness_gates(pod: Pod) -> str:
    """Return how many of the readiness gates are open."""
    gates = pod.spec.readiness_gates
    if not gates:
        return NONE
    # Of several conditions of a type, the first counts.
    statuses = {condition.type: condition.status for condition in reversed(pod.status.conditions)}
    opened = sum(statuses.get(gate.condition_type) == "True" for gate in gates)
    return f"{opened}/{len(gates)}"


def container_names(containers: Iterable[Container]) -> str:
    return ",".join(container.name for container in containers)


def container_images(containers: Iterable[Container]) -> str:
    return ",".join(container.image for container in containers)


def format_labels(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE


def _containers(controller: ReplicationController) -> list[Container]:
    template = controller.spec.template
    return template.spec.containers if template is not None else []


POD_COLUMNS: Final = (
    Column("Ready", pod_ready, description="Number of ready containers, and of all."),
    Column("Status", pod_reason, description="Summary of the states of the containers."),
    Column(
        "Restarts",
        pod_restarts,
        description="Number of restarts of the containers, and the time of the last one.",
    ),
    Column("IP", pod_ip, priority=1, description="IP address of the pod."),
    Column(
        "Node",
        lambda pod: pod.spec.node_name or NONE,
        priority=1,
        description="Node that the pod is bound to.",
    ),
    Column(
        "Nominated Node",
        lambda pod: pod.status.nominated_node_name or NONE,
        priority=1,
        description="Node on which other pods are preempted for this one.",
    ),
    Column(
        "Readiness Gates",
        pod_readiness_gates,
        priority=1,
        description="Number of open readiness gates, and of all.",
    ),
)

POD_TEMPLATE_COLUMNS: Final = (
    NAME,
    Column(
        "Containers",
        lambda template: container_names(template.template.spec.containers),
        description="Names of the containers.",
    ),
    Column(
        "Images",
        lambda template: container_images(template.template.spec.containers),
        description="Images of the containers.",
    ),
    Column(
        "Pod Labels",
        lambda template: format_labels(template.template.metadata.labels),
        description="Labels of the pods.",
    ),
)

REPLICATION_CONTROLLER_COLUMNS: Final = (
    Column(
        "Desired",
        lambda controller: controller.spec.replicas or 0,
        type="integer",
        description="Number of desired pods.",
    ),
    Column(
        "Current",
        lambda controller: controller.status.replicas,
        type="integer",
        description="Number of pods that the controller last observed.",
    ),
    Column(
        "Ready",
        lambda controller: controller.status.ready_replicas,
        type="integer",
        description="Number of ready pods.",
    ),
    Column(
        "Containers",
        lambda controller: container_names(_containers(controller)),
        priority=1,
        description="Names of the containers.",
    ),
    Column(
        "Images",
        lambda controller: container_images(_containers(controller)),
        priority=1,
        description="Images of the containers.",
    ),
    Column(
        "Selector",
        lambda controller: format_labels(controller.spec.selector),
        priority=1,
        description="Labels of the pods that are counted.",
    ),
)
