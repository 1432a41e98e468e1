"""PEM requests and certificates, made by a key of the test."""

from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID


@cache
def private_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def pem_request(*organizations: str, name: str = "jane") -> bytes:
    """Return a signed request of a user in some groups."""
    builder = x509.CertificateSigningRequestBuilder().subject_name(_subject(name, organizations))
    return builder.sign(private_key(), SHA256()).public_bytes(Encoding.PEM)


@cache
def pem_certificate() -> bytes:
    key, subject = private_key(), _subject("ca", ())
    start = datetime(2030, 1, 1, tzinfo=UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=1))
    )
    return builder.sign(key, SHA256()).public_bytes(Encoding.PEM)


def _subject(name: str, organizations: tuple[str, ...]) -> x509.Name:
    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, found) for found in organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )
