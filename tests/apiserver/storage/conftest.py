"""The stores that the conformance suite runs over.

`backend` is one store of each kind; `pair` is two backends on one store, as two processes have
them. A test that takes `clock` can let time pass where the store lets us (SQLite); etcd keeps its
own time, so there the time really passes.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from apiserver.storage.etcd.backend import open_etcd
from apiserver.storage.interface import Backend
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.storage.etcd.etcd_server import start_etcd

LARGE_VALUES = "max-value-bytes=8000000"
"""The largest value of the suite is 5 MiB."""


@dataclass
class SettableClock:
    """Seconds since the epoch, as long ago as the test likes."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture(scope="session")
def etcd_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    # etcd refuses requests over 1.5 MiB if not told.
    with start_etcd(tmp_path_factory.mktemp("etcd"), "--max-request-bytes=16777216") as address:
        yield address


@pytest.fixture(params=["sqlite-file", "sqlite-memory", "etcd"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return _url(request, tmp_path)


@pytest.fixture(params=["sqlite-file", "etcd"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return _url(request, tmp_path)


@pytest.fixture
async def backend(store_url: str, clock: SettableClock) -> AsyncIterator[Backend]:
    opened = await open_store(store_url, clock)
    yield opened
    await opened.close()


@pytest.fixture
async def pair(shared_url: str, clock: SettableClock) -> AsyncIterator[tuple[Backend, Backend]]:
    opened = await open_store(shared_url, clock), await open_store(shared_url, clock)
    yield opened
    for each in opened:
        await each.close()


async def open_store(url: str, clock: SettableClock) -> Backend:
    if url.startswith("sqlite:"):
        return await open_sqlite(url, clock=clock)
    return await open_etcd(url)


def _url(request: pytest.FixtureRequest, directory: Path) -> str:
    match request.param:
        case "sqlite-file":
            return f"sqlite:///{directory / 'store.db'}?{LARGE_VALUES}"
        case "sqlite-memory":
            return f"sqlite://:memory:?{LARGE_VALUES}"
        case _:
            address = request.getfixturevalue("etcd_address")
            return f"etcd://{address}?prefix=/test-{uuid4().hex}&{LARGE_VALUES}"
