# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""What is measured, with lightkube."""

import asyncio

from lightkube import AsyncClient, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.core_v1 import Pod

from tests.benchmarks._client_worker import (
    FOUND,
    IN_FLIGHT,
    LISTED,
    MADE,
    NAMESPACE,
    Meter,
    documents,
)

AnyPod = create_namespaced_resource("", "v1", "Pod", "pods")


def read_one() -> None:
    assert Client(namespace=NAMESPACE).get(Pod, "pod-0").status.phase == "Running"


def list_typed(meter: Meter) -> None:
    client = Client(namespace=NAMESPACE)
    client.get(Pod, "pod-0")
    with meter:
        pods = list(client.list(Pod))
        found = {(pod.status.phase, pod.spec.containers[0].image) for pod in pods}
    assert (len(pods), found) == (LISTED, FOUND)


def list_untyped(meter: Meter) -> None:
    client = Client(namespace=NAMESPACE)
    client.get(AnyPod, "pod-0")
    with meter:
        pods = list(client.list(AnyPod))
        found = {(pod["status"]["phase"], pod["spec"]["containers"][0]["image"]) for pod in pods}
    assert (len(pods), found) == (LISTED, FOUND)


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
