"""PodCertificateRequest: the request of a kubelet for the certificate of a pod."""

from typing import Final

from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Bytes, Int32

ISSUED: Final = "Issued"
DENIED: Final = "Denied"
FAILED: Final = "Failed"
FINAL_CONDITIONS: Final = (ISSUED, DENIED, FAILED)
"""Conditions of which a request gets one; its status is immutable from then on."""

DEFAULT_LIFETIME: Final = 24 * 60 * 60


class PodCertificateRequestSpec(Model):
    """The pod that needs a certificate, and its key. Immutable."""

    signer_name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Signer that should issue the certificate, such as `example.com/my-signer`. Required.",
    )
    pod_name: str = field(
        "", proto=2, omit_empty=False, doc="Name of the pod that gets the certificate. Required."
    )
    pod_uid: str = field(
        "", proto=3, wire="podUID", omit_empty=False, doc="UID of the pod. Required."
    )
    service_account_name: str = field(
        "",
        proto=4,
        omit_empty=False,
        doc="Name of the service account that the pod runs as. Required.",
    )
    service_account_uid: str = field(
        "",
        proto=5,
        wire="serviceAccountUID",
        omit_empty=False,
        doc="UID of the service account. Required.",
    )
    node_name: str = field(
        "", proto=6, omit_empty=False, doc="Name of the node that the pod runs on. Required."
    )
    node_uid: str = field(
        "", proto=7, wire="nodeUID", omit_empty=False, doc="UID of the node. Required."
    )
    max_expiration_seconds: Int32 | None = field(
        None,
        proto=8,
        published_default=DEFAULT_LIFETIME,
        doc=(
            "Longest lifetime of the certificate in seconds; 86400, a day, by default. At least"
            " 3600, an hour, and at most 7862400, 91 days; at most a day for signers of"
            " `kubernetes.io`. The signer may issue a certificate with a shorter lifetime."
        ),
    )
    stub_pkcs10_request: Bytes = field(
        b"",
        proto=12,
        wire="stubPKCS10Request",
        omit_empty=False,
        doc=(
            "PKCS#10 request in DER, signed with the key of the pod: RSA with 3072 or 4096 bits,"
            " ECDSA on P256, P384 or P521, or Ed25519. The server verifies the signature; signers"
            " need only the public key, and a kubelet leaves the rest empty. Required."
        ),
    )
    unverified_user_annotations: dict[str, str] = field(
        default_factory=dict,
        proto=11,
        doc=(
            "What the author of the pod tells the signer: keys with a domain in front and any"
            " values. Nobody has verified them. Signers deny requests with keys that they do not"
            " know."
        ),
    )


class PodCertificateRequestStatus(Model):
    """What the signer made of a request."""

    conditions: list[Condition] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc=(
            "Result of the request: one condition of type Issued, Denied or Failed with the status"
            " True. The reason UnsupportedKeyType of a denial asks for another kind of key, which"
            " its message may name."
        ),
    )
    certificate_chain: str = field(
        "",
        proto=2,
        doc=(
            "Issued certificate and the intermediate certificates that clients need, as PEM blocks"
            " `CERTIFICATE`. The signer sets it together with the condition Issued; then it is"
            " immutable."
        ),
    )
    not_before: Time | None = field(
        None, proto=4, doc="Beginning of the lifetime, the same as in the certificate."
    )
    begin_refresh_at: Time | None = field(
        None,
        proto=5,
        doc=(
            "Time from which the kubelet should request the next certificate: at least ten minutes"
            " after the beginning of the lifetime, and before its end."
        ),
    )
    not_after: Time | None = field(
        None, proto=6, doc="End of the lifetime, the same as in the certificate."
    )


class PodCertificateRequest(Object):
    """PodCertificateRequest asks a signer for a certificate for a pod.

    Kubelets create it for projected volumes with a pod certificate.
    """

    spec: PodCertificateRequestSpec = field(
        default_factory=PodCertificateRequestSpec,
        proto=2,
        required=True,
        doc="The pod, its key and the signer; immutable.",
    )
    status: PodCertificateRequestStatus = field(
        default_factory=PodCertificateRequestStatus,
        proto=3,
        doc="Result of the request, and the certificate.",
    )
