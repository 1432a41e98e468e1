"""What an authority signs, and when it signs anew."""

import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from apimachinery.certificates import (
    RENEWAL_MARGIN,
    SERVING_LIFETIME,
    CertificateAuthority,
    CertificateError,
    KeyPair,
    needs_renewal,
    parse_certificate,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NAMES = ("localhost", "127.0.0.1", "::1", "kubernetes.default")


@pytest.fixture(scope="module")
def authority() -> CertificateAuthority:
    return CertificateAuthority.create(now=NOW)


def test_a_serving_certificate_is_good_for_all_its_names(authority: CertificateAuthority) -> None:
    made = parse_certificate(authority.issue_serving(NAMES, now=NOW).certificate)

    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost", "kubernetes.default"]
    assert [str(a) for a in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]
    assert isinstance(key := made.public_key(), ec.EllipticCurvePublicKey)
    assert isinstance(key.curve, ec.SECP256R1)


def test_a_client_certificate_names_the_user_and_the_groups(
    authority: CertificateAuthority,
) -> None:
    pair = authority.issue_client("ann", ["a", "b"], now=NOW, lifetime=timedelta(hours=24))

    made = parse_certificate(pair.certificate)
    groups = made.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert [g.value for g in groups] == ["a", "b"]
    assert made.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "ann"
    assert made.not_valid_after_utc == NOW + timedelta(hours=24)


def test_neither_kind_can_stand_in_for_the_other(authority: CertificateAuthority) -> None:
    serving = parse_certificate(authority.issue_serving(NAMES, now=NOW).certificate)
    client = parse_certificate(
        authority.issue_client("ann", [], now=NOW, lifetime=timedelta(1)).certificate
    )

    usages = [
        list(c.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)
        for c in (serving, client)
    ]
    assert usages == [[ExtendedKeyUsageOID.SERVER_AUTH], [ExtendedKeyUsageOID.CLIENT_AUTH]]


@pytest.mark.parametrize(("user", "groups"), [("", []), ("u" * 65, []), ("ann", [""])])
def test_names_that_no_certificate_can_hold_are_refused(
    authority: CertificateAuthority, user: str, groups: list[str]
) -> None:
    with pytest.raises(CertificateError, match="1 to 64 bytes"):
        authority.issue_client(user, groups, now=NOW, lifetime=timedelta(1))


def test_a_name_that_is_no_host_is_refused(authority: CertificateAuthority) -> None:
    with pytest.raises(CertificateError, match="neither a host name nor an IP address"):
        authority.issue_serving(["münchen"], now=NOW)


def test_nothing_outlives_its_authority(authority: CertificateAuthority) -> None:
    late = authority.not_after - timedelta(days=1)

    made = parse_certificate(authority.issue_serving(NAMES, now=late).certificate)

    assert made.not_valid_after_utc == authority.not_after
    with pytest.raises(CertificateError, match="the authority expired on"):
        authority.issue_serving(NAMES, now=authority.not_after)


def test_an_authority_comes_back_from_its_files(authority: CertificateAuthority) -> None:
    again = CertificateAuthority.load(authority.pair)

    made = again.issue_serving(NAMES, now=NOW).certificate
    assert authority.has_issued(parse_certificate(made))
    assert again.pair == authority.pair


@pytest.mark.parametrize("broken", ["certificate", "key", "other"])
def test_an_authority_in_pieces_is_refused(authority: CertificateAuthority, broken: str) -> None:
    pair = authority.pair
    pairs = {
        "certificate": KeyPair(b"nothing", pair.key),
        "key": KeyPair(pair.certificate, b"nothing"),
        "other": KeyPair(pair.certificate, CertificateAuthority.create(now=NOW).pair.key),
    }

    with pytest.raises(CertificateError, match=r"cannot be read|does not belong to"):
        CertificateAuthority.load(pairs[broken])


def test_a_certificate_is_renewed_before_its_end(authority: CertificateAuthority) -> None:
    made = authority.issue_serving(NAMES, now=NOW).certificate
    due = NOW + SERVING_LIFETIME - RENEWAL_MARGIN

    assert not needs_renewal(made, authority, NAMES, now=due - timedelta(hours=1))
    assert needs_renewal(made, authority, NAMES, now=due + timedelta(hours=1))


def test_a_certificate_is_renewed_for_a_new_name_authority_or_damage(
    authority: CertificateAuthority,
) -> None:
    made = authority.issue_serving(NAMES, now=NOW).certificate

    assert not needs_renewal(made, authority, NAMES[1:], now=NOW)
    assert needs_renewal(made, authority, [*NAMES, "10.0.0.1"], now=NOW)
    assert needs_renewal(made, CertificateAuthority.create(now=NOW), NAMES, now=NOW)
    assert needs_renewal(b"nothing", authority, NAMES, now=NOW)


def test_near_the_end_of_the_authority_it_is_not_renewed_again_and_again() -> None:
    authority = CertificateAuthority.create(now=NOW)
    late = authority.not_after - timedelta(days=10)
    made = authority.issue_serving(NAMES, now=late).certificate

    assert not needs_renewal(made, authority, NAMES, now=late + timedelta(days=1))


def test_a_strict_client_accepts_the_chain() -> None:
    """As Python 3.13 and newer check it, down to the extensions."""
    authority = CertificateAuthority.create(now=datetime.now(UTC))
    context = ssl.create_default_context(cadata=authority.pair.certificate.decode())
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT

    assert _handshake(context, authority.issue_serving(NAMES, now=datetime.now(UTC)))


def _handshake(client_context: ssl.SSLContext, serving: KeyPair) -> bool:
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        both = Path(folder) / "both.pem"
        both.write_bytes(serving.certificate + serving.key)
        server_context.load_cert_chain(both)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server, server_hostname="localhost")
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    waiting = [client, server, client, server]
    for side in waiting:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return client.version() is not None and bool(client.getpeercert())
