"""Damage of an SQLite file: noticed wherever it is, named, and no write is taken any more."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from apiserver.storage.interface import Damaged
from apiserver.storage.sqlite.backend import SqliteBackend, open_sqlite
from apiserver.storage.sqlite.damage import find_damage
from apiserver.storage.sqlite.lost_commits import replay_log
from apiserver.storage.sqlite.schema import CannotOpen, open_file

PAGE = 4096
INTERIOR_TABLE, LEAF_TABLE, INTERIOR_INDEX, LEAF_INDEX, OVERFLOW = 5, 13, 2, 10, 0
PAGES = [INTERIOR_TABLE, LEAF_TABLE, INTERIOR_INDEX, LEAF_INDEX, OVERFLOW]
LARGE = "/large"


def url_of(path: Path) -> str:
    return f"sqlite:///{path}?synchronous=off"


async def fill(path: Path) -> None:
    backend = await open_sqlite(url_of(path))
    await asyncio.gather(
        *(backend.create(f"/small/{number:05}/{'n' * 40}", b"x" * 300) for number in range(3000)),
        *(backend.create(f"/expiring/{number}", b"x", ttl=10_000) for number in range(300)),
        backend.create(LARGE, bytes(range(256)) * 400),
    )
    await backend.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store that has pages of every kind."""
    path = tmp_path_factory.mktemp("sound") / "store.db"
    asyncio.run(fill(path))
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "store.db"))


def pages_of(path: Path, kind: int) -> list[int]:
    """Return the offsets of the pages of a kind; page 1 has the header of the file before it."""
    content = path.read_bytes()
    return [
        offset
        for offset in range(PAGE, len(content), PAGE)
        if content[offset] == kind and (kind != OVERFLOW or any(content[offset : offset + 4]))
    ]


def overwrite(path: Path, offset: int, length: int = PAGE) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(b"\xa5" * length)


def damage(path: Path, kind: int) -> None:
    pages = pages_of(path, kind)
    overwrite(path, pages[len(pages) // 2])


async def refused(backend: SqliteBackend) -> str:
    """Return why a write is refused."""
    with pytest.raises(Damaged) as caught:
        await backend.create("/new", b"x")
    with pytest.raises(Damaged):
        await backend.check_integrity()
    return str(caught.value)


@pytest.mark.parametrize("kind", PAGES)
async def test_a_page_overwritten_while_stopped_is_found_when_the_store_is_opened(
    path: Path, kind: int
) -> None:
    damage(path, kind)

    backend = await open_sqlite(url_of(path))
    reason = await refused(backend)
    await backend.close()

    assert "restores it from a backup" in reason
    assert "apiserver storage verify" in reason


@pytest.mark.parametrize("kind", PAGES)
async def test_a_page_overwritten_while_open_is_found_by_whoever_reads_it(
    path: Path, kind: int
) -> None:
    """In the process that reads it, and from then on in all others."""
    reader, writer = await open_sqlite(url_of(path)), await open_sqlite(url_of(path))
    damage(path, kind)
    await writer.check_integrity()

    if kind in (INTERIOR_TABLE, LEAF_TABLE, OVERFLOW):
        with pytest.raises(Damaged):
            await reader.range("/")
    else:
        reader._damage.suspect()  # as for an answer that cannot be explained
        async with asyncio.timeout(10):
            while not reader._damage.reason:
                await asyncio.sleep(0.001)
    await refused(reader)
    await refused(writer)

    assert await reader.current_revision() == 3302
    await reader.close()
    await writer.close()


async def test_damage_stays_known_until_it_is_cleared(sound: Path, path: Path) -> None:
    damage(path, LEAF_TABLE)
    for _ in range(2):
        backend = await open_sqlite(url_of(path))
        await refused(backend)
        await backend.close()

    shutil.copy(sound, path)
    backend = await open_sqlite(url_of(path))
    await refused(backend)
    backend._damage.clear()
    await backend.create("/new", b"x")
    await backend.close()


@pytest.mark.parametrize(("offset", "length"), [(0, 100), (0, 16), (100, 8), (28, 4)], ids=str)
async def test_a_damaged_header_is_refused_with_advice(
    path: Path, offset: int, length: int
) -> None:
    overwrite(path, offset, length)

    try:
        backend = await open_sqlite(url_of(path))
    except CannotOpen as error:
        assert "restore" in str(error)
    else:
        await refused(backend)
        await backend.close()


async def test_a_truncated_file_is_damaged(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)

    with pytest.raises(CannotOpen, match=r"is damaged: .*; restore it from a backup"):
        await open_sqlite(url_of(path))


async def test_a_file_truncated_while_open_is_damaged(path: Path) -> None:
    backend = await open_sqlite(url_of(path))
    with path.open("r+b") as file:
        file.truncate(PAGE * 20)

    with pytest.raises(Damaged):
        await backend.range("/")

    await refused(backend)
    await backend.close()


async def test_a_page_older_than_the_others_is_damage(path: Path) -> None:
    """As after a write that the disk has lost: each page is sound in itself."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM history WHERE key = ?", (LARGE,))

    backend = await open_sqlite(url_of(path))
    reason = await refused(backend)
    with pytest.raises(Damaged):
        await backend.get(LARGE)
    await backend.close()

    assert f"the value of '{LARGE}' is missing" in reason


def test_a_revision_that_is_not_counted_is_damage(path: Path) -> None:
    with closing(open_file(path)) as connection:
        connection.execute("UPDATE store SET revision = 100")

        assert find_damage(connection) == ["revision 3302 is stored and not counted"]


# The write-ahead log


@pytest.fixture
async def crashed(tmp_path: Path) -> Path:
    """The files of a store with ten transactions in its log, as a crash leaves them."""
    live = tmp_path / "live.db"
    backend = await open_sqlite(f"sqlite:///{live}")
    for number in range(10):
        await backend.create(f"/{number}", b"x" * 5000)
    path = tmp_path / "store.db"
    for suffix in ("", "-wal"):
        shutil.copy(f"{live}{suffix}", f"{path}{suffix}")
    await backend.close()
    return path


async def keys(backend: SqliteBackend) -> list[str]:
    return [record.key for record in (await backend.range("/")).records]


async def test_a_crash_without_damage_loses_nothing(crashed: Path) -> None:
    backend = await open_sqlite(f"sqlite:///{crashed}")

    assert len(await keys(backend)) == 10
    await backend.check_integrity()
    await backend.close()


@pytest.mark.parametrize("place", ["header", "first frame", "middle"])
async def test_transactions_lost_with_a_damaged_log_are_noticed(crashed: Path, place: str) -> None:
    log = Path(f"{crashed}-wal")
    size = log.stat().st_size
    offset = {"header": 16, "first frame": 32 + 24 + 100, "middle": size // 2}[place]
    overwrite(log, offset, 4)
    as_found = log.read_bytes()

    backend = await open_sqlite(f"sqlite:///{crashed}")
    reason = await refused(backend)
    await backend.close()

    assert "write-ahead log is damaged" in reason
    assert Path(f"{log}.damaged").read_bytes() == as_found


async def test_a_log_without_its_database_is_noticed(crashed: Path) -> None:
    crashed.write_bytes(b"")

    backend = await open_sqlite(f"sqlite:///{crashed}")
    reason = await refused(backend)
    await backend.close()

    assert "10 transactions are lost" in reason


async def test_a_transaction_that_a_crash_interrupted_is_no_damage(crashed: Path) -> None:
    log = Path(f"{crashed}-wal")
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size - 1000)

    backend = await open_sqlite(f"sqlite:///{crashed}")

    assert await keys(backend) == [f"/{number}" for number in range(9)]
    await backend.create("/new", b"x")
    await backend.close()


@pytest.mark.parametrize("synchronous", ["normal", "off"])
async def test_commits_that_were_not_promised_to_be_durable_are_no_damage(
    crashed: Path, synchronous: str
) -> None:
    """A power failure may keep a later frame of the log and lose an earlier one."""
    log = Path(f"{crashed}-wal")
    overwrite(log, log.stat().st_size // 2, 4)

    backend = await open_sqlite(f"sqlite:///{crashed}?synchronous={synchronous}")

    await backend.check_integrity()
    await backend.create("/new", b"x")
    await backend.close()


def test_a_log_that_another_process_replays_meanwhile_is_no_damage(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It closes the store between the first look at the log and the lock."""
    other, connect = open_file(path), sqlite3.connect
    other.execute("UPDATE store SET revision = revision + 1")
    other.execute("UPDATE store SET revision = revision - 1")

    def close_and_connect(*args: Any, **options: Any) -> sqlite3.Connection:
        other.close()
        return cast(sqlite3.Connection, connect(*args, **options))

    assert Path(f"{path}-wal").stat().st_size > 0
    monkeypatch.setattr(sqlite3, "connect", close_and_connect)

    assert replay_log(path) == 0


async def test_a_log_in_use_is_no_damage(tmp_path: Path) -> None:
    """Whatever another process writes while a store is opened."""
    url = f"sqlite:///{tmp_path}/store.db"
    first = await open_sqlite(url)

    async def write() -> None:
        for number in range(400):
            await first.create(f"/{number}", b"x" * 500)

    async def open_again() -> None:
        for _ in range(15):
            other = await open_sqlite(url)
            await other.check_integrity()
            await other.close()

    await asyncio.gather(write(), open_again())
    await first.close()
