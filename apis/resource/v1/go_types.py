"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

EMBEDDED: Final[Mapping[str, tuple[str, ...]]] = {
    "DeviceAllocationConfiguration": ("DeviceConfiguration",),
    "DeviceClaimConfiguration": ("DeviceConfiguration",),
    "DeviceClassConfiguration": ("DeviceConfiguration",),
}

GO_TYPES: Final[Mapping[str, str]] = {
    "CapacityRequirements.requests": "map[v1.QualifiedName]resource.Quantity",
    "Device.attributes": "map[v1.QualifiedName]v1.DeviceAttribute",
    "Device.capacity": "map[v1.QualifiedName]v1.DeviceCapacity",
    "Device.nodeAllocatableResources": "map[v1.ResourceName]v1.NodeAllocatableResource",
    "DeviceAllocationConfiguration.source": "v1.AllocationConfigSource",
    "DeviceConstraint.distinctAttribute": "v1.FullyQualifiedName",
    "DeviceConstraint.matchAttribute": "v1.FullyQualifiedName",
    "DeviceDerivedAttribute.name": "v1.FullyQualifiedName",
    "DeviceRequestAllocationResult.consumedCapacity": "map[v1.QualifiedName]resource.Quantity",
    "DeviceRequestAllocationResult.shareID": "types.UID",
    "DeviceRequestAllocationResult.skipNodeOperations": "[]v1.SkipNodeOperation",
    "DeviceSubRequest.allocationMode": "v1.DeviceAllocationMode",
    "DeviceTaint.effect": "v1.DeviceTaintEffect",
    "DeviceToleration.effect": "v1.DeviceTaintEffect",
    "DeviceToleration.operator": "v1.DeviceTolerationOperator",
    "ExactDeviceRequest.allocationMode": "v1.DeviceAllocationMode",
    "NodeAllocatableMapping.capacityKey": "v1.QualifiedName",
    "ResourceClaimConsumerReference.uid": "types.UID",
    "ResourceSliceSpec.partitionTypeAttribute": "v1.FullyQualifiedName",
    "ResourceSliceSpec.skipNodeOperations": "[]v1.SkipNodeOperation",
}
