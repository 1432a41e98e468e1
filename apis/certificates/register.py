"""Registration of certificates.k8s.io, for clients and servers: kinds, defaults, field labels."""

from collections.abc import Mapping
from typing import Final

from apimachinery.field_labels import FieldLabel
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.certificates import GROUP, v1
from apis.certificates.v1 import defaults

V1: Final = GroupVersion(GROUP, "v1")

SIGNER_FIELDS: Final[Mapping[str, str]] = {"spec.signerName": "spec.signerName"}
"""Field-selector label -> path of the value."""
POD_CERTIFICATE_FIELDS: Final[Mapping[str, str]] = {
    **SIGNER_FIELDS,
    "spec.podName": "spec.podName",
    "spec.nodeName": "spec.nodeName",
}


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        V1,
        v1.CertificateSigningRequest,
        v1.ClusterTrustBundle,
        v1.PodCertificateRequest,
        internal=True,
    )
    scheme.add_defaults(defaults.set_pod_certificate_request_defaults)
    for kind, fields in (
        ("CertificateSigningRequest", SIGNER_FIELDS),
        ("ClusterTrustBundle", SIGNER_FIELDS),
        ("PodCertificateRequest", POD_CERTIFICATE_FIELDS),
    ):
        scheme.add_field_labels(V1.with_kind(kind), _allow(("metadata.name", *fields)))


def _allow(labels: tuple[str, ...]) -> FieldLabel:
    """Return a function that raises ValueError for other labels, with Kubernetes' message."""

    def field_label(label: str, value: str) -> tuple[str, str]:
        if label not in labels:
            raise ValueError(f"field label not supported: {label}")
        return label, value

    return field_label
