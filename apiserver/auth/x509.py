"""X.509 client certificates: the common name is the user, the organizations are the groups.

The TLS layer accepts only client certificates signed by one of our authorities, so the certificates
here are genuine. But a connection may outlive its certificate and the authorities in its chain, so
their validity is checked here for every request.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from apiserver.auth.authentication import InvalidCredentials, RequestCredentials
from apiserver.auth.user import CREDENTIAL_ID, User


def _utc_now() -> datetime:
    return datetime.now(UTC)


class CertificateAuthenticator:
    """Authenticates by the client certificate of the connection."""

    def __init__(self, *, clock: Callable[[], datetime] = _utc_now) -> None:
        self._clock = clock
        # Each request of a connection has the same certificate.
        self._holder = lru_cache(maxsize=1024)(_read_holder)
        self._validity = lru_cache(maxsize=1024)(_read_validity)

    async def authenticate(self, credentials: RequestCredentials) -> User | None:
        if not credentials.certificate:
            return None
        holder = self._holder(credentials.certificate)
        now = self._clock()
        if not holder.not_before <= now <= holder.not_after:
            raise InvalidCredentials("the client certificate has expired or is not yet valid")
        for authority in credentials.authorities:
            not_before, not_after = self._validity(authority)
            if not not_before <= now <= not_after:
                raise InvalidCredentials(
                    "the authority of the client certificate has expired or is not yet valid"
                )
        return holder.user


@dataclass(frozen=True, slots=True)
class _Holder:
    user: User | None
    """None if the certificate has no common name."""
    not_before: datetime
    not_after: datetime


def _read_holder(pem: str) -> _Holder:
    try:
        certificate = x509.load_pem_x509_certificate(pem.encode("ascii"))
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except (ValueError, x509.ExtensionNotFound) as error:
        raise InvalidCredentials(f"the client certificate cannot be read: {error}") from error
    allowed = (ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE)
    if not any(purpose in allowed for purpose in usage):
        raise InvalidCredentials("the certificate is not a client certificate")
    names = _name_values(certificate.subject, NameOID.COMMON_NAME)
    fingerprint = hashlib.sha256(certificate.public_bytes(Encoding.DER)).hexdigest()
    user = User(
        names[-1],
        groups=tuple(_name_values(certificate.subject, NameOID.ORGANIZATION_NAME)),
        extra={CREDENTIAL_ID: (f"X509SHA256={fingerprint}",)},
    ) if names and names[-1] else None  # fmt: skip
    return _Holder(user, certificate.not_valid_before_utc, certificate.not_valid_after_utc)


def _read_validity(pem: str) -> tuple[datetime, datetime]:
    certificate = x509.load_pem_x509_certificate(pem.encode("ascii"))
    return certificate.not_valid_before_utc, certificate.not_valid_after_utc


def _name_values(name: x509.Name, kind: x509.ObjectIdentifier) -> list[str]:
    values = (attribute.value for attribute in name.get_attributes_for_oid(kind))
    return [value for value in values if isinstance(value, str)]
