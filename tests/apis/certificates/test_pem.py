"""PEM documents: which blocks are found, and which requests and certificates are refused."""

import base64

import pytest

from apis.certificates.pem import (
    InvalidPEM,
    check_certificates,
    check_request,
    organizations,
    pem_blocks,
    read_request,
)
from tests.apis.certificates.requests import pem_certificate, pem_request


def block(kind: str, content: bytes = b"abc", *, headers: str = "") -> bytes:
    body = base64.b64encode(content).decode()
    return f"-----BEGIN {kind}-----\n{headers}{body}\n-----END {kind}-----\n".encode()


def test_text_around_blocks_is_ignored() -> None:
    document = b"intro\n" + block("A") + b"between -----BEGIN X\n" + block("B") + b"end"

    assert [(found.type, found.content) for found in pem_blocks(document)] == [
        ("A", b"abc"),
        ("B", b"abc"),
    ]


def test_headers_are_noticed() -> None:
    (found,) = pem_blocks(block("A", headers="Proc-Type: 4\n\n"))

    assert (found.has_headers, found.content) == (True, b"abc")


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"-----BEGIN A-----",
        b"-----BEGIN A-----\nYWJj\n",
        b"-----BEGIN A-----\nYWJj\n-----END B-----\n",
        b"-----BEGIN A-----\n!!!!\n-----END A-----\n",
        b"-----BEGIN A\nYWJj\n-----END A-----\n",
        b"x-----BEGIN A-----\nYWJj\n-----END A-----\n",
        b"-----BEGIN A-----\n" * 50_000 + b"-----END B-----\n",
    ],
)
def test_malformed_blocks_are_skipped(document: bytes) -> None:
    assert list(pem_blocks(document)) == []


def test_a_request_is_read_with_its_subject() -> None:
    request = pem_request("team", "other")

    check_request(request)
    assert organizations(read_request(request)) == ["team", "other"]


def test_a_signature_by_another_key_is_refused() -> None:
    (found,) = pem_blocks(pem_request())
    changed = found.content.replace(b"jane", b"joan")

    with pytest.raises(InvalidPEM, match="x509: ECDSA verification failure"):
        check_request(block("CERTIFICATE REQUEST", changed))


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        (b"hello", "PEM block type must be CERTIFICATE REQUEST"),
        (block("CERTIFICATE"), "PEM block type must be CERTIFICATE REQUEST"),
        (block("CERTIFICATE REQUEST"), "x509: malformed certificate request"),
    ],
)
def test_other_documents_are_no_requests(document: bytes, rule: str) -> None:
    with pytest.raises(InvalidPEM, match=rule):
        check_request(document)


def test_certificates_may_form_a_chain() -> None:
    check_certificates(b"")
    check_certificates(pem_certificate() * 2)


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        (b"hello", "must contain at least one CERTIFICATE PEM block"),
        (block("KEY"), 'only CERTIFICATE PEM blocks are allowed, found "KEY"'),
        (block("CERTIFICATE", headers="A: b\n\n"), "no PEM block headers are permitted"),
        (block("CERTIFICATE", b""), "found CERTIFICATE PEM block containing 0 certificates"),
        (block("CERTIFICATE"), "x509: malformed certificate"),
    ],
)
def test_other_documents_are_no_certificates(document: bytes, rule: str) -> None:
    with pytest.raises(InvalidPEM, match=rule):
        check_certificates(document)
