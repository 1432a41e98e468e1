"""Printer columns of the kinds of certificates.k8s.io."""

from typing import Final

from apis.certificates.v1 import (
    CertificateSigningRequest,
    ClusterTrustBundle,
    PodCertificateRequest,
)
from apis.certificates.v1.pod_certificate_request import FINAL_CONDITIONS
from apis.certificates.v1.signing_request import APPROVED, DENIED, FAILED
from apis.core.printers.pods import format_labels
from apiserver.views.table import AGE, NAME, Column, human_duration

_NONE: Final = "<none>"


def signer(request: CertificateSigningRequest | ClusterTrustBundle) -> str:
    return request.spec.signer_name or _NONE


def requestor(request: CertificateSigningRequest) -> str:
    return request.spec.username


def requested_duration(request: CertificateSigningRequest) -> str:
    seconds = request.spec.expiration_seconds
    return _NONE if seconds is None else human_duration(seconds)


def condition(request: CertificateSigningRequest) -> str:
    """Return the approval of a request, and what became of it: `Approved,Issued`."""
    types = {found.type for found in request.status.conditions}
    words = ["Denied" if DENIED in types else "Approved" if APPROVED in types else "Pending"]
    if FAILED in types:
        words.append("Failed")
    if request.status.certificate:
        words.append("Issued")
    return ",".join(words)


SIGNING_REQUEST_COLUMNS: Final = (
    NAME,
    AGE,
    Column("SignerName", signer, description="Signer that should issue the certificate."),
    Column("Requestor", requestor, description="User who made the request."),
    Column("RequestedDuration", requested_duration, description="Requested lifetime."),
    Column("Condition", condition, description="Approval, failure and issue of the certificate."),
)


def state(request: PodCertificateRequest) -> str:
    """Return the result of a request; of several conditions the last counts."""
    types = [found.type for found in request.status.conditions if found.type in FINAL_CONDITIONS]
    return types[-1] if types else "Pending"


TRUST_BUNDLE_COLUMNS: Final = (
    NAME,
    Column("SignerName", signer, description="Signer that the trust anchors belong to."),
)

POD_CERTIFICATE_REQUEST_COLUMNS: Final = (
    NAME,
    Column(
        "PodName",
        lambda request: request.spec.pod_name,
        description="Pod that gets the certificate.",
    ),
    Column(
        "ServiceAccountName",
        lambda request: request.spec.service_account_name,
        description="Service account of the pod.",
    ),
    Column("NodeName", lambda request: request.spec.node_name, description="Node of the pod."),
    Column(
        "SignerName",
        lambda request: request.spec.signer_name,
        description="Signer that should issue the certificate.",
    ),
    Column("State", state, description="Pending, Issued, Denied or Failed."),
    Column(
        "UnverifiedUserAnnotations",
        lambda request: format_labels(request.spec.unverified_user_annotations),
        description="What the author of the pod tells the signer.",
    ),
)
