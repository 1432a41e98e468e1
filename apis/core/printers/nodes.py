"""Printer columns of Nodes. The age stands in the middle, so all columns are listed."""

from typing import Final

from apis.core.v1.node import Node
from apis.core.v1.node_status import EXTERNAL_IP, INTERNAL_IP, READY
from apiserver import Column
from apiserver.views.table import AGE, NAME

_ROLE_PREFIX: Final = "node-role.kubernetes.io/"
_ROLE: Final = "kubernetes.io/role"
_UNKNOWN: Final = "<unknown>"


def node_status(node: Node) -> str:
    ready = [condition.status for condition in node.status.conditions if condition.type == READY]
    words = ["Unknown" if not ready else READY if ready[-1] == "True" else f"Not{READY}"]
    if node.spec.unschedulable:
        words.append("SchedulingDisabled")
    return ",".join(words)


def node_roles(node: Node) -> str:
    """Return the roles from the labels of a node, sorted."""
    roles = {
        name.removeprefix(_ROLE_PREFIX) if name.startswith(_ROLE_PREFIX) else value
        for name, value in node.metadata.labels.items()
        if name.startswith(_ROLE_PREFIX) or name == _ROLE
    }
    return ",".join(sorted(roles - {""})) or "<none>"


def internal_ip(node: Node) -> str:
    return _address(node, INTERNAL_IP)


def external_ip(node: Node) -> str:
    return _address(node, EXTERNAL_IP)


def kernel_version(node: Node) -> str:
    info = node.status.node_info
    version = info.kernel_version or _UNKNOWN
    return f"{version} ({info.architecture})" if info.architecture else version


def _address(node: Node, kind: str) -> str:
    addresses = (address for address in node.status.addresses if address.type == kind)
    return next((address.address for address in addresses), "<none>")


NODE_COLUMNS: Final = (
    NAME,
    Column("Status", node_status, description="Whether the node is ready for pods."),
    Column("Roles", node_roles, description="Roles of the node, from its labels."),
    AGE,
    Column(
        "Version",
        lambda node: node.status.node_info.kubelet_version,
        description="Version of the kubelet.",
    ),
    Column("Internal-IP", internal_ip, priority=1, description="Internal IP of the node."),
    Column("External-IP", external_ip, priority=1, description="External IP of the node."),
    Column(
        "OS-Image",
        lambda node: node.status.node_info.os_image or _UNKNOWN,
        priority=1,
        description="Operating system of the node.",
    ),
    Column(
        "Kernel-Version", kernel_version, priority=1, description="Kernel and its architecture."
    ),
    Column(
        "Container-Runtime",
        lambda node: node.status.node_info.container_runtime_version or _UNKNOWN,
        priority=1,
        description="Container runtime of the node.",
    ),
)
