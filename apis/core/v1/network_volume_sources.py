"""Volume sources over the network: NFS, iSCSI, Fibre Channel, Ceph and others."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.references import LocalObjectReference


class NFSVolumeSource(Model):
    """A folder that an NFS server exports."""

    server: str = field(
        "", proto=1, omit_empty=False, doc="Host name or IP address of the NFS server."
    )
    path: str = field("", proto=2, omit_empty=False, doc="Path that the server exports.")
    read_only: bool = field(
        False, proto=3, doc="Whether the mount is read-only; defaults to false."
    )


class ISCSIVolumeSource(Model):
    """A disk that is attached by iSCSI."""

    target_portal: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Address of the target portal; with a port unless it is 3260.",
    )
    iqn: str = field("", proto=2, omit_empty=False, doc="Qualified name of the iSCSI target.")
    lun: Int32 = field(
        0, proto=3, omit_empty=False, doc="Number of the logical unit of the target."
    )
    iscsi_interface: str = field(
        "",
        proto=4,
        published_default="default",
        doc="Name of the iSCSI transport; defaults to `default`, which is TCP.",
    )
    fs_type: str = field("", proto=5, doc="File system of the volume, such as `ext4`.")
    read_only: bool = field(
        False, proto=6, doc="Whether the mount is read-only; defaults to false."
    )
    portals: list[str] = field(
        default_factory=list, proto=7, list_type="atomic", doc="Further portals of the target."
    )
    chap_auth_discovery: bool = field(
        False, proto=8, doc="Whether discovery authenticates with CHAP."
    )
    chap_auth_session: bool = field(False, proto=11, doc="Whether sessions authenticate with CHAP.")
    secret_ref: LocalObjectReference | None = field(
        None, proto=10, doc="Secret with the CHAP credentials."
    )
    initiator_name: str | None = field(
        None, proto=12, doc="Name of the initiator, instead of that of the node."
    )


class FCVolumeSource(Model):
    """A disk that is attached by Fibre Channel."""

    target_wwns: list[str] = field(
        default_factory=list,
        proto=1,
        wire="targetWWNs",
        list_type="atomic",
        doc="World-wide names of the targets; together with `lun`.",
    )
    lun: Int32 | None = field(None, proto=2, doc="Number of the logical unit of the target.")
    fs_type: str = field("", proto=3, doc="File system of the volume, such as `ext4`.")
    read_only: bool = field(
        False, proto=4, doc="Whether the mount is read-only; defaults to false."
    )
    wwids: list[str] = field(
        default_factory=list,
        proto=5,
        list_type="atomic",
        doc="World-wide identifiers of the disk; instead of `targetWWNs` and `lun`.",
    )


class GlusterfsVolumeSource(Model):
    """A Glusterfs volume; no longer supported by Kubernetes."""

    endpoints: str = field(
        "", proto=1, omit_empty=False, doc="Name of the Endpoints with the hosts of the cluster."
    )
    path: str = field("", proto=2, omit_empty=False, doc="Path of the Glusterfs volume.")
    read_only: bool = field(
        False, proto=3, doc="Whether the mount is read-only; defaults to false."
    )


class RBDVolumeSource(Model):
    """A Ceph block device; no longer supported by Kubernetes."""

    monitors: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Addresses of the Ceph monitors.",
    )
    image: str = field("", proto=2, omit_empty=False, doc="Name of the block-device image.")
    fs_type: str = field("", proto=3, doc="File system of the volume, such as `ext4`.")
    pool: str = field(
        "", proto=4, published_default="rbd", doc="Name of the pool; defaults to `rbd`."
    )
    user: str = field("", proto=5, published_default="admin", doc="Ceph user; defaults to `admin`.")
    keyring: str = field(
        "",
        proto=6,
        published_default="/etc/ceph/keyring",
        doc="Path of the user's key ring on the node; defaults to `/etc/ceph/keyring`.",
    )
    secret_ref: LocalObjectReference | None = field(
        None, proto=7, doc="Secret with the key of the user; comes before `keyring`."
    )
    read_only: bool = field(
        False, proto=8, doc="Whether the mount is read-only; defaults to false."
    )


class CephFSVolumeSource(Model):
    """A Ceph file system; no longer supported by Kubernetes."""

    monitors: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Addresses of the Ceph monitors.",
    )
    path: str = field(
        "", proto=2, doc="Path within the file system that is mounted; defaults to `/`."
    )
    user: str = field("", proto=3, doc="Ceph user; defaults to `admin`.")
    secret_file: str = field(
        "", proto=4, doc="Path of the user's key on the node; defaults to `/etc/ceph/user.secret`."
    )
    secret_ref: LocalObjectReference | None = field(
        None, proto=5, doc="Secret with the key of the user; comes before `secretFile`."
    )
    read_only: bool = field(
        False, proto=6, doc="Whether the mount is read-only; defaults to false."
    )


class FlockerVolumeSource(Model):
    """A Flocker dataset; no longer supported by Kubernetes."""

    dataset_name: str = field("", proto=1, doc="Name of the dataset; use `datasetUUID`.")
    dataset_uuid: str = field("", proto=2, wire="datasetUUID", doc="UUID of the dataset.")


class QuobyteVolumeSource(Model):
    """A Quobyte volume; no longer supported by Kubernetes."""

    registry: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Addresses of the Quobyte registries, as host:port separated by commas.",
    )
    volume: str = field("", proto=2, omit_empty=False, doc="Name of the Quobyte volume.")
    read_only: bool = field(
        False, proto=3, doc="Whether the mount is read-only; defaults to false."
    )
    user: str = field(
        "", proto=4, doc="User to map accesses to; defaults to the owner of the volume."
    )
    group: str = field("", proto=5, doc="Group to map accesses to; defaults to none.")
    tenant: str = field(
        "", proto=6, doc="Tenant that owns the volume; set by dynamic provisioning."
    )


class FlexVolumeSource(Model):
    """A volume of an exec-based driver; deprecated in favour of CSI."""

    driver: str = field("", proto=1, omit_empty=False, doc="Name of the driver.")
    fs_type: str = field("", proto=2, doc="File system of the volume; the driver chooses if unset.")
    secret_ref: LocalObjectReference | None = field(
        None, proto=3, doc="Secret with values that are passed to the driver."
    )
    read_only: bool = field(
        False, proto=4, doc="Whether the mount is read-only; defaults to false."
    )
    options: dict[str, str] = field(
        default_factory=dict, proto=5, doc="Further options of the driver."
    )
