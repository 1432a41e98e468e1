"""Prefetching: `all` requests the next page while it decodes the last one."""

import asyncio
from typing import Any

import orjson
import pytest

from apimachinery.errors import Expired, NotFound
from apimachinery.meta.options import ListOptions
from apimachinery.model.decoding import DecodeError
from client.object_codec import peek_continue_token
from client.paging import Listing, Page, UndecodedPage

PAGES = {
    "": Page(["a", "b"], "7", "second"),
    "second": Page(["c"], "7", "third"),
    "third": Page(["d"], "7"),
}


class Collection:
    """Three pages; *early_tokens* are the continue tokens available before decoding."""

    def __init__(self, *, early_tokens: tuple[str, ...] = ("second", "third")) -> None:
        self.done: list[str] = []
        self.failing: dict[str, Exception] = {}
        self._early_tokens = early_tokens

    async def fetch(self, options: ListOptions) -> Page[str]:
        self.done.append(f"fetch {options.limit}")
        return Page(["all"], "9")

    async def receive(self, options: ListOptions) -> UndecodedPage[str]:
        self.done.append(f"ask {options.continue_ or 'first'}")
        await asyncio.sleep(0)
        if failure := self.failing.get(f"ask {options.continue_}"):
            raise failure
        page = PAGES[options.continue_]
        token = page.continue_ if page.continue_ in self._early_tokens else ""
        return UndecodedPage(lambda: self._decode(options.continue_), token)

    def listing(self) -> Listing[str]:
        return Listing(self.fetch, ListOptions(limit=2), fetch_undecoded=self.receive)

    def _decode(self, token: str) -> Page[str]:
        self.done.append(f"decode {token or 'first'}")
        if failure := self.failing.get(f"decode {token}"):
            raise failure
        return PAGES[token]


async def test_the_next_page_is_asked_for_before_the_last_is_decoded() -> None:
    pods = Collection()

    page = await pods.listing().all()

    assert page == Page(["a", "b", "c", "d"], "7")
    assert pods.done == [
        *("ask first", "ask second", "decode first"),
        *("ask third", "decode second", "decode third"),
    ]


async def test_a_token_that_is_seen_only_after_decoding_will_do() -> None:
    pods = Collection(early_tokens=("third",))

    page = await pods.listing().all()

    assert page.items == ["a", "b", "c", "d"]
    assert pods.done[:3] == ["ask first", "decode first", "ask second"]


async def test_a_state_that_was_forgotten_is_asked_for_in_one_piece() -> None:
    pods = Collection()
    pods.failing["ask third"] = Expired("too old")

    page = await pods.listing().all()

    assert page == Page(["all"], "9")
    assert pods.done[-1] == "fetch 0"


async def test_nothing_is_left_under_way_when_a_page_cannot_be_decoded() -> None:
    pods = Collection()
    pods.failing["decode "] = DecodeError("odd")

    with pytest.raises(DecodeError, match="odd"):
        await pods.listing().all()

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_of_two_failures_the_first_is_early_tokens() -> None:
    """And asyncio does not log the error of the prefetched page, which is never awaited."""
    pods = Collection()
    pods.failing["decode "] = DecodeError("odd")
    pods.failing["ask second"] = NotFound("gone")

    with pytest.raises(DecodeError, match="odd"):
        await pods.listing().all()

    assert pods.done == ["ask first", "ask second", "decode first"]


@pytest.mark.parametrize(
    ("document", "token"),
    [
        ({"kind": "PodList", "metadata": {"continue": "abc", "x": 1}, "items": [{}]}, "abc"),
        ({"metadata": {"resourceVersion": "1"}, "items": []}, ""),
        ({"metadata": {"continue": 5}, "items": []}, ""),
        ({"metadata": None, "items": []}, ""),
        ({"metadata": {"continue": "abc"}}, ""),
        ({"items": [], "metadata": {"continue": "abc"}}, ""),
        ({"metadata": {"continue": "abc", "items": 5}}, ""),
        ([], ""),
    ],
)
def test_a_token_is_seen_where_servers_write_it(document: Any, token: str) -> None:
    assert peek_continue_token(orjson.dumps(document)) == token
