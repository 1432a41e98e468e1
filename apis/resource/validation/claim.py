"""Validation of what ResourceClaims and their templates request."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from apimachinery.fieldpath import NULL, FieldErrors, Path, invalid, not_supported, required
from apis.resource.v1 import (
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
)
from apis.resource.v1.resource_claim import ALL, EXACT_COUNT
from apis.resource.validation.names import (
    validate_class_name,
    validate_fully_qualified_name,
    validate_items,
    validate_label,
    validate_unique,
)
from apis.resource.validation.selectors import (
    MAX_CONFIG,
    validate_configuration,
    validate_selectors,
)
from apis.resource.validation.taints import validate_tolerations

MAX_REQUESTS: Final = 32
MAX_CONSTRAINTS: Final = 32
MAX_ALTERNATIVES: Final = 8

_MODES: Final = (ALL, EXACT_COUNT)
_ONE: Final = "exactly one of `exactly` or `firstAvailable` is required"
_UNKNOWN_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest"
    " separated by '/'"
)


@dataclass(frozen=True, slots=True)
class RequestNames:
    """The names by which requests of a claim can be referred to."""

    alternatives: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, claim: DeviceClaim) -> "RequestNames":
        return cls(
            {
                request.name: frozenset(alternative.name for alternative in request.first_available)
                for request in claim.requests or ()
            }
        )

    def __contains__(self, reference: str) -> bool:
        name, slash, alternative = reference.partition("/")
        known = self.alternatives.get(name)
        return known is not None and (not slash or alternative in known)

    def validate(self, reference: str, path: Path) -> FieldErrors:
        """Validate a reference to a request or to one of its alternatives."""
        parts = reference.split("/")
        if len(parts) > 2:
            yield invalid(path, reference, _UNKNOWN_REQUEST)
            return
        for part in parts:
            yield from validate_label(part, path)
        if reference not in self:
            yield invalid(path, reference, _UNKNOWN_REQUEST)

    def validate_all(self, references: list[str], path: Path) -> FieldErrors:
        yield from validate_items(references, path, MAX_REQUESTS, self.validate)
        yield from validate_unique(references, path, str, MAX_REQUESTS)


def validate_device_claim(claim: DeviceClaim, path: Path) -> FieldErrors:
    names = RequestNames.of(claim)
    requests, here = claim.requests or (), path.child("requests")
    yield from validate_items(requests, here, MAX_REQUESTS, _validate_request)
    yield from validate_unique(requests, here, lambda request: request.name, MAX_REQUESTS)
    yield from validate_items(
        claim.constraints,
        path.child("constraints"),
        MAX_CONSTRAINTS,
        partial(_validate_constraint, names=names),
    )
    yield from validate_items(
        claim.config, path.child("config"), MAX_CONFIG, partial(_validate_config, names=names)
    )


def expression_count(claim: DeviceClaim) -> int:
    """Return how many expressions a claim has."""
    count = 0
    for request in claim.requests or ():
        count += len(request.exactly.selectors) if request.exactly is not None else 0
        count += sum(len(alternative.selectors) for alternative in request.first_available)
    return count


def _validate_request(request: DeviceRequest, path: Path) -> FieldErrors:
    yield from validate_label(request.name, path.child("name"))
    if request.exactly is not None and request.first_available:
        yield invalid(path, NULL, f"{_ONE}, but multiple fields are set")
    elif request.exactly is not None:
        yield from _validate_devices(request.exactly, path.child("exactly"))
    elif request.first_available:
        here = path.child("firstAvailable")
        yield from validate_items(
            request.first_available, here, MAX_ALTERNATIVES, _validate_alternative
        )
        yield from validate_unique(
            request.first_available, here, lambda one: one.name, MAX_ALTERNATIVES
        )
    else:
        yield required(path, _ONE)


def _validate_alternative(request: DeviceSubRequest, path: Path) -> FieldErrors:
    yield from validate_label(request.name, path.child("name"))
    yield from _validate_devices(request, path)


def _validate_devices(request: ExactDeviceRequest | DeviceSubRequest, path: Path) -> FieldErrors:
    yield from validate_class_name(request.device_class_name, path.child("deviceClassName"))
    yield from validate_selectors(request.selectors, path.child("selectors"))
    mode, count = request.allocation_mode, request.count
    if mode == ALL and count:
        rule = "must not be specified when allocationMode is 'All'"
        yield invalid(path.child("count"), count, rule)
    elif mode == EXACT_COUNT and count <= 0:
        yield invalid(path.child("count"), count, "must be greater than zero")
    elif mode not in _MODES:
        yield not_supported(path.child("allocationMode"), mode, _MODES)
    yield from validate_tolerations(request.tolerations, path.child("tolerations"))


def _validate_constraint(
    constraint: DeviceConstraint, path: Path, *, names: RequestNames
) -> FieldErrors:
    yield from names.validate_all(constraint.requests, path.child("requests"))
    match, distinct = constraint.match_attribute, constraint.distinct_attribute
    if match is not None:
        yield from validate_fully_qualified_name(match, path.child("matchAttribute"))
    if distinct is not None:
        yield from validate_fully_qualified_name(distinct, path.child("distinctAttribute"))
    if match is None and distinct is None:
        yield required(
            path,
            'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple'
            " fields are set",
        )


def _validate_config(
    config: DeviceClaimConfiguration, path: Path, *, names: RequestNames
) -> FieldErrors:
    yield from names.validate_all(config.requests, path.child("requests"))
    yield from validate_configuration(config.opaque, path)
