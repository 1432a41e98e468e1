"""Printer columns of CertificateSigningRequests."""

from typing import Final

from apis.certificates.v1 import CertificateSigningRequest
from apis.certificates.v1.signing_request import APPROVED, DENIED, FAILED
from apiserver.views.table import AGE, NAME, Column, human_duration

_NONE: Final = "<none>"


def signer(request: CertificateSigningRequest) -> str:
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
