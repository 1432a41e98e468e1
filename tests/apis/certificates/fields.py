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
}
