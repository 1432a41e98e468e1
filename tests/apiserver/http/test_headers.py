"""Headers and the look of every answer."""

import gzip
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.http.response import warning_headers
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import CONFIG_MAPS, GADGETS, gadget


async def test_every_answer_has_an_id_and_is_not_cached(client: Driver) -> None:
    for path in ("/version", GADGETS, "/nowhere", f"{GADGETS}/none"):
        answer = await client.get(path)

        assert re.fullmatch(
            r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", answer.header("audit-id") or ""
        )
        assert answer.header("cache-control") == "no-cache, private"


async def test_the_id_of_a_request_is_the_clients(client: Driver) -> None:
    assert (await client.get("/version", audit_id="mine")).header("audit-id") == "mine"


@pytest.mark.parametrize("hostile", ["a\tb", "a\x1b[2K", "caf\xe9"])
async def test_an_id_that_could_garble_a_log_is_replaced(client: Driver, hostile: str) -> None:
    answer = await client.get("/version", audit_id=hostile)

    assert re.fullmatch(r"[0-9a-f-]{36}", answer.header("audit-id") or "")


async def test_json_is_compact_with_a_newline_or_indented_for_people(client: Driver) -> None:
    await client.post(GADGETS, gadget())

    compact = await client.get(f"{GADGETS}/lamp")
    indented = await client.get(f"{GADGETS}/lamp?pretty=1")
    for_curl = await client.get(f"{GADGETS}/lamp", user_agent="curl/8")

    assert compact.body.endswith(b"}\n")
    assert b"\n" not in compact.body[:-1]
    assert indented.body == for_curl.body
    assert indented.body.startswith(b'{\n  "kind": "Gadget"')
    assert indented.json == compact.json


async def test_large_answers_are_compressed_for_who_can_read_them(client: Driver) -> None:
    await client.post(CONFIG_MAPS, {"metadata": {"name": "big"}, "data": {"a": "x" * 200_000}})
    await client.post(CONFIG_MAPS, {"metadata": {"name": "small"}, "data": {"a": "x"}})

    big = await client.get(f"{CONFIG_MAPS}/big", accept_encoding="gzip")
    plain = await client.get(f"{CONFIG_MAPS}/big")
    small = await client.get(f"{CONFIG_MAPS}/small", accept_encoding="gzip")

    assert big.header("content-encoding") == "gzip"
    assert gzip.decompress(big.body) == plain.body
    assert (small.header("content-encoding"), plain.header("content-encoding")) == (None, None)


def test_warnings_are_escaped_and_said_once() -> None:
    found = list(warning_headers(['say "hi"', 'say "hi"', "back\\slash", "line\nbreak"]))

    assert found == ['299 - "say \\"hi\\""', '299 - "back\\\\slash"', '299 - "line break"']


def test_long_warnings_are_cut() -> None:
    found = list(warning_headers([f"{i}" + "x" * 3000 for i in range(40)]))

    assert all(len(value) <= 256 + len('299 - ""') for value in found)
    assert sum(map(len, found)) <= 4096 + 40 * 10


@given(st.lists(st.text()))
def test_no_warning_can_break_a_header(texts: list[str]) -> None:
    for value in warning_headers(texts):
        value.encode("latin-1")
        assert not re.search(r"[\r\n\x00]", value)
