"""Validation of CSIDrivers."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    immutable,
    invalid,
    not_supported,
    required,
)
from apis.storage.v1 import CSIDriver, CSIDriverSpec, TokenRequest
from apis.storage.v1.csi_driver import EPHEMERAL, PERSISTENT, READ_WRITE_ONCE_WITH_FS_TYPE

MIN_TOKEN_SECONDS: Final = 600
MAX_TOKEN_SECONDS: Final = 1 << 32
MIN_UPDATE_PERIOD: Final = 10

_SPEC: Final = Path("spec")
# Kubernetes spells the field so in its messages.
_ATTACH: Final = _SPEC.child("attachedRequired")
_MODES: Final = _SPEC.child("volumeLifecycleModes")
_GROUP_POLICIES: Final = ("File", "None", READ_WRITE_ONCE_WITH_FS_TYPE)
_LIFECYCLES: Final = (PERSISTENT, EPHEMERAL)


def validate_csi_driver(driver: CSIDriver) -> FieldErrors:
    spec = driver.spec
    for path, value in (
        (_ATTACH, spec.attach_required),
        (_SPEC.child("podInfoOnMount"), spec.pod_info_on_mount),
        (_SPEC.child("storageCapacity"), spec.storage_capacity),
        (_SPEC.child("seLinuxMount"), spec.se_linux_mount),
    ):
        if value is None:
            yield required(path)
    policy = spec.fs_group_policy
    if policy is not None and policy not in _GROUP_POLICIES:
        yield not_supported(_SPEC.child("fsGroupPolicy"), policy, _GROUP_POLICIES)
    yield from _validate_tokens(spec.token_requests, _SPEC.child("tokenRequests"))
    for mode in spec.volume_lifecycle_modes:
        if mode not in _LIFECYCLES:
            yield not_supported(_MODES, mode, _LIFECYCLES)
    yield from _validate_options(spec)


def validate_csi_driver_update(new: CSIDriver, old: CSIDriver) -> FieldErrors:
    yield from validate_csi_driver(new)
    if new.spec.attach_required != old.spec.attach_required:
        yield immutable(_ATTACH, new.spec.attach_required)
    if new.spec.volume_lifecycle_modes != old.spec.volume_lifecycle_modes:
        yield immutable(_MODES, new.spec.volume_lifecycle_modes)


def _validate_tokens(requests: Sequence[TokenRequest], path: Path) -> FieldErrors:
    audiences: set[str] = set()
    for position, request in enumerate(requests):
        here = path.index(position)
        if request.audience in audiences:
            yield duplicate(here.child("audience"), request.audience)
            continue
        audiences.add(request.audience)
        seconds = request.expiration_seconds
        if seconds is None:
            continue
        if seconds < MIN_TOKEN_SECONDS:
            rule = "may not specify a duration less than 10 minutes"
            yield invalid(here.child("expirationSeconds"), seconds, rule)
        if seconds > MAX_TOKEN_SECONDS:
            rule = "may not specify a duration larger than 2^32 seconds"
            yield invalid(here.child("expirationSeconds"), seconds, rule)


def _validate_options(spec: CSIDriverSpec) -> FieldErrors:
    period = spec.node_allocatable_update_period_seconds
    if period is not None and period < MIN_UPDATE_PERIOD:
        rule = "must be greater than or equal to 10 seconds"
        yield invalid(_SPEC.child("nodeAllocatableUpdatePeriodSeconds"), period, rule)
    in_secrets = spec.service_account_token_in_secrets
    if in_secrets is not None and not spec.token_requests:
        rule = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        yield invalid(_SPEC.child("serviceAccountTokenInSecrets"), in_secrets, rule)
