"""Validation of PodCertificateRequests as kubelets create them: pod, key, lifetime."""

import base64
from typing import Final

from apimachinery.fieldpath import OMITTED, FieldErrors, GoStruct, Path, invalid, too_long
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apis.certificates.v1 import PodCertificateRequest, PodCertificateRequestSpec
from apis.certificates.x509 import read_certificate_request
from apis.core.validation.signer_names import (
    LIFETIME_MIN,
    lifetime_max,
    validate_signer_name,
    validate_user_annotations,
)

REQUEST_MAX: Final = 10 * 1024
"""Bytes of a PKCS#10 request."""
_UID_MAX: Final = 128

_SPEC: Final = Path("spec")
_REQUEST: Final = _SPEC.child("stubPKCS10Request")


def validate_pod_certificate_request(request: PodCertificateRequest) -> FieldErrors:
    spec = request.spec
    yield from validate_signer_name(spec.signer_name, _SPEC.child("signerName"))
    path = _SPEC.child("unverifiedUserAnnotations")
    yield from validate_user_annotations(spec.unverified_user_annotations, path)
    for wire, name, uid in (
        ("pod", spec.pod_name, spec.pod_uid),
        ("serviceAccount", spec.service_account_name, spec.service_account_uid),
        ("node", spec.node_name, spec.node_uid),
    ):
        for error in dns_subdomain_name(name, False):
            yield invalid(_SPEC.child(f"{wire}Name"), name, error)
        if not uid:
            yield invalid(_SPEC.child(f"{wire}UID"), uid, "must not be empty")
        if len(uid.encode()) > _UID_MAX:
            yield too_long(_SPEC.child(f"{wire}UID"), _UID_MAX)
    yield from _validate_lifetime(spec)
    if not spec.stub_pkcs10_request:
        rule = (
            "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
        )
        yield invalid(_SPEC, OMITTED, rule)
    else:
        yield from _validate_request(spec.stub_pkcs10_request)


def validate_pod_certificate_request_update(
    new: PodCertificateRequest, old: PodCertificateRequest
) -> FieldErrors:
    if new.spec != old.spec:
        yield invalid(_SPEC, _shown(new.spec), "field is immutable")


def _validate_lifetime(spec: PodCertificateRequestSpec) -> FieldErrors:
    seconds, longest = spec.max_expiration_seconds, lifetime_max(spec.signer_name)
    if seconds is not None and not LIFETIME_MIN <= seconds <= longest:
        rule = f"must be in the range [{LIFETIME_MIN}, {longest}]"
        yield invalid(_SPEC.child("maxExpirationSeconds"), seconds, rule)


def _validate_request(data: bytes) -> FieldErrors:
    if len(data) > REQUEST_MAX:
        yield too_long(_REQUEST, REQUEST_MAX)
        return
    request = read_certificate_request(data)
    if request is None:
        yield invalid(_REQUEST, OMITTED, "must be a valid PKCS#10 CSR")
    elif request.key_rule:
        yield invalid(_REQUEST, request.unsupported_key or OMITTED, request.key_rule)
    elif not request.is_signed:
        yield invalid(_REQUEST, OMITTED, "invalid signature")


def _shown(spec: PodCertificateRequestSpec) -> GoStruct:
    """Return a spec as Kubernetes' messages show its internal type."""
    return GoStruct(
        SignerName=spec.signer_name,
        PodName=spec.pod_name,
        PodUID=spec.pod_uid,
        ServiceAccountName=spec.service_account_name,
        ServiceAccountUID=spec.service_account_uid,
        NodeName=spec.node_name,
        NodeUID=spec.node_uid,
        MaxExpirationSeconds=spec.max_expiration_seconds,
        PKIXPublicKey=None,
        ProofOfPossession=None,
        StubPKCS10Request=base64.b64encode(spec.stub_pkcs10_request).decode() or None,
        UnverifiedUserAnnotations=spec.unverified_user_annotations or None,
    )
