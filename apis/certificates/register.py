"""Registration of certificates.k8s.io, for clients and servers: the kind and its field labels."""

from collections.abc import Mapping
from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.certificates import GROUP, v1

V1: Final = GroupVersion(GROUP, "v1")

SIGNING_REQUEST_FIELDS: Final[Mapping[str, str]] = {"spec.signerName": "spec.signerName"}
"""Field-selector label -> path of the value."""

_LABELS: Final = ("metadata.name", *SIGNING_REQUEST_FIELDS)


def field_label(label: str, value: str) -> tuple[str, str]:
    """Return a label and its value; raises ValueError for other labels, as Kubernetes does."""
    if label not in _LABELS:
        raise ValueError(f"field label not supported: {label}")
    return label, value


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(V1, v1.CertificateSigningRequest, internal=True)
    scheme.add_field_labels(V1.with_kind("CertificateSigningRequest"), field_label)
