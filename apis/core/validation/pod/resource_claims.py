"""Validation of the resource claims of a pod: devices that its containers share."""

from collections.abc import Sequence

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    invalid,
    required,
)
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apimachinery.meta.types import ObjectMeta
from apimachinery.names import is_dns1123_label
from apis.core.v1.pod import PodResourceClaim
from apis.core.validation.internal_form import internal_form
from apis.core.validation.pod.annotations import MIRROR_POD


def validate_pod_resource_claims(
    claims: Sequence[PodResourceClaim], metadata: ObjectMeta | None, path: Path
) -> FieldErrors:
    """Validate the claims of a pod; a template has no *metadata* of a pod."""
    names: set[str] = set()
    for position, claim in enumerate(claims):
        if metadata is not None and MIRROR_POD in metadata.annotations:
            yield forbidden(Path(""), "static pods do not support resource claims")
        else:
            yield from _validate_claim(claim, names, path.index(position))


def _validate_claim(claim: PodResourceClaim, names: set[str], path: Path) -> FieldErrors:
    if not claim.name:
        yield required(path.child("name"))
    elif claim.name in names:
        yield duplicate(path.child("name"), claim.name)
    else:
        for error in is_dns1123_label(claim.name):
            yield invalid(path.child("name"), claim.name, error)
        names.add(claim.name)
    name, template = claim.resource_claim_name, claim.resource_claim_template_name
    if name is not None and template is not None:
        rule = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        yield invalid(path, internal_form(claim), rule)
    if name is None and template is None:
        rule = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        yield invalid(path, internal_form(claim), rule)
    for wire, value in (("resourceClaimName", name), ("resourceClaimTemplateName", template)):
        for error in dns_subdomain_name(value, False) if value is not None else ():
            yield invalid(path.child(wire), value, error)
