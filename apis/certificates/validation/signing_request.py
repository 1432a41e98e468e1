"""Validation of CertificateSigningRequests, and of what each of their subresources may change."""

import base64
from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    NULL,
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    quote,
    required,
)
from apis.certificates.pem import InvalidPEM, check_certificates, check_request
from apis.certificates.v1 import (
    CertificateSigningRequest,
    CertificateSigningRequestCondition,
    CertificateSigningRequestSpec,
)
from apis.certificates.v1.signing_request import (
    APPROVED,
    DENIED,
    FAILED,
    KEY_USAGES,
    LEGACY_UNKNOWN,
)
from apis.core.validation.signer_names import validate_signer_name

MIN_EXPIRATION: Final = 600

_SPEC: Final = Path("spec")
_CONDITIONS: Final = Path("status", "conditions")
_CERTIFICATE: Final = Path("status", "certificate")
_STATUSES: Final = ("False", "True", "Unknown")
_PERMANENT: Final = (APPROVED, DENIED, FAILED)
"""Conditions that have the status True and stay."""


def validate_signing_request(request: CertificateSigningRequest) -> FieldErrors:
    yield from _validate_spec(request.spec)
    yield from _validate_conditions(request.status.conditions)
    try:
        check_certificates(request.status.certificate)
    except InvalidPEM as error:
        yield invalid(_CERTIFICATE, "<certificate data>", str(error))


def validate_signing_request_update(
    new: CertificateSigningRequest,
    old: CertificateSigningRequest,
    *,
    approves: bool = False,
    signs: bool = False,
) -> FieldErrors:
    """Validate a change; only the subresource `approval` approves, only `status` signs."""
    yield from validate_signing_request(new)
    for kind in _PERMANENT:
        if len(_of_type(new, kind)) < len(_of_type(old, kind)):
            yield forbidden(
                _CONDITIONS, f"updates may not remove a condition of type {quote(kind)}"
            )
    if not approves:
        yield from _validate_no_approval(new, old)
    if new.status.certificate != old.status.certificate:
        if not signs:
            yield forbidden(_CERTIFICATE, "updates may not set certificate content")
        elif old.status.certificate:
            yield forbidden(_CERTIFICATE, "updates may not modify existing certificate content")


def _validate_spec(spec: CertificateSigningRequestSpec) -> FieldErrors:
    try:
        check_request(spec.request)
    except InvalidPEM as error:
        shown = base64.b64encode(spec.request).decode("ascii") or NULL
        yield invalid(_SPEC.child("request"), shown, str(error))
    yield from _validate_usages(spec.usages, _SPEC.child("usages"))
    path = _SPEC.child("signerName")
    if spec.signer_name == LEGACY_UNKNOWN:
        rule = "the legacy signerName is not allowed via this API version"
        yield invalid(path, spec.signer_name, rule)
    else:
        yield from validate_signer_name(spec.signer_name, path)
    seconds = spec.expiration_seconds
    if seconds is not None and seconds < MIN_EXPIRATION:
        rule = "may not specify a duration less than 600 seconds (10 minutes)"
        yield invalid(_SPEC.child("expirationSeconds"), seconds, rule)


def _validate_usages(usages: Sequence[str], path: Path) -> FieldErrors:
    if not usages:
        yield required(path)
    seen: set[str] = set()
    for position, usage in enumerate(usages):
        if usage not in KEY_USAGES:
            yield not_supported(path.index(position), usage, KEY_USAGES)
        if usage in seen:
            yield duplicate(path.index(position), usage)
        seen.add(usage)


def _validate_conditions(conditions: Sequence[CertificateSigningRequestCondition]) -> FieldErrors:
    types: set[str] = set()
    for position, condition in enumerate(conditions):
        path = _CONDITIONS.index(position)
        if not condition.type:
            yield required(path.child("type"))
        allowed = ("True",) if condition.type in _PERMANENT else _STATUSES
        if not condition.status:
            yield required(path.child("status"))
        elif condition.status not in allowed:
            yield not_supported(path.child("status"), condition.status, allowed)
        if condition.type in types:
            yield duplicate(path.child("type"), condition.type)
        types.add(condition.type)
    if {APPROVED, DENIED} <= types:
        both = [f'conditions[{{"type": "{kind}"}}]' for kind in (APPROVED, DENIED)]
        rule = f"must specify at most one of: {', '.join(f'`{name}`' for name in both)}"
        yield invalid(_CONDITIONS, f"{{{', '.join(both)}}}", rule)


def _validate_no_approval(
    new: CertificateSigningRequest, old: CertificateSigningRequest
) -> FieldErrors:
    for kind in (APPROVED, DENIED):
        after, before = _of_type(new, kind), _of_type(old, kind)
        if len(after) > len(before):
            yield forbidden(_CONDITIONS, f"updates may not add a condition of type {quote(kind)}")
        elif len(after) == len(before) and after != before:
            rule = f"updates may not modify a condition of type {quote(kind)}"
            yield forbidden(_CONDITIONS, rule)


def _of_type(
    request: CertificateSigningRequest, kind: str
) -> list[CertificateSigningRequestCondition]:
    return [condition for condition in request.status.conditions if condition.type == kind]
