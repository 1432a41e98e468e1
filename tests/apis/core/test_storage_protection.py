"""Deleted claims, volumes and attributes classes stay as long as something uses them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from apimachinery.errors import NotFound
from apis.core.controllers.storage_protection import StorageProtection, mounts
from apis.core.v1 import Namespace, PersistentVolume, PersistentVolumeClaim, Pod
from apis.kubernetes import KUBERNETES
from apis.storage.v1 import VolumeAttributesClass
from client.interface import ResourceClient
from tests.apis.controlled import ControlledServer, controlled_server
from tests.apis.validating import decoded

pytestmark = pytest.mark.asyncio(loop_scope="function")

GROUPS = [group for group in KUBERNETES if group.name in ("", "storage.k8s.io")]


@pytest.fixture
async def server() -> AsyncIterator[ControlledServer]:
    async with controlled_server(*GROUPS) as running:
        await running.client.of(Namespace).create({"metadata": {"name": "default"}})
        async with running.running(StorageProtection(running.controllers_client)):
            yield running


def named(name: str, finalizer: str = "") -> dict[str, Any]:
    return {"name": name, "finalizers": [f"kubernetes.io/{finalizer}"] if finalizer else []}


async def gone(client: ResourceClient[Any], name: str) -> None:
    """Wait until an object does not exist."""
    try:
        current = await client.get(name)
    except NotFound:
        return
    async with client.watch(since=current.metadata.resource_version) as watch:
        async for event in watch:
            if event.type == "DELETED" and event.object.metadata.name == name:
                return


async def create_claim(server: ControlledServer, **spec: Any) -> ResourceClient[Any]:
    claims = server.client.of(PersistentVolumeClaim)
    requested = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    document = {"metadata": named("c", "pvc-protection"), "spec": {**requested, **spec}}
    await claims.create(document)
    return claims


async def create_pod(server: ControlledServer, name: str, node: str, *volumes: Any) -> None:
    spec = {
        "nodeName": node,
        "volumes": list(volumes),
        "containers": [{"name": "c", "image": "i"}],
    }
    await server.client.of(Pod).create({"metadata": {"name": name}, "spec": spec})


async def is_waiting(client: ResourceClient[Any], name: str) -> bool:
    return bool((await client.get(name)).metadata.finalizers)


async def test_a_claim_stays_until_no_pod_on_a_node_mounts_it(server: ControlledServer) -> None:
    claims = await create_claim(server)
    mount = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    await create_pod(server, "using", "n", mount)
    await create_pod(server, "waiting", "", mount)
    await create_pod(server, "other", "n", {"name": "v", "emptyDir": {}})
    await claims.delete("c")
    # The deletion of the other pod makes the controller look, as that of the first one does.
    await server.client.of(Pod).delete("other", grace_period=0)
    assert await is_waiting(claims, "c")

    await server.client.of(Pod).delete("using", grace_period=0)

    await gone(claims, "c")


@pytest.mark.parametrize(
    ("grace", "is_used"),
    [
        pytest.param(None, True, id="finished"),
        pytest.param(30, True, id="being deleted"),
        pytest.param(0, False, id="shut down"),
    ],
)
async def test_the_claim_of_an_ephemeral_volume_stays_until_its_pod_is_shut_down(
    grace: int | None, is_used: bool
) -> None:
    deletion = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": grace}
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    pod = decoded(
        Pod,
        {
            "metadata": {"name": "p", **(deletion if grace is not None else {})},
            "spec": {"nodeName": "n", "volumes": [volume]},
            "status": {"phase": "Succeeded"},
        },
    )

    assert mounts(pod, "p-v") is is_used


async def test_a_volume_stays_while_it_is_bound(server: ControlledServer) -> None:
    volumes = server.client.of(PersistentVolume)
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/x"},
    }
    await volumes.create({"metadata": named("v", "pv-protection"), "spec": spec})
    await volumes.status.patch("v", {"status": {"phase": "Bound"}})
    await volumes.delete("v")
    assert await is_waiting(volumes, "v")

    await volumes.status.patch("v", {"status": {"phase": "Released"}})

    await gone(volumes, "v")


async def test_an_attributes_class_stays_while_a_claim_names_it(server: ControlledServer) -> None:
    classes = server.client.of(VolumeAttributesClass)
    await classes.create(
        {"metadata": named("a", "vac-protection"), "driverName": "d", "parameters": {"x": "y"}}
    )
    claims = await create_claim(server, volumeAttributesClassName="a")
    await classes.delete("a")
    assert await is_waiting(classes, "a")

    await claims.delete("c")

    await gone(classes, "a")


async def test_other_finalizers_stay(server: ControlledServer) -> None:
    claims = await create_claim(server)
    await claims.patch("c", {"metadata": {"finalizers": ["kubernetes.io/pvc-protection", "a/b"]}})
    seen = (await claims.delete("c")).metadata.resource_version

    async with claims.watch(since=seen) as watch:
        async for event in watch:
            if event.object.metadata.finalizers == ["a/b"]:
                break
