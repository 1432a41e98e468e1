"""ResourceClaim: a request for devices, and what was allocated for it."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apis.resource.v1.allocation import ResourceClaimStatus
from apis.resource.v1.device_class import DeviceSelector, OpaqueDeviceConfiguration
from apis.resource.v1.toleration import DeviceToleration

EXACT_COUNT: Final = "ExactCount"
ALL: Final = "All"


class CapacityRequirements(Model):
    """Amounts of capacities that a request consumes."""

    requests: dict[str, Quantity] = field(
        default_factory=dict, proto=1, doc="Amounts by the name of the capacity."
    )


class DeviceDerivedAttribute(Model):
    """An attribute whose value an expression computes, for constraints."""

    name: str = field(
        "", proto=1, omit_empty=False, doc="Fully qualified name of the attribute. Required."
    )
    expression: str = field(
        "", proto=2, omit_empty=False, doc="CEL expression for the value. Required."
    )


class ExactDeviceRequest(Model):
    """A request for one or more similar devices."""

    device_class_name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the DeviceClass. Required."
    )
    selectors: list[DeviceSelector] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Selectors that a device must all match, beside those of the class; at most 32.",
    )
    allocation_mode: str = field(
        "",
        proto=3,
        known=("All", "ExactCount"),
        publish_enum=True,
        doc=(
            "How many devices are allocated: `count` of them (ExactCount, the default), or All"
            " that match."
        ),
    )
    count: int = field(0, proto=4, doc="Number of devices for the mode ExactCount, 1 by default.")
    admin_access: bool | None = field(
        None,
        proto=5,
        doc=(
            "Whether access is for administration, also to devices in use; only in namespaces"
            " labelled for it."
        ),
    )
    tolerations: list[DeviceToleration] = field(
        default_factory=list,
        proto=6,
        list_type="atomic",
        doc="Taints that the request tolerates, at most 16.",
    )
    capacity: CapacityRequirements | None = field(
        None, proto=7, doc="Amounts of capacities that the request consumes."
    )
    derived_attributes: list[DeviceDerivedAttribute] = field(
        default_factory=list,
        proto=8,
        list_type="atomic",
        doc="Attributes that are computed for constraints, at most 32.",
    )


class DeviceSubRequest(Model):
    """One of several alternatives of a request."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the alternative, unique in its request, a DNS label. Required.",
    )
    device_class_name: str = field(
        "", proto=2, omit_empty=False, doc="Name of the DeviceClass. Required."
    )
    selectors: list[DeviceSelector] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Selectors that a device must all match, beside those of the class; at most 32.",
    )
    allocation_mode: str = field(
        "",
        proto=4,
        known=("All", "ExactCount"),
        publish_enum=True,
        doc=(
            "How many devices are allocated: `count` of them (ExactCount, the default), or All"
            " that match."
        ),
    )
    count: int = field(0, proto=5, doc="Number of devices for the mode ExactCount, 1 by default.")
    tolerations: list[DeviceToleration] = field(
        default_factory=list,
        proto=6,
        list_type="atomic",
        doc="Taints that the request tolerates, at most 16.",
    )
    capacity: CapacityRequirements | None = field(
        None, proto=7, doc="Amounts of capacities that the request consumes."
    )
    derived_attributes: list[DeviceDerivedAttribute] = field(
        default_factory=list,
        proto=8,
        list_type="atomic",
        doc="Attributes that are computed for constraints, at most 32.",
    )


class DeviceRequest(Model):
    """A request for devices; exactly one of `exactly` and `firstAvailable` is set."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the request, unique in its claim, a DNS label. Required.",
    )
    exactly: ExactDeviceRequest | None = field(None, proto=2, doc="The devices that are requested.")
    first_available: list[DeviceSubRequest] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc=(
            "Alternatives in the order of preference, at most 8; the first that is possible is"
            " chosen."
        ),
    )


class DeviceConstraint(Model):
    """A condition on the devices of several requests."""

    requests: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Names of the requests, or `<request>/<alternative>`; all requests if it is empty.",
    )
    match_attribute: str | None = field(
        None,
        proto=2,
        doc="Fully qualified name of an attribute that must have the same value for all devices.",
    )
    distinct_attribute: str | None = field(
        None, proto=3, doc="Fully qualified name of an attribute that must have different values."
    )


class DeviceClaimConfiguration(Model):
    """Configuration for devices of a claim."""

    requests: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Names of the requests that the configuration is for; all requests if it is empty.",
    )
    opaque: OpaqueDeviceConfiguration | None = field(
        None, proto=(2, 1), doc="Configuration for a driver. Required."
    )


class DeviceClaim(Model):
    """Requests for devices, conditions on them, and their configuration."""

    requests: list[DeviceRequest] | None = field(
        None,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        required=False,
        doc="Requests that must all be satisfied, at most 32.",
    )
    constraints: list[DeviceConstraint] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Conditions that the devices must satisfy, at most 32.",
    )
    config: list[DeviceClaimConfiguration] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Configuration for the devices, at most 32.",
    )


class ResourceClaimSpec(Model):
    """What is requested; it cannot be changed."""

    devices: DeviceClaim = field(
        default_factory=DeviceClaim, proto=1, doc="The devices that are requested."
    )


class ResourceClaim(Object):
    """ResourceClaim requests devices for pods that refer to it."""

    spec: ResourceClaimSpec = field(
        default_factory=ResourceClaimSpec, proto=2, doc="What is requested. Immutable."
    )
    status: ResourceClaimStatus = field(
        default_factory=ResourceClaimStatus, proto=3, doc="What was allocated, and for whom."
    )
