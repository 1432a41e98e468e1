"""Objects whose stored bytes cannot be decoded: each fails itself and no other."""

import logging
from dataclasses import dataclass
from typing import Any, cast

import pytest

from apimachinery.errors import Invalid, NotFound, ServerTimeout, StorageReadError
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.interface import Backend, Record, Unavailable
from apiserver.storage.keys import ResourceKeys
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.registry.world import World, context, note, put, world
from tests.apiserver.storage.cache.cached import Switchboard

KEYS = ResourceKeys("notes.example.io", "notes")
KEY = KEYS.object_key("a", namespace="default")
GARBAGE = b'{"kind":"Note",'


@dataclass
class Meddler:
    """A real backend; just before its first delete it does something else."""

    backend: Backend
    meddle: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)

    async def delete(self, key: str, *, revision: int) -> int:
        meddle, self.meddle = self.meddle, None
        if meddle is not None:
            await meddle(revision)
        return await self.backend.delete(key, revision=revision)


async def meddling() -> Meddler:
    return Meddler(await open_sqlite("sqlite://:memory:"))


async def remove(here: World, name: str = "a") -> None:
    await here.notes.remove_undecodable(name, context("delete", name=name))


@pytest.mark.parametrize(
    "stored", [GARBAGE, b"\x00\xff", b"", b'{"kind":"Nothing","apiVersion":"v7","metadata":{}}']
)
async def test_what_cannot_be_decoded_is_removed(
    here: World, stored: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    await here.backend.create(KEY, stored)
    await put(here, note("b"))

    with caplog.at_level(logging.WARNING, "apiserver.registry.unsafe_deletion"):
        await remove(here)

    assert await here.backend.get(KEY) is None
    assert await here.backend.get(KEYS.object_key("b", namespace="default")) is not None
    assert f"user alice removed {KEY}, which could not be decoded" in caplog.messages


async def test_what_can_be_decoded_stays(here: World) -> None:
    await put(here, note("a"))

    with pytest.raises(Invalid) as caught:
        await remove(here)

    assert str(caught.value) == (
        'notes.notes.example.io "a" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential:'
        " Invalid value: true: is exclusively used to delete corrupt object(s), try again by"
        " removing this option"
    )
    assert await here.backend.get(KEY) is not None


async def test_what_does_not_exist_cannot_be_removed(here: World) -> None:
    with pytest.raises(NotFound, match=r'notes.notes.example.io "a" not found'):
        await remove(here)


async def test_what_a_view_cannot_decode_is_removed(here: World) -> None:
    await put(here, note("a", finalizers=["example.com/x"]))
    await here.notes.list(EntrySelection())
    await note_problem(here, "spec: cannot be converted")

    await remove(here)

    assert await here.backend.get(KEY) is None


async def test_the_problem_of_an_older_state_does_not_count() -> None:
    board = Switchboard(await open_sqlite("sqlite://:memory:"))

    async with world(backend=cast(Backend, board)) as here:
        await put(here, note("a"))
        await here.notes.list(EntrySelection())
        await note_problem(here, "spec: cannot be converted")
        board.silent = True
        record = await here.backend.get(KEY)
        assert record is not None
        await here.backend.update(KEY, record.value + b" ", revision=record.revision)

        with pytest.raises(Invalid):
            await remove(here)


async def test_garbage_that_is_overwritten_with_garbage_is_removed() -> None:
    backend = await meddling()

    async with world(backend=backend) as here:
        await backend.create(KEY, GARBAGE)
        backend.meddle = lambda revision: backend.update(KEY, b"other", revision=revision)
        await remove(here)

        assert await backend.get(KEY) is None


async def test_what_is_repaired_meanwhile_stays() -> None:
    backend = await meddling()

    async with world(backend=backend) as here:
        await put(here, note("b"))
        good = await backend.get(KEYS.object_key("b", namespace="default"))
        assert good is not None
        await backend.create(KEY, GARBAGE)
        backend.meddle = lambda revision: backend.update(KEY, good.value, revision=revision)
        with pytest.raises(Invalid):
            await remove(here)

        assert await backend.get(KEY) is not None


async def test_what_is_deleted_meanwhile_is_not_found() -> None:
    backend = await meddling()

    async with world(backend=backend) as here:
        await backend.create(KEY, GARBAGE)
        backend.meddle = lambda revision: backend.delete(KEY, revision=revision)
        with pytest.raises(NotFound):
            await remove(here)


async def test_a_store_that_cannot_be_reached_removes_nothing() -> None:
    backend = await meddling()

    async def fail(revision: int) -> None:
        raise Unavailable("gone")

    async with world(backend=backend) as here:
        await backend.create(KEY, GARBAGE)
        backend.meddle = fail
        with pytest.raises(ServerTimeout, match="The delete operation against notes"):
            await remove(here)


async def test_a_collection_is_deleted_around_what_cannot_be_decoded(here: World) -> None:
    await put(here, *(note(f"n{number:02}") for number in range(40)))
    for name in ("a", "n10x", "z"):
        key = KEYS.object_key(name, namespace="default")
        await here.backend.create(key, GARBAGE)

    with pytest.raises(StorageReadError, match="cannot be read"):
        await here.notes.delete_collection(
            EntrySelection(namespace="default"), None, context("deletecollection")
        )

    page = await here.backend.range(KEYS.prefix)
    assert [KEYS.split(record.key)[1] for record in page.records] == ["a", "n10x", "z"]


async def test_a_problem_counts_once_for_each_state(here: World) -> None:
    problems = here.notes.view.problems
    assert not problems

    problems.add(Record(KEY, b"", 3, 3), "one")
    problems.add(Record(KEY, b"", 3, 3), "one")
    problems.add(Record(KEY, b"", 4, 3), "two")
    problems.add(Record("/other", b"", 5, 5), "one")
    problems.forget("/other")

    assert {key: problems[key] for key in problems} == {KEY: "two"}
    assert problems.take_count() == 3
    assert problems.take_count() == 0


async def note_problem(here: World, reason: str) -> None:
    record = await here.backend.get(KEY)
    assert record is not None
    here.notes.view.problems.add(record, reason)
