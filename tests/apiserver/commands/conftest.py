"""Stores with objects of a first release, and a module with later releases of the same group."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from apiserver.storage.backends import open_backend
from tests.apiserver.evolution.releases import Api, release, serving_alone
from tests.apiserver.storage.etcd.etcd_server import start_etcd

FIRST = {"color": (str, ""), "watts": (int, 0)}

MODULE = """
from typing import Literal
from apimachinery.model.model import field
from apiserver import Strategy
from apimachinery.fieldpath import Path, invalid
from tests.apiserver.evolution.releases import release

FIRST = {"color": (str, ""), "watts": (int, 0)}


class Sensible(Strategy):
    def validate(self, obj):
        if obj.spec.watts > 100:
            yield invalid(Path("spec", "watts"), obj.spec.watts, "is a heater")


SAME = release(FIRST)
ADDED = release({**FIRST, "socket": (str, "E27")})
EXPIRING = release({**FIRST, "socket": (str, "E27")}, ttl=lambda lamp: 1000)
GONE = release({"watts": (int, 0)})
RENAMED = release(
    {"shade": (str, ""), "watts": (int, 0)},
    lambda scheme, lamp: scheme.add_upgrade(lamp, renames={"spec.color": "spec.shade"}),
)
RETYPED = release({"color": (int, 0), "watts": (int, 0)})
STRICTER = release(
    {"color": (Literal["", "red"], ""), "watts": (int, 0), "maker": (str, field(...))},
    strategy=Sensible(),
)
"""


@pytest.fixture(scope="session")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_etcd(tmp_path_factory.mktemp("etcd")) as address:
        yield address


@pytest.fixture(params=["sqlite", "etcd"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store of each kind that servers can share."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.sqlite"
    return f"etcd://{request.getfixturevalue('etcd')}?prefix=/test-{uuid4().hex}"


@pytest.fixture(autouse=True)
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands import the module `shop`, and find no settings in the environment."""
    (tmp_path / "shop.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    for name in list(os.environ):
        if name.startswith("APISERVER_"):
            monkeypatch.delenv(name)


def fill(store: str, use: Callable[[Api], Awaitable[Any]], **fields: Any) -> None:
    """Serve the first release from a store, and have *use* write objects."""

    async def serve() -> None:
        async with serving_alone(release({**FIRST, **fields}), storage=store) as api:
            await use(api)

    asyncio.run(serve())


def contents(store: str, prefix: str = "/") -> dict[str, tuple[int, bytes]]:
    """Return the revisions and values of all keys below a prefix."""

    async def read() -> dict[str, tuple[int, bytes]]:
        backend = await open_backend(store)
        page = await backend.range(prefix)
        await backend.close()
        return {record.key: (record.revision, record.value) for record in page.records}

    return asyncio.run(read())
