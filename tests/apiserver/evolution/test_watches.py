"""Watches that go on after a restart with another release."""

from typing import Any

import pytest

from tests.apiserver.evolution.conftest import NewStore
from tests.apiserver.evolution.releases import LAMPS, Api, release, serving, serving_alone

FIRST = {"color": (str, "")}
SECOND = {"color": (str, ""), "socket": (str, "E27")}
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def store(new_store: NewStore) -> str:
    return new_store()


async def test_a_watch_from_before_a_change_of_shape_lists_again_once(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
        before = await version(old, LAMPS)
        await old.create("b", color="blue")

    async with serving_alone(release(SECOND), storage=store) as new:
        (expired,) = await new.watch(1, resourceVersion=before)
        listed = await new("GET", LAMPS)
        await new.create("c")
        resumed = await new.watch(1, resourceVersion=listed.json["metadata"]["resourceVersion"])

    assert (expired["type"], expired["object"]["code"]) == ("ERROR", 410)
    assert [item["spec"]["socket"] for item in listed.items] == ["E27", "E27"]
    assert [event["object"]["metadata"]["name"] for event in resumed] == ["c"]


async def test_a_watch_from_the_newest_revision_of_another_release_lists_again(store: str) -> None:
    """Nothing may be written between the last answer of one release and the start of the next."""
    async with serving_alone(release(FIRST), storage=store) as old:
        async with serving_alone(release(SECOND), storage=store) as new:
            await new.create("a", color="red")
        newest = await version(old, LAMPS)
    async with serving_alone(release(SECOND), storage=store) as new:
        (expired,) = await new.watch(1, resourceVersion=newest)

    assert expired["object"]["code"] == 410


async def test_watches_of_other_resources_resume(store: str) -> None:
    async with serving(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
        before = await version(old, CONFIG_MAPS)
        await create_config_map(old, "one")
    async with serving(release(SECOND), storage=store) as new:
        (first,) = await new.watch(1, path=CONFIG_MAPS, resourceVersion=before)

    assert (first["type"], first["object"]["metadata"]["name"]) == ("ADDED", "one")


async def test_watches_resume_after_a_restart_with_the_same_shape(store: str) -> None:
    """Rules, documentation and columns may change: the objects look as before."""
    async with serving_alone(release(SECOND), storage=store) as api:
        before = await version(api, LAMPS)
        await api.create("a", color="red")
    async with serving_alone(release(SECOND), storage=store) as api:
        (event,) = await api.watch(1, resourceVersion=before)

    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")


async def version(api: Api, path: str) -> str:
    resource_version: str = (await api("GET", path)).json["metadata"]["resourceVersion"]
    return resource_version


async def create_config_map(api: Api, name: str) -> Any:
    answer = await api("POST", CONFIG_MAPS, {"metadata": {"name": name}})
    assert answer.code == 201, answer.body
    return answer.json
