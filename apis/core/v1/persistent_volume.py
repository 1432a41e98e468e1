"""PersistentVolume: storage of the cluster, bound to at most one claim."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apis.core.v1.cloud_volume_sources import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    GCEPersistentDiskVolumeSource,
    PhotonPersistentDiskVolumeSource,
    PortworxVolumeSource,
    VsphereVirtualDiskVolumeSource,
)
from apis.core.v1.network_volume_sources import (
    FCVolumeSource,
    FlockerVolumeSource,
    NFSVolumeSource,
    QuobyteVolumeSource,
)
from apis.core.v1.persistent_volume_sources import (
    AzureFilePersistentVolumeSource,
    CephFSPersistentVolumeSource,
    CinderPersistentVolumeSource,
    CSIPersistentVolumeSource,
    FlexPersistentVolumeSource,
    GlusterfsPersistentVolumeSource,
    ISCSIPersistentVolumeSource,
    LocalVolumeSource,
    RBDPersistentVolumeSource,
    ScaleIOPersistentVolumeSource,
    StorageOSPersistentVolumeSource,
)
from apis.core.v1.references import ObjectReference
from apis.core.v1.scheduling import NodeSelector
from apis.core.v1.volume_sources import HostPathVolumeSource

RETAIN: Final = "Retain"
DELETE: Final = "Delete"
RECYCLE: Final = "Recycle"

FILESYSTEM: Final = "Filesystem"
BLOCK: Final = "Block"

PENDING: Final = "Pending"


class VolumeNodeAffinity(Model):
    """Nodes that a volume can be used from."""

    required: NodeSelector | None = field(
        None, proto=1, doc="Selector of the nodes; pods that use the volume run on these only."
    )


class PersistentVolumeSource(Model):
    """The source of a volume; exactly one is set. PersistentVolumeSpec inlines these fields."""

    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = field(
        None, proto=(2, 1), doc="A persistent disk of Google Compute Engine; deprecated."
    )
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = field(
        None, proto=(2, 2), doc="A disk of Amazon EBS; deprecated."
    )
    host_path: HostPathVolumeSource | None = field(
        None, proto=(2, 3), doc="A folder of the node, for tests on a single node."
    )
    glusterfs: GlusterfsPersistentVolumeSource | None = field(
        None, proto=(2, 4), doc="A Glusterfs volume; deprecated."
    )
    nfs: NFSVolumeSource | None = field(
        None, proto=(2, 5), doc="A folder that an NFS server exports."
    )
    rbd: RBDPersistentVolumeSource | None = field(
        None, proto=(2, 6), doc="A block device of Ceph; deprecated."
    )
    iscsi: ISCSIPersistentVolumeSource | None = field(
        None, proto=(2, 7), doc="A disk that is attached by iSCSI."
    )
    cinder: CinderPersistentVolumeSource | None = field(
        None, proto=(2, 8), doc="A volume of OpenStack Cinder; deprecated."
    )
    cephfs: CephFSPersistentVolumeSource | None = field(
        None, proto=(2, 9), doc="A Ceph file system; deprecated."
    )
    fc: FCVolumeSource | None = field(
        None, proto=(2, 10), doc="A disk that is attached by Fibre Channel."
    )
    flocker: FlockerVolumeSource | None = field(
        None, proto=(2, 11), doc="A Flocker volume; deprecated."
    )
    flex_volume: FlexPersistentVolumeSource | None = field(
        None, proto=(2, 12), doc="A volume of an exec driver; deprecated."
    )
    azure_file: AzureFilePersistentVolumeSource | None = field(
        None, proto=(2, 13), doc="A share of Azure Files; deprecated."
    )
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = field(
        None, proto=(2, 14), doc="A disk of vSphere; deprecated."
    )
    quobyte: QuobyteVolumeSource | None = field(
        None, proto=(2, 15), doc="A Quobyte volume; deprecated."
    )
    azure_disk: AzureDiskVolumeSource | None = field(
        None, proto=(2, 16), doc="A data disk of Azure; deprecated."
    )
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = field(
        None, proto=(2, 17), doc="A disk of a Photon controller; deprecated."
    )
    portworx_volume: PortworxVolumeSource | None = field(
        None, proto=(2, 18), doc="A Portworx volume; deprecated."
    )
    scale_io: ScaleIOPersistentVolumeSource | None = field(
        None, proto=(2, 19), wire="scaleIO", doc="A volume of ScaleIO; deprecated."
    )
    local: LocalVolumeSource | None = field(
        None, proto=(2, 20), doc="A disk, partition or folder of one node."
    )
    storageos: StorageOSPersistentVolumeSource | None = field(
        None, proto=(2, 21), doc="A volume of StorageOS; deprecated."
    )
    csi: CSIPersistentVolumeSource | None = field(
        None, proto=(2, 22), doc="A volume of a CSI driver."
    )


class PersistentVolumeSpec(PersistentVolumeSource):
    """Attributes of a PersistentVolume."""

    capacity: dict[str, Quantity] = field(
        default_factory=dict, proto=1, doc="Size of the volume: `storage` and nothing else."
    )
    access_modes: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        known=("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
        publish_enum=True,
        doc="Ways in which the volume can be mounted.",
    )
    claim_ref: ObjectReference | None = field(
        None,
        proto=4,
        map_type="granular",
        doc="Claim that the volume is bound to; the claim must name the volume, too.",
    )
    persistent_volume_reclaim_policy: str = field(
        "",
        proto=5,
        known=(DELETE, RECYCLE, RETAIN),
        publish_enum=True,
        doc="What happens to the volume when its claim is deleted; defaults to Retain.",
    )
    storage_class_name: str = field(
        "", proto=6, doc="Storage class of the volume; empty for a volume without one."
    )
    mount_options: list[str] = field(
        default_factory=list,
        proto=7,
        list_type="atomic",
        doc="Mount options, such as `ro`; invalid ones make the mount fail.",
    )
    volume_mode: str | None = field(
        None,
        proto=8,
        known=(BLOCK, FILESYSTEM),
        publish_enum=True,
        doc="Whether the volume is a file system, the default, or a raw block device. Immutable.",
    )
    node_affinity: VolumeNodeAffinity | None = field(
        None, proto=9, doc="Nodes that the volume can be used from."
    )
    volume_attributes_class_name: str | None = field(
        None, proto=10, doc="VolumeAttributesClass of the volume; for CSI volumes only."
    )


class PersistentVolumeStatus(Model):
    """Current status of a PersistentVolume."""

    phase: str = field(
        "",
        proto=1,
        known=("Available", "Bound", "Failed", PENDING, "Released"),
        publish_enum=True,
        doc="Whether the volume is available, bound to a claim or released by it.",
    )
    message: str = field("", proto=2, doc="Human-readable details about the phase.")
    reason: str = field("", proto=3, doc="Machine-readable reason of a failure.")
    last_phase_transition_time: Time | None = field(
        None, proto=4, doc="Time when the phase last changed; set by the server."
    )


class PersistentVolume(Object):
    """PersistentVolume is storage of the cluster that exists apart from pods and claims."""

    spec: PersistentVolumeSpec = field(
        default_factory=PersistentVolumeSpec, proto=2, doc="Attributes of the volume."
    )
    status: PersistentVolumeStatus = field(
        default_factory=PersistentVolumeStatus, proto=3, doc="Current status of the volume."
    )
