"""Lists in pages and lists of the past: the same from memory and from the store."""

import pytest

from apiserver.storage.cache.cache_limits import CacheLimits, WindowSize
from apiserver.storage.cache.watch_cache import EntrySelection, Exact, RevisionExpired
from apiserver.storage.interface import Backend
from tests.apiserver.storage.cache.cached import (
    caching,
    fill,
    labelled,
    pod,
    put,
    remove,
    texts,
    value,
)

EVERYTHING = EntrySelection()


async def test_pages_of_one_snapshot_add_up_while_others_write(backend: Backend) -> None:
    revision = await fill(backend, *"abcdefg")
    async with caching(backend) as (_, pods):
        page = await pods.list(EVERYTHING, limit=3)
        seen = texts(page.entries)
        assert (page.more, page.remaining) == (True, 4)
        await backend.create(pod("aa"), value("aa"))
        await backend.create(pod("dd"), value("dd"))
        await remove(backend, pod("e"))
        await put(backend, pod("f"), value("f2"))

        while page.more:
            start = page.next_start
            page = await pods.list(EVERYTHING, at=Exact(revision), limit=3, start=start)
            seen += texts(page.entries)
            assert page.revision == revision

        assert seen == list("abcdefg")
        assert texts((await pods.list(EVERYTHING)).entries) == ["a", "aa", *"bcd", "dd", "f2", "g"]


async def test_what_remains_is_counted_as_of_the_snapshot(backend: Backend) -> None:
    revision = await fill(backend, *"abcd")
    async with caching(backend) as (_, pods):
        await backend.create(pod("cc"), value("cc"))
        await remove(backend, pod("d"))
        await remove(backend, pod("b"))

        page = await pods.list(EVERYTHING, at=Exact(revision), limit=1)

        assert (page.more, page.remaining) == (True, 3)


async def test_a_page_with_a_selector_does_not_count_what_remains(backend: Backend) -> None:
    for name in "abcd":
        await backend.create(pod(name), value(name, labels={"odd": str(name in "ac")}))
    async with caching(backend) as (_, pods):
        first = await pods.list(labelled("odd", "True"), limit=2)
        last = await pods.list(labelled("odd", "True"), limit=2, start=first.next_start)

    assert texts(first.entries) == ["a", "c"]
    assert (first.more, first.remaining) == (True, None)
    assert (last.entries, last.more) == ([], False)


@pytest.mark.parametrize("window", [WindowSize(), WindowSize(min_changes=1, max_changes=1)])
async def test_an_exact_list_is_the_same_from_the_window_and_from_the_store(
    backend: Backend, window: WindowSize
) -> None:
    async with caching(backend, limits=CacheLimits(window=window)) as (_, pods):
        first = await fill(backend, "a")
        await fill(backend, *"bc")
        await put(backend, pod("b"), value("b2", labels={"x": "y"}))
        await remove(backend, pod("a"))

        async def at(later: int, selection: EntrySelection = EVERYTHING) -> list[str]:
            return texts((await pods.list(selection, at=Exact(first + later))).entries)

        assert [await at(later) for later in range(5)] == [
            ["a"],
            ["a", "b"],
            ["a", "b", "c"],
            ["a", "b2", "c"],
            ["b2", "c"],
        ]
        assert await at(2, EntrySelection("default", "b")) == ["b"]
        assert await at(3, labelled("x", "y")) == ["b2"]
        entry = await pods.get("a", namespace="default", at=Exact(first + 3))
        assert entry is not None
        assert await pods.get("a", namespace="default", at=Exact(first + 4)) is None


async def test_an_exact_page_with_a_selector_is_the_same_from_the_store(backend: Backend) -> None:
    limits = CacheLimits(window=WindowSize(min_changes=0, max_changes=0))
    async with caching(backend, limits=limits) as (_, pods):
        for name in "abcdef":
            revision = await backend.create(
                pod(name), value(name, labels={"odd": str(name in "ace")})
            )
        await remove(backend, pod("a"))

        page = await pods.list(labelled("odd", "True"), at=Exact(revision), limit=2)
        rest = await pods.list(
            labelled("odd", "True"), at=Exact(revision), limit=2, start=page.next_start
        )
        plain = await pods.list(EVERYTHING, at=Exact(revision), limit=4)

    assert (texts(page.entries), page.more, page.remaining) == (["a", "c"], True, None)
    assert (texts(rest.entries), rest.more) == (["e"], False)
    assert (texts(plain.entries), plain.more, plain.remaining) == (list("abcd"), True, 2)


async def test_a_list_at_a_compacted_revision_is_expired(backend: Backend) -> None:
    first = await fill(backend, "a")
    await backend.compact(await fill(backend, "b", "c"))
    async with caching(backend) as (_, pods):
        with pytest.raises(RevisionExpired) as raised:
            await pods.list(EVERYTHING, at=Exact(first))

    assert raised.value.requested == first
