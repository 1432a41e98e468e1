"""DeviceTaintRule: taints devices without changing their slices."""

from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field
from apis.resource.v1.device import DeviceTaint


class DeviceTaintSelector(Model):
    """Selects devices; a device must match all fields that are set."""

    driver: str | None = field(None, proto=2, doc="Name of the driver of the devices.")
    pool: str | None = field(None, proto=3, doc="Name of the pool of the devices.")
    device: str | None = field(
        None, proto=4, doc="Name of the device, together with its driver and pool."
    )


class DeviceTaintRuleSpec(Model):
    """A taint and the devices that it is added to."""

    device_selector: DeviceTaintSelector | None = field(
        None, proto=1, doc="The devices; without it none, empty all."
    )
    taint: DeviceTaint = field(
        default_factory=DeviceTaint,
        proto=2,
        required=True,
        doc="The taint that is added. Required.",
    )


class DeviceTaintRuleStatus(Model):
    """Observed effect of a rule."""

    conditions: list[Condition] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the rule, such as EvictionInProgress; at most 8.",
    )


class DeviceTaintRule(Object):
    """DeviceTaintRule adds a taint to all devices that it selects."""

    spec: DeviceTaintRuleSpec = field(
        default_factory=DeviceTaintRuleSpec,
        proto=2,
        required=True,
        doc="The taint and the devices.",
    )
    status: DeviceTaintRuleStatus = field(
        default_factory=DeviceTaintRuleStatus, proto=3, doc="Observed effect of the rule."
    )
