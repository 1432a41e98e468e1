"""String formats of schemas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.structural.formats import FORMATS, format_check

RIGHT = {
    "bsonobjectid": "507f1f77bcf86cd799439011",
    "byte": "aGk=",
    "cidr": "10.0.0.0/8",
    "creditcard": "4012 8888 8888 1881",
    "date": "2024-02-29",
    "date-time": "2024-02-29T10:00:00Z",
    "datetime": "2024-02-29T10:00:00.5+01:00",
    "duration": "1h30m",
    "email": "a@example.io",
    "hexcolor": "#fff",
    "hostname": "a.example.io",
    "ipv4": "10.0.0.1",
    "ipv6": "fe80::1",
    "isbn": "978-0-306-40615-7",
    "isbn10": "0-306-40615-2",
    "isbn13": "978-0-306-40615-7",
    "k8slongname": "lamps.example.io",
    "k8sshortname": "lamps",
    "mac": "01:02:03:04:05:ab",
    "password": "anything",
    "rgbcolor": "rgb(1, 2, 255)",
    "ssn": "111-22-3333",
    "uri": "https://example.io/a?b=c",
    "uuid": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "uuid3": "6fa459ea-ee8a-3ca4-894e-db77e160355e",
    "uuid4": "7d444840-9dc0-41d1-b245-5ffdce74fad2",
    "uuid5": "886313e1-3b8a-5372-9b90-0c9aee199e5d",
}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_knows_its_own(name: str) -> None:
    assert FORMATS[name](RIGHT[name])
    assert name == "password" or not FORMATS[name]("not it\x00")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("date", "2023-02-29"),
        ("date", "20240229"),
        ("ipv4", "10.0.0.256"),
        ("creditcard", "4012888888881882"),
        ("uuid4", RIGHT["uuid3"]),
        ("cidr", "10.0.0.1"),
        ("hostname", "-a"),
        ("byte", "?"),
        ("duration", "1x"),
    ],
)
def test_near_misses(name: str, text: str) -> None:
    assert not FORMATS[name](text)


def test_unknown_formats_are_not_checked() -> None:
    assert format_check("int32") is None
    assert format_check("uuid-4") is FORMATS["uuid4"]


@given(st.sampled_from(sorted(FORMATS)), st.text())
def test_any_text_has_a_format_or_not(name: str, text: str) -> None:
    assert FORMATS[name](text) in (True, False)
