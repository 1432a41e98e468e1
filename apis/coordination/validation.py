"""Validation of leases."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, not_supported
from apimachinery.names import is_qualified_name
from apis.coordination.v1 import Lease, LeaseSpec

_STRATEGIES: Final = ("OldestEmulationVersion",)


def validate_lease(lease: Lease) -> FieldErrors:
    yield from validate_lease_spec(lease.spec, Path("spec"))


def validate_lease_spec(spec: LeaseSpec, path: Path) -> FieldErrors:
    duration, transitions = spec.lease_duration_seconds, spec.lease_transitions
    if duration is not None and duration <= 0:
        yield invalid(path.child("leaseDurationSeconds"), duration, "must be greater than 0")
    if transitions is not None and transitions < 0:
        rule = "must be greater than or equal to 0"
        yield invalid(path.child("leaseTransitions"), transitions, rule)
    if spec.strategy is not None:
        yield from _validate_strategy(spec.strategy, path.child("strategy"))
    if spec.preferred_holder and not spec.strategy:
        rule = "may only be specified if `strategy` is defined"
        yield forbidden(path.child("preferredHolder"), rule)


def _validate_strategy(strategy: str, path: Path) -> FieldErrors:
    # Kubernetes repeats the field name in the message; clients match it.
    here = path.child("strategy")
    if "/" not in strategy:
        if strategy not in _STRATEGIES:
            yield not_supported(here, strategy, _STRATEGIES)
        return
    for error in is_qualified_name(strategy):
        yield invalid(here, strategy, error)
