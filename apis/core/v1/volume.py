"""Volume: a named source of files for the containers of a pod."""

from apimachinery.model.model import Model, field
from apis.core.v1.cloud_volume_sources import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    CinderVolumeSource,
    GCEPersistentDiskVolumeSource,
    GitRepoVolumeSource,
    PhotonPersistentDiskVolumeSource,
    PortworxVolumeSource,
    ScaleIOVolumeSource,
    StorageOSVolumeSource,
    VsphereVirtualDiskVolumeSource,
)
from apis.core.v1.network_volume_sources import (
    CephFSVolumeSource,
    FCVolumeSource,
    FlexVolumeSource,
    FlockerVolumeSource,
    GlusterfsVolumeSource,
    ISCSIVolumeSource,
    NFSVolumeSource,
    QuobyteVolumeSource,
    RBDVolumeSource,
)
from apis.core.v1.projected_volume import ProjectedVolumeSource
from apis.core.v1.volume_sources import (
    ConfigMapVolumeSource,
    CSIVolumeSource,
    DownwardAPIVolumeSource,
    EmptyDirVolumeSource,
    EphemeralVolumeSource,
    HostPathVolumeSource,
    ImageVolumeSource,
    PersistentVolumeClaimVolumeSource,
    SecretVolumeSource,
)


class Volume(Model):
    """A volume of a pod. Exactly one source is set; without any, the volume is an emptyDir."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the volume, a DNS label that is unique in the pod.",
    )
    host_path: HostPathVolumeSource | None = field(
        None, proto=(2, 1), doc="A file or folder of the node, which most pods should not use."
    )
    empty_dir: EmptyDirVolumeSource | None = field(
        None, proto=(2, 2), doc="A folder that starts empty and lives as long as the pod."
    )
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = field(
        None, proto=(2, 3), doc="A persistent disk of Google Compute Engine; deprecated."
    )
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = field(
        None, proto=(2, 4), doc="A disk of Amazon EBS; deprecated."
    )
    git_repo: GitRepoVolumeSource | None = field(
        None, proto=(2, 5), doc="A clone of a git repository; deprecated."
    )
    secret: SecretVolumeSource | None = field(
        None, proto=(2, 6), doc="Files with the values of a Secret."
    )
    nfs: NFSVolumeSource | None = field(
        None, proto=(2, 7), doc="A folder that an NFS server exports."
    )
    iscsi: ISCSIVolumeSource | None = field(
        None, proto=(2, 8), doc="A disk that is attached by iSCSI."
    )
    glusterfs: GlusterfsVolumeSource | None = field(
        None, proto=(2, 9), doc="A Glusterfs volume; deprecated."
    )
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = field(
        None, proto=(2, 10), doc="The volume of a PersistentVolumeClaim in the same namespace."
    )
    rbd: RBDVolumeSource | None = field(None, proto=(2, 11), doc="A Ceph block device; deprecated.")
    flex_volume: FlexVolumeSource | None = field(
        None, proto=(2, 12), doc="A volume of an exec-based driver; deprecated."
    )
    cinder: CinderVolumeSource | None = field(
        None, proto=(2, 13), doc="A volume of OpenStack Cinder; deprecated."
    )
    cephfs: CephFSVolumeSource | None = field(
        None, proto=(2, 14), doc="A Ceph file system; deprecated."
    )
    flocker: FlockerVolumeSource | None = field(
        None, proto=(2, 15), doc="A Flocker dataset; deprecated."
    )
    downward_api: DownwardAPIVolumeSource | None = field(
        None, proto=(2, 16), wire="downwardAPI", doc="Files with fields of the pod."
    )
    fc: FCVolumeSource | None = field(
        None, proto=(2, 17), doc="A disk that is attached by Fibre Channel."
    )
    azure_file: AzureFileVolumeSource | None = field(
        None, proto=(2, 18), doc="A file share of Azure; deprecated."
    )
    config_map: ConfigMapVolumeSource | None = field(
        None, proto=(2, 19), doc="Files with the values of a ConfigMap."
    )
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = field(
        None, proto=(2, 20), doc="A disk of vSphere; deprecated."
    )
    quobyte: QuobyteVolumeSource | None = field(
        None, proto=(2, 21), doc="A Quobyte volume; deprecated."
    )
    azure_disk: AzureDiskVolumeSource | None = field(
        None, proto=(2, 22), doc="A data disk of Azure; deprecated."
    )
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = field(
        None, proto=(2, 23), doc="A disk of a Photon controller; deprecated."
    )
    projected: ProjectedVolumeSource | None = field(
        None,
        proto=(2, 26),
        doc=(
            "A folder with files of several sources: secrets, ConfigMaps, tokens, fields of the "
            "pod."
        ),
    )
    portworx_volume: PortworxVolumeSource | None = field(
        None, proto=(2, 24), doc="A Portworx volume; deprecated."
    )
    scale_io: ScaleIOVolumeSource | None = field(
        None, proto=(2, 25), wire="scaleIO", doc="A ScaleIO volume; deprecated."
    )
    storageos: StorageOSVolumeSource | None = field(
        None, proto=(2, 27), doc="A StorageOS volume; deprecated."
    )
    csi: CSIVolumeSource | None = field(
        None, proto=(2, 28), doc="A volume that a CSI driver provides for the life of the pod."
    )
    ephemeral: EphemeralVolumeSource | None = field(
        None, proto=(2, 29), doc="A volume whose claim is created with the pod and deleted with it."
    )
    image: ImageVolumeSource | None = field(
        None, proto=(2, 30), doc="The content of an image, mounted read-only."
    )
