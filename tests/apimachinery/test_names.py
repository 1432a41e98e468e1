"""Names are checked by Kubernetes' rules and refused in Kubernetes' words."""

import re
import time
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery import names
from tests.pauses import measures_time

Check = Callable[[str], list[str]]

LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
KEY_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)

TEXT_CHECKS: list[Check] = [
    names.is_dns1123_label,
    names.is_dns1123_subdomain,
    names.is_dns1123_subdomain_caseless,
    names.is_dns1123_subdomain_with_underscore,
    names.is_dns1035_label,
    names.is_wildcard_dns1123_subdomain,
    names.is_fully_qualified_name,
    names.is_fully_qualified_domain_name,
    names.is_domain_prefixed_path,
    names.is_domain_prefixed_key,
    names.is_qualified_name,
    names.is_label_value,
    names.is_path_segment_name,
    names.is_c_identifier,
    names.is_config_map_key,
    names.is_env_var_name,
    names.is_relaxed_env_var_name,
    names.is_http_header_name,
    names.is_percent,
    names.is_port_name,
    names.is_ip,
    names.is_ipv4,
    names.is_ipv6,
    names.is_cidr,
]

ACCEPTED: list[tuple[Check, list[str]]] = [
    (names.is_dns1123_label, ["a", "0", "a-1", "a" * 63]),
    (names.is_dns1123_subdomain, ["a", "a.b-c.0", "a" * 253]),
    (names.is_dns1123_subdomain_caseless, ["Example.com"]),
    (names.is_dns1123_subdomain_with_underscore, ["_a.b_c"]),
    (names.is_dns1035_label, ["a", "a1", "a-1"]),
    (names.is_wildcard_dns1123_subdomain, ["*.example.com"]),
    (names.is_fully_qualified_name, ["a.b.c"]),
    (names.is_fully_qualified_domain_name, ["a.b", "a.b.c."]),
    (names.is_domain_prefixed_path, ["acme.io/foo/Bar%20?".removesuffix("?")]),
    (names.is_domain_prefixed_key, ["acme.io/foo"]),
    (names.is_qualified_name, ["a", "A.b_c-1", "example.com/My_Name", "1", "a" * 63]),
    (names.is_qualified_name, ["a" * 253 + "/" + "b" * 63, "a/" + "b" * 61, "a/" + "b" * 63]),
    (names.is_label_value, ["", "a", "A_b.c-1", "a" * 63]),
    (names.is_path_segment_name, ["", "a", "...", "a b"]),
    (names.is_c_identifier, ["_a1", "A"]),
    (names.is_config_map_key, ["a", ".a", "-", "a..b"]),
    (names.is_env_var_name, ["a", "_", ".a", "-a1"]),
    (names.is_relaxed_env_var_name, ["1 a~"]),
    (names.is_http_header_name, ["X-Header-Name"]),
    (names.is_percent, ["0%", "250%"]),
    (names.is_port_name, ["http", "a-1", "a" * 15]),
    (names.is_ip, ["10.9.8.7", "010.09.8.7", "2001:db8::ffff", "::ffff:1.2.3.4", "::"]),
    (names.is_ipv4, ["1.2.3.4", "::ffff:1.2.3.4"]),
    (names.is_ipv6, ["::1"]),
    (names.is_cidr, ["10.0.0.1/8", "::/0", "1.2.3.4/032", "2001:db8::/128"]),
]

REFUSED: list[tuple[Check, str, list[str]]] = [
    (names.is_dns1123_label, "A_1", [LABEL_RULE]),
    (names.is_dns1123_label, "", [LABEL_RULE]),
    (names.is_dns1123_label, "a.b", ["must not contain dots"]),
    (names.is_dns1123_label, "a" * 64, ["must be no more than 63 characters"]),
    (names.is_dns1123_subdomain, "A_1", [SUBDOMAIN_RULE]),
    (names.is_dns1123_subdomain, "a..b", [SUBDOMAIN_RULE]),
    (names.is_dns1123_subdomain, "a" * 254, ["must be no more than 253 characters"]),
    (
        names.is_dns1035_label,
        "1a",
        [
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
            "with an alphabetic character, and end with an alphanumeric character (e.g. "
            "'my-name',  or 'abc-123', regex used for validation is "
            "'[a-z]([-a-z0-9]*[a-z0-9])?')"
        ],
    ),
    (
        names.is_fully_qualified_name,
        "a.b",
        ["should be a domain with at least three segments separated by dots"],
    ),
    (
        names.is_fully_qualified_domain_name,
        "a.",
        ["should be a domain with at least two segments separated by dots"],
    ),
    (
        names.is_fully_qualified_domain_name,
        "a." + "b" * 64,
        ["must be no more than 63 characters"],
    ),
    (
        names.is_domain_prefixed_path,
        "acme.io/",
        ['must be a domain-prefixed path (such as "acme.io/foo")'],
    ),
    (
        names.is_domain_prefixed_key,
        "foo",
        ['must be a domain-prefixed key (such as "acme.io/foo")'],
    ),
    (names.is_qualified_name, "", ["name part must be non-empty", f"name part {KEY_RULE}"]),
    (names.is_qualified_name, "a/", ["name part must be non-empty", f"name part {KEY_RULE}"]),
    (names.is_qualified_name, "/a", ["prefix part must be non-empty"]),
    (names.is_qualified_name, "A/a", [f"prefix part {SUBDOMAIN_RULE}"]),
    (names.is_qualified_name, "a" * 64, ["name part must be no more than 63 bytes"]),
    (names.is_qualified_name, "a" * 254 + "/a", ["prefix part must be no more than 253 bytes"]),
    (
        names.is_qualified_name,
        "a/b/c",
        [
            f"a valid label key {KEY_RULE} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ],
    ),
    (
        names.is_label_value,
        "-",
        [
            "a valid label must be an empty string or consist of alphanumeric characters, '-', "
            "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  "
            "or 'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ],
    ),
    (names.is_label_value, "a" * 64, ["must be no more than 63 bytes"]),
    (names.is_path_segment_name, "..", ["may not be '..'"]),
    (names.is_path_segment_name, "a/b%", ["may not contain '/'", "may not contain '%'"]),
    (names.is_config_map_key, "..", ["must not be '..'"]),
    (names.is_config_map_key, "..a", ["must not start with '..'"]),
    (names.is_env_var_name, ".", ["must not be '.'"]),
    (names.is_relaxed_env_var_name, "", ["environment variable name must be non-empty"]),
    (
        names.is_port_name,
        "-1--",
        [
            "must contain at least one letter (a-z)",
            "must not contain consecutive hyphens",
            "must not begin or end with a hyphen",
        ],
    ),
    (
        names.is_ip,
        "1.2.3",
        ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"],
    ),
    (names.is_ipv4, "::1", ["must be a valid IPv4 address"]),
    (names.is_ipv6, "::ffff:1.2.3.4", ["must be a valid IPv6 address"]),
    (
        names.is_cidr,
        "1.2.3.4/33",
        ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"],
    ),
]


@pytest.mark.parametrize(("check", "values"), ACCEPTED)
def test_good_values_have_no_errors(check: Check, values: list[str]) -> None:
    assert {value: check(value) for value in values} == {value: [] for value in values}


@pytest.mark.parametrize(("check", "value", "errors"), REFUSED)
def test_bad_values_are_refused_in_kubernetes_words(
    check: Check, value: str, errors: list[str]
) -> None:
    assert check(value) == errors


@pytest.mark.parametrize(
    "check", [check for check in TEXT_CHECKS if check is not names.is_path_segment_name]
)
def test_a_newline_at_the_end_is_seen(check: Check) -> None:
    accepted = next(values for each, values in ACCEPTED if each is check)

    assert check(accepted[-1] + "\n") != []


@pytest.mark.parametrize(
    "value",
    ["", "1.2.3.4%eth0", "::1%lo", "1..2.3", "256.1.1.1", "1.2.3.4.5", "+1.2.3.4", "٣.1.1.1"],
)
def test_what_is_no_address_is_refused(value: str) -> None:
    assert names.is_ip(value) != []


@pytest.mark.parametrize("value", ["1.2.3.4", "1.2.3.4/", "1.2.3.4/-1", "/8", "::/" + "9" * 5000])
def test_what_is_no_network_is_refused(value: str) -> None:
    assert names.is_cidr(value) != []


def test_a_port_is_between_1_and_65535() -> None:
    assert names.is_port_number(1) == names.is_port_number(65535) == []
    assert names.is_port_number(0) == ["must be between 1 and 65535, inclusive"]
    assert names.is_port_number(65536) == ["must be between 1 and 65535, inclusive"]


def test_ids_of_users_and_groups_are_32_bit_numbers() -> None:
    assert names.is_user_id(0) == names.is_group_id(2**31 - 1) == []
    assert names.is_user_id(-1) == ["must be between 0 and 2147483647, inclusive"]
    assert names.is_group_id(2**31) == ["must be between 0 and 2147483647, inclusive"]


def test_length_is_counted_in_bytes() -> None:
    assert "must be no more than 63 bytes" in names.is_label_value("ä" * 32)


@given(value=st.text(st.characters(), max_size=70))
def test_no_text_makes_a_check_fail(value: str) -> None:
    for check in TEXT_CHECKS:
        assert all(isinstance(error, str) and error for error in check(value))


@given(st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True))
def test_every_label_is_a_subdomain_and_a_label_value(value: str) -> None:
    assert names.is_dns1123_label(value) == []
    assert names.is_dns1123_subdomain(value) == []
    assert names.is_label_value(value) == []
    assert names.is_qualified_name(f"{value}/{value}") == []


@measures_time
@pytest.mark.parametrize("check", TEXT_CHECKS)
def test_hostile_values_are_answered_quickly(check: Check) -> None:
    started = time.perf_counter()

    for value in (
        "a" * 500_000 + "!",
        "a." * 250_000,
        "-" * 500_000,
        "a-" * 250_000,
        ":" * 500_000,
    ):
        check(value)

    assert time.perf_counter() - started < 2


def test_generated_names_keep_the_base_and_fit_a_label() -> None:
    name = names.generate_name("web-", random=Random(1))

    assert re.fullmatch(r"web-[bcdfghjklmnpqrstvwxz2456789]{5}", name)
    assert name == names.generate_name("web-", random=Random(1))
    assert name != names.generate_name("web-", random=Random(2))


@pytest.mark.parametrize("character", ["a", "é", "€", "😀", "\ud800"])
@pytest.mark.parametrize("limit", [-1, 0, 11, 12, 13])
def test_texts_are_as_long_as_their_bytes(character: str, limit: int) -> None:
    texts = [character * 3, "", character]
    length = 4 * len(character.encode("utf-8", "surrogatepass"))

    assert names.exceeds(limit, texts) == (length > limit)
    assert not names.exceeds(length, texts)
    assert names.exceeds(length - 1, texts)


@given(st.from_regex(r"[a-z]([-a-z0-9]*)", fullmatch=True), st.randoms(use_true_random=False))
def test_a_generated_name_is_a_label_whatever_the_length_of_its_base(
    base: str, random: Random
) -> None:
    name = names.generate_name(base, random=random)

    assert names.is_dns1123_label(name) == []
    assert name[:-5] == base[:58]


@pytest.mark.parametrize(
    ("prefix", "masked"), [("web-", "wea"), ("web", "web"), ("-", "-"), ("", ""), ("a--", "aa")]
)
def test_a_dash_at_the_end_of_a_prefix_is_masked(prefix: str, masked: str) -> None:
    assert names.mask_trailing_dash(prefix) == masked
