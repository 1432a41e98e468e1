"""What is measured, with this project's client."""

import asyncio
from typing import TypeVar

from apimachinery.meta.options import ListOptions
from apimachinery.meta.types import Object
from apis.core.v1 import Pod
from client import AsyncClient, ResourceClient
from tests.benchmarks._client_worker import (
    FOUND,
    IN_FLIGHT,
    LISTED,
    MADE,
    NAMESPACE,
    Meter,
    documents,
)

ObjectT = TypeVar("ObjectT", bound=Object)


def typed(client: AsyncClient) -> ResourceClient[Pod]:
    return client.of(Pod, api_version="v1", namespace=NAMESPACE)


async def read_one() -> None:
    async with AsyncClient.from_env() as client:
        pod = await typed(client).get("pod-0")
        assert pod.status.phase == "Running"


async def list_typed(meter: Meter) -> None:
    async with AsyncClient.from_env() as client:
        pods = typed(client)
        await pods.get("pod-0")
        with meter:
            page = await pods.list().all()
            found = {(pod.status.phase, pod.spec.containers[0].image) for pod in page}
        assert (len(page), found) == (LISTED, FOUND)


async def list_untyped(meter: Meter) -> None:
    async with AsyncClient.from_env() as client:
        pods = client.kind("Pod", "v1", namespace=NAMESPACE)
        await pods.get("pod-0")
        with meter:
            page = await pods.list().all()
            found = {
                (pod["status"]["phase"], pod["spec"]["containers"][0]["image"]) for pod in page
            }
        assert (len(page), found) == (LISTED, FOUND)


async def watch_typed(meter: Meter) -> None:
    async with AsyncClient.from_env() as client:
        await _watch(typed(client), meter)


async def watch_untyped(meter: Meter) -> None:
    async with AsyncClient.from_env() as client:
        await _watch(client.kind("Pod", "v1", namespace=NAMESPACE), meter)


async def _watch(pods: ResourceClient[ObjectT], meter: Meter) -> None:
    await pods.get("pod-0")
    with meter:
        seen = 0
        # What the others do too: `watch` itself would list first.
        async with await pods.list_watch().watch(ListOptions()) as events:
            async for event in events:
                assert isinstance(event.object, Object)
                seen += bool(event.object.metadata.name)
                if seen == LISTED:
                    break


async def informer(meter: Meter) -> None:
    # Imported here: a program without informers does not load them.
    from apimachinery import GroupVersion, Scheme
    from client.informer import InformerFactory

    scheme = Scheme("benchmark")
    scheme.add(GroupVersion("", "v1"), Pod)
    async with AsyncClient.from_env(scheme=scheme) as client:
        await typed(client).get("pod-0")
        async with InformerFactory(client) as informers:
            with meter:
                pods = informers.of(Pod, namespace=NAMESPACE)
                await informers.wait_synced(timeout=60)
            assert len(pods.lister.list()) == LISTED


async def create(meter: Meter) -> None:
    async with AsyncClient.from_env() as client:
        pods = client.kind("Pod", "v1", namespace=MADE)
        made = documents()
        await pods.list(page_size=1).all()
        with meter:
            for document in made:
                await pods.create(document)


async def create_many(meter: Meter) -> None:
    async with AsyncClient.from_env() as client:
        pods = client.kind("Pod", "v1", namespace=MADE)
        made = documents()
        await pods.list(page_size=1).all()

        async def creator(number: int) -> None:
            for document in made[number::IN_FLIGHT]:
                await pods.create(document)

        with meter:
            await asyncio.gather(*(creator(number) for number in range(IN_FLIGHT)))
