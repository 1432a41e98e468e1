"""IP addresses and networks: which spellings are accepted, and what is said about the others."""

import pytest

from apimachinery.fieldpath import Path
from apimachinery.ip_addresses import (
    cidr_warnings,
    ip_warnings,
    is_canonical_cidr,
    is_canonical_ip,
    is_strict_cidr,
    is_strict_ip,
    parse_cidr,
    parse_ip,
)

NOT_AN_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NOT_A_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
PATH = Path("spec", "address")


@pytest.mark.parametrize(
    ("value", "strict", "canonical"),
    [
        ("10.0.0.1", [], []),
        ("2001:db8::1", [], []),
        ("::102:304", [], []),
        ("::1.2.3.4", [], ['must be in canonical form ("::102:304")']),
        ("2001:DB8::1", [], ['must be in canonical form ("2001:db8::1")']),
        ("10.0.0.01", ["must not have leading 0s"], ["must not have leading 0s"]),
        *(
            (value, [rule], [rule])
            for value, rule in (
                ("::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address"),
                ("::ffff:102:304", "must not be an IPv4-mapped IPv6 address"),
                ("", NOT_AN_IP),
                ("10.0.0", NOT_AN_IP),
                ("fe80::1%eth0", NOT_AN_IP),
                ("10.0.0.1/32", NOT_AN_IP),
                ("0" * 100_000 + "1.1.1.1", NOT_AN_IP),
            )
        ),
    ],
)
def test_addresses(value: str, strict: list[str], canonical: list[str]) -> None:
    assert is_strict_ip(value) == strict
    assert is_canonical_ip(value) == canonical


@pytest.mark.parametrize(
    ("value", "strict", "canonical"),
    [
        ("10.0.0.0/8", [], []),
        ("2001:db8::/64", [], []),
        ("2001:DB8::/64", [], ['must be in canonical form ("2001:db8::/64")']),
        *(
            (value, [rule], [rule])
            for value, rule in (
                ("10.0.0.1/8", "must not have bits set beyond the prefix length"),
                ("10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
                ("010.0.0.0/8", "must not have leading 0s in IP or prefix length"),
                ("::ffff:1.2.3.0/120", "must not have an IPv4-mapped IPv6 address"),
                ("10.0.0.0", NOT_A_CIDR),
                ("10.0.0.0/33", NOT_A_CIDR),
                ("10.0.0.0/-1", NOT_A_CIDR),
                ("::/129", NOT_A_CIDR),
                ("10.0.0.0/8/8", NOT_A_CIDR),
            )
        ),
    ],
)
def test_networks(value: str, strict: list[str], canonical: list[str]) -> None:
    assert is_strict_cidr(value) == strict
    assert is_canonical_cidr(value) == canonical


def test_older_spellings_can_be_parsed() -> None:
    parsed = parse_cidr("010.0.0.1/08")

    assert str(parse_ip("010.0.0.1")) == "10.0.0.1"
    assert parsed is not None
    assert (str(parsed.address), str(parsed.network)) == ("10.0.0.1", "10.0.0.0/8")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("10.0.0.1", []),
        ("odd", []),
        ("010.0.0.1", ['non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"']),
        ("::ffff:1.2.3.4", ['non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"']),
        (
            "FE80::1",
            ['IPv6 address "FE80::1" should be in RFC 5952 canonical format ("fe80::1")'],
        ),
    ],
)
def test_warnings_about_addresses(value: str, expected: list[str]) -> None:
    assert list(ip_warnings(value, PATH)) == [f"spec.address: {text}" for text in expected]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("10.0.0.0/8", []),
        ("odd", []),
        (
            "010.0.0.1/8",
            [
                'CIDR value "010.0.0.1/8" is ambiguous in this context'
                ' (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
                'non-standard CIDR value "010.0.0.1/8" is invalid: use "10.0.0.0/8"',
            ],
        ),
        (
            "::ffff:1.2.3.0/120",
            ['non-standard CIDR value "::ffff:1.2.3.0/120" is invalid: use "1.2.3.0/24"'],
        ),
        (
            "2001:DB8::/64",
            [
                'IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format'
                ' ("2001:db8::/64")'
            ],
        ),
    ],
)
def test_warnings_about_networks(value: str, expected: list[str]) -> None:
    assert list(cidr_warnings(value, PATH)) == [f"spec.address: {text}" for text in expected]
