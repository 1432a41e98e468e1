"""CSINode: the CSI drivers of a node."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32


class VolumeNodeResources(Model):
    """Limits of a node for volumes of a driver."""

    count: Int32 | None = field(
        None,
        proto=1,
        doc="Number of different volumes that pods on the node can use; unset for no limit.",
    )


class CSINodeDriver(Model):
    """A driver on a node."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the driver. Required.")
    node_id: str = field(
        "",
        proto=2,
        wire="nodeID",
        omit_empty=False,
        doc="Name of the node from the view of the driver, at most 256 characters. Required.",
    )
    topology_keys: list[str] = field(
        default_factory=list,
        proto=3,
        null_when_empty=True,
        required=False,
        list_type="atomic",
        doc=(
            "Labels of the node that describe its topology for the driver, such as"
            " `topology.kubernetes.io/zone`."
        ),
    )
    allocatable: VolumeNodeResources | None = field(
        None, proto=4, doc="Limits of the node for volumes of the driver."
    )


class CSINodeSpec(Model):
    """Drivers of a node."""

    drivers: list[CSINodeDriver] = field(
        default_factory=list,
        proto=1,
        null_when_empty=True,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Drivers that are installed on the node. Required, but may be empty.",
    )


class StorageHealthCondition(Model):
    """A problem of the storage that a driver has reported."""

    status: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=("StorageDegraded", "StorageUnreachable"),
        publish_enum=True,
        doc="Kind of the problem: StorageUnreachable or StorageDegraded. Required.",
    )
    reason: str = field(
        "", proto=2, omit_empty=False, doc="Reason of the problem, one word. Required."
    )
    message: str = field("", proto=3, doc="Description of the problem.")
    access_mode: str | None = field(
        None,
        proto=4,
        known=("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
        publish_enum=True,
        doc="Access mode of the affected volumes; unset for all.",
    )
    volume_mode: str | None = field(
        None,
        proto=5,
        known=("Block", "Filesystem"),
        publish_enum=True,
        doc="Volume mode of the affected volumes; unset for all.",
    )
    last_transition_time: Time | None = field(
        None, proto=6, omit_empty=False, required=False, doc="Time when the problem was first seen."
    )


class StorageHealth(Model):
    """Health of the storage of a driver, as seen from a node."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the driver. Required.")
    health_conditions: list[StorageHealthCondition] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Problems of the storage; empty if it is healthy.",
    )


class CSINodeStatus(Model):
    """Health of the storage of a node."""

    storage_health: list[StorageHealth] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Health of the storage of each driver. Not enabled: the server drops it.",
    )


class CSINode(Object):
    """CSINode lists the CSI drivers of a node; its name is the name of the Node."""

    spec: CSINodeSpec = field(
        default_factory=CSINodeSpec, proto=2, required=True, doc="Drivers of the node."
    )
    status: CSINodeStatus = field(
        default_factory=CSINodeStatus, proto=3, doc="Health of the storage of the node."
    )
