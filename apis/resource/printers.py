"""Printer columns of claims and slices."""

from typing import Final

from apis.resource.v1 import ResourceClaim, ResourceSlice
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


RESOURCE_CLAIM_COLUMNS: Final = (
    Column("State", claim_state, description="Summary: pending, allocated, reserved, deleted."),
)

RESOURCE_SLICE_COLUMNS: Final = (
    Column("Node", slice_node, description="Node that has the devices."),
    Column("Driver", slice_driver, description="Driver of the devices."),
    Column("Pool", slice_pool, description="Pool of the devices."),
)
