"""Printer columns of the workloads of apps/v1."""

from typing import Final

from apimachinery.meta.owner_references import controller_of
from apimachinery.schema import GroupVersion
from apimachinery.selectors import InvalidSelector
from apimachinery.selectors import label_selector as labels
from apis.apps.v1.controller_revision import ControllerRevision
from apis.apps.v1.daemon_set import DaemonSet
from apis.apps.v1.deployment import Deployment
from apis.apps.v1.replica_set import ReplicaSet
from apis.apps.v1.stateful_set import StatefulSet
from apis.core.v1.container import Container
from apiserver import Column
from apiserver.views.table import AGE, NAME

_NONE: Final = "<none>"

Workload = DaemonSet | Deployment | ReplicaSet | StatefulSet


def ready_of_desired(workload: Deployment | StatefulSet) -> str:
    return f"{workload.status.ready_replicas}/{workload.spec.replicas or 0}"


def container_names(workload: Workload) -> str:
    return names_of(workload.spec.template.spec.containers)


def container_images(workload: Workload) -> str:
    return images_of(workload.spec.template.spec.containers)


def selector(workload: Workload) -> str:
    return labels.format_label_selector(workload.spec.selector)


def deployment_selector(deployment: Deployment) -> str:
    try:
        return str(labels.from_label_selector(deployment.spec.selector))
    except InvalidSelector:
        return "<invalid>"


def node_selector(daemon_set: DaemonSet) -> str:
    pairs = sorted(daemon_set.spec.template.spec.node_selector.items())
    return ",".join(f"{key}={value}" for key, value in pairs) or _NONE


def revision_owner(revision: ControllerRevision) -> str:
    owner = controller_of(revision)
    if owner is None:
        return _NONE
    group = GroupVersion.parse(owner.api_version).group
    kind = f"{owner.kind}.{group}" if group else owner.kind
    return f"{kind.lower()}/{owner.name}"


def names_of(containers: list[Container]) -> str:
    return ",".join(container.name for container in containers)


def images_of(containers: list[Container]) -> str:
    return ",".join(container.image for container in containers)


CONTAINERS: Final = Column(
    "Containers", container_names, priority=1, description="Names of the containers."
)
IMAGES: Final = Column(
    "Images", container_images, priority=1, description="Images of the containers."
)
SELECTOR: Final = Column(
    "Selector", selector, priority=1, description="Label selector of the pods."
)

DEPLOYMENT_COLUMNS: Final = (
    Column("Ready", ready_of_desired, description="Number of ready pods, and of desired ones."),
    Column(
        "Up-to-date",
        lambda deployment: deployment.status.updated_replicas,
        description="Number of pods with the current template.",
    ),
    Column(
        "Available",
        lambda deployment: deployment.status.available_replicas,
        description="Number of available pods.",
    ),
    CONTAINERS,
    IMAGES,
    Column("Selector", deployment_selector, priority=1, description="Label selector of the pods."),
)

REPLICA_SET_COLUMNS: Final = (
    Column(
        "Desired",
        lambda replica_set: replica_set.spec.replicas or 0,
        type="integer",
        description="Number of desired pods.",
    ),
    Column(
        "Current",
        lambda replica_set: replica_set.status.replicas,
        type="integer",
        description="Number of pods.",
    ),
    Column(
        "Ready",
        lambda replica_set: replica_set.status.ready_replicas,
        type="integer",
        description="Number of ready pods.",
    ),
    CONTAINERS,
    IMAGES,
    SELECTOR,
)

STATEFUL_SET_COLUMNS: Final = (
    Column("Ready", ready_of_desired, description="Number of ready pods, and of desired ones."),
    CONTAINERS,
    IMAGES,
)

DAEMON_SET_COLUMNS: Final = (
    Column(
        "Desired",
        lambda daemon_set: daemon_set.status.desired_number_scheduled,
        type="integer",
        description="Number of nodes that should run the pod.",
    ),
    Column(
        "Current",
        lambda daemon_set: daemon_set.status.current_number_scheduled,
        type="integer",
        description="Number of nodes that run the pod and should.",
    ),
    Column(
        "Ready",
        lambda daemon_set: daemon_set.status.number_ready,
        type="integer",
        description="Number of nodes with a ready pod.",
    ),
    Column(
        "Up-to-date",
        lambda daemon_set: daemon_set.status.updated_number_scheduled,
        type="integer",
        description="Number of nodes that run the current template.",
    ),
    Column(
        "Available",
        lambda daemon_set: daemon_set.status.number_available,
        type="integer",
        description="Number of nodes with an available pod.",
    ),
    Column("Node Selector", node_selector, description="Labels of the nodes that run the pod."),
    CONTAINERS,
    IMAGES,
    SELECTOR,
)

CONTROLLER_REVISION_COLUMNS: Final = (
    NAME,
    Column("Controller", revision_owner, description="Object that the revision belongs to."),
    Column(
        "Revision",
        lambda revision: revision.revision,
        description="Number of the revision.",
    ),
    AGE,
)
