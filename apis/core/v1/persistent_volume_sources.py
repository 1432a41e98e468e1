"""Volume sources that only persistent volumes have: their secrets may be in any namespace."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.references import ObjectReference


class SecretReference(Model, map_type="atomic"):
    """Reference to a Secret in any namespace."""

    name: str = field("", proto=1, doc="Name of the Secret.")
    namespace: str = field("", proto=2, doc="Namespace of the Secret.")


class AzureFilePersistentVolumeSource(Model):
    """A share of Azure Files."""

    secret_name: str = field(
        "", proto=1, omit_empty=False, doc="Secret with the name and key of the storage account."
    )
    share_name: str = field("", proto=2, omit_empty=False, doc="Name of the share.")
    read_only: bool = field(False, proto=3, doc="Whether the mount is read-only.")
    secret_namespace: str | None = field(
        None, proto=4, doc="Namespace of the Secret; defaults to that of the pod."
    )


class CephFSPersistentVolumeSource(Model):
    """A Ceph file system."""

    monitors: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Addresses of the Ceph monitors.",
    )
    path: str = field("", proto=2, doc="Folder to mount as root; defaults to `/`.")
    user: str = field("", proto=3, doc="User name at Ceph; defaults to `admin`.")
    secret_file: str = field(
        "", proto=4, doc="Path of the key ring of the user; defaults to `/etc/ceph/user.secret`."
    )
    secret_ref: SecretReference | None = field(
        None, proto=5, doc="Secret with the key of the user, instead of the file."
    )
    read_only: bool = field(False, proto=6, doc="Whether the mount is read-only.")


class CinderPersistentVolumeSource(Model):
    """A volume of OpenStack Cinder."""

    volume_id: str = field(
        "", proto=1, wire="volumeID", omit_empty=False, doc="ID of the volume in Cinder."
    )
    fs_type: str = field("", proto=2, doc="File system of the volume, such as `ext4`.")
    read_only: bool = field(False, proto=3, doc="Whether the mount is read-only.")
    secret_ref: SecretReference | None = field(
        None, proto=4, doc="Secret with the credentials for OpenStack."
    )


class CSIPersistentVolumeSource(Model):
    """A volume of a driver with the Container Storage Interface."""

    driver: str = field("", proto=1, omit_empty=False, doc="Name of the CSI driver.")
    volume_handle: str = field(
        "", proto=2, omit_empty=False, doc="ID of the volume at the driver, for all its calls."
    )
    read_only: bool = field(False, proto=3, doc="Whether the volume is published read-only.")
    fs_type: str = field("", proto=4, doc="File system of the volume, such as `ext4`.")
    volume_attributes: dict[str, str] = field(
        default_factory=dict, proto=5, doc="Attributes of the volume for the driver."
    )
    controller_publish_secret_ref: SecretReference | None = field(
        None, proto=6, doc="Secret for publishing and unpublishing by the controller."
    )
    node_stage_secret_ref: SecretReference | None = field(
        None, proto=7, doc="Secret for staging the volume on a node."
    )
    node_publish_secret_ref: SecretReference | None = field(
        None, proto=8, doc="Secret for publishing the volume on a node."
    )
    controller_expand_secret_ref: SecretReference | None = field(
        None, proto=9, doc="Secret for expanding the volume by the controller."
    )
    node_expand_secret_ref: SecretReference | None = field(
        None, proto=10, doc="Secret for expanding the volume on a node."
    )


class FlexPersistentVolumeSource(Model):
    """A volume of an exec driver; deprecated in favour of CSI."""

    driver: str = field("", proto=1, omit_empty=False, doc="Name of the driver.")
    fs_type: str = field("", proto=2, doc="File system of the volume, such as `ext4`.")
    secret_ref: SecretReference | None = field(
        None, proto=3, doc="Secret that is passed to the driver."
    )
    read_only: bool = field(False, proto=4, doc="Whether the mount is read-only.")
    options: dict[str, str] = field(
        default_factory=dict, proto=5, doc="Options that are passed to the driver."
    )


class GlusterfsPersistentVolumeSource(Model):
    """A Glusterfs volume; deprecated."""

    endpoints: str = field(
        "", proto=1, omit_empty=False, doc="Name of the Endpoints of the Glusterfs servers."
    )
    path: str = field("", proto=2, omit_empty=False, doc="Path of the Glusterfs volume.")
    read_only: bool = field(False, proto=3, doc="Whether the mount is read-only.")
    endpoints_namespace: str | None = field(
        None, proto=4, doc="Namespace of the Endpoints; defaults to that of the claim."
    )


class ISCSIPersistentVolumeSource(Model):
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
    read_only: bool = field(False, proto=6, doc="Whether the mount is read-only.")
    portals: list[str] = field(
        default_factory=list, proto=7, list_type="atomic", doc="Further portals of the target."
    )
    chap_auth_discovery: bool = field(
        False, proto=8, doc="Whether discovery authenticates with CHAP."
    )
    chap_auth_session: bool = field(False, proto=11, doc="Whether sessions authenticate with CHAP.")
    secret_ref: SecretReference | None = field(
        None, proto=10, doc="Secret with the CHAP credentials."
    )
    initiator_name: str | None = field(
        None, proto=12, doc="Name of the initiator, instead of that of the node."
    )


class RBDPersistentVolumeSource(Model):
    """A block device of Ceph; deprecated."""

    monitors: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Addresses of the Ceph monitors.",
    )
    image: str = field("", proto=2, omit_empty=False, doc="Name of the image.")
    fs_type: str = field("", proto=3, doc="File system of the volume, such as `ext4`.")
    pool: str = field(
        "", proto=4, published_default="rbd", doc="Pool of the image; defaults to `rbd`."
    )
    user: str = field(
        "", proto=5, published_default="admin", doc="User name at Ceph; defaults to `admin`."
    )
    keyring: str = field(
        "",
        proto=6,
        published_default="/etc/ceph/keyring",
        doc="Path of the key ring of the user; defaults to `/etc/ceph/keyring`.",
    )
    secret_ref: SecretReference | None = field(
        None, proto=7, doc="Secret with the key of the user, instead of the key ring."
    )
    read_only: bool = field(False, proto=8, doc="Whether the mount is read-only.")


class ScaleIOPersistentVolumeSource(Model):
    """A volume of ScaleIO; deprecated."""

    gateway: str = field("", proto=1, omit_empty=False, doc="Address of the ScaleIO gateway.")
    system: str = field("", proto=2, omit_empty=False, doc="Name of the storage system.")
    secret_ref: SecretReference | None = field(
        None, proto=3, omit_empty=False, doc="Secret with the credentials of the user. Required."
    )
    ssl_enabled: bool = field(
        False, proto=4, doc="Whether the gateway is contacted with TLS; defaults to false."
    )
    protection_domain: str = field("", proto=5, doc="Name of the protection domain.")
    storage_pool: str = field("", proto=6, doc="Storage pool of the protection domain.")
    storage_mode: str = field(
        "",
        proto=7,
        published_default="ThinProvisioned",
        doc="How storage is provisioned; defaults to `ThinProvisioned`.",
    )
    volume_name: str = field("", proto=8, doc="Name of an existing volume of the system.")
    fs_type: str = field(
        "", proto=9, published_default="xfs", doc="File system of the volume; defaults to `xfs`."
    )
    read_only: bool = field(False, proto=10, doc="Whether the mount is read-only.")


class StorageOSPersistentVolumeSource(Model):
    """A volume of StorageOS; deprecated."""

    volume_name: str = field("", proto=1, doc="Name of the volume in its namespace.")
    volume_namespace: str = field(
        "", proto=2, doc="Namespace of the volume in StorageOS; defaults to that of the pod."
    )
    fs_type: str = field("", proto=3, doc="File system of the volume, such as `ext4`.")
    read_only: bool = field(False, proto=4, doc="Whether the mount is read-only.")
    secret_ref: ObjectReference | None = field(
        None, proto=5, doc="Secret with the credentials for StorageOS."
    )


class LocalVolumeSource(Model):
    """A disk, partition or folder of one node."""

    path: str = field(
        "", proto=1, omit_empty=False, doc="Path of the folder or block device on the node."
    )
    fs_type: str | None = field(
        None, proto=2, doc="File system of a block device; chosen by the node unless set."
    )
