"""Validation of ClusterTrustBundles: their names depend on the signer, anchors are CAs."""

from collections.abc import Iterable
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, immutable, invalid, too_long
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apimachinery.meta.types import ObjectMeta
from apimachinery.names import byte_length
from apis.certificates.pem import PEMBlock, pem_blocks
from apis.certificates.v1 import ClusterTrustBundle
from apis.certificates.x509 import read_certificate
from apis.core.validation.signer_names import validate_signer_name

BUNDLE_MAX: Final = 1024 * 1024
"""Bytes of a trust bundle."""

_METADATA: Final = Path("metadata")
_SIGNER: Final = Path("spec", "signerName")
_ANCHORS: Final = Path("spec", "trustBundle")
_HIDDEN: Final = "<value omitted>"


def validate_trust_bundle(
    bundle: ClusterTrustBundle, old: ClusterTrustBundle | None = None
) -> FieldErrors:
    """Validate a bundle; anchors that *old* has as well are not parsed again."""
    signer = bundle.spec.signer_name
    yield from _validate_names(bundle.metadata, signer)
    if signer:
        yield from validate_signer_name(signer, _SIGNER)
    if old is None or bundle.spec.trust_bundle != old.spec.trust_bundle:
        yield from _validate_anchors(bundle.spec.trust_bundle)
    if old is not None and signer != old.spec.signer_name:
        yield immutable(_SIGNER, signer)


def _validate_names(metadata: ObjectMeta, signer: str) -> FieldErrors:
    if metadata.generate_name:
        for error in _name_errors(metadata.generate_name, signer, is_prefix=True):
            yield invalid(_METADATA.child("generateName"), metadata.generate_name, error)
    if metadata.name:
        for error in _name_errors(metadata.name, signer, is_prefix=False):
            yield invalid(_METADATA.child("name"), metadata.name, error)


def _name_errors(name: str, signer: str, *, is_prefix: bool) -> Iterable[str]:
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return dns_subdomain_name(name, is_prefix)
    prefix = f"{signer.replace('/', ':')}:"
    if not name.startswith(prefix):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"]
    return dns_subdomain_name(name.removeprefix(prefix), is_prefix)


def _validate_anchors(anchors: str) -> FieldErrors:
    if byte_length(anchors) > BUNDLE_MAX:
        yield too_long(_ANCHORS, BUNDLE_MAX)
        return
    places: dict[bytes, list[int]] = {}
    is_valid = True
    for place, block in enumerate(pem_blocks(anchors.encode())):
        problem = _anchor_problem(block)
        if problem:
            yield invalid(_ANCHORS, _HIDDEN, f"entry {place} {problem}")
            is_valid = False
        places.setdefault(block.content, []).append(place)
    if not is_valid:
        return  # Duplicate and missing anchors would be consequences.
    if not places:
        yield invalid(_ANCHORS, _HIDDEN, "at least one trust anchor must be provided")
    for repeated in places.values():
        if len(repeated) > 1:
            shown = " ".join(map(str, repeated))
            yield invalid(_ANCHORS, _HIDDEN, f"duplicate trust anchor (indices [{shown}])")


def _anchor_problem(block: PEMBlock) -> str:
    """Return what is wrong with a block, or an empty string for the certificate of a CA."""
    if block.type != "CERTIFICATE":
        return f"has bad block type: {block.type}"
    if block.has_headers:
        return "has PEM block headers"
    certificate = read_certificate(block.content)
    if certificate is None:
        return "does not parse as X.509"
    return "" if certificate.is_ca else "does not have the CA bit set"
