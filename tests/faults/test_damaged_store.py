"""A damaged SQLite file under a running server: told, named, and nothing written into it."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.load import CONFIG_MAPS
from tests.servers import Answer, Server, ServerFailed, serving

PAGE = 4096


def store(server: Server, name: str) -> Answer:
    return server.request("POST", CONFIG_MAPS, {"metadata": {"name": name}, "data": {"x": "y"}})


def damage(file: Path, content: bytes) -> None:
    """Overwrite the pages that have some content, as a failing disk does."""
    pages = file.read_bytes()
    with file.open("r+b") as damaged:
        for offset in range(0, len(pages), PAGE):
            if content in pages[offset : offset + PAGE]:
                damaged.seek(offset)
                damaged.write(b"\xa5" * PAGE)


def verify(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "apiserver", "storage", "verify", f"sqlite:///{file}"]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_damaged_file_is_told_and_takes_no_writes_until_it_is_restored(tmp_path: Path) -> None:
    file, backup = tmp_path / "store.db", tmp_path / "backup.db"
    with serving(tmp_path / "server", storage=f"sqlite:///{file}", workers=3) as server:
        for number in range(20):
            store(server, f"map-{number}")
        for _ in range(10):  # so that each worker has everything in memory
            server.request("GET", CONFIG_MAPS)
        with closing(sqlite3.connect(file, isolation_level=None)) as database:
            database.execute("VACUUM INTO ?", (str(backup),))
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        damage(file, b'"name":"map-3"')
        # From before the start of the server, so that it is not in memory.
        old = server.request("GET", f"{CONFIG_MAPS}?resourceVersion=1&resourceVersionMatch=Exact")
        written = [store(server, f"after-{number}") for number in range(10)]
        read = server.request("GET", f"{CONFIG_MAPS}/map-3")
        listed = server.request("GET", CONFIG_MAPS)
        ready, alive = server.request("GET", "/readyz"), server.request("GET", "/livez")
        server.stop()
        served = server.log
        with pytest.raises(ServerFailed):
            server.start()
        refused = server.log.removeprefix(served)
        found = verify(file)

        shutil.copy(backup, file)
        restored = verify(file)
        server.start()
        again = store(server, "again")

    assert (old.code, old.json["reason"]) == (500, "InternalError")
    assert [answer.code for answer in written] == [500] * 10
    assert "the store is damaged: SQLite: " in written[0].json["message"]
    assert "restores it from a backup" in written[0].json["message"]
    assert read.code == 200
    assert len(listed.json.get("items", ())) >= 20, listed.json
    assert (ready.code, alive.code) == (500, 200)
    assert "[-]storage-integrity failed" in ready.body.decode()
    assert "restores it from a backup" in refused
    assert "Traceback" not in refused
    assert found.returncode == 1
    assert "is damaged; restore it from a backup" in found.stdout
    assert restored.returncode == 0
    assert again.code == 201
