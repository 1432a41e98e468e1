"""Strategy of CertificateSigningRequests, and the handler of their approval."""

from collections.abc import Mapping
from typing import ClassVar

from apimachinery.errors import Invalid
from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import path_segment_name
from apimachinery.ratcheting import new_errors
from apimachinery.scalars.time import now
from apimachinery.schema import GroupKind
from apis.certificates import GROUP
from apis.certificates.v1 import CertificateSigningRequest
from apis.certificates.v1.signing_request import APPROVED, DENIED
from apis.certificates.validation.signing_request import (
    validate_signing_request,
    validate_signing_request_update,
)
from apiserver import Strategy


class SigningRequestStrategy(Strategy[CertificateSigningRequest]):
    """The spec never changes; the status changes through its subresources only."""

    qualified_finalizers = True
    status_updates_metadata = True
    reset_fields: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "": ("spec", "status"),
        "approval": ("spec", "status.certificate"),
        "status": ("spec", "status.conditions"),
    }

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return path_segment_name(name, prefix)

    def prepare_for_update(
        self, new: CertificateSigningRequest, old: CertificateSigningRequest
    ) -> None:
        new.spec = old.spec.deep_copy()

    def prepare_for_status_update(
        self, new: CertificateSigningRequest, old: CertificateSigningRequest
    ) -> None:
        """Keep the approval or denial, and set missing times of conditions."""
        _keep_conditions(new, old, APPROVED)
        _keep_conditions(new, old, DENIED)
        _set_times(new, old)

    def validate(self, obj: CertificateSigningRequest) -> FieldErrors:
        yield from validate_signing_request(obj)

    def validate_update(
        self, new: CertificateSigningRequest, old: CertificateSigningRequest
    ) -> FieldErrors:
        yield from validate_signing_request_update(new, old)

    def validate_status_update(
        self, new: CertificateSigningRequest, old: CertificateSigningRequest
    ) -> FieldErrors:
        yield from validate_signing_request_update(new, old, signs=True)

    def desired_state(self, obj: CertificateSigningRequest) -> object:
        return None


async def approve(
    context: object, current: CertificateSigningRequest, body: CertificateSigningRequest | None
) -> CertificateSigningRequest:
    """Handle `approval`: a PUT or PATCH changes the conditions only. Raises Invalid."""
    if body is None:
        return current
    changed = body.deep_copy()
    _set_times(changed, current)
    conditions = changed.status.conditions
    changed.spec, changed.status = current.spec.deep_copy(), current.status.deep_copy()
    changed.status.conditions = conditions
    errors = new_errors(
        validate_signing_request_update(changed, current, approves=True),
        validate_signing_request(current),
    )
    if errors:
        raise Invalid.of(
            GroupKind(GROUP, "CertificateSigningRequest"), current.metadata.name, errors
        )
    return changed


def _keep_conditions(
    new: CertificateSigningRequest, old: CertificateSigningRequest, kind: str
) -> None:
    """Copy the conditions of a type; added or removed ones are left to validation."""
    before = [condition for condition in old.status.conditions if condition.type == kind]
    places = [place for place, found in enumerate(new.status.conditions) if found.type == kind]
    if len(before) == len(places):
        for place, condition in zip(places, before, strict=True):
            new.status.conditions[place] = condition.deep_copy()


def _set_times(new: CertificateSigningRequest, old: CertificateSigningRequest) -> None:
    present = now()
    transitions = {
        (condition.type, condition.status): condition.last_transition_time
        for condition in reversed(old.status.conditions)
        if condition.last_transition_time is not None
    }
    for condition in new.status.conditions:
        condition.last_update_time = condition.last_update_time or present
        if condition.last_transition_time is None:
            before = transitions.get((condition.type, condition.status))
            condition.last_transition_time = before or present
