"""Defaults of resource.k8s.io/v1."""

from apis.resource.v1.resource_claim import EXACT_COUNT, DeviceSubRequest, ExactDeviceRequest
from apis.resource.v1.toleration import EQUAL, DeviceToleration


def set_exact_request_defaults(request: ExactDeviceRequest) -> None:
    _set_count_defaults(request)


def set_sub_request_defaults(request: DeviceSubRequest) -> None:
    _set_count_defaults(request)


def set_toleration_defaults(toleration: DeviceToleration) -> None:
    toleration.operator = toleration.operator or EQUAL


def _set_count_defaults(request: ExactDeviceRequest | DeviceSubRequest) -> None:
    request.allocation_mode = request.allocation_mode or EXACT_COUNT
    if request.allocation_mode == EXACT_COUNT:
        request.count = request.count or 1
