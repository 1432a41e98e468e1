"""Printer columns of LimitRanges and ResourceQuotas."""

from collections.abc import Callable
from typing import Final

from apimachinery.scalars.quantity import Quantity
from apis.core.v1.resource_quota import ResourceQuota
from apiserver import Column
from apiserver.views.table import CREATED_AT, NAME

_ZERO: Final = Quantity("0")


def quota_requests(quota: ResourceQuota) -> str:
    return _usage(quota, lambda name: not name.startswith("limits."))


def quota_limits(quota: ResourceQuota) -> str:
    return _usage(quota, lambda name: name.startswith("limits."))


def _usage(quota: ResourceQuota, shown: Callable[[str], bool]) -> str:
    status = quota.status
    return ", ".join(
        f"{name}: {status.used.get(name, _ZERO)}/{status.hard[name]}"
        for name in sorted(status.hard)
        if shown(name)
    )


LIMIT_RANGE_COLUMNS: Final = (NAME, CREATED_AT)

RESOURCE_QUOTA_COLUMNS: Final = (
    Column("Request", quota_requests, description="Used and allowed requests and counts."),
    Column("Limit", quota_limits, description="Used and allowed limits."),
)
