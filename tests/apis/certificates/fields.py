"""Every field of certificates.k8s.io/v1 with its protobuf number."""

CERTIFICATES = {
    "CertificateSigningRequest": "metadata=1 spec=2 status=3",
    "CertificateSigningRequestCondition": (
        "type=1 reason=2 message=3 lastUpdateTime=4 lastTransitionTime=5 status=6"
    ),
    "CertificateSigningRequestSpec": (
        "request=1 username=2 uid=3 groups=4 usages=5 extra=6 signerName=7 expirationSeconds=8"
    ),
    "CertificateSigningRequestStatus": "conditions=1 certificate=2",
    "ClusterTrustBundle": "metadata=1 spec=2",
    "ClusterTrustBundleSpec": "signerName=1 trustBundle=2",
    "PodCertificateRequest": "metadata=1 spec=2 status=3",
    "PodCertificateRequestSpec": (
        "signerName=1 podName=2 podUID=3 serviceAccountName=4 serviceAccountUID=5 nodeName=6"
        " nodeUID=7 maxExpirationSeconds=8 unverifiedUserAnnotations=11 stubPKCS10Request=12"
    ),
    "PodCertificateRequestStatus": (
        "conditions=1 certificateChain=2 notBefore=4 beginRefreshAt=5 notAfter=6"
    ),
}
