"""Releases of a group are rolled over several servers of one store, under load."""

import asyncio
from pathlib import Path

import pytest

from tests.apiserver.evolution.releases import LAMPS, NAME, lamp
from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.faults.load import until
from tests.faults.rolling import (
    Creator,
    FieldBooks,
    FieldWriter,
    InProcess,
    Place,
    PlaceReader,
    Process,
    running,
    specs_of,
    writing,
)
from tests.faults.rolling_releases import SINCE
from tests.servers import Answer, Server, ServerFailed

SHARED = ["one", "two"]
STRONG = "strong"
"""A lamp with more watts than the third release allows."""


async def roll(places: list[Place], *, writes: int) -> None:
    """Roll all servers through the releases, with so many writes before each restart."""
    await asyncio.gather(*(place.restart(1) for place in places))
    for name, watts in (*((name, 0) for name in SHARED), (STRONG, 1000)):
        answer = await places[0].request("POST", LAMPS, lamp(name, watts=watts))
        assert answer.code == 201, answer
    books = FieldBooks({(STRONG, "watts"): [1000]})
    writers = [
        FieldWriter(
            places, books, key, SHARED if key == "watts" else [*SHARED, STRONG], seed=number
        )
        for number, key in enumerate(SINCE)
    ]
    readers = [PlaceReader(place) for place in places]
    async with running(*readers):
        async with writing(books, *writers, Creator(places, books, seed=9)):
            for release in (2, 3):
                for place in places:
                    await books.grow(writes)
                    await place.restart(release)
            await books.grow(writes)
        listed = [specs_of(await place.request("GET", LAMPS)) for place in places]
        await until(lambda: [reader.specs for reader in readers] == listed)

    assert listed[0] == listed[1] == listed[2]
    for name, spec in listed[0].items():
        books.expect(name, spec, release=3)
    assert {name for name, _ in books.possible} <= listed[0].keys()
    assert books.refused, "no older server had to refuse a write"
    assert books.conflicts
    assert all(reader.listed > 1 for reader in readers)


@pytest.mark.parametrize("backend", ["sqlite", "etcd"])
async def test_no_field_is_lost_while_releases_are_rolled_out(backend: str, tmp_path: Path) -> None:
    if backend == "sqlite":
        await roll_in_process(f"sqlite:///{tmp_path}/store.sqlite")
    else:
        with start_etcd(tmp_path) as address:
            await roll_in_process(f"etcd://{address}")


async def roll_in_process(storage: str) -> None:
    places: list[Place] = [InProcess(storage) for _ in range(3)]
    try:
        await roll(places, writes=20)
    finally:
        for place in places:
            await place.stop()


@pytest.mark.torture
async def test_no_field_is_lost_while_real_servers_are_rolled(tmp_path: Path) -> None:
    with start_etcd(tmp_path / "etcd") as address:
        places: list[Place] = [
            Process(tmp_path / f"server-{number}", f"etcd://{address}") for number in range(3)
        ]
        try:
            await roll(places, writes=300)
        finally:
            for place in places:
                await place.stop()


def merge(server: Server, name: str, patch: object) -> Answer:
    headers = {"Content-Type": "application/merge-patch+json"}
    return server.request("PATCH", f"{LAMPS}/{name}", patch, headers=headers)


@pytest.mark.torture
def test_a_rename_waits_for_older_servers_and_a_rollback_serves(tmp_path: Path) -> None:
    releases = "tests.faults.rolling_releases"
    storage = ("--workers", "1", "--storage", f"sqlite:///{tmp_path}/store.sqlite")
    old = Server(tmp_path / "old", [f"{releases}:THIRD", *storage])
    new = Server(tmp_path / "new", [f"{releases}:RENAMED", *storage])
    try:
        old.start()
        for name in ("a", "b"):
            assert old.request("POST", LAMPS, lamp(name, color="red")).code == 201
        (worker,) = old.workers()

        with pytest.raises(ServerFailed) as refused:
            new.start()
        assert old.request("GET", "/readyz").code == 200
        # The processes of a server that was killed are gone, which is seen at once on one host.
        old.kill()
        new.start()
        assert new.request("GET", f"{LAMPS}/a").json["spec"]["tint"] == "red"
        assert merge(new, "a", {"spec": {"watts": 5}}).code == 200
        new.stop()

        old.start()
        assert "color" not in old.request("GET", f"{LAMPS}/a").json["spec"]
        assert old.request("GET", f"{LAMPS}/b").json["spec"]["color"] == "red"
        lossy = merge(old, "a", {"spec": {"watts": 6}})
        labels = merge(old, "a", {"metadata": {"labels": {"x": "y"}, "finalizers": ["a.io/b"]}})
        deleted = old.request("DELETE", f"{LAMPS}/a")
        released = merge(old, "a", {"metadata": {"finalizers": None}})
        assert merge(old, "b", {"spec": {"watts": 6}}).code == 200
        assert old.request("GET", f"{LAMPS}/a").code == 404
    finally:
        old.stop()
        new.stop()

    assert f"{NAME}: this release renames or re-types fields" in str(refused.value)
    assert f"process {worker} on " in str(refused.value)
    assert (lossy.code, lossy.headers["retry-after"]) == (503, "1")
    assert "spec.tint" in lossy.json["message"]
    assert [answer.code for answer in (labels, deleted, released)] == [200, 200, 200]
