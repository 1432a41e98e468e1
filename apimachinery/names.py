"""Name validation (DNS labels, qualified names, IP addresses, ports) and name generation.

Each `is_*` function checks a value by the rule of the same name in Kubernetes and returns the
messages of the rules it breaks, in Kubernetes' words; an empty list means that the value is valid.
The caller turns each message into a field error: docs/validation.md shows how.

Every write checks a dozen names, and nearly all are valid: one match accepts such a name, and only
the others are taken apart for the message. The patterns match ASCII only, so a value that matches
has as many bytes as characters.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from random import Random
from typing import Final

from apimachinery.ip_addresses import (
    NOT_A_CIDR,
    NOT_AN_IP,
    AnyAddress,
    parse_cidr,
    parse_ip,
    unmapped,
)

LABEL_MAX: Final = 63
SUBDOMAIN_MAX: Final = 253
PORT_NAME_MAX: Final = 15
ID_MAX: Final = 2**31 - 1

# Longer values exceed every limit, so matching them would only cost time.
_LONGEST_MATCHED: Final = 8192

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_1035: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_LABEL_UNDERSCORE: Final = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")
_SUBDOMAIN_CASELESS: Final = re.compile(_SUBDOMAIN.pattern, re.IGNORECASE | re.ASCII)
_SUBDOMAIN_UNDERSCORE: Final = re.compile(rf"{_LABEL_UNDERSCORE}(\.{_LABEL_UNDERSCORE})*")
_WILDCARD: Final = re.compile(rf"\*\.{_SUBDOMAIN.pattern}")
_QUALIFIED: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LABEL_KEY: Final = re.compile(rf"({_SUBDOMAIN.pattern}/)?{_QUALIFIED.pattern}")
_LABEL_VALUE: Final = re.compile(rf"({_QUALIFIED.pattern})?")
_C_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HTTP_HEADER: Final = re.compile(r"[-A-Za-z0-9]+")
_HTTP_PATH: Final = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
_ENV_VAR: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_CONFIG_MAP_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_PERCENT: Final = re.compile(r"[0-9]+%")
_PORT_NAME: Final = re.compile(r"[-a-z0-9]+")

_ENDS: Final = "must start and end with an alphanumeric character"
_QUALIFIED_RULE: Final = f"must consist of alphanumeric characters, '-', '_' or '.', and {_ENDS}"


def is_dns1123_label(value: str) -> list[str]:
    """Check a lower-case DNS label: the names of namespaces and of other parts of host names."""
    if len(value) <= LABEL_MAX and _LABEL.fullmatch(value):
        return []
    errors = _check_length(LABEL_MAX, value)
    if len(value) > _LONGEST_MATCHED or _LABEL.fullmatch(value):
        return errors
    if _SUBDOMAIN.fullmatch(value):
        return [*errors, "must not contain dots"]
    rule = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
        f"and {_ENDS}"
    )
    return [*errors, regex_error(rule, _LABEL, "my-name", "123-abc")]


def is_dns1123_subdomain(value: str) -> list[str]:
    """Check a lower-case DNS subdomain, labels joined by dots: the names of most objects."""
    if len(value) <= SUBDOMAIN_MAX and _SUBDOMAIN.fullmatch(value):
        return []
    return _check_subdomain(value, "characters")


def is_dns1123_subdomain_caseless(value: str) -> list[str]:
    """Check a DNS subdomain in upper or lower case."""
    errors = _check_length(SUBDOMAIN_MAX, value)
    if len(value) > _LONGEST_MATCHED or _SUBDOMAIN_CASELESS.fullmatch(value):
        return errors
    rule = f"an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and {_ENDS}"
    return [*errors, regex_error(rule, _SUBDOMAIN, "Example.com")]


def is_dns1123_subdomain_with_underscore(value: str) -> list[str]:
    """Check a DNS subdomain whose labels may contain underscores."""
    rule = (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
        f"'_', '-' or '.', and {_ENDS}"
    )
    return _check_length_and_pattern(
        SUBDOMAIN_MAX, _SUBDOMAIN_UNDERSCORE, value, rule, "example.com"
    )


def is_dns1035_label(value: str) -> list[str]:
    """Check a DNS label that starts with a letter: the names of services."""
    rule = (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
        "start with an alphabetic character, and end with an alphanumeric character"
    )
    return _check_length_and_pattern(LABEL_MAX, _LABEL_1035, value, rule, "my-name", "abc-123")


def is_wildcard_dns1123_subdomain(value: str) -> list[str]:
    """Check a wildcard such as `*.example.com`."""
    rule = (
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
        "which must consist of lower case alphanumeric characters, '-' or '.' "
        "and end with an alphanumeric character"
    )
    return _check_length_and_pattern(SUBDOMAIN_MAX, _WILDCARD, value, rule, "*.example.com")


def is_fully_qualified_name(value: str) -> list[str]:
    """Check a subdomain of at least three labels; the caller reports an empty one as required."""
    if errors := is_dns1123_subdomain(value):
        return [",".join(errors)]
    if value.count(".") < 2:
        return ["should be a domain with at least three segments separated by dots"]
    return []


def is_fully_qualified_domain_name(value: str) -> list[str]:
    """Check a domain of at least two labels, with or without a trailing dot."""
    value = value.removesuffix(".")
    if errors := is_dns1123_subdomain(value):
        return [",".join(errors)]
    labels = value.split(".")
    if len(labels) < 2:
        return ["should be a domain with at least two segments separated by dots"]
    label_errors = (",".join(errors) for errors in map(is_dns1123_label, labels) if errors)
    return list(label_errors)[:1]  # of the first bad label only, as in Kubernetes


def is_domain_prefixed_path(value: str) -> list[str]:
    """Check a path with a domain in front, such as `acme.io/foo`."""
    host, _, path = value.partition("/")
    if not host or not path:
        return ['must be a domain-prefixed path (such as "acme.io/foo")']
    return is_dns1123_subdomain(host) + is_http_path(path)


def is_http_path(value: str) -> list[str]:
    """Check the characters of a path of an HTTP URL."""
    return _check_pattern(_HTTP_PATH, value, "Invalid path")


def is_domain_prefixed_key(value: str) -> list[str]:
    """Check a qualified name with a domain in front, such as `acme.io/foo`."""
    if errors := is_qualified_name(value):
        return errors
    return [] if "/" in value else ['must be a domain-prefixed key (such as "acme.io/foo")']


def is_qualified_name(value: str) -> list[str]:
    """Check a label key: a name, optionally with a DNS subdomain and a slash in front."""
    # A longer one may be valid as well, if each of its two parts is short enough.
    if len(value) <= LABEL_MAX and _LABEL_KEY.fullmatch(value):
        return []
    *prefixes, name = value.split("/", 2)
    if len(prefixes) > 1:
        form = regex_error(_QUALIFIED_RULE, _QUALIFIED, "MyName", "my.name", "123-abc")
        return [
            f"a valid label key {form} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ]
    errors = [f"prefix part {error}" for prefix in prefixes for error in _check_key_prefix(prefix)]
    return errors + [f"name part {error}" for error in _check_key_name(name)]


def is_label_value(value: str) -> list[str]:
    """Check a label value, which may be empty."""
    if len(value) <= LABEL_MAX and _LABEL_VALUE.fullmatch(value):
        return []
    rule = (
        "a valid label must be an empty string or consist of alphanumeric characters, "
        f"'-', '_' or '.', and {_ENDS}"
    )
    examples = "MyValue", "my_value", "12345"
    return _check_length_and_pattern(LABEL_MAX, _LABEL_VALUE, value, rule, *examples, unit="bytes")


def is_path_segment_name(value: str) -> list[str]:
    """Check that a name can be a segment of a URL path."""
    if value in (".", ".."):
        return [f"may not be '{value}'"]
    return is_path_segment_prefix(value)


def is_path_segment_prefix(value: str) -> list[str]:
    """Check that a prefix of generated names can start a segment of a URL path."""
    if "/" not in value and "%" not in value:
        return []
    return [f"may not contain '{character}'" for character in "/%" if character in value]


def is_c_identifier(value: str) -> list[str]:
    """Check a C identifier."""
    rule = (
        "a valid C identifier must start with alphabetic character or '_', "
        "followed by a string of alphanumeric characters or '_'"
    )
    return _check_pattern(_C_IDENTIFIER, value, rule, "my_name", "MY_NAME", "MyName")


def is_config_map_key(value: str) -> list[str]:
    """Check a key of a ConfigMap or a Secret, which can become a file name in a volume."""
    if (
        len(value) <= SUBDOMAIN_MAX
        and value[:2] not in (".", "..")
        and _CONFIG_MAP_KEY.fullmatch(value)
    ):
        return []
    rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    examples = "key.name", "KEY_NAME", "key-name"
    errors = _check_length_and_pattern(SUBDOMAIN_MAX, _CONFIG_MAP_KEY, value, rule, *examples)
    return errors + _check_parent_directory(value)


def is_env_var_name(value: str) -> list[str]:
    """Check the name of an environment variable by the strict rule of older servers."""
    rule = (
        "a valid environment variable name must consist of alphabetic characters, digits, "
        "'_', '-', or '.', and must not start with a digit"
    )
    errors = _check_pattern(_ENV_VAR, value, rule, "my.env-name", "MY_ENV.NAME", "MyEnvName1")
    return errors + _check_parent_directory(value)


def is_relaxed_env_var_name(value: str) -> list[str]:
    """Check the name of an environment variable by the relaxed rule of current servers."""
    if not value:
        return ["environment variable name must be non-empty"]
    if value.isascii() and value.isprintable() and "=" not in value:
        return []
    return [
        "a valid environment variable name must consist only of printable ASCII characters "
        "other than '='"
    ]


def is_http_header_name(value: str) -> list[str]:
    """Check the name of an HTTP header."""
    rule = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return _check_pattern(_HTTP_HEADER, value, rule, "X-Header-Name")


def is_percent(value: str) -> list[str]:
    """Check a whole percentage such as `25%`."""
    rule = "a valid percent string must be a numeric string followed by an ending '%'"
    return _check_pattern(_PERCENT, value, rule, "1%", "93%")


def is_port_name(value: str) -> list[str]:
    """Check the name of a service port (RFC 6335, lower case only)."""
    errors = _check_length(PORT_NAME_MAX, value)
    if not _PORT_NAME.fullmatch(value):
        errors.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= character <= "z" for character in value):
        errors.append("must contain at least one letter (a-z)")
    if "--" in value:
        errors.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        errors.append("must not begin or end with a hyphen")
    return errors


def is_in_range(value: int, low: int, high: int) -> list[str]:
    """Check that a number is between *low* and *high*, inclusive."""
    return [] if low <= value <= high else [f"must be between {low} and {high}, inclusive"]


def is_port_number(value: int) -> list[str]:
    """Check a TCP or UDP port number, 1 to 65535."""
    return is_in_range(value, 1, 65535)


def is_user_id(value: int) -> list[str]:
    """Check a Unix user ID."""
    return is_in_range(value, 0, ID_MAX)


def is_group_id(value: int) -> list[str]:
    """Check a Unix group ID."""
    return is_in_range(value, 0, ID_MAX)


def is_ip(value: str) -> list[str]:
    """Check an IPv4 or IPv6 address; leading zeros in decimal parts are accepted."""
    return [NOT_AN_IP] if parse_ip(value) is None else []


def is_ipv4(value: str) -> list[str]:
    """Check an IPv4 address, plain or mapped into IPv6."""
    return [] if _is_ipv4(parse_ip(value)) else ["must be a valid IPv4 address"]


def is_ipv6(value: str) -> list[str]:
    """Check an IPv6 address that is not a mapped IPv4 address."""
    address = parse_ip(value)
    if address is None or _is_ipv4(address):
        return ["must be a valid IPv6 address"]
    return []


def is_cidr(value: str) -> list[str]:
    """Check a network in CIDR notation: an address, a slash and the prefix length."""
    return [NOT_A_CIDR] if parse_cidr(value) is None else []


GENERATED_LENGTH: Final = 5
_GENERATED_BASE_MAX: Final = LABEL_MAX - GENERATED_LENGTH
# No vowels and no characters that look like one, so that no words appear by chance.
_GENERATED_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"


def generate_name(base: str, *, random: Random) -> str:
    """Append five random characters to *base*, truncated so that the result fits a DNS label.

    The name may be taken: the caller retries with a new one when it stores the object.
    """
    suffix = "".join(random.choice(_GENERATED_ALPHABET) for _ in range(GENERATED_LENGTH))
    return base[:_GENERATED_BASE_MAX] + suffix


def encode_generated(number: int) -> str:
    """Return a number as letters that may be a part of a name, as in that of a replica set."""
    alphabet = _GENERATED_ALPHABET
    return "".join(alphabet[ord(digit) % len(alphabet)] for digit in str(number))


def mask_trailing_dash(prefix: str) -> str:
    """Replace the trailing dash of a generateName, so that the rule for whole names accepts it."""
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def regex_error(rule: str, pattern: re.Pattern[str], *examples: str) -> str:
    """Return the message for a value that breaks *rule*, with examples and the pattern."""
    quoted = "e.g. " + " or ".join(f"'{example}', " for example in examples) if examples else ""
    return f"{rule} ({quoted}regex used for validation is '{pattern.pattern}')"


def exceeds(limit: int, texts: Collection[str]) -> bool:
    """Return whether texts are longer than *limit* bytes in UTF-8, all together."""
    # No character has more than four bytes, so that short texts need not be looked at.
    return 4 * sum(map(len, texts)) > limit and sum(map(byte_length, texts)) > limit


def byte_length(value: str) -> int:
    """Return the length in UTF-8, which Kubernetes' limits refer to."""
    return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))


def _check_length_and_pattern(
    limit: int,
    pattern: re.Pattern[str],
    value: str,
    rule: str,
    *examples: str,
    unit: str = "characters",
) -> list[str]:
    if len(value) <= limit and pattern.fullmatch(value):
        return []
    errors = _check_length(limit, value, unit)
    if len(value) > _LONGEST_MATCHED:
        return errors
    return errors + _check_pattern(pattern, value, rule, *examples)


def _check_pattern(pattern: re.Pattern[str], value: str, rule: str, *examples: str) -> list[str]:
    return [] if pattern.fullmatch(value) else [regex_error(rule, pattern, *examples)]


def _check_length(limit: int, value: str, unit: str = "characters") -> list[str]:
    # Kubernetes counts bytes even where its message says characters.
    if len(value) <= limit and byte_length(value) <= limit:
        return []
    return [f"must be no more than {limit} {unit}"]


def _check_subdomain(value: str, unit: str) -> list[str]:
    rule = (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
        f"'-' or '.', and {_ENDS}"
    )
    return _check_length_and_pattern(
        SUBDOMAIN_MAX, _SUBDOMAIN, value, rule, "example.com", unit=unit
    )


def _check_key_prefix(prefix: str) -> list[str]:
    return _check_subdomain(prefix, "bytes") if prefix else ["must be non-empty"]


def _check_key_name(name: str) -> list[str]:
    empty = [] if name else ["must be non-empty"]
    examples = "MyName", "my.name", "123-abc"
    return empty + _check_length_and_pattern(
        LABEL_MAX, _QUALIFIED, name, _QUALIFIED_RULE, *examples, unit="bytes"
    )


def _check_parent_directory(value: str) -> list[str]:
    if value in (".", ".."):
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def _is_ipv4(address: AnyAddress | None) -> bool:
    return address is not None and unmapped(address).version == 4
