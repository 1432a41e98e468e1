"""The keys by which servers of one store know each other."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from apimachinery.schema import GroupResource
from apiserver.evolution.running_servers import (
    RENEWAL,
    SERVERS,
    TIME_TO_LIVE,
    RunningServer,
    registered,
    registered_servers,
    running_servers,
    this_server,
)
from apiserver.evolution.server_identity import IDENTITY, identify_server
from apiserver.storage.interface import Backend, Record
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.evolution.conftest import NewStore
from tests.apiserver.evolution.releases import LAMPS, NAME, release, serving, serving_alone
from tests.apiserver.storage.conftest import SettableClock


async def test_a_server_has_a_key_while_it_runs(new_store: NewStore) -> None:
    store = new_store()
    async with serving(release({"color": (str, "")}), storage=store) as api:
        await _until_registered(api.app.backend)
        (record,) = (await api.app.backend.range(SERVERS)).records
        value = orjson.loads(record.value)
        assert value["process"] == os.getpid()
        assert value["resources"][NAME] == api.app.groups.shapes()[NAME]
    async with serving(storage=store) as api:
        await _until_registered(api.app.backend)
        (record,) = (await api.app.backend.range(SERVERS)).records
        assert NAME not in orjson.loads(record.value)["resources"]


async def test_a_key_is_renewed_and_removed(tmp_path: Path) -> None:
    clock = SettableClock()
    store = await open_sqlite(f"sqlite:///{tmp_path}/store.sqlite", clock=clock)
    assert RENEWAL * 2 < TIME_TO_LIVE
    async with registered(store, {NAME: "a"}, renewal=0.01):
        await _until_registered(store)
        for _ in range(3):
            (before,) = (await store.range(SERVERS)).records
            clock.advance(TIME_TO_LIVE - 1)
            await _until_registered(store, after=before.revision)
    assert (await store.range(SERVERS)).records == []
    await store.close()


async def test_a_store_that_does_not_answer_does_not_delay_a_stop(tmp_path: Path) -> None:
    store = await open_sqlite(f"sqlite:///{tmp_path}/store.sqlite")
    stopping = _Stopping(store)

    async with asyncio.timeout(10):
        async with registered(cast("Backend", stopping), {NAME: "a"}, removal=0.01):
            stopping.answers = False

    assert stopping.asked
    await store.close()


class _Stopping:
    """A store that can stop answering."""

    def __init__(self, store: Backend) -> None:
        self._store = store
        self.answers = True
        self.asked = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get(self, key: str) -> Record | None:
        if not self.answers:
            self.asked = True
            await asyncio.Event().wait()
        return await self._store.get(key)


async def test_processes_of_this_machine_that_are_gone_are_left_out(tmp_path: Path) -> None:
    """The process ids of other machines and containers say nothing here, whatever the host name."""
    store = await open_sqlite(f"sqlite:///{tmp_path}/store.sqlite")
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    own = this_server({})
    here = RunningServer("same", "a", child.pid, {NAME: "a"}, own.machine)
    there = replace(here, host="elsewhere", machine="another boot pid:[1]")
    unknown = replace(here, host="without-proc", machine="")
    try:
        for server in (here, there, unknown):
            await store.create(server.key, server.to_bytes(), ttl=TIME_TO_LIVE)
        await store.create(f"{SERVERS}x", b"not a server")
        hosts = {each.host for each in await running_servers(store)}
        assert hosts == {"same", "elsewhere", "without-proc"}
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        waited_for = {server.host for server in await running_servers(store)}
    finally:
        child.kill()
        child.communicate()

    remaining = {server.host for server in await running_servers(store)}
    assert waited_for == remaining == {"elsewhere", "without-proc"}
    await store.close()


@pytest.mark.parametrize("value", [b"{", b"[]", b"{}", b'{"host":"a","resources":["widgets"]}'])
async def test_a_key_that_cannot_be_read_is_no_server(tmp_path: Path, value: bytes) -> None:
    widgets = RunningServer("a", "1", 2, {"widgets.example.io": ""})
    store = await open_sqlite(f"sqlite:///{tmp_path}/store.sqlite")
    await store.create(widgets.key, widgets.to_bytes())
    await store.create(f"{SERVERS}a/1", value)

    assert await registered_servers(store) == [widgets]
    await store.close()
    assert widgets.serves(GroupResource("example.io", "widgets"))
    assert not widgets.serves(GroupResource("", "widgets"))


async def test_watches_list_again_when_the_last_server_of_another_shape_has_stopped(
    new_store: NewStore,
) -> None:
    """A client that watched there, and goes on here, has seen objects in the other shape."""
    async with serving_alone(release({"color": (str, "")}), storage=new_store()) as api:
        store, groups = api.app.backend, api.app.groups
        other = RunningServer("elsewhere", "1", 1, {NAME: "another", "x.example.io": "y"})
        key = await store.create(other.key, other.to_bytes())
        async with registered(
            store, groups.shapes(), renewal=0.01, on_settled=groups.expire_watches
        ):
            await _until_registered(store, after=key)
            await api.create("a", color="red")
            events = api.events()
            added = await anext(events)
            await store.delete(other.key, revision=key)
            ended = [event async for event in events]
            listed = await api("GET", LAMPS)
            await api.create("b")
            (resumed,) = await api.watch(
                1, resourceVersion=listed.json["metadata"]["resourceVersion"]
            )
            (expired,) = await api.watch(
                1, resourceVersion=added["object"]["metadata"]["resourceVersion"]
            )

    assert [event["object"]["code"] for event in ended] == [410]
    assert resumed["object"]["metadata"]["name"] == "b"
    assert expired["object"]["code"] == 410


@pytest.mark.parametrize("identified", [True, False])
async def test_workers_have_the_identity_of_their_master(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, identified: bool
) -> None:
    """Processes with the same parent are different servers unless their master says otherwise."""
    store = await open_sqlite(f"sqlite:///{tmp_path}/store.sqlite")
    monkeypatch.setattr(os, "environ", os.environ.copy())
    os.environ.pop(IDENTITY, None)  # of a server that another test has started in this process
    if identified:
        identify_server()
    code = (
        "import sys; from apiserver.evolution.running_servers import this_server;"
        "print(this_server({}).server); sys.stdout.flush(); input()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        identity = child.stdout.readline().strip()
        own = this_server({})
        worker = replace(own, server=identity, process=child.pid)
        await store.create(worker.key, worker.to_bytes())
        await store.create(own.key, own.to_bytes())

        assert (identity == own.server) is identified
        assert await running_servers(store) == ([] if identified else [worker])
    finally:
        child.kill()
        child.communicate()
        await store.close()


async def _until_registered(store: Backend, *, after: int = 0) -> None:
    """Wait for a key that was written after a revision."""
    async with asyncio.timeout(10):
        while all(each.revision <= after for each in (await store.range(SERVERS)).records):
            await asyncio.sleep(0.005)
