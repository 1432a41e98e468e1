"""TLS: trusted authorities and client certificates as values, and the SSLContext built from them.

Certificates and keys may be PEM text from a kubeconfig or a credential plugin, but Python's ssl
module loads client certificates only from files. They are written to an anonymous in-memory file
where the system supports that, otherwise to a temporary file removed at once, so that no key is
left on disk.
"""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from client.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate chain and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "ClientCertificate(...)"


@dataclass(frozen=True, slots=True)
class TLS:
    """Settings for verifying the server's certificate."""

    ca: bytes = b""
    """PEM of the trusted authorities; empty means those of the system."""
    insecure: bool = False
    """Accept any certificate."""
    server_name: str = ""
    """The name expected in the server's certificate, if it is not the host name."""


def ssl_context(tls: TLS, certificate: ClientCertificate | None = None) -> ssl.SSLContext:
    """Build the context for connections to one server with one client certificate.

    Raises ConfigError if the authorities or the certificate cannot be loaded.
    """
    try:
        context = ssl.create_default_context(cadata=tls.ca.decode() if tls.ca else None)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"certificate-authority: unable to load root certificates: {error}"
        ) from None
    if tls.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    # NetworkTransport supports only HTTP/1.1, so ALPN must not negotiate HTTP/2.
    context.set_alpn_protocols(["http/1.1"])
    if certificate is not None:
        _load_certificate(context, certificate)
    return context


def _load_certificate(context: ssl.SSLContext, certificate: ClientCertificate) -> None:
    try:
        load_key_pair(context, certificate.certificate, certificate.key)
    except (ssl.SSLError, ValueError, OSError) as error:
        raise ConfigError(f"client certificate: unable to load key pair: {error}") from None


def load_key_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load a PEM certificate and its key. Raises SSLError, ValueError, OSError."""
    with _temporary_file(certificate.rstrip() + b"\n" + key) as path:
        context.load_cert_chain(path, password=_no_password)


def _no_password() -> str:
    # Without this callback OpenSSL would prompt on the terminal and block.
    raise ValueError("the private key is encrypted")


@contextmanager
def _temporary_file(data: bytes) -> Iterator[str]:
    """Yield the path of a file with *data* that exists only in the block."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("client-certificate")
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(data)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
    # Imported late: it loads slowly, and most systems do not need it.
    import tempfile

    with tempfile.TemporaryDirectory() as directory:  # readable by this user only
        path = Path(directory) / "client.pem"
        path.write_bytes(data)
        yield str(path)
