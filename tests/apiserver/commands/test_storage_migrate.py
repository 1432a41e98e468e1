"""`apiserver storage migrate`: stored objects are rewritten in today's shape, and nothing else."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from apiserver.__main__ import main
from apiserver.storage.backends import open_backend
from tests.apiserver.commands.conftest import FIRST, contents, fill
from tests.apiserver.evolution.releases import GROUP, LAMPS, NAME, Api, release, serving_alone

ROOT = Path(__file__).parent.parent.parent.parent
STORED = f"/registry/{GROUP}/lamps/"


async def lamps(api: Api) -> None:
    await api.create("red", color="red", watts=40)
    applied = await api(
        "PATCH",
        f"{LAMPS}/red",
        {"apiVersion": f"{GROUP}/v1", "kind": "Lamp", "spec": {"color": "red"}},
        content_type="application/apply-patch+yaml",
        query={"fieldManager": "me", "force": "true"},
    )
    assert applied.code == 200, applied.body
    await api.create("plain")


def migrate(store: str, release: str, *flags: str) -> int:
    return main(["storage", "migrate", f"shop:{release}", "--storage", store, *flags])


def documents(store: str) -> dict[str, Any]:
    return {
        key.rpartition("/")[2]: orjson.loads(value)
        for key, (_, value) in contents(store, STORED).items()
    }


def test_only_the_encoding_changes(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    fill(store, lamps)
    before = documents(store)

    assert migrate(store, "RENAMED") == 0

    after = documents(store)
    assert capsys.readouterr().out.splitlines()[-1] == "2 objects rewritten"
    assert after["red"]["spec"] == {"shade": "red", "watts": 40}
    assert {each["$shape"] for each in after.values()}.isdisjoint(
        each["$shape"] for each in before.values()
    )
    assert after["plain"]["metadata"] == before["plain"]["metadata"]
    owned = [
        entry["fieldsV1"]["f:spec"]
        for entry in after["red"]["metadata"].pop("managedFields")
        if entry["manager"] == "me"
    ]
    assert owned == [{"f:shade": {}}]
    before["red"]["metadata"].pop("managedFields")
    assert after["red"]["metadata"] == before["red"]["metadata"]

    written = contents(store)
    assert migrate(store, "RENAMED") == 0
    assert contents(store) == written, "objects of today's shape are left alone"


def test_a_dry_run_writes_nothing(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    fill(store, lamps)
    before = contents(store)

    assert migrate(store, "RENAMED", "--dry-run") == 0

    out = capsys.readouterr().out.splitlines()
    assert [NAME, "0", "2", "0"] in [line.split() for line in out]
    assert out[-1] == "2 objects would be rewritten"
    assert contents(store) == before


def test_values_are_lost_only_with_consent(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    fill(store, lamps)
    before = contents(store)

    assert migrate(store, "GONE") == 1
    assert "the field spec.color is gone" in capsys.readouterr().err
    assert contents(store) == before

    assert migrate(store, "GONE", "--accept-field-loss", f"{NAME}/spec.color") == 0
    assert documents(store)["red"]["spec"] == {"watts": 40}


def test_an_object_that_cannot_be_read_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path}/store.sqlite"
    fill(store, lamps)
    odd = f'{{"kind":"Lamp","apiVersion":"{GROUP}/__internal","metadata":{{}},"spec":3}}'.encode()
    asyncio.run(_write(store, f"{STORED}default/odd", odd))

    assert migrate(store, "ADDED", "--resource", NAME) == 1

    out = capsys.readouterr().out
    assert f"{NAME}: default/odd is left as it is: " in out
    assert out.splitlines()[-1] == "2 objects rewritten, 1 left as they are"
    assert contents(store, STORED)[f"{STORED}default/odd"][1] == odd


def test_objects_with_a_time_to_live_still_expire(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.sqlite"

    async def expiring() -> None:
        async with serving_alone(release(FIRST, ttl=lambda _: 1000), storage=store) as api:
            await lamps(api)

    asyncio.run(expiring())

    assert migrate(store, "EXPIRING") == 0

    assert documents(store)["plain"]["spec"] == {"socket": "E27"}
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as database:
        query = "SELECT count(*) FROM newest WHERE key LIKE ? AND expires IS NOT NULL"
        assert database.execute(query, (f"{STORED}%",)).fetchone() == (2,)


def test_a_copied_store_knows_the_shapes_of_its_objects(tmp_path: Path) -> None:
    store, copy = f"sqlite:///{tmp_path}/store.sqlite", f"sqlite:///{tmp_path}/copy.sqlite"
    fill(store, lamps)
    server = "/servers/host/1"
    asyncio.run(_write(store, server, b"{}"))

    assert main(["storage", "copy", store, copy]) == 0

    copied = contents(copy)
    assert {key for key in contents(store) if not key.startswith("/servers/")} == set(copied)
    assert any(key.startswith("/shapes/") for key in copied)
    assert migrate(copy, "GONE") == 1


def test_a_resource_that_is_not_there_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path}/store.sqlite"
    fill(store, lamps)

    assert migrate(store, "ADDED", "--resource", "widgets.example.io") == 1
    assert "--resource: 'widgets.example.io' is not stored" in capsys.readouterr().err
    assert migrate(f"{store}.typo", "ADDED") == 1
    assert "there is no store" in capsys.readouterr().err


async def test_a_server_writes_meanwhile(store: str) -> None:
    """Its writes win, and its watches see the others as modified."""
    count = 60
    async with serving_alone(release(FIRST), storage=store) as old:
        for number in range(count):
            await old.create(f"lamp-{number:02}", color="red")
    added = release({**FIRST, "socket": (str, "E27")})
    async with serving_alone(added, storage=store) as api:
        listed = (await api("GET", LAMPS)).json["metadata"]["resourceVersion"]
        arguments = ["storage", "migrate", "shop:ADDED", "--storage", store, "--rate", "200"]
        migration = asyncio.create_task(asyncio.to_thread(main, arguments))
        while (await api("GET", LAMPS)).json["metadata"]["resourceVersion"] == listed:
            await asyncio.sleep(0)  # until the migration has written the first object
        for number in reversed(range(count)):
            answer = await api.patch(f"lamp-{number:02}", {"spec": {"watts": number}})
            assert answer.code == 200, answer.body
        assert await migration == 0

        items = (await api("GET", LAMPS)).items
        query = {"watch": "1", "timeoutSeconds": "1", "resourceVersion": listed}
        events = [
            orjson.loads(line) for line in (await api("GET", LAMPS, query=query)).body.splitlines()
        ]

    assert [item["spec"].get("watts", 0) for item in items] == list(range(count))
    assert {item["metadata"]["generation"] for item in items} == {1, 2}
    assert {event["type"] for event in events} == {"MODIFIED"}
    assert len(events) > count, "objects were migrated and written"


def test_an_interrupted_run_is_continued(tmp_path: Path) -> None:
    store, count = f"sqlite:///{tmp_path}/store.sqlite", 40

    async def many(api: Api) -> None:
        for number in range(count):
            await api.create(f"lamp-{number:02}", color="red")

    fill(store, many)
    before = {name: each["$shape"] for name, each in documents(store).items()}
    command = [sys.executable, "-m", "apiserver", "storage", "migrate", "shop:RENAMED"]
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    process = subprocess.Popen(
        [*command, "--storage", store, "--rate", "2"],
        env=environ,
        stdout=subprocess.PIPE,
        # A shell starts its background jobs with this signal ignored, and these tests may be one.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while _migrated(store, before) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)  # leave the processor to the command
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)

    done = _migrated(store, before)
    assert process.returncode == 130
    assert 2 <= done < count
    assert {
        each["spec"].get("shade") or each["spec"].get("color") for each in documents(store).values()
    } == {"red"}
    assert migrate(store, "RENAMED", "--rate", "0") == 0
    assert _migrated(store, before) == count


def _migrated(store: str, before: dict[str, str]) -> int:
    return sum(each["$shape"] != before[name] for name, each in documents(store).items())


async def _write(store: str, key: str, value: bytes) -> None:
    backend = await open_backend(store)
    await backend.create(key, value)
    await backend.close()
