"""Node: a machine that runs pods. What it reports about itself is in `node_status`."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apis.core.v1.node_status import NodeConfigSource, NodeStatus

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"


class Taint(Model):
    """A mark on a node that repels pods without a matching toleration."""

    key: str = field("", proto=1, omit_empty=False, doc="Key of the taint, a qualified name.")
    value: str = field("", proto=2, doc="Value of the taint; tolerations may compare it.")
    effect: str = field(
        "",
        proto=3,
        omit_empty=False,
        known=(NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE),
        publish_enum=True,
        doc=(
            "Effect on pods that do not tolerate the taint: NoSchedule keeps new ones away,"
            " PreferNoSchedule tries to, and NoExecute also evicts running ones."
        ),
    )
    time_added: Time | None = field(None, proto=4, doc="Time when the taint was added to the node.")


class NodePodPreemptionPolicy(Model):
    """Restrictions on the preemption of pods of a node."""

    disable_resize_preemption: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="set",
        doc="Parties that disabled preemption in favour of pods that are resized in place.",
    )


class NodeSpec(Model):
    """Attributes of a Node."""

    pod_cidr: str = field(
        "",
        proto=1,
        wire="podCIDR",
        doc="IP range of the pods of the node; the first of `podCIDRs`.",
    )
    external_id: str = field(
        "", proto=2, wire="externalID", doc="Deprecated and unused: ID in an external system."
    )
    provider_id: str = field(
        "",
        proto=3,
        wire="providerID",
        doc="ID of the machine at its cloud provider, `<provider>://<id>`. Immutable once set.",
    )
    unschedulable: bool = field(
        False, proto=4, doc="Whether new pods are kept away from the node (`kubectl cordon`)."
    )
    taints: list[Taint] = field(
        default_factory=list,
        proto=5,
        list_type="atomic",
        doc="Taints of the node, unique by key and effect.",
    )
    config_source: NodeConfigSource | None = field(
        None, proto=6, doc="Deprecated and ignored: source of a dynamic kubelet configuration."
    )
    pod_cidrs: list[str] = field(
        default_factory=list,
        proto=7,
        wire="podCIDRs",
        list_type="set",
        patch_strategy="merge",
        doc="IP ranges of the pods of the node, at most one per IP family. Immutable once set.",
    )
    pod_preemption_policy: NodePodPreemptionPolicy | None = field(
        None, proto=8, doc="Restrictions on preemption; not kept, as the feature is off by default."
    )


class Node(Object):
    """Node is a machine that runs pods."""

    spec: NodeSpec = field(default_factory=NodeSpec, proto=2, doc="Desired behavior of the node.")
    status: NodeStatus = field(
        default_factory=NodeStatus, proto=3, doc="What the node most recently reported."
    )
