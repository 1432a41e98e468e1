"""Validation of TokenRequests."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apis.authentication.v1.tokens import BoundObjectReference, TokenRequest

MIN_SECONDS: Final = 10 * 60
MAX_SECONDS: Final = 1 << 32

_WEBHOOKS: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")


def validate_token_request(request: TokenRequest) -> FieldErrors:
    spec, path = request.spec, Path("spec")
    if spec.attestations and not _is_webhook(spec.bound_object_ref):
        # Like Kubernetes, report no other error in this case.
        yield invalid(
            path.child("attestations"),
            spec.attestations,
            "attestations may only be specified with a webhook bound object reference",
        )
        return
    seconds = spec.expiration_seconds or 0
    if seconds < MIN_SECONDS:
        yield invalid(
            path.child("expirationSeconds"),
            seconds,
            "may not specify a duration less than 10 minutes",
        )
    if seconds > MAX_SECONDS:
        yield invalid(
            path.child("expirationSeconds"),
            seconds,
            "may not specify a duration larger than 2^32 seconds",
        )


def _is_webhook(bound: BoundObjectReference | None) -> bool:
    return (
        bound is not None
        and bound.kind in _WEBHOOKS
        and bound.api_version == "admissionregistration.k8s.io/v1"
    )
