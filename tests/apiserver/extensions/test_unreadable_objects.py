"""Custom resources whose stored bytes cannot be decoded."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from apiserver.app import App
from apiserver.storage.interface import Backend, Record
from apiserver.storage.sqlite.backend import open_sqlite
from client.testing.app_server import InMemoryServer
from tests.apiserver.extensions.definitions import (
    WIDGETS,
    Defined,
    version,
    widget,
)
from tests.apiserver.http.driver import Driver

OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"
OLD = "/registry/example.io/widgets/default/old"
V2 = WIDGETS.replace("v1", "v2")


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[InMemoryServer]:
    server = InMemoryServer((), storage=f"sqlite:///{tmp_path}/store.sqlite")
    await server.app.start()
    yield server
    await server.app.stop()


@pytest.fixture
async def backend(tmp_path: Path, running: InMemoryServer) -> AsyncIterator[Backend]:
    """The store of the server."""
    opened = await open_sqlite(f"sqlite:///{tmp_path}/store.sqlite")
    yield opened
    await opened.close()


@pytest.mark.parametrize("url", [WIDGETS, V2])
async def test_they_are_deleted_in_any_version(
    client: Driver, defined: Defined, backend: Backend, url: str
) -> None:
    await defined(version(), version("v2", storage=False))
    await backend.create(OLD, b"{garbage")
    await client.post(WIDGETS, widget("good"))

    refused = await client.delete(f"{url}/good?{OPTION}=true")
    answer = await client.delete(f"{url}/old?{OPTION}=true")

    assert refused.code == 422
    assert answer.code == 200
    assert answer.json["details"] == {"name": "old", "kind": "Widget"}
    assert await backend.get(OLD) is None


async def test_metrics_count_them_once(client: Driver, app: App, defined: Defined) -> None:
    await defined(version(), version("v2", storage=False))
    for name in ("v1", "v2"):
        endpoints = app.groups.version("example.io", name)
        assert endpoints is not None
        endpoints["widgets"].view.problems.add(Record(OLD, b"", 1, 1), "bad")

    text = (await client.get("/metrics")).body.decode()

    labels = r'{group="example.io",resource="widgets"}'
    assert re.search(rf"^apiserver_storage_undecodable_objects{labels} 1\.0$", text, re.MULTILINE)
    assert re.search(rf"^apiserver_storage_decode_errors_total{labels} 2\.0$", text, re.MULTILINE)
