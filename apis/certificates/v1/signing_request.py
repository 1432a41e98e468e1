"""CertificateSigningRequest: a request for a certificate, its approval and the certificate."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Bytes, Int32

APPROVED: Final = "Approved"
DENIED: Final = "Denied"
FAILED: Final = "Failed"

KUBE_APISERVER_CLIENT: Final = "kubernetes.io/kube-apiserver-client"
"""Signer of certificates that the API server accepts from clients."""
LEGACY_UNKNOWN: Final = "kubernetes.io/legacy-unknown"
"""Signer of requests from before signers had names; not allowed for new ones."""

KEY_USAGES: Final = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)
"""Usages of keys that a certificate can be requested for, in alphabetical order."""


class CertificateSigningRequestSpec(Model):
    """A request, and the user who made it. Immutable."""

    request: Bytes = field(
        b"",
        proto=1,
        omit_empty=False,
        doc="PKCS#10 request, PEM-encoded with the block type `CERTIFICATE REQUEST`. Required.",
    )
    username: str = field(
        "", proto=2, doc="Name of the user who created the request; set by the server."
    )
    uid: str = field("", proto=3, doc="UID of the user; set by the server.")
    groups: list[str] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Groups of the user; set by the server.",
    )
    usages: list[str] = field(
        default_factory=list,
        proto=5,
        enum=KEY_USAGES,
        list_type="atomic",
        doc=(
            "Usages of the key that the certificate should have. For client certificates usually"
            " `digital signature`, `key encipherment` and `client auth`, for serving certificates"
            " `server auth` in place of the last."
        ),
    )
    extra: dict[str, list[str]] = field(
        default_factory=dict, proto=6, doc="Extra attributes of the user; set by the server."
    )
    signer_name: str = field(
        "",
        proto=7,
        omit_empty=False,
        doc=(
            "Signer that should issue the certificate, such as"
            " `kubernetes.io/kube-apiserver-client` or `example.com/my-signer`. The signer decides"
            " which subjects, usages and lifetimes it accepts. Required."
        ),
    )
    expiration_seconds: Int32 | None = field(
        None,
        proto=8,
        doc=(
            "Requested lifetime of the certificate in seconds, at least 600. The signer may issue"
            " one with another lifetime."
        ),
    )


class CertificateSigningRequestCondition(Model):
    """A condition of a request."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "Type of the condition: Approved or Denied, set through `approval`, Failed, set by the"
            " signer, or another one. Required."
        ),
    )
    reason: str = field("", proto=2, doc="Short reason of the condition.")
    message: str = field("", proto=3, doc="Description of the condition.")
    last_update_time: Time | None = field(
        None,
        proto=4,
        omit_empty=False,
        required=False,
        doc="Time when the condition was last updated.",
    )
    last_transition_time: Time | None = field(
        None,
        proto=5,
        omit_empty=False,
        required=False,
        doc="Time when the status last changed; set by the server if missing.",
    )
    status: str = field(
        "",
        proto=6,
        omit_empty=False,
        doc="Status of the condition: True, which is the only one of the named types, False or"
        " Unknown. Required.",
    )


class CertificateSigningRequestStatus(Model):
    """Approval of a request, and the certificate."""

    conditions: list[CertificateSigningRequestCondition] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("type",),
        doc="Conditions of the request; Approved, Denied and Failed are never removed.",
    )
    certificate: Bytes = field(
        b"",
        proto=2,
        doc=(
            "Issued certificate and its chain, PEM-encoded with the block type `CERTIFICATE`; set"
            " by the signer, once."
        ),
    )


class CertificateSigningRequest(Object):
    """CertificateSigningRequest asks a signer for a certificate.

    Someone with the permission to do so approves or denies the request through `approval`; then
    the signer issues the certificate through `status`.
    """

    spec: CertificateSigningRequestSpec = field(
        default_factory=CertificateSigningRequestSpec,
        proto=2,
        required=True,
        doc="The request; immutable. Only `request`, `signerName`, `expirationSeconds` and"
        " `usages` are the client's.",
    )
    status: CertificateSigningRequestStatus = field(
        default_factory=CertificateSigningRequestStatus,
        proto=3,
        doc="Approval of the request, and the certificate.",
    )
