"""One SQLite file in the hands of several real processes, and of one that is killed."""

import json
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pytest

from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.storage.sqlite.sqlite_child import value_of
from tests.faults.figures import record_figures

ROOT = Path(__file__).parents[4]


@contextmanager
def child(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    command = [
        sys.executable,
        "-m",
        "tests.apiserver.storage.sqlite.sqlite_child",
        *map(str, arguments),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def acknowledged_until_killed(path: Path, name: str, count: int) -> dict[str, tuple[int, int]]:
    """Let a child write, kill it after *count* answers; the last one it gave for every key."""
    with child("load", path, name) as process:
        lines = [output(process).readline() for _ in range(count)]
        process.kill()
        lines += output(process).readlines()
    # The last line may have been cut off.
    answers = [line.split() for line in lines if line.endswith(b"\n")]
    assert len(answers) >= count
    return {key.decode(): (int(revision), int(number)) for key, revision, number in answers}


async def check_after_kill(path: Path, answers: dict[str, tuple[int, int]]) -> None:
    backend = await open_sqlite(f"sqlite:///{path}")
    for key, (revision, number) in answers.items():
        record = await backend.get(key)
        assert record is not None
        written = int(record.value.split()[1])
        assert record.value == value_of(key, written)
        # One write more may have been committed whose answer was not given any more.
        assert (record.revision, written) == (revision, number) or (
            record.revision > revision and written == number + 1
        )
    current = await backend.current_revision()
    assert current >= max(revision for revision, _ in answers.values())
    assert await backend.create(f"/after/{current}", b"") == current + 1
    await backend.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("SELECT count(*), max(revision) FROM history").fetchone() == (
        current,
        current + 1,
    )
    connection.close()


async def kill_in_rounds(path: Path, rounds: int) -> None:
    dice = random.Random(rounds)
    writes = 0
    for number in range(rounds):
        answers = acknowledged_until_killed(path, f"round{number}", dice.randrange(1, 3000))
        await check_after_kill(path, answers)
        writes += len(answers)
    record_figures(
        "fault suites", "a process that writes to SQLite is killed", rounds=rounds, writes=writes
    )


async def test_acknowledged_writes_survive_kill_9(tmp_path: Path) -> None:
    await kill_in_rounds(tmp_path / "store.db", 3)


@pytest.mark.torture
async def test_acknowledged_writes_survive_kill_9_again_and_again(tmp_path: Path) -> None:
    await kill_in_rounds(tmp_path / "store.db", 50)


def test_feeds_of_two_processes_tell_all_writes_of_both_once_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    with (
        child("exchange", path, "one", 300, 600) as one,
        child("exchange", path, "other", 300, 600) as other,
    ):
        told, told_other = (json.load(output(each)) for each in (one, other))

    assert told == told_other
    assert [revision for revision, _ in told] == list(range(2, 602))
    assert sorted(key for _, key in told) == sorted(
        f"/{name}/{number:05}" for name in ("one", "other") for number in range(300)
    )


def test_no_reader_sees_a_revision_before_the_one_before_it(tmp_path: Path) -> None:
    """At every moment the history that can be seen has no hole and ends where the store says."""
    path = tmp_path / "store.db"
    with ExitStack() as children:
        writers = [children.enter_context(child("write", path, n, 1000)) for n in range(3)]
        looks = set()
        while any(writer.poll() is None for writer in writers):
            if (look := visible(path)) is not None:
                looks.add(look)
        assert [writer.returncode for writer in writers] == [0, 0, 0]

    assert all(count == newest - 1 == revision - 1 for count, newest, revision in looks)
    assert visible(path) == (3000, 3001, 3001)
    assert len(looks) > 5


def visible(path: Path) -> tuple[int, int, int] | None:
    if not path.exists():
        return None
    connection = sqlite3.connect(path, timeout=10)
    try:
        found: tuple[int, int, int] = connection.execute(
            """SELECT (SELECT count(*) FROM history),
                      (SELECT ifnull(max(revision), 1) FROM history),
                      (SELECT revision FROM store)"""
        ).fetchone()
    except sqlite3.OperationalError as error:
        # The first of the writers has not made the tables yet.
        assert "no such table" in str(error)
        return None
    finally:
        connection.close()
    return found
