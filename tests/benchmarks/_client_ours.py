"""What is measured, with this project's client."""

import asyncio
from typing import TypeVar

from apimachinery.meta.options import ListOptions
from apimachinery.meta.types import Object
from apimachinery.scheme import Scheme
from client import AsyncClient, ResourceClient
from tests.benchmarks._client_worker import (
    IN_FLIGHT,
    LISTED,
    MADE,
    NAMESPACE,
    Meter,
    documents,
)
from tests.benchmarks.pods import VERSION, PodV1, add_to_scheme

ObjectT = TypeVar("ObjectT", bound=Object)


def connect() -> AsyncClient:
    scheme = Scheme("benchmark")
    add_to_scheme(scheme)
    return AsyncClient.from_env(scheme=scheme)


async def read_one() -> None:
    async with connect() as client:
        pod = await client.of(PodV1, namespace=NAMESPACE).get("pod-0")
        assert pod.status.phase == "Running"


async def list_typed(meter: Meter) -> None:
    async with connect() as client:
        pods = client.of(PodV1, namespace=NAMESPACE)
        await pods.get("pod-0")
        with meter:
            page = await pods.list().all()
            phases = {pod.status.phase for pod in page}
        assert (len(page), phases) == (LISTED, {"Running"})


async def list_untyped(meter: Meter) -> None:
    async with connect() as client:
        pods = client.kind("Pod", str(VERSION), namespace=NAMESPACE)
        await pods.get("pod-0")
        with meter:
            page = await pods.list().all()
            phases = {pod["status"]["phase"] for pod in page}
        assert (len(page), phases) == (LISTED, {"Running"})


async def watch_typed(meter: Meter) -> None:
    async with connect() as client:
        await _watch(client.of(PodV1, namespace=NAMESPACE), meter)


async def watch_untyped(meter: Meter) -> None:
    async with connect() as client:
        await _watch(client.kind("Pod", str(VERSION), namespace=NAMESPACE), meter)


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
    from client.informer import InformerFactory

    async with connect() as client:
        await client.of(PodV1, namespace=NAMESPACE).get("pod-0")
        async with InformerFactory(client) as informers:
            with meter:
                pods = informers.of(PodV1, namespace=NAMESPACE)
                await informers.wait_synced(timeout=60)
            assert len(pods.lister.list()) == LISTED


async def create(meter: Meter) -> None:
    async with connect() as client:
        pods = client.kind("Pod", str(VERSION), namespace=MADE)
        made = documents()
        await pods.list(page_size=1).all()
        with meter:
            for document in made:
                await pods.create(document)


async def create_many(meter: Meter) -> None:
    async with connect() as client:
        pods = client.kind("Pod", str(VERSION), namespace=MADE)
        made = documents()
        await pods.list(page_size=1).all()

        async def creator(number: int) -> None:
            for document in made[number::IN_FLIGHT]:
                await pods.create(document)

        with meter:
            await asyncio.gather(*(creator(number) for number in range(IN_FLIGHT)))
