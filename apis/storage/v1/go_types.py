"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "CSIDriverSpec.fsGroupPolicy": "v1.FSGroupPolicy",
    "CSIDriverSpec.volumeLifecycleModes": "[]v1.VolumeLifecycleMode",
    "StorageClass.reclaimPolicy": "v1.PersistentVolumeReclaimPolicy",
    "StorageClass.volumeBindingMode": "v1.VolumeBindingMode",
    "StorageHealthCondition.accessMode": "v1.PersistentVolumeAccessMode",
    "StorageHealthCondition.status": "v1.StorageHealthStatusType",
    "StorageHealthCondition.volumeMode": "v1.PersistentVolumeMode",
}
