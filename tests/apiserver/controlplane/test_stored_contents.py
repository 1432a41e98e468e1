"""What controllers learn from the store, and how much of it they read."""

import pytest

from apimachinery.schema import GroupResource
from apis.core.controllers.namespace_conditions import Remaining
from apiserver.controlplane.stored_contents import OBJECTS_READ
from apiserver.storage.interface import KeyPage
from tests.apis.controlled import controlled_server

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
