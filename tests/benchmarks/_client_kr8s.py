# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""What is measured, with kr8s; its objects have no types."""

import asyncio

import kr8s
from kr8s.asyncio.objects import Pod

from tests.benchmarks._client_worker import (
    FOUND,
    IN_FLIGHT,
    LISTED,
    NAMESPACE,
    Meter,
    documents,
)


async def read_one() -> None:
    pod = await Pod.get("pod-0", namespace=NAMESPACE)
    assert pod.status.phase == "Running"


async def list_untyped(meter: Meter) -> None:
    api = await kr8s.asyncio.api()
    await Pod.get("pod-0", namespace=NAMESPACE)
    with meter:
        pods = [pod async for pod in api.get(Pod, namespace=NAMESPACE)]
        found = {(pod.status.phase, pod.spec.containers[0].image) for pod in pods}
    assert (len(pods), found) == (LISTED, FOUND)


async def watch_untyped(meter: Meter) -> None:
    api = await kr8s.asyncio.api()
    await Pod.get("pod-0", namespace=NAMESPACE)
    with meter:
        seen = 0
        async for _, pod in api.watch(Pod, namespace=NAMESPACE):
            seen += bool(pod.name)
            if seen == LISTED:
                break


async def create(meter: Meter) -> None:
    await kr8s.asyncio.api()
    made = [await Pod(document) for document in documents()]
    await Pod.get("pod-0", namespace=NAMESPACE)
    with meter:
        for pod in made:
            await pod.create()


async def create_many(meter: Meter) -> None:
    await kr8s.asyncio.api()
    made = [await Pod(document) for document in documents()]
    await Pod.get("pod-0", namespace=NAMESPACE)

    async def creator(number: int) -> None:
        for pod in made[number::IN_FLIGHT]:
            await pod.create()

    with meter:
        await asyncio.gather(*(creator(number) for number in range(IN_FLIGHT)))
