"""Allocation: the status of a claim, with the devices that it was given."""

from typing import Final

from apimachinery.meta.types import Condition
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import RawExtension
from apis.core.v1.scheduling import NodeSelector
from apis.resource.v1.device_class import OpaqueDeviceConfiguration
from apis.resource.v1.toleration import DeviceToleration

FROM_CLAIM: Final = "FromClaim"
FROM_CLASS: Final = "FromClass"


class DeviceRequestAllocationResult(Model):
    """A device that was allocated for a request."""

    request: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the request, or `<request>/<alternative>`. Required.",
    )
    driver: str = field(
        "", proto=2, omit_empty=False, doc="Name of the driver of the device. Required."
    )
    pool: str = field(
        "", proto=3, omit_empty=False, doc="Name of the pool of the device. Required."
    )
    device: str = field(
        "", proto=4, omit_empty=False, doc="Name of the device in its pool. Required."
    )
    admin_access: bool | None = field(None, proto=5, doc="Whether access is for administration.")
    tolerations: list[DeviceToleration] = field(
        default_factory=list,
        proto=6,
        list_type="atomic",
        doc="Tolerations of the request when the device was allocated, at most 16.",
    )
    binding_conditions: list[str] = field(
        default_factory=list,
        proto=7,
        list_type="atomic",
        doc="Binding conditions of the device when it was allocated.",
    )
    binding_failure_conditions: list[str] = field(
        default_factory=list,
        proto=8,
        list_type="atomic",
        doc="Binding failure conditions of the device when it was allocated.",
    )
    share_id: str | None = field(
        None,
        proto=9,
        wire="shareID",
        doc="Identifies one of several allocations of the same device, a UUID.",
    )
    consumed_capacity: dict[str, Quantity] = field(
        default_factory=dict,
        proto=10,
        doc="Amounts of capacities that the allocation consumes, by name.",
    )
    skip_node_operations: list[str] = field(
        default_factory=list,
        proto=11,
        list_type="set",
        known=("*", "NodePrepareResources", "NodeUnprepareResources"),
        publish_enum=True,
        doc="Calls to the driver on a node that are not necessary.",
    )


class DeviceAllocationConfiguration(Model):
    """Configuration of allocated devices, and where it comes from."""

    source: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=("FromClaim", "FromClass"),
        publish_enum=True,
        doc="Whether it is from the claim (FromClaim) or from its class (FromClass). Required.",
    )
    requests: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Names of the requests that it is for; all requests if it is empty.",
    )
    opaque: OpaqueDeviceConfiguration | None = field(
        None, proto=(3, 1), doc="Configuration for a driver. Required."
    )


class DeviceAllocationResult(Model):
    """Allocated devices and their configuration."""

    results: list[DeviceRequestAllocationResult] = field(
        default_factory=list, proto=1, list_type="atomic", doc="Allocated devices, at most 32."
    )
    config: list[DeviceAllocationConfiguration] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Configuration from the class and the claim, in this order, at most 64.",
    )


class AllocationResult(Model):
    """Result of an allocation."""

    devices: DeviceAllocationResult = field(
        default_factory=DeviceAllocationResult, proto=1, doc="Allocated devices."
    )
    node_selector: NodeSelector | None = field(
        None, proto=3, doc="Nodes that have access to the devices; all nodes if unset."
    )
    allocation_timestamp: Time | None = field(
        None, proto=5, doc="Time when the devices were allocated."
    )


class ResourceClaimConsumerReference(Model):
    """A user of a claim, mostly a pod."""

    api_group: str = field("", proto=1, doc="API group of the resource; empty for the core group.")
    resource: str = field(
        "", proto=3, omit_empty=False, doc="Name of the resource, such as `pods`. Required."
    )
    name: str = field("", proto=4, omit_empty=False, doc="Name of the object. Required.")
    uid: str = field("", proto=5, omit_empty=False, doc="UID of the object. Required.")


class NetworkDeviceData(Model):
    """What is known about a network device."""

    interface_name: str = field(
        "", proto=1, doc="Name of the network interface, at most 256 characters."
    )
    ips: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="IP addresses of the interface with the length of their prefix, at most 16.",
    )
    hardware_address: str = field(
        "", proto=3, doc="Hardware address of the interface, at most 128 characters."
    )


class AllocatedDeviceStatus(Model):
    """State of an allocated device, as its driver reports it."""

    driver: str = field(
        "", proto=1, omit_empty=False, doc="Name of the driver of the device. Required."
    )
    pool: str = field(
        "", proto=2, omit_empty=False, doc="Name of the pool of the device. Required."
    )
    device: str = field(
        "", proto=3, omit_empty=False, doc="Name of the device in its pool. Required."
    )
    share_id: str | None = field(
        None,
        proto=7,
        wire="shareID",
        doc="Identifies one of several allocations of the same device.",
    )
    conditions: list[Condition] | None = field(
        None,
        proto=4,
        omit_empty=False,
        list_map_keys=("type",),
        required=False,
        doc="Conditions of the device, at most 8.",
    )
    data: RawExtension | None = field(
        None, proto=5, doc="Data of the driver, an object of at most 10 kB."
    )
    network_data: NetworkDeviceData | None = field(
        None, proto=6, doc="What is known about a network device."
    )


class ResourceClaimStatus(Model):
    """What was allocated for a claim, and who uses it."""

    allocation: AllocationResult | None = field(
        None, proto=1, doc="Result of the allocation; unset until the claim is allocated."
    )
    reserved_for: list[ResourceClaimConsumerReference] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("uid",),
        patch_strategy="merge",
        patch_merge_key="uid",
        doc="Users of the claim, at most 256; devices are freed when nobody uses them.",
    )
    devices: list[AllocatedDeviceStatus] = field(
        default_factory=list,
        proto=4,
        list_map_keys=(
            "driver",
            "device",
            "pool",
            "shareID",
        ),
        doc="State of the devices, as drivers report it.",
    )
