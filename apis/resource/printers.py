"""Printer columns of claims, slices and taint rules."""

from datetime import datetime
from typing import Final

from apis.resource.v1 import DeviceTaintRule, ResourceClaim, ResourceSlice
from apiserver.views.table import Column


def claim_state(claim: ResourceClaim) -> str:
    deleted = claim.metadata.deletion_timestamp is not None
    states = ["deleted"] if deleted else []
    if claim.status.allocation is not None:
        states.append("allocated")
        if claim.status.reserved_for:
            states.append("reserved")
    elif not deleted:
        states.append("pending")
    return ",".join(states)


def slice_node(obj: ResourceSlice) -> str:
    return obj.spec.node_name or ""


def slice_driver(obj: ResourceSlice) -> str:
    return obj.spec.driver


def slice_pool(obj: ResourceSlice) -> str:
    return obj.spec.pool.name


def taint_key(rule: DeviceTaintRule) -> str:
    return rule.spec.taint.key


def taint_value(rule: DeviceTaintRule) -> str:
    return rule.spec.taint.value


def taint_effect(rule: DeviceTaintRule) -> str:
    return rule.spec.taint.effect


def taint_added(rule: DeviceTaintRule) -> datetime | str:
    return rule.spec.taint.time_added or ""


DEVICE_TAINT_RULE_COLUMNS: Final = (
    Column("Key", taint_key, description="Key of the taint."),
    Column("Value", taint_value, description="Value of the taint."),
    Column("Effect", taint_effect, description="Effect of the taint on claims and their pods."),
    Column("TimeAdded", taint_added, description="Time since the effect was set."),
)

RESOURCE_CLAIM_COLUMNS: Final = (
    Column("State", claim_state, description="Summary: pending, allocated, reserved, deleted."),
)

RESOURCE_SLICE_COLUMNS: Final = (
    Column("Node", slice_node, description="Node that has the devices."),
    Column("Driver", slice_driver, description="Driver of the devices."),
    Column("Pool", slice_pool, description="Pool of the devices."),
)
