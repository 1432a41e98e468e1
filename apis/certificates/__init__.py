"""The certificates.k8s.io group: requests for certificates."""

GROUP = "certificates.k8s.io"
