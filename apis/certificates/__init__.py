"""The certificates.k8s.io group: requests for certificates, and trust anchors."""

GROUP = "certificates.k8s.io"
