"""Defaulting functions of certificates.k8s.io/v1."""

from apis.certificates.v1.pod_certificate_request import (
    DEFAULT_LIFETIME,
    PodCertificateRequestSpec,
)


def set_pod_certificate_request_defaults(spec: PodCertificateRequestSpec) -> None:
    if spec.max_expiration_seconds is None:
        spec.max_expiration_seconds = DEFAULT_LIFETIME
