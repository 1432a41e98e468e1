"""PEM documents: PKCS#10 requests and X.509 certificates, as Kubernetes reads them.

Like Go's decoder, this one ignores text around the blocks. `cryptography` is imported when it is
needed: clients have these types, but need not have it.
"""

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography import x509

_BEGIN: Final = b"-----BEGIN "
_END: Final = b"-----END "
_DASHES: Final = b"-----"


class InvalidPEM(ValueError):
    """A PEM document that is malformed, or whose signature is wrong."""


@dataclass(frozen=True, slots=True)
class PEMBlock:
    """One block of a PEM document."""

    type: str
    has_headers: bool
    content: bytes


def pem_blocks(data: bytes) -> Iterator[PEMBlock]:
    """Yield the well-formed blocks of a document, in one pass."""
    position = end = 0
    while (start := data.find(_BEGIN, position)) >= 0:
        position = start + len(_BEGIN)
        if start and data[start - 1 : start] != b"\n":
            continue
        line_end = data.find(b"\n", position)
        head = data[position:line_end].rstrip() if line_end >= 0 else b""
        if not head.endswith(_DASHES):
            continue
        block_type = head.removesuffix(_DASHES)
        # Found once for all beginnings before it: a document may consist of beginnings only.
        end = data.find(_END, line_end) if end < line_end else end
        if end < 0:
            return
        if not data.startswith(block_type + _DASHES, end + len(_END)):
            position = line_end
            continue
        block = _block(block_type, data[line_end + 1 : end])
        position = end + len(_END)
        if block is not None:
            yield block


def read_request(data: bytes) -> "x509.CertificateSigningRequest":
    """Parse the first block of a document, which must be a request. Raises InvalidPEM."""
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    block = next(pem_blocks(data), None)
    if block is None or block.type != "CERTIFICATE REQUEST":
        raise InvalidPEM("PEM block type must be CERTIFICATE REQUEST")
    try:
        return x509.load_der_x509_csr(block.content)
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidPEM("x509: malformed certificate request") from None


def check_request(data: bytes) -> None:
    """Raise InvalidPEM if a request is malformed, or not signed by its own key."""
    from cryptography.exceptions import UnsupportedAlgorithm

    request = read_request(data)
    try:
        if request.is_signature_valid:
            return
        key = request.public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InvalidPEM("x509: cannot verify signature: algorithm unimplemented") from None
    raise InvalidPEM(_signature_error(key))


def organizations(request: "x509.CertificateSigningRequest") -> list[str]:
    """Return the organizations of the subject, which become the groups of a client."""
    from cryptography.x509.oid import NameOID

    return [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        for attribute in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
        for value in (attribute.value,)
    ]


def check_certificates(data: bytes) -> None:
    """Raise InvalidPEM unless a document has certificates and nothing else, or is empty."""
    from cryptography import x509

    if not data:
        return
    count = 0
    for block in pem_blocks(data):
        if block.type != "CERTIFICATE":
            raise InvalidPEM(f'only CERTIFICATE PEM blocks are allowed, found "{block.type}"')
        if block.has_headers:
            raise InvalidPEM("no PEM block headers are permitted")
        if not block.content:
            raise InvalidPEM("found CERTIFICATE PEM block containing 0 certificates")
        try:
            x509.load_der_x509_certificate(block.content)
        except ValueError:
            raise InvalidPEM("x509: malformed certificate") from None
        count += 1
    if not count:
        raise InvalidPEM("must contain at least one CERTIFICATE PEM block")


def _block(block_type: bytes, body: bytes) -> PEMBlock | None:
    lines = [line.strip() for line in body.split(b"\n")]
    headers = next((i for i, line in enumerate(lines) if b":" not in line), len(lines))
    try:
        content = base64.b64decode(b"".join(lines[headers:]), validate=True)
    except binascii.Error:
        return None
    return PEMBlock(block_type.decode("utf-8", "replace"), headers > 0, content)


def _signature_error(key: object) -> str:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    match key:
        case rsa.RSAPublicKey():
            return "crypto/rsa: verification error"
        case ec.EllipticCurvePublicKey():
            return "x509: ECDSA verification failure"
        case ed25519.Ed25519PublicKey():
            return "x509: Ed25519 verification failure"
        case _:
            return "x509: cannot verify signature: algorithm unimplemented"
