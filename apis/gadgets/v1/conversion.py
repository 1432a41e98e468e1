"""Conversion of v1: the timeout in seconds; everything else has the internal shape."""

from datetime import timedelta

from apis.gadgets import types as internal
from apis.gadgets import v1


def spec_to_internal(spec: v1.GadgetSpec) -> internal.GadgetSpec:
    return internal.GadgetSpec(
        model=spec.model,
        replicas=spec.replicas,
        timeout=timedelta(seconds=spec.timeout_seconds),
        parts=spec.parts,
    )


def spec_from_internal(spec: internal.GadgetSpec) -> v1.GadgetSpec:
    return v1.GadgetSpec(
        model=spec.model,
        replicas=spec.replicas,
        timeout_seconds=int(spec.timeout.total_seconds()),
        parts=spec.parts,
    )
