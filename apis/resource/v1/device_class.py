"""DeviceClass: a kind of device that claims can name, with selectors and configuration."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import RawExtension


class CELDeviceSelector(Model):
    """A CEL expression that selects devices."""

    expression: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "CEL expression with a boolean result over `device`, with the fields `driver`,"
            " `attributes`, `capacity` and `allowMultipleAllocations`:"
            ' `device.attributes["dra.example.com"].model == "a1"`. At most 10 kB. Required.'
        ),
    )


class DeviceSelector(Model):
    """Selects devices."""

    cel: CELDeviceSelector | None = field(
        None, proto=1, doc="Selection by a CEL expression. Required."
    )


class OpaqueDeviceConfiguration(Model):
    """Configuration that only the driver understands."""

    driver: str = field("", proto=1, omit_empty=False, doc="Name of the driver. Required.")
    parameters: RawExtension | None = field(
        None,
        proto=2,
        required=True,
        doc="Parameters of the driver, an object of at most 10 kB. Required.",
    )


class DeviceClassConfiguration(Model):
    """Configuration for all devices of a class."""

    opaque: OpaqueDeviceConfiguration | None = field(
        None, proto=(1, 1), doc="Configuration for a driver. Required."
    )


class DeviceClassSpec(Model):
    """Selection and configuration of devices."""

    selectors: list[DeviceSelector] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Selectors that a device must all match, at most 32.",
    )
    config: list[DeviceClassConfiguration] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Configuration for each device that is allocated through the class, at most 32.",
    )
    extended_resource_name: str | None = field(
        None,
        proto=4,
        doc="Extended resource by which pods can request devices of the class without a claim.",
    )


class DeviceClass(Object):
    """DeviceClass describes devices that users can request by the name of the class."""

    spec: DeviceClassSpec = field(
        default_factory=DeviceClassSpec, proto=2, doc="Selection and configuration of the devices."
    )
