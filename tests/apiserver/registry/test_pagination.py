"""Which state a list shows, and how its pages hang together."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from apimachinery.errors import (
    BadRequest,
    Expired,
    NotFound,
    ServerTimeout,
    StorageReadError,
    Timeout,
    TooManyRequests,
)
from apimachinery.meta.options import ListOptions
from apiserver.registry.object_update import replacement
from apiserver.storage.cache.cache_limits import CacheLimits, WindowSize
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.read_revision import Exact, Freshness, NotOlderThan
from apiserver.storage.interface import Unavailable
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.registry.world import World, context, note, put, revision, world
from tests.apiserver.storage.cache.cached import Switchboard

HERE = EntrySelection(namespace="default")
IMPATIENT = CacheLimits(wait=0.05, window=WindowSize(age=0.0, min_changes=1, max_changes=1))
"""A cache that forgets at once and does not wait for long."""


@pytest.fixture
async def forgetful() -> AsyncIterator[World]:
    async with world(limits=IMPATIENT) as made:
        yield made


def names(page: Any) -> list[str]:
    return [entry.record.key.rpartition("default/")[2] for entry in page.entries]


def token(text: str) -> dict[str, Any]:
    decoded: dict[str, Any] = orjson.loads(base64.urlsafe_b64decode(text + "=="))
    return decoded


async def fill(here: World, *which: str) -> int:
    await put(here, *(note(name) for name in which))
    return await revision(here)


async def rename(here: World, name: str, text: str) -> None:
    await here.notes.update(name, replacement(note(name, text=text)), context("update", name=name))


async def test_a_list_is_sorted_and_says_of_which_state_it_is(here: World) -> None:
    newest = await fill(here, "b", "a", "c")

    page = await here.notes.list(HERE)

    assert names(page) == ["a", "b", "c"]
    assert page.metadata.resource_version == str(newest)
    assert (page.continue_token, page.remaining) == ("", None)


async def test_an_empty_list_has_a_version_too(here: World) -> None:
    page = await here.notes.list(HERE)

    assert page.entries == []
    assert int(page.metadata.resource_version) > 0


async def test_pages_are_of_one_state(here: World) -> None:
    newest = await fill(here, "a", "b", "c", "d", "e")

    first = await here.notes.list(HERE, ListOptions(limit=2))
    await fill(here, "bb")
    await here.notes.delete("d", None, context("delete", name="d"))
    second = await here.notes.list(HERE, ListOptions(limit=2, continue_=first.continue_token))
    last = await here.notes.list(HERE, ListOptions(limit=2, continue_=second.continue_token))

    assert [names(first), names(second), names(last)] == [["a", "b"], ["c", "d"], ["e"]]
    assert first.revision == second.revision == last.revision == newest
    assert (first.remaining, second.remaining, last.remaining) == (3, 1, None)
    assert last.continue_token == ""


async def test_a_token_is_relative_to_the_collection(here: World) -> None:
    newest = await fill(here, "a", "b")

    inside = await here.notes.list(HERE, ListOptions(limit=1))
    across = await here.notes.list(EntrySelection(), ListOptions(limit=1))

    expected = {"v": "meta.k8s.io/v1", "rv": newest}
    assert token(inside.continue_token) == {**expected, "start": "a\0"}
    assert token(across.continue_token) == {**expected, "start": "default/a\0"}


async def test_a_page_with_a_selector_does_not_say_how_much_is_left(here: World) -> None:
    await put(here, *(note(name, labels={"x": "y"}) for name in "abc"))
    chosen = EntrySelection(namespace="default", labels=lambda labels: "x" in labels)

    page = await here.notes.list(chosen, ListOptions(limit=1))

    assert page.continue_token
    assert page.remaining is None


async def test_a_negative_limit_is_none(here: World) -> None:
    await fill(here, "a", "b")

    assert names(await here.notes.list(HERE, ListOptions(limit=-1))) == ["a", "b"]


async def test_version_zero_ignores_the_limit(here: World) -> None:
    await fill(here, "a", "b")
    await here.notes.list(HERE)

    page = await here.notes.list(HERE, ListOptions(limit=1, resource_version="0"))

    assert names(page) == ["a", "b"]
    assert page.continue_token == ""


async def test_a_version_alone_means_not_older(here: World) -> None:
    old = await fill(here, "a")
    await fill(here, "b")
    await here.notes.list(HERE)

    page = await here.notes.list(HERE, ListOptions(resource_version=str(old)))

    assert names(page) == ["a", "b"]


async def test_a_version_with_a_limit_means_exactly_that(here: World) -> None:
    old = await fill(here, "a", "b")
    await fill(here, "c")

    page = await here.notes.list(HERE, ListOptions(resource_version=str(old), limit=5))

    assert names(page) == ["a", "b"]
    assert page.revision == old


async def test_a_version_can_be_meant_exactly(here: World) -> None:
    old = await fill(here, "a")
    await rename(here, "a", "later")

    page = await here.notes.list(
        HERE, ListOptions(resource_version=str(old), resource_version_match="Exact")
    )

    assert [here.notes.decode(entry).spec.text for entry in page.entries] == [""]


async def test_not_older_can_be_said_with_a_limit(here: World) -> None:
    old = await fill(here, "a")
    newest = await fill(here, "b", "c")
    await here.notes.list(HERE)
    options = ListOptions(resource_version=str(old), resource_version_match="NotOlderThan", limit=2)

    page = await here.notes.list(HERE, options)

    assert names(page) == ["a", "b"]
    assert token(page.continue_token)["rv"] == newest


@pytest.mark.parametrize("match", ["", "Exact", "NotOlderThan"])
async def test_a_version_that_never_comes_is_waited_for_and_then_refused(
    forgetful: World, match: str
) -> None:
    newest = await fill(forgetful, "a")

    with pytest.raises(Timeout) as caught:
        await forgetful.notes.list(
            HERE, ListOptions(resource_version="999999", resource_version_match=match)
        )

    assert str(caught.value) == (f"Timeout: Too large resource version: 999999, current: {newest}")
    assert caught.value.has_cause("ResourceVersionTooLarge")
    assert caught.value.retry_after == 1


@pytest.mark.parametrize("bad", ["abc", "-1", "1.0", "+1", "1_0", "\uff11"])
async def test_a_version_that_is_no_number_is_refused(here: World, bad: str) -> None:
    with pytest.raises(BadRequest) as listed:
        await here.notes.list(HERE, ListOptions(resource_version=bad))
    with pytest.raises(BadRequest) as got:
        await here.notes.get("a", namespace="default", at=bad)

    assert str(listed.value) == (
        f'invalid resource version: resourceVersion: Invalid value: "{bad}":'
        f' strconv.ParseUint: parsing "{bad}": invalid syntax'
    )
    assert str(got.value) == str(listed.value)


async def test_a_token_that_is_none_is_refused(here: World) -> None:
    with pytest.raises(BadRequest) as caught:
        await here.notes.list(HERE, ListOptions(continue_="x?"))

    assert str(caught.value) == (
        "invalid continue token: continue key is not valid: illegal base64 data at input byte 1"
    )


async def test_a_token_and_a_version_exclude_each_other(here: World) -> None:
    await fill(here, "a", "b")
    first = await here.notes.list(HERE, ListOptions(limit=1))

    with pytest.raises(BadRequest) as caught:
        await here.notes.list(
            HERE, ListOptions(continue_=first.continue_token, resource_version="5")
        )

    assert str(caught.value) == "specifying resource version is not allowed when using continue"


async def test_a_token_wins_over_version_zero(here: World) -> None:
    await fill(here, "a", "b")
    first = await here.notes.list(HERE, ListOptions(limit=1))

    page = await here.notes.list(
        HERE, ListOptions(continue_=first.continue_token, resource_version="0", limit=1)
    )

    assert names(page) == ["b"]


async def compact(here: World) -> None:
    """Let both the store and the cache forget what was before now."""
    newest = await revision(here)
    await here.backend.compact(newest)
    # The cache forgets when it learns of what came after; until then it may still know.
    assert await here.cache.wait(newest, seconds=10)


async def test_an_exact_version_that_is_forgotten_has_expired(forgetful: World) -> None:
    old = await fill(forgetful, "a")
    await fill(forgetful, "b", "c")
    await compact(forgetful)

    with pytest.raises(Expired) as caught:
        await forgetful.notes.list(HERE, ListOptions(resource_version=str(old), limit=1))

    assert str(caught.value) == "The resourceVersion for the provided list is too old."
    assert caught.value.continue_token == ""


async def test_a_list_whose_state_is_forgotten_can_go_on_with_the_newest(
    forgetful: World,
) -> None:
    here = forgetful
    await fill(here, "a", "b", "c", "d")
    first = await here.notes.list(HERE, ListOptions(limit=1))
    newest = await fill(here, "aa", "bb")
    await compact(here)

    with pytest.raises(Expired) as caught:
        await here.notes.list(HERE, ListOptions(limit=2, continue_=first.continue_token))
    again = caught.value.continue_token
    second = await here.notes.list(HERE, ListOptions(limit=2, continue_=again))
    await fill(here, "e")
    last = await here.notes.list(HERE, ListOptions(limit=9, continue_=second.continue_token))

    assert "use the continue token in this response" in str(caught.value)
    assert caught.value.status.metadata.continue_ == again
    assert token(again) == {"v": "meta.k8s.io/v1", "rv": -1, "start": "a\0"}
    assert names(second) == ["aa", "b"]
    assert second.revision == newest
    assert names(last) == ["bb", "c", "d"]
    assert last.revision == newest


async def test_one_object_at_some_version(here: World) -> None:
    old = await fill(here, "a")
    await rename(here, "a", "later")
    await here.notes.list(HERE)

    async def text(at: Any) -> str:
        entry = await here.notes.get("a", namespace="default", at=at)
        return here.notes.decode(entry).spec.text

    assert await text("") == await text(Freshness.NEWEST) == "later"
    assert await text("0") == await text(Freshness.ANY) == "later"
    assert await text(str(old)) == await text(NotOlderThan(old)) == "later"
    assert await text(Exact(old)) == ""


async def test_an_object_that_is_not_there(here: World) -> None:
    with pytest.raises(NotFound) as caught:
        await here.notes.get("a", namespace="default")

    assert str(caught.value) == 'notes.notes.example.io "a" not found'


async def test_an_object_at_a_version_that_never_comes(forgetful: World) -> None:
    with pytest.raises(Timeout):
        await forgetful.notes.get("a", namespace="default", at="999999")


async def test_a_namespace_that_cannot_be_is_refused(here: World) -> None:
    with pytest.raises(BadRequest, match="Namespace parameter invalid"):
        await here.notes.list(EntrySelection(namespace="a/b"))


async def test_a_store_that_cannot_be_reached_is_a_server_timeout() -> None:
    board = Switchboard(await open_sqlite("sqlite://:memory:"))

    async with world(backend=board) as here:
        board.failure = Unavailable("gone")
        with pytest.raises(ServerTimeout) as listed:
            await here.notes.list(HERE)
        with pytest.raises(ServerTimeout) as got:
            await here.notes.get("a", namespace="default")

    assert str(listed.value) == (
        "The list operation against notes.notes.example.io could not be completed at this time,"
        " please try again."
    )
    assert listed.value.retry_after == 2
    assert str(got.value).startswith("The get operation")


async def test_a_cache_that_is_not_ready_asks_for_patience(forgetful: World) -> None:
    forgetful.notes.cached.collection.begin(1)

    with pytest.raises(TooManyRequests) as caught:
        await forgetful.notes.list(HERE)

    assert str(caught.value) == "storage is (re)initializing"
    assert caught.value.retry_after == 1


async def test_an_object_that_cannot_be_read_is_told_apart(here: World) -> None:
    await here.backend.create("/registry/notes.example.io/notes/default/a", b"{nonsense")
    await here.backend.create("/registry/notes.example.io/notes/default/b", b'{"kind":"X"}')

    for name in ("a", "b"):
        with pytest.raises(StorageReadError, match=f"default/{name}' cannot be read"):
            await here.notes.read(name, namespace="default")
        with pytest.raises(StorageReadError):
            await here.notes.delete(name, None, context("delete", name=name))
