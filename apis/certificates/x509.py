"""X.509 certificates and PKCS#10 requests in DER, as far as validation needs them.

`cryptography` is imported when it is needed: clients have these types, but need not have it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

_CURVES: Final = ("secp256r1", "secp384r1", "secp521r1")
_GO_CURVES: Final = {"secp224r1": "P-224"}
_RSA_BITS: Final = (3072, 4096)


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a certificate says."""

    not_before: datetime
    not_after: datetime
    public_key: bytes | None
    """In DER; None for an unknown algorithm."""
    is_ca: bool


@dataclass(frozen=True, slots=True)
class CertificateRequest:
    """A PKCS#10 request, of which only the key counts."""

    public_key: bytes | None
    """In DER; None for an unknown algorithm."""
    unsupported_key: str
    """A key that pods may not have, such as `2048-bit modulus`; empty if the key is supported."""
    key_rule: str
    """The rule that the unsupported key breaks."""
    is_signed: bool
    """Whether the key of the request has signed it."""


def read_certificate(content: bytes) -> Certificate | None:
    """Parse a certificate; return None if it is malformed."""
    from cryptography import x509

    try:
        certificate = x509.load_der_x509_certificate(content)
        return Certificate(
            certificate.not_valid_before_utc,
            certificate.not_valid_after_utc,
            _public_key(certificate),
            _is_ca(certificate),
        )
    except (ValueError, x509.DuplicateExtension):
        return None


def read_certificate_request(content: bytes) -> CertificateRequest | None:
    """Parse a PKCS#10 request; return None if it is malformed."""
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        request = x509.load_der_x509_csr(content)
    except (ValueError, UnsupportedAlgorithm):
        return None
    try:
        unsupported, rule = _unsupported(request.public_key())
        is_signed = request.is_signature_valid
    except (ValueError, TypeError, UnsupportedAlgorithm):
        unsupported, rule, is_signed = *_unsupported(None), False
    return CertificateRequest(_public_key(request), unsupported, rule, is_signed)


def _public_key(document: object) -> bytes | None:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    try:
        key = document.public_key()  # type: ignore[attr-defined]
        encoded: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except (ValueError, UnsupportedAlgorithm):
        return None
    return encoded


def _is_ca(certificate: object) -> bool:
    from cryptography import x509

    assert isinstance(certificate, x509.Certificate)
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _unsupported(key: object) -> tuple[str, str]:
    """Return a key that pods may not have as messages show it, and the rule; or empty strings."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    match key:
        case ed25519.Ed25519PublicKey():
            return "", ""
        case ec.EllipticCurvePublicKey():
            name = key.curve.name
            if name in _CURVES:
                return "", ""
            rule = "elliptic public keys must use curve P256, P384, or P521"
            return f"curve {_GO_CURVES.get(name, name)}", rule
        case rsa.RSAPublicKey():
            bits = -(-key.key_size // 8) * 8
            if bits in _RSA_BITS:
                return "", ""
            return f"{bits}-bit modulus", "RSA keys must have modulus size 3072 or 4096"
        case _:
            return "", "unknown public key type; supported types are Ed25519, ECDSA, and RSA"
