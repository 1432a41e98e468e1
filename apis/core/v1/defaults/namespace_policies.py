"""Defaulting functions of LimitRanges and ResourceQuotas."""

from apimachinery.scalars.quantity import Quantity
from apis.core.v1.defaults.resource_lists import round_up
from apis.core.v1.limit_range import CONTAINER_LIMIT, LimitRangeItem
from apis.core.v1.resource_quota import ResourceQuotaSpec, ResourceQuotaStatus


def set_limit_range_item_defaults(item: LimitRangeItem) -> None:
    if item.type == CONTAINER_LIMIT:
        item.default = _completed(item.default, item.max)
        item.default_request = _completed(item.default_request, item.default)
        item.default_request = _completed(item.default_request, item.min)
    for resources in (
        item.max,
        item.min,
        item.default,
        item.default_request,
        item.max_limit_request_ratio,
    ):
        round_up(resources)


def set_resource_quota_spec_defaults(spec: ResourceQuotaSpec) -> None:
    round_up(spec.hard)


def set_resource_quota_status_defaults(status: ResourceQuotaStatus) -> None:
    round_up(status.hard)
    round_up(status.used)


def _completed(given: dict[str, Quantity], others: dict[str, Quantity]) -> dict[str, Quantity]:
    return {**others, **given}
