"""The disk of an SQLite store is full: a clear error, nothing lost, and on when there is room."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.load import CONFIG_MAPS
from tests.servers import Answer, Server, serving

SIZE = 8 * 1024 * 1024
RESERVE = 2 * 1024 * 1024
OBJECT = 200_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, as large as *SIZE*."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("a small file system can only be mounted by root")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    made = subprocess.run(mount, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def store(server: Server, name: str) -> Answer:
    body = {"metadata": {"name": name}, "data": {"x": "y" * OBJECT}}
    return server.request("POST", CONFIG_MAPS, body)


def names(answer: Answer) -> set[str]:
    """What is listed, without what every namespace has."""
    return {item["metadata"]["name"] for item in answer.json["items"]} - {"kube-root-ca.crt"}


def test_a_full_disk_is_told_and_survived(disk: Path, tmp_path: Path) -> None:
    reserve, file = disk / "reserve", disk / "store.db"
    reserve.write_bytes(bytes(RESERVE))
    with serving(tmp_path / "server", storage=f"sqlite:///{file}") as server:
        stored: set[str] = set()
        while (answer := store(server, name := f"map-{len(stored)}")).code == 201:
            stored.add(name)
            assert len(stored) * OBJECT < SIZE, "the disk does not fill up"

        listed = server.request("GET", CONFIG_MAPS)
        read = server.request("GET", f"{CONFIG_MAPS}/map-0")
        reserve.unlink()
        again = store(server, "after")
        server.kill()
        with closing(sqlite3.connect(file)) as database:
            checked = database.execute("PRAGMA integrity_check").fetchall()
        server.start()
        kept = server.request("GET", CONFIG_MAPS)

        assert (answer.code, answer.json["reason"]) == (500, "InternalError")
        assert "the store is full: SQLite: database or disk is full" in answer.json["message"]
        assert read.code == 200
        assert names(listed) == stored
        assert again.code == 201
        assert checked == [("ok",)]
        assert names(kept) == stored | {"after"}
        assert "database or disk is full; free space on the disk" in server.log
        assert "Traceback" not in server.log
