"""Volume sources that any cluster has: files of the node, of the API, of claims and of images."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.env import ObjectFieldSelector, ResourceFieldSelector
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaimTemplate
from apis.core.v1.references import LocalObjectReference


class HostPathVolumeSource(Model):
    """A file or folder of the node, which most pods should not use."""

    path: str = field(
        "", proto=1, omit_empty=False, doc="Path on the node; a symbolic link is followed."
    )
    type: str | None = field(
        None,
        proto=2,
        known=(
            "",
            "BlockDevice",
            "CharDevice",
            "Directory",
            "DirectoryOrCreate",
            "File",
            "FileOrCreate",
            "Socket",
        ),
        publish_enum=True,
        doc="What must be at the path, or is created there; the empty type checks nothing.",
    )


class EmptyDirVolumeSource(Model):
    """A folder that starts empty and lives as long as the pod."""

    medium: str = field(
        "", proto=1, doc="Where the folder is: empty for the node's default, `Memory` for a tmpfs."
    )
    size_limit: Quantity | None = field(
        None, proto=2, doc="Amount of storage after which the pod is evicted."
    )
    mode: Int32 | None = field(None, proto=3, doc="Permission bits of the folder.")


class KeyToPath(Model):
    """A key, and the file that holds its value."""

    key: str = field("", proto=1, omit_empty=False, doc="Key to project.")
    path: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc="Path of the file within the volume: relative, and without `..`.",
    )
    mode: Int32 | None = field(
        None,
        proto=3,
        doc="Permission bits of the file, from 0 to 0777; `defaultMode` of the volume if unset.",
    )
    user: int | None = field(None, proto=4, doc="User ID that owns the file.")


class SecretVolumeSource(Model):
    """Files with the values of a Secret."""

    secret_name: str = field("", proto=1, doc="Name of the Secret in the namespace of the pod.")
    items: list[KeyToPath] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Keys to project, and their files; every key if there are none.",
    )
    default_mode: Int32 | None = field(
        None, proto=3, doc="Permission bits of files without their own; defaults to 0644."
    )
    optional: bool | None = field(
        None, proto=4, doc="Whether the pod may start without the Secret or its keys."
    )
    default_user: int | None = field(
        None, proto=5, doc="User ID that owns files without their own."
    )


class ConfigMapVolumeSource(Model):
    """Files with the values of a ConfigMap."""

    name: str = field(
        "",
        proto=(1, 1),
        published_default="",
        doc="Name of the ConfigMap in the namespace of the pod.",
    )
    items: list[KeyToPath] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Keys to project, and their files; every key if there are none.",
    )
    default_mode: Int32 | None = field(
        None, proto=3, doc="Permission bits of files without their own; defaults to 0644."
    )
    optional: bool | None = field(
        None, proto=4, doc="Whether the pod may start without the ConfigMap or its keys."
    )
    default_user: int | None = field(
        None, proto=5, doc="User ID that owns files without their own."
    )


class DownwardAPIVolumeFile(Model):
    """A file with a field of the pod or a resource of a container."""

    path: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Path of the file within the volume: relative, and without `..`.",
    )
    field_ref: ObjectFieldSelector | None = field(
        None, proto=2, doc="Field of the pod: annotations, labels, name, uid or namespace."
    )
    resource_field_ref: ResourceFieldSelector | None = field(
        None, proto=3, doc="Request or limit of a container."
    )
    mode: Int32 | None = field(
        None,
        proto=4,
        doc="Permission bits of the file, from 0 to 0777; `defaultMode` of the volume if unset.",
    )
    user: int | None = field(None, proto=5, doc="User ID that owns the file.")


class DownwardAPIVolumeSource(Model):
    """Files with fields of the pod and resources of its containers."""

    items: list[DownwardAPIVolumeFile] = field(
        default_factory=list, proto=1, list_type="atomic", doc="Files of the volume."
    )
    default_mode: Int32 | None = field(
        None, proto=2, doc="Permission bits of files without their own; defaults to 0644."
    )
    default_user: int | None = field(
        None, proto=3, doc="User ID that owns files without their own."
    )


class PersistentVolumeClaimVolumeSource(Model):
    """The volume of a PersistentVolumeClaim."""

    claim_name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the claim in the namespace of the pod."
    )
    read_only: bool = field(
        False, proto=2, doc="Whether every mount of the volume is read-only; defaults to false."
    )


class EphemeralVolumeSource(Model):
    """A volume whose claim is created with the pod and deleted with it."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = field(
        None, proto=1, doc="The claim to create, named after the pod and the volume."
    )


class ImageVolumeSource(Model):
    """The content of an image, mounted read-only."""

    reference: str = field("", proto=1, doc="Image to pull, such as `registry.example.io/data:v2`.")
    pull_policy: str = field(
        "",
        proto=2,
        known=("Always", "IfNotPresent", "Never"),
        publish_enum=True,
        doc=(
            "When the image is pulled; defaults to Always for the tag `latest`, else to "
            "IfNotPresent."
        ),
    )


class CSIVolumeSource(Model):
    """A volume that a CSI driver provides for the life of the pod."""

    driver: str = field("", proto=1, omit_empty=False, doc="Name of the CSI driver.")
    read_only: bool | None = field(
        None, proto=2, doc="Whether the volume cannot be written; defaults to false."
    )
    fs_type: str | None = field(
        None, proto=3, doc="File system to mount, such as `ext4`; the driver chooses if unset."
    )
    volume_attributes: dict[str, str] = field(
        default_factory=dict, proto=4, doc="Properties that are passed to the driver."
    )
    node_publish_secret_ref: LocalObjectReference | None = field(
        None, proto=5, doc="Secret with credentials that the driver needs on the node."
    )
