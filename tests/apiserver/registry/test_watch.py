"""Where a watch begins."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from apimachinery.errors import BadRequest, Expired, ServerTimeout
from apimachinery.meta.options import ListOptions
from apiserver.registry.object_update import replacement
from apiserver.storage.cache.cache_limits import CacheLimits, WindowSize
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.event_log import OpenWatch
from apiserver.storage.interface import Unavailable
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.registry.world import (
    NOTE_FORM,
    World,
    context,
    document,
    note,
    put,
    revision,
    world,
)
from tests.apiserver.storage.cache.cached import Switchboard

HERE = EntrySelection(namespace="default")


@pytest.fixture
async def filled(here: World) -> AsyncIterator[World]:
    await put(here, note("a"), note("b"))
    await here.notes.list(HERE)
    yield here


async def events(watcher: OpenWatch, number: int) -> list[tuple[str, str]]:
    """The next events, as their types and the names of their objects."""
    found: list[tuple[str, str]] = []
    async with asyncio.timeout(5):
        while len(found) < number:
            for event in await anext(watcher):
                frame = document(event.frame)
                metadata = frame["object"]["metadata"]
                mark = "end" if metadata.get("annotations") else metadata["resourceVersion"]
                found.append((frame["type"], metadata.get("name", mark)))
    assert len(found) == number
    return found


async def watched(here: World, number: int, **options: Any) -> list[tuple[str, str]]:
    """What a watch tells first; the note `new` is made after it has begun."""
    async with here.notes.watch(HERE, NOTE_FORM, ListOptions(**options)) as watcher:
        await put(here, note("new"))
        return await events(watcher, number)


ALL = [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "new")]


@pytest.mark.parametrize("version", ["", "0"])
async def test_a_watch_from_nowhere_begins_with_what_there_is(filled: World, version: str) -> None:
    assert await watched(filled, 3, resource_version=version) == ALL


async def test_a_watch_without_any_options_does_too(filled: World) -> None:
    async with filled.notes.watch(HERE, NOTE_FORM) as watcher:
        assert await events(watcher, 2) == ALL[:2]


async def test_a_watch_from_a_version_tells_what_happened_after_it(filled: World) -> None:
    version = str(await revision(filled))

    assert await watched(filled, 1, resource_version=version) == [("ADDED", "new")]


async def test_what_was_missed_is_made_up_for(filled: World) -> None:
    version = str(await revision(filled))
    change = replacement(note("a", text="changed"))
    await filled.notes.update("a", change, context("update", name="a"))

    assert await watched(filled, 2, resource_version=version) == [
        ("MODIFIED", "a"),
        ("ADDED", "new"),
    ]


async def test_initial_events_end_with_a_bookmark(filled: World) -> None:
    told = await watched(
        filled,
        4,
        send_initial_events=True,
        resource_version_match="NotOlderThan",
        allow_watch_bookmarks=True,
    )

    assert told == [("ADDED", "a"), ("ADDED", "b"), ("BOOKMARK", "end"), ("ADDED", "new")]


async def test_initial_events_of_a_version_are_not_older(filled: World) -> None:
    version = str(await revision(filled))

    assert await watched(filled, 3, send_initial_events=True, resource_version=version) == ALL


@pytest.mark.parametrize("version", ["", "0"])
async def test_initial_events_can_be_declined(filled: World, version: str) -> None:
    told = await watched(filled, 1, send_initial_events=False, resource_version=version)

    assert told == [("ADDED", "new")]


async def test_a_watch_that_declines_them_begins_at_the_newest_state(here: World) -> None:
    """A write acknowledged before the watch is not told, whether or not the cache has it."""
    await put(here, note("a"))

    assert await watched(here, 1, send_initial_events=False) == [("ADDED", "new")]


async def test_a_version_that_is_no_number_is_refused(here: World) -> None:
    with pytest.raises(BadRequest, match="invalid resource version"):
        await watched(here, 1, resource_version="x")


async def test_a_version_that_is_forgotten_has_expired() -> None:
    limits = CacheLimits(window=WindowSize(age=0.0, min_changes=1, max_changes=1))

    async with world(limits=limits) as here:
        await put(here, note("a"), note("b"), note("c"))
        await here.notes.list(HERE)
        with pytest.raises(Expired) as caught:
            await watched(here, 1, resource_version="1")

    assert str(caught.value).startswith("too old resource version: 1 (")


async def test_a_watch_that_loses_track_ends_as_expired(filled: World) -> None:
    with pytest.raises(Expired):
        async with filled.notes.watch(HERE, NOTE_FORM) as watcher:
            await events(watcher, 2)
            filled.notes.cached.collection.begin(99)
            await anext(watcher)


async def test_a_bookmark_can_be_asked_for(filled: World) -> None:
    options = ListOptions(resource_version=str(await revision(filled)), allow_watch_bookmarks=True)
    async with filled.notes.watch(EntrySelection(namespace="other"), NOTE_FORM, options) as watcher:
        await put(filled, note("new"))
        await filled.notes.list(HERE)

        filled.notes.bookmark(watcher)

        assert await events(watcher, 1) == [("BOOKMARK", str(await revision(filled)))]


async def test_a_store_that_cannot_be_reached_is_a_server_timeout() -> None:
    board = Switchboard(await open_sqlite("sqlite://:memory:"))

    async with world(backend=board) as here:
        board.failure = Unavailable("gone")
        with pytest.raises(ServerTimeout, match="The watch operation"):
            await watched(here, 1)
