"""Priorities of group versions, by which Kubernetes' clients order them."""

from typing import Final, NamedTuple

from apimachinery.schema import GroupVersion


class Priority(NamedTuple):
    """The priority of a group among groups, and of a version in its group."""

    group: int
    version: int


CUSTOM: Final = Priority(1000, 100)
"""The priority of custom resources and other groups."""

_GROUPS: Final = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
    "storagemigration.k8s.io": 15800,
}
_VERSIONS: Final = {
    GroupVersion("", "v1"): 1,
    GroupVersion("authentication.k8s.io", "v1beta1"): 9,
    GroupVersion("autoscaling", "v2"): 30,
    GroupVersion("flowcontrol.apiserver.k8s.io", "v1"): 21,
    GroupVersion("resource.k8s.io", "v1"): 21,
}
_STABLE: Final = 15


def priority_of(version: GroupVersion) -> Priority:
    """Return the priority that Kubernetes gives to a group version."""
    group = _GROUPS.get(version.group)
    return CUSTOM if group is None else Priority(group, _VERSIONS.get(version, _STABLE))
