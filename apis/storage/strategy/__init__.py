from apis.storage.strategy.classes import StorageClassStrategy, VolumeAttributesClassStrategy
from apis.storage.strategy.csi_objects import (
    CSIDriverStrategy,
    CSINodeStrategy,
    CSIStorageCapacityStrategy,
)
from apis.storage.strategy.volume_attachment import VolumeAttachmentStrategy

__all__ = [
    "CSIDriverStrategy",
    "CSINodeStrategy",
    "CSIStorageCapacityStrategy",
    "StorageClassStrategy",
    "VolumeAttachmentStrategy",
    "VolumeAttributesClassStrategy",
]
