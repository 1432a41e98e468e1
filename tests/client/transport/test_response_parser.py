"""ResponseParser: a response however its bytes are cut, and refused if its end is unclear."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.transport.response_parser import (
    MAX_CHUNK_LINE,
    MAX_HEAD,
    MalformedResponse,
    ResponseParser,
)

OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = OK + b"Content-Length: 5\r\n\r\nhello"
CHUNKED = (
    OK
    + b"Transfer-Encoding: Chunked\r\n\r\n3;ext=1\r\nhel\r\n02 \r\nlo\r\n"
    + b"0\r\nTrailer: x\r\n\r\n"
)
EMPTY_CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 \r\n\r\n" + LENGTH
TO_THE_END = OK + b"\r\nhello"


def parse(data: bytes, *cuts: int, method: str = "GET") -> tuple[ResponseParser, bytes]:
    parser, body = ResponseParser(method), b""
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in pairwise(edges):
        body += b"".join(parser.feed(data[start:end]))
    return parser, body


@given(st.sampled_from([LENGTH, CHUNKED, EMPTY_CHUNKED, INTERIM]), st.lists(st.integers(0, 500)))
def test_a_response_is_the_same_however_it_is_cut(data: bytes, cuts: list[int]) -> None:
    parser, body = parse(data, *cuts)

    assert body == (b"" if data is EMPTY_CHUNKED else b"hello")
    assert parser.complete
    assert not parser.surplus
    assert parser.head is not None
    assert (parser.head.status, parser.head.keeps_alive) == (200, True)


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=8), st.lists(st.integers(0, 5000)))
def test_chunks_are_joined(chunks: list[bytes], cuts: list[int]) -> None:
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    head = OK + b"transfer-encoding: chunked\r\n\r\n"

    parser, body = parse(head + framed + b"0\r\n\r\n", *cuts)

    assert body == b"".join(chunks)
    assert parser.complete


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda tail: CHUNKED[:60] + tail))
def test_any_bytes_are_parsed_or_refused(data: bytes) -> None:
    with suppress(MalformedResponse):
        parse(data, 7, 30)


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    parser, body = parse(TO_THE_END)

    assert (body, parser.complete) == (b"hello", False)
    assert parser.head is not None
    assert not parser.head.keeps_alive
    assert parser.end()


@pytest.mark.parametrize("data", [LENGTH, CHUNKED])
def test_a_body_that_breaks_off_is_not_complete(data: bytes) -> None:
    parser, _ = parse(data[:-1])

    assert not parser.end()


@pytest.mark.parametrize(
    ("method", "data"),
    [
        ("HEAD", OK + b"Content-Length: 5\r\n\r\n"),
        ("GET", b"HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
        ("GET", OK + b"Content-Length: 0\r\n\r\n"),
    ],
)
def test_some_responses_have_no_body(method: str, data: bytes) -> None:
    parser, body = parse(data, method=method)

    assert parser.complete
    assert body == b""


@pytest.mark.parametrize(
    ("data", "keeps_alive"),
    [
        (LENGTH, True),
        (LENGTH.replace(b"1.1", b"1.0"), False),
        (LENGTH.replace(b"\r\n", b"\r\nConnection: Close\r\n", 1), False),
    ],
)
def test_a_connection_may_be_kept(data: bytes, keeps_alive: bool) -> None:
    parser, _ = parse(data)

    assert parser.head is not None
    assert parser.head.keeps_alive is keeps_alive


@pytest.mark.parametrize(
    "data", [LENGTH, CHUNKED, EMPTY_CHUNKED, OK + b"Content-Length: 0\r\n\r\n"]
)
def test_bytes_after_a_response_are_noticed(data: bytes) -> None:
    at_once, _ = parse(data + b"x")
    later, _ = parse(data + b"x", len(data))

    assert (at_once.surplus, later.surplus) == (True, True)


def test_headers_keep_their_order_and_their_bytes() -> None:
    lines = b"Warning: 1\r\nX:\r\nwarning:  2 \t\r\nLocation: \xc3\xa9\xff\r\n"

    parser, _ = parse(OK + lines + b"Content-Length: 0\r\n\r\n")

    assert parser.head is not None
    headers = parser.head.headers
    assert headers.all("warning") == ["1", "2"]
    assert headers.get("x", "absent") == ""
    assert headers.get("location").encode("utf-8", "surrogateescape") == b"\xc3\xa9\xff"


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1  200 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"<html>\r\n\r\n",
        OK + b"no colon\r\n\r\n",
        OK + b"space : x\r\n\r\n",
        OK + b": x\r\n\r\n",
        OK + b"X: a\r\n folded\r\n\r\n",
        OK + b"X: a\nY: b\r\n\r\n",
        OK + b"X: \0\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 1_0\r\n\r\n",
        OK + b"Content-Length: 5, 5\r\n\r\n",
        OK + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n",
        OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        EMPTY_CHUNKED.replace(b"0\r\n\r\n", b"g\r\n"),
        EMPTY_CHUNKED.replace(b"0\r\n\r\n", b"-1\r\n"),
        EMPTY_CHUNKED.replace(b"0\r\n\r\n", b"1\r\nabc"),
        EMPTY_CHUNKED.replace(b"0\r\n\r\n", b"1\r\nab"),
        EMPTY_CHUNKED.replace(b"0\r\n\r\n", b"f" * 16 + b"\r\n"),
        EMPTY_CHUNKED.replace(b"0\r\n\r\n", b"1;" + b"x" * MAX_CHUNK_LINE),
        EMPTY_CHUNKED.replace(b"0\r\n\r\n", b"0\r\nX: " + b"x" * MAX_HEAD),
        OK + b"X: " + b"x" * MAX_HEAD,
    ],
    ids=lambda data: repr(data[-40:]),
)
def test_a_malformed_response_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedResponse):
        parse(data)
