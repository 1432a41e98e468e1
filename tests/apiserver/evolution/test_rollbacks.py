"""Releases that come back, respawn or start at once: which of them is the newest."""

import logging
from pathlib import Path
from typing import Any

import orjson
import pytest

from apimachinery.scheme import Scheme
from apiserver.config import ServerConfig
from apiserver.evolution.catalogue import CataloguedShape, read_catalogue
from apiserver.evolution.running_servers import TIME_TO_LIVE, RunningServer
from apiserver.evolution.start import UnsafeStart
from apiserver.group_check import register_groups
from apiserver.process.start_check import Candidate, check_store
from apiserver.storage.backends import open_backend
from tests.apiserver.evolution.releases import GROUP, LAMPS, NAME, Api, release, serving_alone

FIRST = {"color": (str, ""), "watts": (int, 0)}
SECOND = {"watts": (int, 0)}
THIRD = {"watts": (int, 0), "socket": (str, "")}
RENAMED = {"tint": (str, ""), "watts": (int, 0)}
ACCEPT = (f"{NAME}/spec.color",)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.sqlite"


async def shapes(api: Api) -> list[CataloguedShape]:
    entries = (await read_catalogue(api.app.backend)).entries
    return [shape for name, each in entries.items() if name.group == GROUP for shape in each]


def renaming(scheme: Scheme, cls: type[Any]) -> None:
    scheme.add_upgrade(cls, renames={"spec.color": "spec.tint"})


async def test_an_accepted_loss_is_remembered(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as api:
        await api.create("a", color="red")
    async with serving_alone(release(SECOND), storage=store, accept=ACCEPT) as api:
        assert (await shapes(api))[-1].accepted == ("spec.color",)
    async with serving_alone(release(SECOND), storage=store) as api:
        assert (await api.get("a"))["spec"] == {}
        assert (await api.patch("a", {"spec": {"watts": 1}})).code == 200


async def test_a_flag_that_is_kept_does_not_make_an_older_release_the_newest(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as api:
        await api.create("a", color="red")
    async with (
        serving_alone(release(SECOND), storage=store, accept=ACCEPT),
        serving_alone(release(THIRD), storage=store, accept=ACCEPT) as new,
    ):
        await new.create("b", socket="E14")
        async with serving_alone(release(SECOND), storage=store, accept=ACCEPT) as old:
            assert (await old.patch("b", {"spec": {"watts": 1}})).code == 503
        assert [shape.generation for shape in await shapes(new)] == [1, 2, 3]


async def test_consent_to_lose_a_field_of_newer_code_makes_a_rollback_the_newest(
    store: str,
) -> None:
    async with serving_alone(release(SECOND), storage=store):
        pass
    async with serving_alone(release(THIRD), storage=store) as api:
        await api.create("a", socket="E14")
    accept = (f"{NAME}/spec.socket",)
    async with serving_alone(release(SECOND), storage=store, accept=accept) as api:
        assert (await api.patch("a", {"spec": {"watts": 1}})).code == 200
        assert [shape.generation for shape in await shapes(api)] == [2, 3]


async def test_a_field_that_newer_code_brings_back_is_not_given_up(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as api:
        await api.create("a", color="red")
    async with serving_alone(release(SECOND), storage=store, accept=ACCEPT):
        pass
    async with serving_alone(release({**THIRD, "color": (str, "")}), storage=store) as api:
        await api.create("b", color="blue")
    async with serving_alone(release(SECOND), storage=store) as api:
        assert (await api.patch("b", {"spec": {"watts": 1}})).code == 503


async def test_an_accepted_path_that_matches_nothing_is_warned_about(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving_alone(release(SECOND), storage=store):
        pass
    async with serving_alone(release(THIRD), storage=store) as api:
        await api.create("a", socket="E14")
    accept = (f"{NAME}/spec.sokcet",)
    with caplog.at_level(logging.WARNING):
        async with serving_alone(release(SECOND), storage=store, accept=accept) as api:
            assert (await api.patch("a", {"spec": {"watts": 1}})).code == 503
            assert all(not shape.accepted for shape in await shapes(api))
    assert f"--accept-field-loss {NAME}/spec.sokcet: no stored shape" in caplog.text


async def test_of_two_releases_that_started_at_once_the_later_is_newer(store: str) -> None:
    async with serving_alone(release(SECOND), storage=store):
        pass
    async with serving_alone(release(THIRD), storage=store) as api:
        entry = (await shapes(api))[-1]
        await set_generation(api, entry, 1)
        await api.create("a", socket="E14")
    async with serving_alone(release(SECOND), storage=store) as api:
        assert (await api.patch("a", {"spec": {"watts": 1}})).code == 503
        assert [shape.generation for shape in await shapes(api)] == [1, 1]


async def set_generation(api: Api, shape: CataloguedShape, generation: int) -> None:
    record = await api.app.backend.get(shape.key)
    assert record is not None
    value = {**orjson.loads(record.value), "generation": generation}
    await api.app.backend.update(shape.key, orjson.dumps(value), revision=record.revision)


async def test_a_release_that_renames_waits_for_older_servers_after_a_rollback_too(
    store: str,
) -> None:
    async with serving_alone(release(FIRST), storage=store) as api:
        old = api.app.groups.shapes()
    async with serving_alone(release(RENAMED, renaming), storage=store) as api:
        new = api.app.groups.shapes()
        older = RunningServer("elsewhere", str(1), 1, old)
        await api.app.backend.create(older.key, older.to_bytes(), ttl=TIME_TO_LIVE)
    with pytest.raises(UnsafeStart, match="process 1 on elsewhere"):
        async with serving_alone(release(RENAMED, renaming), storage=store):
            pass

    # Beside a server of its own release it may start: that one has renamed the field already.
    backend = await open_backend(store)
    running = RunningServer("elsewhere", str(2), 2, new)
    await backend.create(running.key, running.to_bytes(), ttl=TIME_TO_LIVE)
    await backend.close()
    async with serving_alone(release(RENAMED, renaming), storage=store):
        pass


async def test_a_late_rollback_starts_with_an_empty_watch_window(store: str) -> None:
    changed = {**FIRST, "socket": (str, "E27")}
    async with serving_alone(release(FIRST), storage=store):
        pass
    async with serving_alone(release(changed), storage=store) as api:
        await make_old(api)
    async with serving_alone(release(changed), storage=store) as api:
        before = (await api("GET", LAMPS)).json["metadata"]["resourceVersion"]
        await api.create("a", color="red")
    async with serving_alone(release(changed), storage=store) as api:
        (event,) = await api.watch(1, resourceVersion=before)
        assert event["type"] == "ADDED"
    for _ in range(2):  # another worker starts a moment later
        async with serving_alone(release(FIRST), storage=store) as api:
            (event,) = await api.watch(1, resourceVersion=before)
            assert event["object"]["code"] == 410


async def make_old(api: Api) -> None:
    """Make the store look as if the release had been served for a day."""
    key = f"/shapes/{GROUP}/lamps/served"
    record = await api.app.backend.get(key)
    assert record is not None
    value = {**orjson.loads(record.value), "since": "2020-01-01T00:00:00+00:00"}
    await api.app.backend.update(key, orjson.dumps(value), revision=record.revision)


async def test_a_group_that_is_installed_later_proves_nothing_without_looking(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving_alone(release(FIRST), storage=store) as api:
        await api.create("a", color="red")
    with caplog.at_level(logging.ERROR):
        async with serving_alone(storage=store) as bare:
            bare.app.groups.install(release(SECOND))
            await bare.create("b", watts=1)
            assert "the field spec.color is gone" in caplog.text
            assert [shape.supersedes for shape in await shapes(bare)] == [(), ()]
    with pytest.raises(UnsafeStart, match=r"spec\.color is gone"):
        async with serving_alone(release(SECOND), storage=store):
            pass


async def test_what_the_master_has_proven_is_not_looked_at_again(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as api:
        await api.create("a", watts=1)
    group = release(SECOND)
    candidate = Candidate((group,), (group,), scheme := Scheme(), ())
    assert not register_groups([group], scheme)
    await check_store(ServerConfig(storage=store, insecure_http=True), candidate)

    backend = await open_backend(store)
    (entries,) = (await read_catalogue(backend)).entries.values()
    await backend.close()
    assert [len(shape.supersedes) for shape in entries] == [0, 1]
