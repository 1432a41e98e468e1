"""Device: what a driver publishes about one device."""

from typing import Final

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apis.core.v1.scheduling import NodeSelector

NO_EFFECT: Final = "None"
NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"


class DeviceAttribute(Model):
    """Value of an attribute; exactly one field is set."""

    int_: int | None = field(None, proto=2, wire="int", doc="The value, if it is a number.")
    bool_: bool | None = field(None, proto=3, wire="bool", doc="The value, if it is true or false.")
    string: str | None = field(
        None, proto=4, doc="The value, if it is text; at most 64 characters."
    )
    version: str | None = field(
        None,
        proto=5,
        doc="The value, if it is a semantic version (semver.org 2.0.0); at most 64 characters.",
    )
    ints: list[int] = field(
        default_factory=list, proto=6, list_type="atomic", doc="The values, if they are numbers."
    )
    bools: list[bool] = field(
        default_factory=list,
        proto=7,
        list_type="atomic",
        doc="The values, if each is true or false.",
    )
    strings: list[str] = field(
        default_factory=list,
        proto=8,
        list_type="atomic",
        doc="The values, if they are texts; at most 64 characters each.",
    )
    versions: list[str] = field(
        default_factory=list,
        proto=9,
        list_type="atomic",
        doc="The values, if they are semantic versions; at most 64 characters each.",
    )


class CapacityRequestPolicyRange(Model):
    """Range of the amounts that a request may consume."""

    min: Quantity | None = field(None, proto=1, required=True, doc="Smallest amount. Required.")
    max: Quantity | None = field(
        None, proto=2, doc="Largest amount; without it the capacity is the limit."
    )
    step: Quantity | None = field(
        None, proto=3, doc="Distance between two amounts, counted from the smallest."
    )


class CapacityRequestPolicy(Model):
    """Amounts of a capacity that a request may consume; other requests are rounded up."""

    default: Quantity | None = field(
        None,
        omit_empty=False,
        proto=1,
        required=False,
        doc="Amount for requests that do not name one.",
    )
    valid_values: list[Quantity] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Allowed amounts, ascending, at most 10; they must contain the default.",
    )
    valid_range: CapacityRequestPolicyRange | None = field(
        None, proto=4, doc="Allowed range of amounts; excludes `validValues`."
    )


class DeviceCapacity(Model):
    """Amount of something that a device has, such as memory."""

    value: Quantity = field(
        default_factory=Quantity, proto=1, required=True, doc="The amount. Required."
    )
    request_policy: CapacityRequestPolicy | None = field(
        None,
        proto=2,
        doc=(
            "How requests consume the capacity of a device that can be allocated several times;"
            " without it a request consumes all."
        ),
    )


class Counter(Model):
    """An amount that partitions of a device share."""

    value: Quantity = field(
        default_factory=Quantity, proto=1, required=True, doc="The amount. Required."
    )


class DeviceCounterConsumption(Model):
    """Counters that a device consumes from one counter set."""

    counter_set: str = field(
        "", proto=1, omit_empty=False, doc="Name of the counter set. Required."
    )
    counters: dict[str, Counter] = field(
        default_factory=dict,
        proto=2,
        required=True,
        doc="Amounts of the counters by name, at most 32. Required.",
    )
    compatibility_groups: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Groups of devices of the counter set that can be allocated at the same time.",
    )


class NodeAllocatableMapping(Model):
    """How a device counts as a resource of its node."""

    capacity_key: str | None = field(None, proto=1, doc="Capacity of the device that counts.")
    capacity_multiplier: Quantity | None = field(
        None, proto=2, doc="Factor for the consumed capacity; required with `capacityKey`."
    )
    device_multiplier: Quantity | None = field(
        None, proto=3, doc="Amount for each allocated device."
    )


class NodeAllocatableOverhead(Model):
    """Additional amount of a node's resource for users of a device."""

    per_pod: Quantity | None = field(None, proto=1, doc="Amount for each pod.")
    per_container: Quantity | None = field(None, proto=2, doc="Amount for each container.")


class NodeAllocatableResource(Model):
    """Use of a resource of the node by a device."""

    mapping: NodeAllocatableMapping | None = field(
        None, proto=3, doc="Amount that comes from the device."
    )
    overhead: NodeAllocatableOverhead | None = field(None, proto=4, doc="Amount on top of it.")


class DeviceTaint(Model):
    """A taint repels claims that do not tolerate it."""

    key: str = field("", proto=1, omit_empty=False, doc="Key of the taint, a label name. Required.")
    value: str = field("", proto=2, doc="Value of the taint, a label value.")
    effect: str = field(
        "",
        proto=3,
        omit_empty=False,
        known=("NoExecute", "NoSchedule", "None"),
        publish_enum=True,
        doc=(
            "What happens to claims without a toleration: None, NoSchedule or NoExecute. Required."
        ),
    )
    time_added: Time | None = field(
        None, proto=4, doc="Time when the taint was added; set by the server."
    )


class Device(Model):
    """One device that can be allocated."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Name of the device, unique in its pool, a DNS label. Required.",
    )
    attributes: dict[str, DeviceAttribute] = field(
        default_factory=dict,
        proto=2,
        doc="Attributes by name, which selectors can use. At most 32 attributes and capacities.",
    )
    capacity: dict[str, DeviceCapacity] = field(
        default_factory=dict, proto=3, doc="Capacities by name, which selectors can use."
    )
    consumes_counters: list[DeviceCounterConsumption] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc=(
            "Counters of the pool that the device consumes while it is allocated; at most 2"
            " counter sets."
        ),
    )
    node_name: str | None = field(
        None, proto=5, doc="Node that has the device; only with `perDeviceNodeSelection`."
    )
    node_selector: NodeSelector | None = field(
        None,
        proto=6,
        doc="Nodes that have access to the device; only with `perDeviceNodeSelection`.",
    )
    all_nodes: bool | None = field(
        None,
        proto=7,
        doc="Whether all nodes have access to the device; only with `perDeviceNodeSelection`.",
    )
    taints: list[DeviceTaint] = field(
        default_factory=list,
        proto=8,
        list_type="atomic",
        doc="Taints that repel claims, at most 16.",
    )
    binds_to_node: bool | None = field(
        None,
        proto=9,
        doc="Whether an allocation is limited to the node that was chosen for the pod.",
    )
    binding_conditions: list[str] = field(
        default_factory=list,
        proto=10,
        list_type="atomic",
        doc="Conditions that must be true before a pod is bound to its node, at most 4.",
    )
    binding_failure_conditions: list[str] = field(
        default_factory=list,
        proto=11,
        list_type="atomic",
        doc="Conditions that mean that binding failed, at most 4.",
    )
    allow_multiple_allocations: bool | None = field(
        None,
        proto=12,
        doc="Whether the device can be allocated to several requests, which share its capacity.",
    )
    node_allocatable_resources: dict[str, NodeAllocatableResource] = field(
        default_factory=dict, proto=14, doc="Resources of the node that the device uses, by name."
    )
