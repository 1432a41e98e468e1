"""Objects that were stored before a limit, or under a higher one: they stay usable."""

from pathlib import Path

import pytest

from apimachinery.errors import NotFound, RequestEntityTooLarge
from apimachinery.storage_codec import StorageCodec
from apiserver.storage.keys import ResourceKeys
from apiserver.storage.sqlite.backend import open_sqlite
from apiserver.storage.value_limit import MAX_VALUE_BYTES, METADATA_BYTES
from tests.apiserver.registry.world import NOTES, Shelf, World, context, shelf, world

KEY = ResourceKeys(NOTES, "shelves", namespaced=False).object_key("a")
LARGE = {"text": "x" * 2_000_000}
CONTEXT = context("update", resource="shelves", namespace="", name="a")
MANY = {f"{number}": "" for number in range(100_000)}


async def store(url: str, books: dict[str, str]) -> None:
    """Store a shelf with a finalizer, as a server without the limits has done."""
    backend = await open_sqlite(f"{url}?max-value-bytes=10000000")
    async with world(backend=backend) as here:
        held = shelf("a", books, finalizers=["example.io/hold"], uid="1")
        await backend.create(KEY, StorageCodec(here.codec.scheme).encode(held))


async def label(here: World, text: str) -> None:
    def change(current: Shelf) -> Shelf:
        current.metadata.annotations["note"] = text
        return current

    await here.shelves.update("a", change, CONTEXT)


def release(current: Shelf) -> Shelf:
    current.metadata.finalizers = []
    return current


@pytest.mark.parametrize("books", [LARGE, MANY], ids=["bytes", "values"])
async def test_an_object_over_a_limit_can_be_changed_and_deleted(
    tmp_path: Path, books: dict[str, str]
) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    await store(url, books)

    async with world(backend=await open_sqlite(url)) as here:
        await label(here, "kept")
        marked, gone = await here.shelves.delete("a", None, CONTEXT)
        assert not gone
        assert marked.metadata.deletion_timestamp
        assert marked.metadata.annotations == {"note": "kept"}
        await here.shelves.update("a", release, CONTEXT)

        with pytest.raises(NotFound):
            await here.shelves.get("a")


async def test_an_object_over_the_limit_hardly_grows(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    await store(url, LARGE)

    async with world(backend=await open_sqlite(url)) as here:
        with pytest.raises(RequestEntityTooLarge, match=f"limit is {MAX_VALUE_BYTES}"):
            await label(here, "x" * METADATA_BYTES)


async def test_an_object_within_the_limit_stays_within_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    await store(url, {"text": "x" * (MAX_VALUE_BYTES - 1000)})

    async with world(backend=await open_sqlite(url)) as here:
        with pytest.raises(RequestEntityTooLarge, match=f"limit is {MAX_VALUE_BYTES}"):
            await label(here, "x" * 1000)
