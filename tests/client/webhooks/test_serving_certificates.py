"""The TLS context of a webhook server when its certificate is replaced."""

import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from apimachinery.certificates import KeyPair
from client.monitoring.controller_metrics import NoMetricsSink
from client.webhooks.serving_certificates import ServingTLS


def self_signed(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> KeyPair:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhook")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .sign(key, hashes.SHA256())
    )
    return KeyPair(
        certificate.public_bytes(Encoding.PEM),
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def served_certificate(server: ssl.SSLContext, name: str | None) -> bytes:
    """Return the PEM certificate that a new connection gets, with a server name or without."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(down, up, server_hostname=name)
    ends = [client, server.wrap_bio(up, down, server_side=True)]
    for _ in range(3):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    certificate = client.getpeercert(binary_form=True)
    assert certificate is not None
    return x509.load_der_x509_certificate(certificate).public_bytes(Encoding.PEM)


@pytest.mark.parametrize("name", ["webhooks.shop.svc", None])
def test_a_certificate_with_another_type_of_key_replaces_the_previous_one(
    name: str | None,
) -> None:
    pairs = [
        self_signed(ec.generate_private_key(ec.SECP256R1())),
        self_signed(rsa.generate_private_key(65537, 2048)),
    ]
    for order in (pairs, pairs[::-1]):
        tls = ServingTLS(NoMetricsSink())
        for pair in order:
            tls.load(pair)
            assert served_certificate(tls.context, name) == pair.certificate
