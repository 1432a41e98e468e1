"""Registration of storage.k8s.io, for clients and servers."""

from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.core.v1.defaults import persistent_volumes, volume
from apis.storage import GROUP, v1
from apis.storage.v1 import defaults

V1: Final = GroupVersion(GROUP, "v1")


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        V1,
        v1.CSIDriver,
        v1.CSINode,
        v1.CSIStorageCapacity,
        v1.StorageClass,
        v1.VolumeAttachment,
        v1.VolumeAttributesClass,
        internal=True,
    )
    scheme.add_defaults(
        volume.set_azure_disk_defaults,
        volume.set_host_path_defaults,
        persistent_volumes.set_iscsi_persistent_volume_defaults,
        persistent_volumes.set_rbd_persistent_volume_defaults,
        persistent_volumes.set_scale_io_persistent_volume_defaults,
        defaults.set_csi_driver_defaults,
        defaults.set_storage_class_defaults,
    )
