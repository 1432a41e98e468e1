# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""kr8s: objects, lists, watches, waits, labels and scale."""

import asyncio
import sys

import kr8s
from kr8s.asyncio.objects import ConfigMap, CustomResourceDefinition, Secret, new_class

from tests.libraries.widgets import definition

Gadget = new_class(
    kind="Gadget",
    version="gadgets.example.io/v1",
    namespaced=True,
    scalable=True,
)


async def objects(namespace: str) -> None:
    config_map = await ConfigMap(
        {"metadata": {"name": "a", "namespace": namespace}, "data": {"k": "v"}}
    )

    await config_map.create()
    await config_map.label(x="y")
    await config_map.annotate(note="hello")
    await config_map.patch({"data": {"l": "w"}})
    await config_map.refresh()
    found = [c async for c in kr8s.asyncio.get("cm", namespace=namespace, label_selector="x=y")]

    assert config_map.data == {"k": "v", "l": "w"}
    assert config_map.annotations["note"] == "hello"
    assert [c.name for c in found] == ["a"]
    await config_map.delete()
    await config_map.wait("delete", timeout=20)
    assert not await config_map.exists()


async def gadgets(namespace: str) -> None:
    lamp = await Gadget({"metadata": {"name": "lamp", "namespace": namespace},
                         "spec": {"model": "a1"}})  # fmt: skip

    await lamp.create()
    await lamp.patch({"status": {"readyReplicas": 3}}, subresource="status")
    await lamp.scale(3)
    await lamp.wait("jsonpath='{.status.readyReplicas}'=3", timeout=20)

    assert lamp.replicas == 3


async def definitions(namespace: str) -> None:
    group = f"{namespace}.kr8s.io"
    defined = await CustomResourceDefinition(definition(group))
    widget = new_class(kind="Widget", version=f"{group}/v1", namespaced=True)
    lamp = await widget({"metadata": {"name": "lamp", "namespace": namespace}})

    await defined.create()
    while not defined.raw["status"]["conditions"]:  # null at first, which `wait` cannot read
        await defined.refresh()
    await defined.wait("condition=Established", timeout=20)
    await lamp.create()
    await lamp.patch({"spec": {"size": 2}})
    await lamp.refresh()
    await defined.delete()
    await defined.wait("delete", timeout=20)

    assert lamp.spec.size == 2


async def watches(namespace: str) -> None:
    api = await kr8s.asyncio.api()
    seen: list[tuple[str, str]] = []

    async def follow() -> None:
        async for event, obj in api.watch("secrets", namespace=namespace):
            seen.append((event, obj.name))
            if event == "DELETED":
                return

    secret = await Secret({"metadata": {"name": "w", "namespace": namespace}})
    await secret.create()
    following = asyncio.create_task(follow())
    while not seen:
        await asyncio.sleep(0)
    await secret.delete()
    await asyncio.wait_for(following, 20)

    assert seen == [("ADDED", "w"), ("DELETED", "w")]


async def discovery(_: str) -> None:
    api = await kr8s.asyncio.api()

    version = await api.version()
    kinds = {resource["kind"] for resource in await api.api_resources()}
    who = await api.whoami()

    assert version["major"] == "1"
    assert {"Gadget", "ConfigMap", "Lease"} <= kinds
    assert who == "admin"


async def main(namespace: str) -> None:
    for check in (objects, gadgets, definitions, watches, discovery):
        await check(namespace)
        print(check.__name__)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
