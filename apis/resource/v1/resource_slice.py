"""ResourceSlice: the devices of a driver's pool, or a part of them."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apis.core.v1.scheduling import NodeSelector
from apis.resource.v1.device import Counter, Device


class CounterSet(Model):
    """Named counters that the devices of a pool share."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the counter set, unique in its pool, a DNS label. Required.",
    )
    counters: dict[str, Counter] = field(
        default_factory=dict, proto=2, required=True, doc="Counters by name, at most 32. Required."
    )


class ResourcePool(Model):
    """The pool that a slice is a part of."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "Name of the pool, DNS subdomains joined by slashes; often that of the node. Required."
        ),
    )
    generation: int = field(
        0,
        proto=2,
        omit_empty=False,
        doc=(
            "Number that grows with each change of the pool; slices with an older one are obsolete."
        ),
    )
    resource_slice_count: int = field(
        0,
        proto=3,
        omit_empty=False,
        doc="Number of slices of the pool in this generation. Required.",
    )


class ResourceSliceSpec(Model):
    """Devices of one pool and the nodes that have access to them."""

    driver: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "Name of the driver that publishes the slice, a DNS subdomain. Required, and immutable."
        ),
    )
    pool: ResourcePool = field(
        default_factory=ResourcePool, proto=2, required=True, doc="Pool of the slice. Required."
    )
    node_name: str | None = field(
        None,
        proto=3,
        doc=(
            "Node that has the devices. Immutable. One of four fields that say where the"
            " devices are."
        ),
    )
    node_selector: NodeSelector | None = field(
        None, proto=4, doc="Nodes that have access to the devices, by one term."
    )
    all_nodes: bool | None = field(
        None, proto=5, doc="Whether all nodes have access to the devices."
    )
    devices: list[Device] = field(
        default_factory=list,
        proto=6,
        list_type="atomic",
        doc="Devices, at most 128, or 64 if they have taints or consume counters.",
    )
    per_device_node_selection: bool | None = field(
        None, proto=7, doc="Whether each device names its own nodes."
    )
    shared_counters: list[CounterSet] = field(
        default_factory=list,
        proto=8,
        list_type="atomic",
        doc="Counter sets for the devices of the pool, at most 8; such a slice has no devices.",
    )
    partition_type_attribute: str | None = field(
        None,
        proto=9,
        doc="Attribute that names the type of a partition, for devices that consume counters.",
    )
    skip_node_operations: list[str] = field(
        default_factory=list,
        proto=10,
        list_type="set",
        known=("*", "NodePrepareResources", "NodeUnprepareResources"),
        publish_enum=True,
        doc="Calls to the driver on a node that are not necessary.",
    )


class ResourceSlice(Object):
    """ResourceSlice describes devices of a driver that claims can be given."""

    spec: ResourceSliceSpec = field(
        default_factory=ResourceSliceSpec,
        proto=2,
        required=True,
        doc="The devices and where they are.",
    )
