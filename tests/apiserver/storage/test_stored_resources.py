"""What is in a store is found without knowing the types."""

import asyncio

from apimachinery.schema import GroupResource
from apiserver.storage.interface import Backend
from apiserver.storage.stored_resources import (
    PAGE,
    count_below,
    is_defined,
    prefix_of,
    records_below,
    stored_resources,
)

WIDGETS = GroupResource("example.io", "widgets")


async def fill(backend: Backend, *keys: str, value: bytes = b"{}") -> None:
    # At once, so that SQLite commits many together.
    await asyncio.gather(*(backend.create(key, value) for key in keys))


async def test_every_resource_is_found_once(backend: Backend) -> None:
    await fill(
        backend,
        "/registry/core/pods/default/a",
        "/registry/core/pods/default/b",
        "/registry/core/pods/shop/a",
        "/registry/core/podtemplates/default/a",
        "/registry/core/nodes/a",
        "/registry/example.io/widgets/default/a",
        "/registry/example.io.more/widgets/default/a",
        "/registry/\U0001f600/\u00e9/a",
        # No keys of objects:
        "/registry/alone",
        "/registry/core/loose",
        "/registry//odd/a",
        "/registry/zz/too/many/parts/here",
        "/servers/a",
    )

    found = [resource async for resource in stored_resources(backend)]

    assert sorted(map(str, found)) == [
        "nodes",
        "pods",
        "podtemplates",
        "widgets.example.io",
        "widgets.example.io.more",
        "\u00e9.\U0001f600",
    ]


async def test_an_empty_store_has_no_resources(backend: Backend) -> None:
    assert [resource async for resource in stored_resources(backend)] == []


async def test_objects_are_counted_per_resource_and_namespace(backend: Backend) -> None:
    await fill(
        backend,
        "/registry/example.io/widgets/shop/a",
        "/registry/example.io/widgets/shop/b",
        "/registry/example.io/widgets/shopping/a",
    )

    assert await count_below(backend, prefix_of(WIDGETS)) == 3
    assert await count_below(backend, prefix_of(WIDGETS, "shop")) == 2
    assert await count_below(backend, prefix_of(WIDGETS, "sho")) == 0


async def test_records_of_many_pages_are_read(backend: Backend) -> None:
    keys = [f"/registry/example.io/widgets/shop/{number:04}" for number in range(PAGE + 1)]
    await fill(backend, *keys)

    found = [record.key async for record in records_below(backend, prefix_of(WIDGETS))]

    assert found == keys


async def test_a_definition_is_found_by_the_resource_it_defines(backend: Backend) -> None:
    await fill(
        backend, "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.io"
    )

    assert await is_defined(backend, WIDGETS)
    assert not await is_defined(backend, GroupResource("example.io", "gadgets"))
    assert not await is_defined(backend, GroupResource("", "widgets"))
