"""Following a resource: told once of each change, as new as the cache, through thick and thin."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from apiserver.registry.following import Following
from apiserver.storage.cache.cache_limits import CacheLimits, WindowSize
from apiserver.storage.interface import Backend, Compacted, Unavailable
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.registry.world import Note, World, context, note, put, world
from tests.apiserver.storage.cache.cached import Switchboard

LIMITS = CacheLimits(retry_first=0.001, wait=0.3)
FORGETFUL = replace(LIMITS, window=WindowSize(age=0, min_changes=1, max_changes=1))


class Told:
    """What somebody who follows notes knows, and what they were told."""

    def __init__(self, made: World) -> None:
        self.notes: dict[tuple[str, str], str] = {}
        self.calls: list[str] = []
        self.following = Following(made.notes, self.put, self.gone)

    def put(self, obj: Note) -> None:
        self.notes[obj.metadata.namespace, obj.metadata.name] = obj.spec.text
        self.calls.append(f"put {obj.metadata.name} {obj.spec.text}".rstrip())

    def gone(self, namespace: str, name: str) -> None:
        del self.notes[namespace, name]
        self.calls.append(f"gone {name}")

    def take_calls(self) -> list[str]:
        calls, self.calls = self.calls, []
        return calls


@asynccontextmanager
async def following(
    *existing: Note, limits: CacheLimits = LIMITS, backend: Any = None
) -> AsyncIterator[tuple[World, Told]]:
    async with world(limits=limits, backend=backend) as made:
        await put(made, *existing)
        told = Told(made)
        await told.following.refresh()
        await told.following.begin()
        yield made, told


async def change(made: World, name: str, text: str) -> None:
    def changed(current: Note) -> Note:
        new = current.deep_copy()
        new.spec.text = text
        return new

    await made.notes.update(name, changed, context("update", name=name))


async def delete(made: World, name: str) -> None:
    await made.notes.delete(name, None, context("delete", name=name))


async def test_what_there_is_is_told_once() -> None:
    async with following(note("a", text="1"), note("b", namespace="other")) as (_, told):
        assert told.notes == {("default", "a"): "1", ("other", "b"): ""}
        assert sorted(told.take_calls()) == ["put a 1", "put b"]

        assert not await told.following.catch_up()
        assert not await told.following.refresh()
        assert told.calls == []


async def test_changes_are_told_as_the_cache_learns_of_them() -> None:
    async with following(note("a", text="1"), note("b")) as (made, told):
        told.take_calls()
        await change(made, "a", "2")
        await delete(made, "b")
        await put(made, note("c"))

        assert await told.following.refresh()

        assert told.take_calls() == ["put a 2", "gone b", "put c"]
        assert not await told.following.catch_up()


async def test_only_the_outcome_of_several_changes_is_told() -> None:
    async with following(note("a")) as (made, told):
        told.take_calls()
        for text in ("1", "2", "3"):
            await change(made, "a", text)
        await put(made, note("b"))
        await delete(made, "b")

        assert await told.following.refresh()

        assert told.take_calls() == ["put a 3"]


async def test_nothing_is_missed_when_the_window_has_forgotten() -> None:
    async with following(note("a"), note("b"), limits=FORGETFUL) as (made, told):
        told.take_calls()
        await change(made, "a", "1")
        await delete(made, "b")
        await put(made, note("c"), note("d"))

        assert await told.following.refresh()

        assert sorted(told.take_calls()) == ["gone b", "put a 1", "put c", "put d"]


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    yield await open_sqlite("sqlite://:memory:")


async def test_nothing_is_missed_when_everything_is_listed_anew(backend: Backend) -> None:
    board = Switchboard(backend)
    async with following(note("a"), note("b"), backend=board) as (made, told):
        told.take_calls()
        collection = made.notes.cached.collection
        before = collection.lists
        board.silent = True
        await change(made, "a", "1")
        await delete(made, "b")
        board.silent = False
        board.cut(Compacted(1, oldest=2))
        async with asyncio.timeout(10):
            while collection.lists == before or not collection.filled.is_set():
                await asyncio.sleep(0)

        assert await told.following.catch_up()

        assert sorted(told.take_calls()) == ["gone b", "put a 1"]
        await put(made, note("c"))
        assert await told.following.refresh()
        assert told.take_calls() == ["put c"]


async def test_what_is_known_has_to_do_when_the_store_is_away(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    board = Switchboard(backend)
    async with following(note("a"), backend=board) as (_, told):
        board.failure = Unavailable("the store is away")

        assert not await told.following.refresh()

        assert told.notes == {("default", "a"): ""}
        assert "may be out of date: the store is away" in caplog.text
        board.failure = None


async def test_a_store_that_does_not_answer_is_not_waited_for_long(
    backend: Backend, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apiserver.registry.following.REFRESH_SECONDS", 0.01)
    board = Switchboard(backend)
    async with following(note("a"), backend=board) as (_, told):
        board.gate.clear()

        assert not await told.following.refresh()

        assert "may be out of date: no answer in 0.01 s" in caplog.text
        board.gate.set()


async def test_what_cannot_be_read_is_as_good_as_gone(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    async with following(note("a"), note("b"), backend=backend) as (made, told):
        told.take_calls()
        key = made.notes.cached.collection.keys.object_key("a", namespace="default")
        record = await backend.get(key)
        assert record is not None
        await backend.update(key, b'{"kind":"Nothing"}', revision=record.revision)
        await change(made, "b", "1")

        assert await told.following.refresh()

        assert sorted(told.take_calls()) == ["gone a", "put b 1"]
        assert "cannot be decoded" in caplog.text
