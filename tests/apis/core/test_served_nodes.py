"""Nodes on a server: the status of a new node, selection by fields, and updates of the status."""

from collections.abc import AsyncIterator

import pytest

from apis.core.v1 import Namespace, Node
from apis.kubernetes import KUBERNETES
from client.client import AsyncClient
from client.testing import environment


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    async with environment(KUBERNETES) as env:
        yield env.client


async def test_nodes_register_and_report(client: AsyncClient) -> None:
    nodes = client.of(Node)

    registered = await nodes.create({"metadata": {"name": "a"}, "status": {"phase": "Pending"}})

    assert (registered.status.phase, registered.metadata.generation) == ("Pending", 0)

    registered.spec.unschedulable = True
    registered.status.phase = "Running"
    registered.metadata.annotations["note"] = "reported"
    reported = await nodes.status.update(registered)

    assert (reported.status.phase, reported.spec.unschedulable) == ("Running", False)
    assert reported.metadata.annotations == {"note": "reported"}


async def test_an_omitted_value_is_selected_as_its_zero(client: AsyncClient) -> None:
    nodes = client.of(Node)
    await nodes.create({"metadata": {"name": "open"}})
    await nodes.create({"metadata": {"name": "closed"}, "spec": {"unschedulable": True}})

    async def names(fields: str) -> list[str]:
        return [node.metadata.name async for node in nodes.list(fields=fields)]

    assert await names("spec.unschedulable=false") == ["open"]
    assert await names("spec.unschedulable=true") == ["closed"]
    assert await names("spec.unschedulable!=true") == ["open"]


async def test_a_status_patch_of_a_namespace_keeps_changed_annotations(client: AsyncClient) -> None:
    patch = {"metadata": {"annotations": {"note": "patched"}}, "spec": {"finalizers": []}}

    patched = await client.of(Namespace).status.patch("default", patch)

    assert patched.metadata.annotations == {"note": "patched"}
    assert patched.spec.finalizers == ["kubernetes"]
