"""Volume sources of clouds and storage vendors; most have been replaced by CSI drivers."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.references import LocalObjectReference


class GCEPersistentDiskVolumeSource(Model):
    """A persistent disk of Google Compute Engine; deprecated in favour of CSI."""

    pd_name: str = field("", proto=1, omit_empty=False, doc="Name of the disk.")
    fs_type: str = field("", proto=2, doc="File system of the volume, such as `ext4`.")
    partition: Int32 = field(
        0, proto=3, doc="Number of the partition to mount; 0 or unset for the whole disk."
    )
    read_only: bool = field(
        False, proto=4, doc="Whether the mount is read-only; defaults to false."
    )


class AWSElasticBlockStoreVolumeSource(Model):
    """A disk of Amazon EBS; deprecated in favour of CSI."""

    volume_id: str = field(
        "", proto=1, wire="volumeID", omit_empty=False, doc="ID of the EBS volume."
    )
    fs_type: str = field("", proto=2, doc="File system of the volume, such as `ext4`.")
    partition: Int32 = field(
        0, proto=3, doc="Number of the partition to mount; 0 or unset for the whole disk."
    )
    read_only: bool = field(
        False, proto=4, doc="Whether the mount is read-only; defaults to false."
    )


class GitRepoVolumeSource(Model):
    """A clone of a git repository; deprecated: let an init container clone into an emptyDir."""

    repository: str = field("", proto=1, omit_empty=False, doc="URL of the repository.")
    revision: str = field("", proto=2, doc="Commit to check out.")
    directory: str = field(
        "", proto=3, doc="Folder to clone into, without `..`; `.` for the volume itself."
    )


class CinderVolumeSource(Model):
    """A volume of OpenStack Cinder; deprecated in favour of CSI."""

    volume_id: str = field(
        "", proto=1, wire="volumeID", omit_empty=False, doc="ID of the Cinder volume."
    )
    fs_type: str = field("", proto=2, doc="File system of the volume, such as `ext4`.")
    read_only: bool = field(
        False, proto=3, doc="Whether the mount is read-only; defaults to false."
    )
    secret_ref: LocalObjectReference | None = field(
        None, proto=4, doc="Secret with the parameters of the connection to OpenStack."
    )


class AzureFileVolumeSource(Model):
    """A file share of Azure; deprecated in favour of CSI."""

    secret_name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Secret with the name and the key of the storage account.",
    )
    share_name: str = field("", proto=2, omit_empty=False, doc="Name of the share.")
    read_only: bool = field(
        False, proto=3, doc="Whether the mount is read-only; defaults to false."
    )


class AzureDiskVolumeSource(Model):
    """A data disk of Azure; deprecated in favour of CSI."""

    disk_name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the disk in the blob storage."
    )
    disk_uri: str = field(
        "", proto=2, wire="diskURI", omit_empty=False, doc="URI of the disk in the blob storage."
    )
    caching_mode: str | None = field(
        None,
        proto=3,
        known=("None", "ReadOnly", "ReadWrite"),
        publish_enum=True,
        published_default="ReadWrite",
        doc="Caching mode of the host; defaults to ReadWrite.",
    )
    fs_type: str | None = field(
        None,
        proto=4,
        published_default="ext4",
        doc="File system of the volume; defaults to `ext4`.",
    )
    read_only: bool | None = field(
        None,
        proto=5,
        published_default=False,
        doc="Whether the mount is read-only; defaults to false.",
    )
    kind: str | None = field(
        None,
        proto=6,
        known=("Dedicated", "Managed", "Shared"),
        publish_enum=True,
        published_default="Shared",
        doc=(
            "Whether the disk has a storage account of its own, shares one, or is managed; "
            "defaults to Shared."
        ),
    )


class VsphereVirtualDiskVolumeSource(Model):
    """A disk of vSphere; deprecated in favour of CSI."""

    volume_path: str = field("", proto=1, omit_empty=False, doc="Path of the disk.")
    fs_type: str = field("", proto=2, doc="File system of the volume, such as `ext4`.")
    storage_policy_name: str = field("", proto=3, doc="Name of the storage policy.")
    storage_policy_id: str = field(
        "",
        proto=4,
        wire="storagePolicyID",
        doc="ID of the storage policy that belongs to its name.",
    )


class PhotonPersistentDiskVolumeSource(Model):
    """A disk of a Photon controller; no longer supported by Kubernetes."""

    pd_id: str = field("", proto=1, wire="pdID", omit_empty=False, doc="ID of the disk.")
    fs_type: str = field("", proto=2, doc="File system of the volume, such as `ext4`.")


class PortworxVolumeSource(Model):
    """A Portworx volume; deprecated in favour of CSI."""

    volume_id: str = field(
        "", proto=1, wire="volumeID", omit_empty=False, doc="ID of the Portworx volume."
    )
    fs_type: str = field("", proto=2, doc="File system of the volume, such as `ext4`.")
    read_only: bool = field(
        False, proto=3, doc="Whether the mount is read-only; defaults to false."
    )


class ScaleIOVolumeSource(Model):
    """A ScaleIO volume; no longer supported by Kubernetes."""

    gateway: str = field("", proto=1, omit_empty=False, doc="Address of the ScaleIO API gateway.")
    system: str = field("", proto=2, omit_empty=False, doc="Name of the storage system.")
    secret_ref: LocalObjectReference | None = field(
        None, proto=3, required=True, doc="Secret with the credentials of the ScaleIO user."
    )
    ssl_enabled: bool = field(
        False, proto=4, doc="Whether the gateway is reached by SSL; defaults to false."
    )
    protection_domain: str = field("", proto=5, doc="Name of the protection domain.")
    storage_pool: str = field("", proto=6, doc="Name of the storage pool of the protection domain.")
    storage_mode: str = field(
        "",
        proto=7,
        published_default="ThinProvisioned",
        doc="`ThickProvisioned` or `ThinProvisioned`, the default.",
    )
    volume_name: str = field("", proto=8, doc="Name of an existing volume of the system.")
    fs_type: str = field(
        "", proto=9, published_default="xfs", doc="File system of the volume; defaults to `xfs`."
    )
    read_only: bool = field(
        False, proto=10, doc="Whether the mount is read-only; defaults to false."
    )


class StorageOSVolumeSource(Model):
    """A StorageOS volume; no longer supported by Kubernetes."""

    volume_name: str = field(
        "", proto=1, doc="Name of the volume, unique in its StorageOS namespace."
    )
    volume_namespace: str = field(
        "", proto=2, doc="StorageOS namespace of the volume; defaults to the namespace of the pod."
    )
    fs_type: str = field("", proto=3, doc="File system of the volume, such as `ext4`.")
    read_only: bool = field(
        False, proto=4, doc="Whether the mount is read-only; defaults to false."
    )
    secret_ref: LocalObjectReference | None = field(
        None, proto=5, doc="Secret with the credentials of the StorageOS API."
    )
