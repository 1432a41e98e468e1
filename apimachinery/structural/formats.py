"""String formats of schemas (`format: date-time`); formats that are not listed are not checked.

The list and the strictness of the checks are those of Kubernetes' validator.
"""

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final

from apimachinery.scalars.duration import InvalidDuration, parse_duration
from apimachinery.scalars.time import parse_time

Check = Callable[[str], bool]


def _matches(pattern: str, flags: int = re.ASCII) -> Check:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.fullmatch(text) is not None


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_date_time(text: str) -> bool:
    try:
        parse_time(text)
    except ValueError:
        return False
    return True


def _is_duration(text: str) -> bool:
    if _LONG_DURATION.fullmatch(text):
        return True
    try:
        parse_duration(text)
    except InvalidDuration:
        return False
    return True


_LONG_DURATION: Final = re.compile(
    r"\s*\d+\s*(ns|us|µs|μs|ms|milli(second)?s?|s(ec(ond)?s?)?|m(in(ute)?s?)?|h(ours?|rs?)?"
    r"|d(ays?)?|w(eeks?|ks?)?)\s*"
)


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_ip_address(parse: Callable[[str], object]) -> Check:
    def check(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return "%" not in text

    return check


def _is_cidr(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _is_credit_card(text: str) -> bool:
    digits = re.sub(r"[ -]", "", text)
    return bool(_CREDIT_CARD.fullmatch(digits)) and _passes_luhn(digits)


_CREDIT_CARD: Final = re.compile(r"[0-9]{13,16}", re.ASCII)


def _passes_luhn(digits: str) -> bool:
    total = 0
    for position, digit in enumerate(reversed(digits)):
        number = int(digit) * (2 if position % 2 else 1)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def _is_isbn(text: str) -> bool:
    return _is_isbn10(text) or _is_isbn13(text)


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[0-9]{9}[0-9X]", digits):
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum((position + 1) * value for position, value in enumerate(values)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[0-9]{13}", digits):
        return False
    return sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(digits)) % 10 == 0


def _is_uuid(version: str) -> Check:
    variant = "[089ab]" if version in "45" and version else ""
    third = f"{version}[0-9a-f]{{3}}" if version else "[0-9a-f]{4}"
    fourth = f"{variant}[0-9a-f]{{3}}" if variant else "[0-9a-f]{4}"
    return _matches(
        f"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}", re.IGNORECASE
    )


_LABEL: Final = r"[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"

_NAME_PART: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"

FORMATS: Final[Mapping[str, Check]] = {
    "bsonobjectid": _matches("[0-9a-fA-F]{24}"),
    "byte": _is_base64,
    "cidr": _is_cidr,
    "creditcard": _is_credit_card,
    "date": _is_date,
    "date-time": _is_date_time,
    "datetime": _is_date_time,
    "duration": _is_duration,
    "email": _matches(r"[^@\s<>]+@[^@\s<>]+"),
    "hexcolor": _matches("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _matches(rf"(?=.{{1,255}}\Z){_LABEL}(\.{_LABEL})*\.?"),
    "ipv4": _is_ip_address(ipaddress.IPv4Address),
    "ipv6": _is_ip_address(ipaddress.IPv6Address),
    "isbn": _is_isbn,
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "k8slongname": _matches(rf"(?=.{{1,253}}\Z){_NAME_PART}(\.{_NAME_PART})*"),
    "k8sshortname": _matches(rf"(?=.{{1,63}}\Z){_NAME_PART}"),
    "mac": _matches(
        r"([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}(([:-][0-9a-fA-F]{2}){2})?"
        r"|([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}(\.[0-9a-fA-F]{4})?"
    ),
    "password": lambda text: True,
    "rgbcolor": _matches(
        r"rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
        r"\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)"
    ),
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "uri": _matches(r"[a-zA-Z][a-zA-Z0-9+.-]*:[^\s\x00-\x1f\x7f]+|/[^\s\x00-\x1f\x7f]*"),
    "uuid": _is_uuid(""),
    "uuid3": _is_uuid("3"),
    "uuid4": _is_uuid("4"),
    "uuid5": _is_uuid("5"),
}


def format_check(name: str) -> Check | None:
    """Return the check of a format, given with or without its dashes; None if unchecked."""
    return FORMATS.get(name) or FORMATS.get(name.replace("-", ""))
