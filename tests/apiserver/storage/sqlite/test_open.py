"""Which URLs and files the SQLite backend takes, and what it says of the others."""

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from apiserver.storage.backends import InvalidURL
from apiserver.storage.interface import StorageError
from apiserver.storage.sqlite import schema as sqlite_schema
from apiserver.storage.sqlite.backend import DatabaseLocation, open_sqlite, parse_url
from apiserver.storage.sqlite.schema import (
    SCHEMA_VERSION,
    CannotOpen,
    NewerSchema,
    NotOurFile,
    open_file,
)


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("sqlite://:memory:", DatabaseLocation(None)),
        ("sqlite:///store.db", DatabaseLocation(Path("store.db"))),
        ("sqlite:///below/store.db", DatabaseLocation(Path("below/store.db"))),
        ("sqlite:////var/lib/store.db", DatabaseLocation(Path("/var/lib/store.db"))),
        ("sqlite:///with%20space%3F%23.db", DatabaseLocation(Path("with space?#.db"))),
        ("sqlite:///store.db?synchronous=normal", DatabaseLocation(Path("store.db"), "normal")),
        ("sqlite:///store.db?synchronous=full", DatabaseLocation(Path("store.db"), "full")),
    ],
)
def test_urls(url: str, location: DatabaseLocation) -> None:
    assert parse_url(url) == location


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite://store.db",
        "sqlite://host/store.db",
        "sqlite://:memory:/x",
        "sqlite:///a%00b",
        "sqlite:///store.db?synchronous=sometimes",
        "sqlite:///store.db?mode=ro",
        "sqlite:///store.db?nonsense",
        "sqlite:///store.db#part",
        "sqlite://[",
    ],
)
async def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(InvalidURL):
        await open_sqlite(url)


async def test_a_relative_path_is_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    backend = await open_sqlite("sqlite:///store.db")
    await backend.close()

    assert (tmp_path / "store.db").exists()


async def test_stores_in_memory_are_apart_from_each_other() -> None:
    one, other = await open_sqlite("sqlite://:memory:"), await open_sqlite("sqlite://:memory:")

    await one.create("/a", b"")

    assert await other.get("/a") is None
    await one.close()
    await other.close()


async def test_a_closed_store_is_one_file(tmp_path: Path) -> None:
    backend = await open_sqlite(f"sqlite:///{tmp_path}/store.db")
    await backend.create("/a", b"")

    await backend.close()

    assert os.listdir(tmp_path) == ["store.db"]


async def test_commits_are_durable_unless_told_otherwise(tmp_path: Path) -> None:
    def setting(connection: sqlite3.Connection) -> int:
        (value,) = connection.execute("PRAGMA synchronous").fetchone()
        connection.close()
        return int(value)

    assert setting(open_file(tmp_path / "store.db")) == 2
    assert setting(open_file(tmp_path / "store.db", synchronous="normal")) == 1


async def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"

    backends = await asyncio.gather(*(open_sqlite(url) for _ in range(8)))

    for number, backend in enumerate(backends):
        await backend.create(f"/{number}", b"")
    assert len((await backends[0].range("/")).records) == 8
    for backend in backends:
        await backend.close()


@pytest.mark.parametrize(
    "content", [b"x", b"not a database\n" * 100, bytes(range(256)) * 64, b"SQLite format 3\0" * 64]
)
async def test_a_file_of_something_else_is_refused_and_left_alone(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)

    with pytest.raises(NotOurFile, match="name another file"):
        await open_sqlite(f"sqlite:///{path}")

    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE theirs (a)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"],
)
async def test_the_database_of_another_application_is_refused_and_left_alone(
    tmp_path: Path, statement: str
) -> None:
    path = tmp_path / "store.db"
    theirs = sqlite3.connect(path)
    theirs.execute(statement)
    theirs.commit()
    theirs.close()
    content = path.read_bytes()

    with pytest.raises(NotOurFile, match="another application"):
        await open_sqlite(f"sqlite:///{path}")

    assert path.read_bytes() == content


async def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    connection = open_file(tmp_path / "store.db")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()

    with pytest.raises(NewerSchema, match=f"version {SCHEMA_VERSION + 1}.*newer"):
        await open_sqlite(f"sqlite:///{tmp_path}/store.db")


async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "store.db").touch()

    backend = await open_sqlite(f"sqlite:///{tmp_path}/store.db")

    assert await backend.create("/a", b"") == 2
    await backend.close()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "is a directory"),
        ("missing/store.db", "does not exist; create it"),
        ("file/store.db", "does not exist; create it"),
        ("x" * 5000, "name too long"),
        ("/proc/store.db", "/proc"),
    ],
)
async def test_a_path_that_cannot_be_a_file_is_refused_with_the_reason(
    tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(CannotOpen, match=reason):
        await open_sqlite(f"sqlite:///{tmp_path / name}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("locked", ["store.db", "."])
async def test_a_file_that_may_not_be_written_is_refused(tmp_path: Path, locked: str) -> None:
    (tmp_path / "store.db").touch()
    (tmp_path / locked).chmod(0o500)

    with pytest.raises(CannotOpen, match="no permission"):
        await open_sqlite(f"sqlite:///{tmp_path}/store.db")


async def test_an_sqlite_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_schema, "MINIMUM_SQLITE", (99, 0, 0))

    with pytest.raises(CannotOpen, match=r"install 99\.0\.0 or newer"):
        await open_sqlite("sqlite://:memory:")


async def test_a_refused_file_does_not_stay_open(tmp_path: Path) -> None:
    """A leaked connection would be a ResourceWarning on newer Pythons, and a descriptor on all."""
    (tmp_path / "store.db").write_bytes(b"not a database")
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(10):
        with pytest.raises(StorageError):
            await open_sqlite(f"sqlite:///{tmp_path}/store.db")

    assert len(os.listdir("/proc/self/fd")) == before
