# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""What is measured, with lightkube.

The typed pod is its model of the real one in the group of the benchmarks; the fields that theirs
has otherwise, those of its probes, the model ignores.
"""

import asyncio

from lightkube import AsyncClient, Client
from lightkube.core import resource
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models import core_v1

from tests.benchmarks._client_worker import (
    IN_FLIGHT,
    LISTED,
    MADE,
    NAMESPACE,
    Meter,
    documents,
)

GROUP = ("bench.example.io", "v1", "Pod")

AnyPod = create_namespaced_resource(*GROUP, "pods")


class Pod(resource.NamespacedResourceG, core_v1.Pod):
    _api_info = resource.ApiInfo(
        resource=resource.ResourceDef(*GROUP),
        plural="pods",
        verbs=["get", "list", "post", "watch"],
    )


def read_one() -> None:
    assert Client(namespace=NAMESPACE).get(Pod, "pod-0").status.phase == "Running"


def list_typed(meter: Meter) -> None:
    client = Client(namespace=NAMESPACE)
    client.get(Pod, "pod-0")
    with meter:
        pods = list(client.list(Pod))
        phases = {pod.status.phase for pod in pods}
    assert (len(pods), phases) == (LISTED, {"Running"})


def list_untyped(meter: Meter) -> None:
    client = Client(namespace=NAMESPACE)
    client.get(AnyPod, "pod-0")
    with meter:
        pods = list(client.list(AnyPod))
        phases = {pod["status"]["phase"] for pod in pods}
    assert (len(pods), phases) == (LISTED, {"Running"})


def watch_typed(meter: Meter) -> None:
    _watch(Pod, meter)


def watch_untyped(meter: Meter) -> None:
    _watch(AnyPod, meter)


def _watch(kind: type, meter: Meter) -> None:
    client = Client(namespace=NAMESPACE)
    client.get(kind, "pod-0")
    with meter:
        seen = 0
        for _, pod in client.watch(kind):
            seen += bool(pod.metadata.name)
            if seen == LISTED:
                break


def create(meter: Meter) -> None:
    client = Client(namespace=MADE)
    made = [AnyPod(document) for document in documents()]
    list(client.list(AnyPod, chunk_size=1))
    with meter:
        for pod in made:
            client.create(pod)


async def create_many(meter: Meter) -> None:
    client = AsyncClient(namespace=MADE)
    made = [AnyPod(document) for document in documents()]
    [pod async for pod in client.list(AnyPod, chunk_size=1)]

    async def creator(number: int) -> None:
        for pod in made[number::IN_FLIGHT]:
            await client.create(pod)

    with meter:
        await asyncio.gather(*(creator(number) for number in range(IN_FLIGHT)))
    await client.close()
