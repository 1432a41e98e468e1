"""Token keys: sign JWTs, and verify their signatures.

This module checks only whether a token is genuine; it does not interpret the claims. A token names
the key that signed it by a digest of that key, so there is at most one key to try, and each key has
exactly one algorithm, regardless of what a token claims.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt import InvalidTokenError, PyJWS
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey

ALGORITHMS: Final = ("RS256", "ES256", "ES384", "ES512")
MIN_RSA_BITS: Final = 2048

_CURVES: Final = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
_PEM: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)


class InvalidSigningKey(Exception):
    """A key cannot be used for tokens; the message names the file and the reason."""


class InvalidSignature(Exception):
    """None of the keys has signed the token."""


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A public key, its key ID in tokens, and its algorithm."""

    key: PublicKey
    id: str
    algorithm: str

    @property
    def jwk(self) -> dict[str, Any]:
        """The key as a JSON Web Key (RFC 7517), for clients that verify tokens themselves."""
        if isinstance(self.key, rsa.RSAPublicKey):
            jwk_fields = RSAAlgorithm.to_jwk(self.key, as_dict=True)
        else:
            jwk_fields = ECAlgorithm.to_jwk(self.key, as_dict=True)
        numbers = {
            name: jwk_fields[name] for name in ("n", "e", "crv", "x", "y") if name in jwk_fields
        }
        header = {"use": "sig", "kty": jwk_fields["kty"], "kid": self.id, "alg": self.algorithm}
        return header | numbers


class TokenKeys:
    """Signs with one key, and verifies signatures of that key and of *others*."""

    def __init__(self, signing: PrivateKey, others: Iterable[PublicKey] = ()) -> None:
        self._signing = signing
        self._verification = verification_key(signing.public_key())
        all_keys = (self._verification, *(verification_key(key) for key in others))
        self.keys: Mapping[str, VerificationKey] = {key.id: key for key in all_keys}
        self._jws = PyJWS(algorithms=list(ALGORITHMS))

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Return a signed token with *claims*."""
        payload = orjson.dumps(claims, option=orjson.OPT_SORT_KEYS)
        return self._jws.encode(
            payload,
            self._signing,
            self._verification.algorithm,
            headers={"typ": None, "kid": self._verification.id},
        )

    def verify(self, token: str) -> dict[str, Any]:
        """Return the claims of a token whose signature is valid. Raises InvalidSignature."""
        try:
            key_id = self._jws.get_unverified_header(token).get("kid")
            key = self.keys.get(key_id) if isinstance(key_id, str) else None
            if key is None:
                raise InvalidSignature("invalid signature, no keys found")
            payload = self._jws.decode(token, key.key, algorithms=[key.algorithm])
            claims = orjson.loads(payload)
        except (InvalidTokenError, ValueError) as error:
            raise InvalidSignature(str(error)) from None
        if not isinstance(claims, dict):
            raise InvalidSignature("the claims are not an object")
        return claims


def unverified_issuer(token: str) -> str:
    """Return the issuer that a token claims, unverified; empty if it is not a JWT."""
    _, dot, rest = token.partition(".")
    payload, dots, signature = rest.partition(".")
    if not dot or not dots or "." in signature:
        return ""
    try:
        claims = orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except ValueError:
        return ""
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    return issuer if isinstance(issuer, str) else ""


def verification_key(key: PublicKey) -> VerificationKey:
    """Return a public key with the key ID that Kubernetes uses. Raises InvalidSigningKey."""
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    digest = base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=")
    return VerificationKey(key, digest.decode("ascii"), _algorithm(key))


def new_signing_key() -> bytes:
    """Generate a private key as PEM: P-256, like all keys that the server generates."""
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def load_signing_key(pem: bytes) -> PrivateKey:
    """Load the private key of a PEM document. Raises InvalidSigningKey."""
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError) as error:
        raise InvalidSigningKey(f"the private key cannot be read: {error}") from None
    if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
        raise InvalidSigningKey("the private key is neither an RSA nor an elliptic curve key")
    _algorithm(key.public_key())
    return key


def load_public_keys(pem: bytes) -> list[PublicKey]:
    """Load the public keys of all keys and certificates in a PEM document."""
    keys = [_public_key(block.group(1), block.group()) for block in _PEM.finditer(pem)]
    if not keys:
        raise InvalidSigningKey("contains no key")
    return keys


def read_token_keys(signing: Path, others: Iterable[Path] = ()) -> TokenKeys:
    """Read the keys from files. Raises InvalidSigningKey, naming the file."""
    additional: list[PublicKey] = []
    path = signing
    try:
        key = load_signing_key(signing.read_bytes())
        for path in others:
            additional += load_public_keys(path.read_bytes())
    except OSError as error:
        raise InvalidSigningKey(f"{path}: {error.strerror}") from error
    except InvalidSigningKey as error:
        raise InvalidSigningKey(f"{path}: {error}") from None
    return TokenKeys(key, additional)


def _public_key(label: bytes, block: bytes) -> PublicKey:
    if label.endswith(b"PRIVATE KEY"):
        return load_signing_key(block).public_key()
    key: object
    try:
        if label == b"CERTIFICATE":
            key = x509.load_pem_x509_certificate(block).public_key()
        else:
            key = serialization.load_pem_public_key(block)
    except ValueError as error:
        raise InvalidSigningKey(f"a key cannot be read: {error}") from None
    if not isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey):
        raise InvalidSigningKey("a key is neither an RSA nor an elliptic curve key")
    _algorithm(key)
    return key


def _algorithm(key: PublicKey) -> str:
    if isinstance(key, rsa.RSAPublicKey):
        if key.key_size < MIN_RSA_BITS:
            raise InvalidSigningKey(
                f"an RSA key of {key.key_size} bits: must have at least {MIN_RSA_BITS}"
            )
        return "RS256"
    algorithm = _CURVES.get(key.curve.name)
    if algorithm is None:
        raise InvalidSigningKey(f"curve {key.curve.name}: must be P-256, P-384 or P-521")
    return algorithm
