"""Our reading of requests against gunicorn's parser with the rules of Go's server.

Generated requests are mutated, sent one after the other, and cut anywhere. Both sides must refuse
the same ones, and see the same methods, paths, headers and bodies in the others.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from gunicorn.asgi.parser import CallbackRequest, ParseError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apiserver.connections.connection import HTTPConnection
from apiserver.connections.request_head import MAX_LINE_BYTES
from tests.apiserver.connections.gunicorn_parser import RequestParser
from tests.apiserver.process.fake_worker import FakeTransport, FakeWorker

TURNS = 40
"""Turns of the event loop in which every request that has arrived is served."""
STRICTER = (b"malformed trailer", b"malformed chunk size")
"""What only we refuse: gunicorn discards trailers unread, and takes sizes beyond 64 bits."""


@dataclass
class Seen:
    """The requests that were complete, and whether something was refused."""

    requests: list[tuple[object, ...]] = field(default_factory=list)
    refused: bool = False


def seen_by_gunicorn(pieces: list[bytes]) -> Seen:
    seen = Seen()
    body: list[bytes] = []
    parser: RequestParser = RequestParser(
        on_headers_complete=lambda: CallbackRequest.from_parser(parser) is None,
        on_body=body.append,
        on_message_complete=lambda: None,
        limit_request_line=MAX_LINE_BYTES,
        limit_request_fields=200,
        limit_request_field_size=MAX_LINE_BYTES,
    )
    try:
        for piece in pieces:
            rest = piece
            while rest:
                parser.feed(rest)
                rest = b""
                if parser.is_complete:
                    request = CallbackRequest.from_parser(parser)
                    # Those with an underscore are dropped by another part of gunicorn.
                    headers = [item for item in request.headers_bytes if b"_" not in item[0]]
                    parts = request.path, request.query.encode(), headers, b"".join(body)
                    seen.requests.append((request.method, *parts))
                    if request.should_close():
                        return seen
                    rest = parser.remaining()
                    parser.reset()
                    body.clear()
    except ParseError:
        seen.refused = True
    return seen


def seen_by_us(pieces: list[bytes]) -> tuple[Seen, bytes]:
    seen = Seen()

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            body += message["body"]
            more = message["more_body"]
        parts = scope["path"], scope["query_string"], list(scope["headers"]), body
        seen.requests.append((scope["method"], *parts))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def run() -> bytes:
        transport = FakeTransport()
        connection = HTTPConnection(FakeWorker(app))
        connection.connection_made(transport)
        for piece in pieces:
            if not transport.closing:
                connection.data_received(piece)
                await asyncio.sleep(0)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        connection.connection_lost(None)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        return bytes(transport.written)

    written = asyncio.run(run())
    refusals = (b"HTTP/1.1 400 ", b"HTTP/1.1 414 ", b"HTTP/1.1 431 ")
    seen.refused = any(refusal in written for refusal in refusals)
    return seen, written


# Nearly always valid, so that mutations reach what is behind the first line.
METHODS = st.sampled_from([b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"M-SEARCH"])
GOOD_TARGETS = [b"/", b"/a/b?c=d&e", b"/%41%ff%2f", b"http://x:80/p?q", b"//", b"/" + b"a" * 200]
TARGETS = st.sampled_from([*GOOD_TARGETS * 4, b"*", b"http://[::1", b"x"])
VERSIONS = st.sampled_from(
    [b"HTTP/1.1"] * 20 + [b"HTTP/1.0", b"HTTP/1.0", b"HTTP/1.2", b"http/1.1"]
)
HOSTS = st.sampled_from(
    [*[[b"Host: x"]] * 16, [], [b"Host:"], [b"Host: [::1]:1"], [b"Host: a/b"], [b"Host: a b"]]
)
GOOD_HEADERS = [
    *(b"Accept: */*", b"X-Y:\t a b \t", b"X_Y: a", b"Empty:", b"Connection: keep-alive"),
    *(b"X: \xe9", b"Expect: 100-continue", b"ACCEPT: b", b"Authorization: Bearer abc"),
]
BAD_HEADERS = [
    *(b"host:x:80 ", b"Host: a/b", b"Connection: close", b"Caf\xe9: x", b"X : a", b" X: a"),
    *(b"Content-Length: 3", b"Content-Length: +3", b"Transfer-Encoding: gzip", b"X: a\rb"),
    *(b"Content-Type: a/b", b"Content-Type: c/d"),
]
HEADERS = st.lists(st.sampled_from([*GOOD_HEADERS * 8, *BAD_HEADERS]), max_size=4)
EXTENSIONS = st.sampled_from([b""] * 9 + [b";a", b" ; a=b", b';a="b;c"', b";", b" "])
DATA = st.binary(max_size=12)


@st.composite
def chunked(draw: st.DrawFn) -> bytes:
    body = b""
    for data in draw(st.lists(DATA.filter(bool), max_size=4)):
        zeros = draw(st.sampled_from([b"", b"", b"00"]))
        body += b"%b%x%b\r\n%b\r\n" % (zeros, len(data), draw(EXTENSIONS), data)
    trailers = draw(st.sampled_from([b""] * 5 + [b"X: y\r\n", b"Host: x\r\n"]))
    return body + b"0" + draw(EXTENSIONS) + b"\r\n" + trailers + b"\r\n"


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    lines = [b" ".join((draw(METHODS), draw(TARGETS), draw(VERSIONS)))]
    lines += draw(HOSTS)
    lines += draw(HEADERS)
    body = b""
    match draw(st.sampled_from(["none", "length", "chunked"])):
        case "length":
            body = draw(DATA)
            lines.append(b"Content-Length: %d" % len(body))
        case "chunked":
            body = draw(chunked())
            lines.append(b"Transfer-Encoding: chunked")
    before = draw(st.sampled_from([b""] * 5 + [b"\r\n"]))
    return before + b"\r\n".join([*lines, b"", body])


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = bytearray(b"".join(draw(st.lists(requests(), min_size=1, max_size=3))))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 3]))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.sampled_from(["change", "delete", "insert", "token", "repeat"])):
            case "change" if data:
                data[at] = draw(st.integers(0, 255))
            case "delete":
                del data[at : at + draw(st.integers(1, 8))]
            case "insert":
                data[at:at] = draw(st.binary(min_size=1, max_size=3))
            case "token":
                tokens = [b"\r\n", b"\r", b"\n", b"\x00", b":", b" ", b"\t", b"\xff", b"0", b";"]
                data[at:at] = draw(st.sampled_from(tokens))
            case _:
                data[at:at] = data[at : at + draw(st.integers(1, 40))]
    return bytes(data)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {len(data)})
    starts = [0, *ends[:-1]]
    return [data[start:end] for start, end in zip(starts, ends, strict=True) if end > start]


@settings(max_examples=600, deadline=None)
@given(mutated(), st.lists(st.integers(0, 2000), max_size=6))
@example(b"\r\n\r\n\r\n", [])
@example(b"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", [1])
@example(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", [17, 18])
@example(b"GET / HTTP/1.1\nHost: x\n\n", [])
@example(
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", [63]
)
def test_the_same_requests_are_seen_and_refused(data: bytes, places: list[int]) -> None:
    pieces = cut(data, places)

    ours, written = seen_by_us(pieces)
    theirs = seen_by_gunicorn(pieces)

    if any(words in written for words in STRICTER):
        # gunicorn reads on, and may refuse a later request.
        assert ours.requests == theirs.requests[: len(ours.requests)]
    else:
        assert ours == theirs


@settings(max_examples=200, deadline=None)
@given(mutated(), st.lists(st.integers(0, 2000), max_size=6))
def test_where_the_bytes_are_cut_makes_no_difference(data: bytes, places: list[int]) -> None:
    whole, _ = seen_by_us([data] if data else [])
    cut_up, _ = seen_by_us(cut(data, places))
    single, _ = seen_by_us([bytes([byte]) for byte in data])

    assert whole == cut_up == single
