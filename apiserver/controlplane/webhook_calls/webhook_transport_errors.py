"""Transport errors of webhook calls in the words of Go's HTTP client.

Operators know these texts from Kubernetes and search for them: `connection refused`, `no such
host`, `x509: certificate signed by unknown authority`.
"""

import errno
import os
import socket
import ssl
from collections.abc import Iterator
from typing import Final

from client.transport.transport import ConnectionLost, RequestTimeout, TransportError

DEADLINE_EXCEEDED: Final = "context deadline exceeded"

_UNVERIFIED: Final = "tls: failed to verify certificate: x509: "
_VERIFY_MESSAGES: Final = {
    9: "certificate has expired or is not yet valid",
    10: "certificate has expired or is not yet valid",
    26: "certificate specifies an incompatible key usage",
}
"""By the error codes of OpenSSL's verification."""
_UNKNOWN_AUTHORITY: Final = frozenset((2, 18, 19, 20, 21))
_OTHER_NAME: Final = frozenset((62, 64))
_SYSTEM_CALLS: Final = {
    errno.ECONNREFUSED: "connect",
    errno.EHOSTUNREACH: "connect",
    errno.ENETUNREACH: "connect",
    errno.ECONNRESET: "read",
    errno.EPIPE: "write",
}


def go_message(error: TransportError, *, address: str, server_name: str) -> str:
    """Return Go's message for *error* of a connection to *address*."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _UNVERIFIED + _verification(cause, server_name)
        if isinstance(cause, ssl.SSLError):
            return _tls_message(cause)
        if isinstance(cause, socket.gaierror):
            return f"dial tcp: lookup {address.rpartition(':')[0]}: no such host"
        if isinstance(cause, OSError) and not isinstance(cause, TransportError) and cause.errno:
            return _system_message(cause.errno, address)
    if isinstance(error, RequestTimeout):
        return f"dial tcp {address}: i/o timeout"
    if isinstance(error, ConnectionLost):
        return "EOF"
    return str(error)


def _verification(error: ssl.SSLCertVerificationError, server_name: str) -> str:
    code = error.verify_code
    if code in _UNKNOWN_AUTHORITY:
        return "certificate signed by unknown authority"
    if code in _OTHER_NAME:
        return f"certificate is not valid for {server_name}"
    return _VERIFY_MESSAGES.get(code, error.verify_message)


def _tls_message(error: ssl.SSLError) -> str:
    reason = error.reason or ""
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG"):
        return "tls: first record does not look like a TLS handshake"
    if "_ALERT_" in reason:
        alert = reason.partition("_ALERT_")[2].lower().replace("_", " ")
        return f"remote error: tls: {alert}"
    return f"tls: {reason.lower().replace('_', ' ') or error}"


def _system_message(code: int, address: str) -> str:
    call = _SYSTEM_CALLS.get(code, "connect")
    operation = "dial" if call == "connect" else call
    return f"{operation} tcp {address}: {call}: {os.strerror(code).lower()}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield *error* and what it was raised from, the innermost first."""
    chain = []
    current: BaseException | None = error
    while current is not None:
        chain.append(current)
        current = current.__cause__
    return reversed(chain)
