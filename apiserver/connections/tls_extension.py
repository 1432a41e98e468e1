"""TLS extension: the client's certificate in the scope of a request, as ASGI describes it."""

import ssl
from typing import Any, Final

from cryptography import x509

_TLS_VERSIONS: Final = {"TLSv1.2": 0x0303, "TLSv1.3": 0x0304}


def tls_extension(ssl_object: ssl.SSLObject | None) -> dict[str, Any] | None:
    """Return the ASGI TLS extension of a connection, None without TLS."""
    if ssl_object is None:
        return None
    certificate = ssl_object.getpeercert(binary_form=True)
    return {
        "server_cert": None,
        "client_cert_chain": _verified_chain(ssl_object, certificate) if certificate else [],
        "client_cert_name": _subject(certificate),
        "client_cert_error": None,
        "tls_version": _TLS_VERSIONS.get(ssl_object.version() or ""),
        "cipher_suite": None,
    }


def _verified_chain(ssl_object: ssl.SSLObject, certificate: bytes) -> list[str]:
    """Return the client's certificate and its chain up to the authority, as PEM."""
    # The public method of the same name exists only since Python 3.13.
    chain = ssl_object._sslobj.get_verified_chain()  # type: ignore[attr-defined]
    if not chain:  # a resumed session
        return [ssl.DER_cert_to_PEM_cert(certificate)]
    return [element.public_bytes() for element in chain]


def _subject(certificate: bytes | None) -> str | None:
    if not certificate:
        return None
    try:
        return x509.load_der_x509_certificate(certificate).subject.rfc4514_string()
    except ValueError:
        return None
