"""Signed tokens: which are genuine, and which keys can be used."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.certificates import CertificateAuthority
from apiserver.auth.token_keys import (
    InvalidSignature,
    InvalidSigningKey,
    PrivateKey,
    TokenKeys,
    load_public_keys,
    load_signing_key,
    new_signing_key,
    read_token_keys,
    unverified_issuer,
    verification_key,
)

RSA = rsa.generate_private_key(65537, 2048)
P256 = ec.generate_private_key(ec.SECP256R1())
CLAIMS = {"iss": "me", "sub": "ann"}


def private_pem(key: PrivateKey | dsa.DSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def public_pem(key: PrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def part(document: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(document)).rstrip(b"=").decode()


def header_of(token: str) -> dict[str, str]:
    head = token.partition(".")[0]
    found: dict[str, str] = orjson.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    return found


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (RSA, "RS256"),
        (P256, "ES256"),
        (ec.generate_private_key(ec.SECP384R1()), "ES384"),
        (ec.generate_private_key(ec.SECP521R1()), "ES512"),
    ],
)
def test_a_key_knows_what_it_has_signed(key: PrivateKey, algorithm: str) -> None:
    keys = TokenKeys(key)

    token = keys.sign(CLAIMS)

    assert keys.verify(token) == CLAIMS
    assert header_of(token)["alg"] == algorithm


def test_a_token_names_its_key_by_the_digest_of_the_public_half() -> None:
    der = P256.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    digest = base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()

    assert header_of(TokenKeys(P256).sign(CLAIMS)) == {"alg": "ES256", "kid": digest}


def test_tokens_of_a_former_key_are_known() -> None:
    token = TokenKeys(RSA).sign(CLAIMS)

    assert TokenKeys(P256, [RSA.public_key()]).verify(token) == CLAIMS


def test_tokens_of_an_unknown_key_are_not() -> None:
    with pytest.raises(InvalidSignature, match="no keys found"):
        TokenKeys(P256).verify(TokenKeys(RSA).sign(CLAIMS))


def test_another_payload_under_a_genuine_signature_is_refused() -> None:
    head, _, signature = TokenKeys(P256).sign(CLAIMS).split(".")

    with pytest.raises(InvalidSignature, match="Signature verification failed"):
        TokenKeys(P256).verify(f"{head}.{part({'iss': 'me', 'sub': 'root'})}.{signature}")


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS256"])
def test_a_token_cannot_choose_its_algorithm(algorithm: str) -> None:
    """The public key is no secret: signing with it as one must not help."""
    keys = TokenKeys(P256)
    (kid,) = keys.keys
    signed = f"{part({'alg': algorithm, 'kid': kid})}.{part(CLAIMS)}"
    mac = hmac.digest(public_pem(P256), signed.encode(), "sha256")
    signature = base64.urlsafe_b64encode(mac).rstrip(b"=").decode()

    for end in ("", signature):
        with pytest.raises(InvalidSignature):
            keys.verify(f"{signed}.{end}")


def test_a_signed_text_that_is_no_object_is_no_token() -> None:
    keys = TokenKeys(P256)
    token = keys._jws.encode(b"[1]", P256, "ES256", headers={"kid": next(iter(keys.keys))})

    with pytest.raises(InvalidSignature, match="not an object"):
        keys.verify(token)


@given(st.text() | st.from_regex(r"[\w-]{0,20}\.[\w-]{0,20}\.[\w-]{0,20}"))
def test_whatever_else_a_bearer_sends_is_no_token(text: str) -> None:
    with pytest.raises(InvalidSignature):
        TokenKeys(P256).verify(text)
    assert unverified_issuer(text) == ""


def test_the_issuer_is_read_before_anything_is_believed() -> None:
    assert unverified_issuer(f"x.{part(CLAIMS)}.y") == "me"
    assert unverified_issuer(f"x.{part({'iss': 7})}.y") == ""
    assert unverified_issuer(f"x.{part([])}.y") == ""
    assert unverified_issuer(f"x.{part(CLAIMS)}.y.z") == ""


def test_published_keys_are_public() -> None:
    published = [verification_key(key.public_key()).jwk for key in (RSA, P256)]

    assert [sorted(jwk) for jwk in published] == [
        ["alg", "e", "kid", "kty", "n", "use"],
        ["alg", "crv", "kid", "kty", "use", "x", "y"],
    ]


def test_a_file_may_hold_keys_of_every_sort() -> None:
    authority = CertificateAuthority.create(now=datetime.now(UTC)).pair
    data = public_pem(RSA) + b"# a comment\n" + private_pem(P256) + authority.certificate

    first, second, third = load_public_keys(data)

    assert (first, second) == (RSA.public_key(), P256.public_key())
    assert third == load_signing_key(authority.key).public_key()


@pytest.mark.parametrize(
    ("pem", "why"),
    [
        (b"", "cannot be read"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "cannot be read"),
        (private_pem(dsa.generate_private_key(2048)), "neither an RSA nor an elliptic curve key"),
        (private_pem(rsa.generate_private_key(65537, 1024)), "an RSA key of 1024 bits"),
        (private_pem(ec.generate_private_key(ec.SECP256K1())), "must be P-256, P-384 or P-521"),
    ],
)
def test_a_key_that_cannot_sign_is_refused(pem: bytes, why: str) -> None:
    with pytest.raises(InvalidSigningKey, match=why):
        load_signing_key(pem)


def test_a_refusal_names_the_file(tmp_path: Path) -> None:
    signing, other = tmp_path / "sa.key", tmp_path / "old.pub"
    signing.write_bytes(new_signing_key())
    other.write_text("nothing")

    with pytest.raises(InvalidSigningKey, match=r"old\.pub: contains no key"):
        read_token_keys(signing, [other])
    with pytest.raises(InvalidSigningKey, match=r"none\.key: No such file"):
        read_token_keys(tmp_path / "none.key")
