"""Requests with large documents: whoever sends one does not hold up the others."""

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from apiserver.app import App
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Answer, Driver
from tests.pauses import loop_pauses, machine_factor, measures_time

pytestmark = measures_time

NUMBER = 20_000
GADGETS = "/apis/gadgets.example.io/{}/namespaces/default/gadgets"
STABLE, BETA = GADGETS.format("v1"), GADGETS.format("v1beta1")
LIMIT = 0.05
"""Seconds for which a request may keep the event loop."""


@pytest.fixture
async def app() -> AsyncIterator[App]:
    made = make_app()
    await made.start()
    await Driver(made, authorization="Bearer root").post(
        "/api/v1/namespaces", {"metadata": {"name": "default"}}
    )
    yield made
    await made.stop()


def large(value: str = "", **document: Any) -> dict[str, Any]:
    annotations = {f"key-{number}": value for number in range(NUMBER)}
    metadata = {"name": "large", "annotations": annotations}
    return {**document, "metadata": metadata, "spec": {"model": "a1"}}


async def test_writes_of_large_objects_let_others_run(client: Driver) -> None:
    applied = large("x", apiVersion="gadgets.example.io/v1", kind="Gadget")
    labelled = {"metadata": {"labels": {"a": "b"}}}

    async with loop_pauses(time.thread_time) as pauses:
        answers = [
            await client.post(STABLE, large()),
            await client.patch(f"{STABLE}/large", labelled),
            await client.patch(f"{BETA}/large", labelled, "strategic-merge-patch+json"),
            await client.patch(
                f"{STABLE}/large?fieldManager=me&force=true", applied, "apply-patch+yaml"
            ),
            await client.put(f"{BETA}/large", large("y")),
            await client.delete(f"{STABLE}/large"),
        ]

    assert [answer.code for answer in answers] == [201, 200, 200, 200, 200, 200]
    assert pauses.longest < LIMIT * machine_factor()


async def test_an_invalid_large_object_lets_others_run(client: Driver) -> None:
    """The errors are as many as its values."""
    bad = large()
    bad["metadata"]["annotations"] = {f"not valid {number}": "" for number in range(NUMBER)}

    async with loop_pauses(time.thread_time) as pauses:
        answer = await client.post(STABLE, bad)

    assert answer.code == 422
    assert pauses.longest < LIMIT * machine_factor()


async def test_a_small_patch_that_makes_a_large_object_lets_others_run(client: Driver) -> None:
    """Each copy doubles what is there."""
    start = {"metadata": {"name": "small", "annotations": {"a": "b"}}, "spec": {"model": "a1"}}
    assert (await client.post(STABLE, start)).code == 201
    doubling = [
        {"op": "copy", "from": "/metadata", "path": f"/metadata/x{number}"} for number in range(11)
    ]

    async with loop_pauses(time.thread_time) as pauses:
        answer = await client.patch(f"{STABLE}/small", doubling, "json-patch+json")

    assert answer.code == 200
    assert pauses.longest < LIMIT * machine_factor()


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        "application/yaml",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    ],
)
async def test_reads_of_a_large_object_let_others_run(client: Driver, accept: str) -> None:
    assert (await client.post(STABLE, large())).code == 201

    async with loop_pauses(time.thread_time) as pauses:
        answer = await client.get(f"{BETA}/large", accept=accept)

    assert answer.code == 200
    assert pauses.longest < LIMIT * machine_factor()


async def test_a_watch_of_a_large_object_lets_others_run(client: Driver) -> None:
    """Its version is not the stored one, so the event has to be converted."""
    async with client.stream(f"{BETA}?watch=true") as stream:
        assert (await client.post(STABLE, large())).code == 201

        async with loop_pauses(time.thread_time) as pauses:
            event = await stream.event()

    assert event["object"]["apiVersion"] == "gadgets.example.io/v1beta1"
    assert len(event["object"]["metadata"]["annotations"]) == NUMBER
    assert pauses.longest < LIMIT * machine_factor()


async def test_many_watchers_of_a_large_object_share_its_bytes(client: Driver) -> None:
    watch = f"{BETA}?watch=true"
    async with client.stream(watch) as one, client.stream(watch) as other:
        created: Answer = await client.post(STABLE, large())
        first, second = await one.write(), await other.write()

    assert created.code == 201
    assert first == second
