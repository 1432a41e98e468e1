"""TLS: whom to trust and who one is, as values, and the ssl context made of them.

Certificates and keys may come as text from a kubeconfig or a credential plugin. Python's ssl reads
client certificates only from files; they are handed over in a file that has no name where the
system can make one, and is removed at once where it cannot, so no key is left behind.
"""

import os
import ssl
import tempfile
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
    """How a server is recognised."""

    ca: bytes = b""
    """PEM of the authorities to trust; empty means those of the system."""
    insecure: bool = False
    """Trust anybody."""
    server_name: str = ""
    """The name the server's certificate must have, when it is not the host's."""


def ssl_context(tls: TLS, certificate: ClientCertificate | None = None) -> ssl.SSLContext:
    """The context for connections to one server as one client."""
    try:
        context = ssl.create_default_context(cadata=tls.ca.decode() if tls.ca else None)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"certificate-authority: unable to load root certificates: {error}"
        ) from None
    if tls.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    # Only HTTP/1.1 is spoken here; a server that could choose HTTP/2 must be told.
    context.set_alpn_protocols(["http/1.1"])
    if certificate is not None:
        _load(context, certificate)
    return context


def _load(context: ssl.SSLContext, certificate: ClientCertificate) -> None:
    with _as_file(certificate.certificate.rstrip() + b"\n" + certificate.key) as path:
        try:
            context.load_cert_chain(path, password=_no_password)
        except (ssl.SSLError, ValueError, OSError) as error:
            raise ConfigError(f"client certificate: unable to load key pair: {error}") from None


def _no_password() -> str:
    # Without this OpenSSL would ask on the terminal and wait.
    raise ValueError("the private key is encrypted")


@contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("client-certificate")
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(data)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
    with tempfile.TemporaryDirectory() as directory:  # readable by nobody else
        path = Path(directory) / "client.pem"
        path.write_bytes(data)
        yield str(path)
