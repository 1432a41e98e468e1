"""Defaulting functions of Nodes."""

from apis.core.v1.defaults.resource_lists import round_up
from apis.core.v1.node import NodeSpec
from apis.core.v1.node_status import NodeStatus


def set_node_spec_defaults(spec: NodeSpec) -> None:
    """Keep `podCIDR` and `podCIDRs` in agreement; the former wins, for the sake of old clients."""
    if spec.pod_cidr and spec.pod_cidrs[:1] != [spec.pod_cidr]:
        spec.pod_cidrs = [spec.pod_cidr]
    elif spec.pod_cidrs:
        spec.pod_cidr = spec.pod_cidrs[0]


def set_node_status_defaults(status: NodeStatus) -> None:
    round_up(status.capacity)
    round_up(status.allocatable)
    if not status.allocatable:
        status.allocatable = dict(status.capacity)
