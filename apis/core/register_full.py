"""Registration of all kinds of the core group: those that every server has, and the others.

Add a kind in alphabetical place: its class, its defaults and its field labels.
"""

from collections.abc import Mapping
from typing import Final

from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apis.core import GROUP, v1
from apis.core.quota.types import ResourceQuota
from apis.core.register import V1
from apis.core.register import add_to_scheme as add_standard_to_scheme
from apis.core.v1.defaults import (
    endpoints,
    namespace_policies,
    nodes,
    persistent_volumes,
    pod,
    replication_controller,
)
from apis.policy.register import add_eviction_to_scheme

FULL_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "Node": {"spec.unschedulable": "spec.unschedulable"},
    "Pod": {
        label: label
        for label in (
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        )
    },
    "ReplicationController": {"status.replicas": "status.replicas"},
}
"""Kind -> field-selector label -> path of the value, for the kinds that not every server has."""


def add_to_scheme(scheme: Scheme) -> None:
    add_standard_to_scheme(scheme)
    add_eviction_to_scheme(scheme)
    scheme.add(
        V1,
        v1.Binding,
        v1.ComponentStatus,
        v1.Endpoints,
        v1.LimitRange,
        v1.Node,
        v1.PersistentVolume,
        v1.PersistentVolumeClaim,
        v1.Pod,
        v1.PodTemplate,
        v1.ReplicationController,
        internal=True,
    )
    scheme.add(V1, v1.ResourceQuota)
    scheme.add(GroupVersion(GROUP, INTERNAL), ResourceQuota)
    scheme.add_similar(
        v1.ResourceQuota, ResourceQuota, dropped={"status.pending", "status.recounts"}
    )
    scheme.add_defaults(
        *pod.POD_DEFAULTS,
        endpoints.set_endpoint_port_defaults,
        namespace_policies.set_limit_range_item_defaults,
        namespace_policies.set_resource_quota_spec_defaults,
        namespace_policies.set_resource_quota_status_defaults,
        nodes.set_node_spec_defaults,
        nodes.set_node_status_defaults,
        persistent_volumes.set_iscsi_persistent_volume_defaults,
        persistent_volumes.set_persistent_volume_claim_defaults,
        persistent_volumes.set_persistent_volume_defaults,
        persistent_volumes.set_rbd_persistent_volume_defaults,
        persistent_volumes.set_scale_io_persistent_volume_defaults,
        pod.set_container_status_defaults,
        pod.set_pod_defaults,
        pod.set_pod_status_defaults,
        replication_controller.set_replication_controller_defaults,
    )
    for kind, labels in FULL_FIELDS.items():
        scheme.add_field_labels(V1.with_kind(kind), labels)
