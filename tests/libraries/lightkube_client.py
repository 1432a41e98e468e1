# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""lightkube: typed and generic resources, apply, watch, wait and delete."""

import asyncio
import sys

from lightkube import AsyncClient, Client
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Namespace
from lightkube.types import PatchType

Gadget = create_namespaced_resource("gadgets.example.io", "v1", "Gadget", "gadgets")


def typed_objects(client: Client) -> None:
    client.create(ConfigMap(metadata=ObjectMeta(name="a", labels={"x": "y"}), data={"k": "v"}))
    read = client.get(ConfigMap, "a")
    assert read.data == {"k": "v"}

    read.data = {"k": "w"}
    client.replace(read)
    patched = client.patch(ConfigMap, "a", {"data": {"l": "x"}}, patch_type=PatchType.MERGE)
    listed = list(client.list(ConfigMap, labels={"x": "y"}, chunk_size=1))
    everywhere = [ns.metadata.name for ns in client.list(Namespace) if ns.metadata]

    assert patched.data == {"k": "w", "l": "x"}
    assert [c.metadata.name for c in listed if c.metadata] == ["a"]
    assert "default" in everywhere
    client.delete(ConfigMap, "a")
    try:
        client.get(ConfigMap, "a")
    except ApiError as error:
        assert (error.status.code, error.status.reason) == (404, "NotFound")
    else:
        raise AssertionError("404 was expected")


def generic_objects(client: Client) -> None:
    lamp = Gadget(metadata={"name": "lamp"}, spec={"model": "a1"})

    client.create(lamp)
    client.patch(
        Gadget.Status, "lamp", {"status": {"readyReplicas": 1}}, patch_type=PatchType.MERGE
    )
    client.patch(Gadget.Scale, "lamp", {"spec": {"replicas": 3}}, patch_type=PatchType.MERGE)
    read = client.get(Gadget, "lamp")

    assert read.spec is not None and read.status is not None
    assert read.spec["replicas"] == 3
    assert read.status["readyReplicas"] == 1


def server_side_apply(client: Client) -> None:
    body = ConfigMap(apiVersion="v1", kind="ConfigMap", metadata=ObjectMeta(name="b"), data={})

    for color in ("red", "blue"):
        body.data = {"color": color}
        applied = client.apply(body, field_manager="lightkube")
        assert applied.data == {"color": color}


def watches(client: Client) -> None:
    listed = client.list(ConfigMap)
    list(listed)
    client.create(ConfigMap(metadata=ObjectMeta(name="w")))
    client.delete(ConfigMap, "w")

    seen = []
    for event, obj in client.watch(ConfigMap, resource_version=listed.resourceVersion):
        assert obj.metadata is not None
        seen.append((event, obj.metadata.name))
        if event == "DELETED":
            break

    assert seen == [("ADDED", "w"), ("DELETED", "w")]


async def waits(namespace: str) -> None:
    client = AsyncClient(namespace=namespace)
    await client.create(Gadget(metadata={"name": "fan"}, spec={"model": "a1"}))
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "Up",
        "message": "",
        "lastTransitionTime": "2024-01-01T00:00:00Z",
    }

    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(client.wait(Gadget, "fan", for_conditions=["Ready"]))
        await client.patch(
            Gadget.Status, "fan", {"status": {"conditions": [ready]}}, patch_type=PatchType.MERGE
        )

    assert waiting.result().metadata.name == "fan"
    await client.close()


if __name__ == "__main__":
    namespace = sys.argv[1]
    for check in (typed_objects, generic_objects, server_side_apply, watches):
        check(Client(namespace=namespace))
        print(check.__name__)
    asyncio.run(waits(namespace))
    print(waits.__name__)
