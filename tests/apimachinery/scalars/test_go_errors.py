"""The words of Go's parsers of times and base64, each as its own parser prints them."""

import base64
import binascii

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.scalars.go_errors import base64_error, time_error
from apimachinery.scalars.time import InvalidTime, parse_time

SECONDS = '"2006-01-02T15:04:05Z07:00"'


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("now", f'parsing time "now" as {SECONDS}: cannot parse "now" as "2006"'),
        ("", f'parsing time "" as {SECONDS}: cannot parse "" as "2006"'),
        ("2020-01-01", f'parsing time "2020-01-01" as {SECONDS}: cannot parse "" as "T"'),
        ("2020-13-01T00:00:00Z", 'parsing time "2020-13-01T00:00:00Z": month out of range'),
        ("2020-01-01T25:00:00Z", 'parsing time "2020-01-01T25:00:00Z": hour out of range'),
        ("2021-02-29T00:00:00Z", 'parsing time "2021-02-29T00:00:00Z": day out of range'),
        ("2020-01-01T00:00:00Zx", 'parsing time "2020-01-01T00:00:00Zx": extra text: "x"'),
        (
            "2020-01-01T00:00:00",
            f'parsing time "2020-01-01T00:00:00" as {SECONDS}: cannot parse "" as "Z07:00"',
        ),
        ("2020-02-29T23:59:59.123+02:00", ""),
    ],
)
def test_a_time_is_refused_in_the_words_of_go(text: str, error: str) -> None:
    assert time_error(text) == error


def test_a_time_of_microseconds_names_its_own_layout() -> None:
    assert time_error("x", micro=True) == (
        'parsing time "x" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "x" as "2006"'
    )


@given(
    st.from_regex(
        r"20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]Z", fullmatch=True
    )
)
def test_times_without_an_error_can_be_parsed(text: str) -> None:
    try:
        parse_time(text)
    except InvalidTime:
        assert time_error(text)
    else:
        assert not time_error(text)


@pytest.mark.parametrize(
    ("text", "position"),
    [("$$", 0), ("YQ", 0), ("hello world", 5), ("YQ==x", 4), ("YQ=x", 2), ("=", 0), ("YWJj$", 4)],
)
def test_base64_names_the_first_byte_that_is_none(text: str, position: int) -> None:
    assert base64_error(text) == f"illegal base64 data at input byte {position}"


@given(st.text("AQ=\n$", max_size=9))
def test_base64_without_an_error_can_be_decoded(text: str) -> None:
    try:
        base64.b64decode(text.replace("\n", ""), validate=True)
    except binascii.Error:
        assert base64_error(text)
    else:
        # Python accepts padding that is too long, Go does not.
        assert not base64_error(text) or len(text.replace("\n", "")) % 4
