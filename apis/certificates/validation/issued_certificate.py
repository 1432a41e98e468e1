"""Validation of the status of PodCertificateRequests.

A signer gives a request its result once, in one write of the status: a certificate for the key of
the request, a denial, or a failure. Each rule presupposes the ones before it, so validation ends
with the first that is broken.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from apimachinery.fieldpath import (
    OMITTED,
    FieldError,
    FieldErrors,
    Path,
    invalid,
    not_supported,
    required,
    too_long,
)
from apimachinery.meta.metadata_validation import validate_conditions
from apis.certificates.pem import PEMBlock, pem_blocks
from apis.certificates.v1 import PodCertificateRequest, PodCertificateRequestStatus
from apis.certificates.v1.pod_certificate_request import FINAL_CONDITIONS, ISSUED
from apis.certificates.x509 import Certificate, read_certificate, read_certificate_request

CHAIN_MAX: Final = 100 * 1024
"""Bytes of a certificate chain."""
_LIFETIME_MIN: Final = timedelta(hours=1)
_REFRESH_MARGIN: Final = timedelta(minutes=10)
_CLOCK_SKEW: Final = timedelta(minutes=5)

_STATUS: Final = Path("status")
_CHAIN: Final = _STATUS.child("certificateChain")
_NOT_BEFORE: Final = _STATUS.child("notBefore")
_NOT_AFTER: Final = _STATUS.child("notAfter")
_REFRESH: Final = _STATUS.child("beginRefreshAt")


def validate_result(
    new: PodCertificateRequest, old: PodCertificateRequest, now: datetime
) -> FieldErrors:
    """Validate a change of the status at the time *now*."""
    status = new.status
    if errors := [*_validate_types(status), *_conditions(status)]:
        yield from errors
    elif _result(old):
        if status != old.status:
            rule = "immutable after PodCertificateRequest is issued, denied, or failed"
            yield invalid(_STATUS, OMITTED, rule)
    elif _result(new) == ISSUED:
        yield from _validate_issued(new, old, now)
    elif _result(new):
        if status != PodCertificateRequestStatus(conditions=status.conditions):
            rule = (
                "non-condition status fields must be empty when denying or failing the"
                " PodCertificateRequest"
            )
            yield invalid(_STATUS, OMITTED, rule)
    elif status != old.status:
        rule = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'
        yield invalid(_STATUS, OMITTED, rule)


def _result(request: PodCertificateRequest) -> str:
    """Return the final condition of a request, or an empty string."""
    for condition in request.status.conditions:
        if condition.type in FINAL_CONDITIONS and condition.status == "True":
            return condition.type
    return ""


def _validate_types(status: PodCertificateRequestStatus) -> FieldErrors:
    has_result = False
    for position, condition in enumerate(status.conditions):
        # Kubernetes writes the index as a field of its own.
        path = Path("status", "conditions", f"[{position}]")
        if condition.type not in FINAL_CONDITIONS:
            yield not_supported(path.child("type"), condition.type, FINAL_CONDITIONS)
            continue
        if has_result:
            rule = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
            yield invalid(path.child("type"), condition.type, rule)
        if condition.status != "True":
            yield not_supported(path.child("status"), condition.status, ("True",))
        has_result = True


def _conditions(status: PodCertificateRequestStatus) -> FieldErrors:
    return validate_conditions(status.conditions, _STATUS.child("conditions"))


def _validate_issued(
    new: PodCertificateRequest, old: PodCertificateRequest, now: datetime
) -> FieldErrors:
    status, chain = new.status, new.status.certificate_chain
    if len(chain.encode()) > CHAIN_MAX:
        yield too_long(_CHAIN, CHAIN_MAX)
        return
    blocks = pem_blocks(chain.encode())
    leaf, problem = _leaf(next(blocks, None))
    if leaf is None:
        yield invalid(_CHAIN, chain, problem)
    elif not _has_key_of(leaf, old):
        rule = "leaf certificate was not issued to the requested public key"
        yield invalid(_CHAIN, chain, rule)
    elif missing := list(_missing_times(status)):
        yield from missing
    else:
        error = next(_time_errors(new, leaf, now), None)
        if error is not None:
            yield error
        elif problem := _intermediate_problem(blocks):
            yield invalid(_CHAIN, chain, problem)


def _leaf(block: PEMBlock | None) -> tuple[Certificate | None, str]:
    """Parse the issued certificate; return what is wrong with it if it is None."""
    if block is None:
        return None, "issued certificate chain must contain at least one certificate"
    if block.type != "CERTIFICATE":
        return None, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"
    return read_certificate(block.content), "leaf certificate does not parse as valid X.509"


def _has_key_of(leaf: Certificate, request: PodCertificateRequest) -> bool:
    stub = read_certificate_request(request.spec.stub_pkcs10_request)
    return stub is not None and stub.public_key is not None and stub.public_key == leaf.public_key


def _missing_times(status: PodCertificateRequestStatus) -> FieldErrors:
    consistent = "must be present and consistent with the issued certificate"
    if status.not_before is None:
        yield required(_NOT_BEFORE, consistent)
    if status.not_after is None:
        yield required(_NOT_AFTER, consistent)
    if status.begin_refresh_at is None:
        rule = "must be present and in the range [notbefore+10min, notafter-10min]"
        yield required(_REFRESH, rule)


def _time_errors(
    request: PodCertificateRequest, leaf: Certificate, now: datetime
) -> Iterator[FieldError]:
    status = request.status
    start, end, refresh = status.not_before, status.not_after, status.begin_refresh_at
    assert start is not None and end is not None and refresh is not None
    if start != leaf.not_before:
        rule = "must be set to the NotBefore time encoded in the leaf certificate"
        yield invalid(_NOT_BEFORE, _shown(start), rule)
    if not now - _CLOCK_SKEW < start < now + _CLOCK_SKEW:
        rule = "must be set to within 5 minutes of kube-apiserver's current time"
        yield invalid(_NOT_BEFORE, _shown(start), rule)
    if end != leaf.not_after:
        rule = "must be set to the NotAfter time encoded in the leaf certificate"
        yield invalid(_NOT_AFTER, _shown(end), rule)
    yield from _lifetime_errors(request, end - start)
    if refresh < start + _REFRESH_MARGIN:
        rule = "must be at least 10 minutes after status.notBefore"
        yield invalid(_REFRESH, _shown(refresh), rule)
    if refresh > end - _REFRESH_MARGIN:
        rule = "must be at least 10 minutes before status.notAfter"
        yield invalid(_REFRESH, _shown(refresh), rule)


def _lifetime_errors(request: PodCertificateRequest, lifetime: timedelta) -> Iterator[FieldError]:
    nanoseconds = int(lifetime.total_seconds()) * 10**9
    if lifetime < _LIFETIME_MIN:
        yield invalid(_CHAIN, nanoseconds, "leaf certificate lifetime must be >= 1 hour")
    longest = request.spec.max_expiration_seconds
    if longest is not None and lifetime > timedelta(seconds=longest):
        rule = f"leaf certificate lifetime must be <= spec.maxExpirationSeconds ({longest})"
        yield invalid(_CHAIN, nanoseconds, rule)


def _intermediate_problem(blocks: Iterator[PEMBlock]) -> str:
    for block in blocks:
        if block.type != "CERTIFICATE":
            # The misspelling is Kubernetes' own.
            return "issued certificate chain must consist entirely of CERTFICATE PEM blocks"
        if read_certificate(block.content) is None:
            return "intermediate certificate does not parse as valid X.509"
    return ""


def _shown(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
