"""Strategy of PodCertificateRequests."""

from collections.abc import Mapping
from typing import ClassVar

from apimachinery.fieldpath import FieldErrors
from apimachinery.scalars.time import now
from apis.certificates.v1 import PodCertificateRequest
from apis.certificates.validation.issued_certificate import validate_result
from apis.certificates.validation.pod_certificate_request import (
    validate_pod_certificate_request,
    validate_pod_certificate_request_update,
)
from apiserver import Strategy


class PodCertificateRequestStrategy(Strategy[PodCertificateRequest]):
    """The spec never changes; the signer sets the status, once."""

    qualified_finalizers = True
    allow_unconditional_update = False
    validates_conditions = True
    reset_fields: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "": ("status",),
        "status": ("metadata", "spec"),
    }

    def validate(self, obj: PodCertificateRequest) -> FieldErrors:
        yield from validate_pod_certificate_request(obj)

    def validate_update(
        self, new: PodCertificateRequest, old: PodCertificateRequest
    ) -> FieldErrors:
        yield from validate_pod_certificate_request_update(new, old)

    def validate_status_update(
        self, new: PodCertificateRequest, old: PodCertificateRequest
    ) -> FieldErrors:
        yield from validate_result(new, old, now())

    def desired_state(self, obj: PodCertificateRequest) -> object:
        return None
