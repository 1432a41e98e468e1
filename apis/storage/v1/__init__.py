from apis.storage.v1.csi_driver import CSIDriver, CSIDriverSpec, TokenRequest
from apis.storage.v1.csi_node import (
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    CSINodeStatus,
    StorageHealth,
    StorageHealthCondition,
    VolumeNodeResources,
)
from apis.storage.v1.csi_storage_capacity import CSIStorageCapacity
from apis.storage.v1.storage_class import StorageClass
from apis.storage.v1.volume_attachment import (
    VolumeAttachment,
    VolumeAttachmentSource,
    VolumeAttachmentSpec,
    VolumeAttachmentStatus,
    VolumeError,
)
from apis.storage.v1.volume_attributes_class import VolumeAttributesClass

__all__ = [
    "CSIDriver",
    "CSIDriverSpec",
    "CSINode",
    "CSINodeDriver",
    "CSINodeSpec",
    "CSINodeStatus",
    "CSIStorageCapacity",
    "StorageClass",
    "StorageHealth",
    "StorageHealthCondition",
    "TokenRequest",
    "VolumeAttachment",
    "VolumeAttachmentSource",
    "VolumeAttachmentSpec",
    "VolumeAttachmentStatus",
    "VolumeAttributesClass",
    "VolumeError",
    "VolumeNodeResources",
]
