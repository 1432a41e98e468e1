"""Certificates: the authority that issues the serving and client certificates of a server.

One authority signs both; the key usage in each certificate prevents using one as the other. Keys
are ECDSA P-256. Nothing here reads a file or a clock.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_LIFETIME: Final = timedelta(days=3650)
SERVING_LIFETIME: Final = timedelta(days=365)
RENEWAL_MARGIN: Final = SERVING_LIFETIME / 3
"""A serving certificate is replaced when its remaining lifetime is shorter than this."""
CLOCK_SKEW: Final = timedelta(minutes=5)
"""How far a client's clock may be behind ours."""

_MAX_COMMON_NAME: Final = 64


class CertificateError(Exception):
    """A certificate or key cannot be created or parsed; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, both as PEM."""

    certificate: bytes
    key: bytes


class CertificateAuthority:
    """A certificate authority with its private key."""

    def __init__(self, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self._certificate = certificate
        self._key = key

    @classmethod
    def create(cls, *, now: datetime, name: str = "apiserver-ca") -> Self:
        key = ec.generate_private_key(ec.SECP256R1())
        # The name must be unique: a client that trusts two authorities selects one by its name.
        serial = x509.random_serial_number()
        subject = _name(f"{name}-{serial:x}"[:32])
        builder = (
            _builder(subject, subject, key.public_key(), now, AUTHORITY_LIFETIME)
            .serial_number(serial)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(authority=True), critical=True)
        )
        return cls(builder.sign(key, hashes.SHA256()), key)

    @classmethod
    def load(cls, pair: KeyPair) -> Self:
        certificate = parse_certificate(pair.certificate)
        try:
            key = serialization.load_pem_private_key(pair.key, password=None)
        except (ValueError, TypeError) as error:
            raise CertificateError(f"the private key cannot be read: {error}") from None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise CertificateError("the private key is not an elliptic curve key")
        if key.public_key() != certificate.public_key():
            raise CertificateError("the private key does not belong to the certificate")
        return cls(certificate, key)

    @property
    def pair(self) -> KeyPair:
        return KeyPair(_pem(self._certificate), _key_pem(self._key))

    @property
    def not_after(self) -> datetime:
        return self._certificate.not_valid_after_utc

    def issue_serving(self, names: Iterable[str], *, now: datetime) -> KeyPair:
        """Issue a serving certificate for *names*, host names or IP addresses."""
        unique = list(dict.fromkeys(names))
        common_name = next((name for name in unique if len(name) <= _MAX_COMMON_NAME), "apiserver")
        return self._issue(
            _name(common_name),
            ExtendedKeyUsageOID.SERVER_AUTH,
            now,
            SERVING_LIFETIME,
            x509.SubjectAlternativeName([_alternative_name(name) for name in unique]),
        )

    def issue_client(
        self, user: str, groups: Sequence[str], *, now: datetime, lifetime: timedelta
    ) -> KeyPair:
        """Issue a client certificate for *user*, a member of *groups*. Raises CertificateError."""
        if not 0 < len(user.encode()) <= _MAX_COMMON_NAME:
            raise CertificateError(f"user {user!r}: must have 1 to {_MAX_COMMON_NAME} bytes")
        for group in groups:
            if not 0 < len(group.encode()) <= _MAX_COMMON_NAME:
                raise CertificateError(f"group {group!r}: must have 1 to {_MAX_COMMON_NAME} bytes")
        return self._issue(
            _name(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH, now, lifetime, None
        )

    def has_issued(self, certificate: x509.Certificate) -> bool:
        """Return whether this authority has signed *certificate*."""
        try:
            certificate.verify_directly_issued_by(self._certificate)
        except Exception:  # the library raises many kinds of errors; each means "no"
            return False
        return True

    def _issue(
        self,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        now: datetime,
        lifetime: timedelta,
        names: x509.SubjectAlternativeName | None,
    ) -> KeyPair:
        # A certificate must not outlive its authority.
        lifetime = min(lifetime, self.not_after - now)
        if lifetime <= timedelta():
            raise CertificateError(f"the authority expired on {self.not_after:%Y-%m-%d}")
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = self._certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
        builder = (
            _builder(subject, self._certificate.subject, key.public_key(), now, lifetime)
            .serial_number(x509.random_serial_number())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer.value),
                critical=False,
            )
        )
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        return KeyPair(_pem(builder.sign(self._key, hashes.SHA256())), _key_pem(key))


def parse_certificate(pem: bytes) -> x509.Certificate:
    """Parse the first certificate in *pem*. Raises CertificateError."""
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError as error:
        raise CertificateError(f"the certificate cannot be read: {error}") from None


def needs_renewal(
    certificate: bytes, authority: CertificateAuthority, names: Iterable[str], *, now: datetime
) -> bool:
    """Return whether a serving certificate must be replaced.

    It must if it expires soon, was issued by another authority, or lacks some of *names*.
    """
    try:
        parsed = parse_certificate(certificate)
        alternatives = parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (CertificateError, x509.ExtensionNotFound, ValueError):
        return True
    if parsed.not_valid_after_utc - now < min(RENEWAL_MARGIN, authority.not_after - now):
        return True
    certified = set(alternatives.value)
    if any(_alternative_name(name) not in certified for name in names):
        return True
    return not authority.has_issued(parsed)


def drop_expired(bundle: bytes, *, now: datetime) -> bytes:
    """Return the certificates of a PEM bundle that have not expired; any other text unchanged."""
    try:
        certificates = x509.load_pem_x509_certificates(bundle)
    except ValueError:
        return bundle
    return b"".join(
        _pem(certificate) for certificate in certificates if now <= certificate.not_valid_after_utc
    )


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    now: datetime,
    lifetime: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(common_name: str, organizations: Sequence[str] = ()) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _alternative_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return x509.DNSName(name)
    except ValueError:
        raise CertificateError(f"{name!r} is neither a host name nor an IP address") from None


def _key_usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
