"""What controllers learn from the store, and how much of it they read."""

from pathlib import Path

import pytest

from apimachinery.schema import GroupResource
from apis.core.controllers.namespace_conditions import Remaining
from apis.core.install import CORE
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.authorization import AlwaysAllow
from apiserver.controlplane.stored_contents import OBJECTS_READ, StoredContents
from apiserver.storage.interface import KeyPage
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apis.controlled import controlled_server
from tests.apiserver.storage.conftest import SettableClock

HELD = b'{"kind":"Lamp","apiVersion":"shop.io/v1","metadata":{"finalizers":["a/b"]}}'
FREE = b'{"kind":"Lamp","apiVersion":"shop.io/v1","metadata":{}}'


async def test_a_large_namespace_is_counted_without_reading_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with controlled_server() as server:
        backend = server.app.groups.backend
        objects = OBJECTS_READ * 3
        for number in range(objects):
            value = FREE if number else HELD
            await backend.create(f"/registry/shop.io/lamps/shop/{number:04}", value)
            await backend.create(f"/registry/shop.io/lamps/other/{number:04}", value)
        read, list_records = [], backend.range

        async def counting(
            prefix: str, *, start: str = "", limit: int = 0, revision: int | None = None
        ) -> KeyPage:
            page = await list_records(prefix, start=start, limit=limit, revision=revision)
            read.append(len(page.records))
            return page

        monkeypatch.setattr(backend, "range", counting)

        (found,) = await server.stored.in_namespace("shop")

    assert found == Remaining(
        GroupResource("shop.io", "lamps"),
        [["a/b"], *[[]] * (OBJECTS_READ - 1)],
        unread=objects - OBJECTS_READ,
    )
    assert found.count == objects
    assert OBJECTS_READ <= sum(read) < OBJECTS_READ + 20


async def test_an_object_that_expires_still_does_without_its_owner(tmp_path: Path) -> None:
    clock = SettableClock()
    url = f"sqlite:///{tmp_path}/store.sqlite"
    app = App(
        (CORE,),
        lambda: open_sqlite(url, clock=clock),
        authentication=Authentication([]),
        authorizer=AlwaysAllow(),
    )
    await app.start()
    backend, key = app.backend, "/registry/shop.io/lamps/shop/a"
    owned = b'{"metadata":{"ownerReferences":[{"uid":"u"}]}}'
    await backend.create(key, owned, ttl=60)

    await StoredContents(app.groups).disown_unserved("u", "shop")

    record = await backend.get(key)
    assert record is not None
    async with backend.watch(key, after=record.revision) as feed:
        clock.advance(60)
        batch = await anext(feed)
    assert [change.previous for change in batch.changes] == [b'{"metadata":{}}']
    await app.stop()
