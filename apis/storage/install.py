"""The group storage.k8s.io as a server installs it."""

from typing import Final

from apis.storage import GROUP, printers, v1
from apis.storage.admission import STORAGE_PLUGINS
from apis.storage.register import add_to_scheme
from apis.storage.strategy import (
    CSIDriverStrategy,
    CSINodeStrategy,
    CSIStorageCapacityStrategy,
    StorageClassStrategy,
    VolumeAttachmentStrategy,
    VolumeAttributesClassStrategy,
)
from apiserver import STATUS, Group, Resource

STORAGE: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "csidrivers",
            v1.CSIDriver,
            CSIDriverStrategy(),
            namespaced=False,
            columns=printers.CSI_DRIVER_COLUMNS,
            roles=(),
        ),
        Resource(
            "csinodes",
            v1.CSINode,
            CSINodeStrategy(),
            namespaced=False,
            subresources=(STATUS,),
            columns=printers.CSI_NODE_COLUMNS,
            roles=(),
        ),
        Resource(
            "csistoragecapacities",
            v1.CSIStorageCapacity,
            CSIStorageCapacityStrategy(),
            columns=printers.CSI_STORAGE_CAPACITY_COLUMNS,
            roles=(),
        ),
        Resource(
            "storageclasses",
            v1.StorageClass,
            StorageClassStrategy(),
            short_names=("sc",),
            namespaced=False,
            columns=printers.STORAGE_CLASS_COLUMNS,
            roles=(),
        ),
        Resource(
            "volumeattachments",
            v1.VolumeAttachment,
            VolumeAttachmentStrategy(),
            namespaced=False,
            subresources=(STATUS,),
            columns=printers.VOLUME_ATTACHMENT_COLUMNS,
            roles=(),
        ),
        Resource(
            "volumeattributesclasses",
            v1.VolumeAttributesClass,
            VolumeAttributesClassStrategy(),
            short_names=("vac",),
            namespaced=False,
            columns=printers.VOLUME_ATTRIBUTES_CLASS_COLUMNS,
            roles=(),
        ),
    ),
    plugins=STORAGE_PLUGINS,
)
