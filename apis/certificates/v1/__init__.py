from apis.certificates.v1.pod_certificate_request import (
    PodCertificateRequest,
    PodCertificateRequestSpec,
    PodCertificateRequestStatus,
)
from apis.certificates.v1.signing_request import (
    CertificateSigningRequest,
    CertificateSigningRequestCondition,
    CertificateSigningRequestSpec,
    CertificateSigningRequestStatus,
)
from apis.certificates.v1.trust_bundle import ClusterTrustBundle, ClusterTrustBundleSpec

__all__ = [
    "CertificateSigningRequest",
    "CertificateSigningRequestCondition",
    "CertificateSigningRequestSpec",
    "CertificateSigningRequestStatus",
    "ClusterTrustBundle",
    "ClusterTrustBundleSpec",
    "PodCertificateRequest",
    "PodCertificateRequestSpec",
    "PodCertificateRequestStatus",
]
