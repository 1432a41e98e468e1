"""Servers of several releases on one store, at the same time and one after the other."""

from typing import Any

import pytest
from pydantic import create_model

from apimachinery.model.model import Model
from apimachinery.scheme import Scheme
from apiserver.evolution.catalogue import read_catalogue
from apiserver.evolution.start import UnsafeStart
from tests.apiserver.evolution.conftest import NewStore
from tests.apiserver.evolution.releases import GROUP, LAMPS, NAME, Api, lamp, release, serving_alone

FIRST = {"color": (str, ""), "watts": (int, 5)}


@pytest.fixture
def store(new_store: NewStore) -> str:
    return new_store()


async def test_an_older_server_learns_what_newer_code_omits(store: str) -> None:
    """A 0 is omitted once the default is 0: a server whose default is 5 must not read 5."""
    second = {**FIRST, "watts": (int, 0)}
    async with (
        serving_alone(release(FIRST), storage=store) as old,
        serving_alone(release(second), storage=store) as new,
    ):
        created = await new.create("a", color="red", watts=0)
        assert b"watts" not in await new.stored("a")

        watched = await old.watch(1)
        listed = (await old("GET", LAMPS)).items
        assert (await old.get("a"))["spec"] == {"color": "red", "watts": 0}
        assert [item["spec"] for item in listed] == [{"color": "red", "watts": 0}]
        assert watched[0]["object"]["spec"] == {"color": "red", "watts": 0}
        assert watched[0]["object"]["metadata"]["uid"] == created["metadata"]["uid"]

        # What it reads completely it may write, in its own shape.
        assert (await old.patch("a", {"spec": {"color": "blue"}})).code == 200
        assert (await new.get("a"))["spec"] == {"color": "blue"}


async def test_an_older_server_refuses_to_overwrite_what_it_does_not_know(store: str) -> None:
    second = {**FIRST, "socket": (str, ""), "maker": (str, "acme")}
    async with (
        serving_alone(release(FIRST), storage=store) as old,
        serving_alone(release(second), storage=store) as new,
    ):
        await new.create("a", color="red", socket="E14")
        got = await old.get("a")
        refused = await old.patch("a", {"spec": {"color": "blue"}})
        put = await old("PUT", f"{LAMPS}/a", {**got, "spec": {"color": "blue", "watts": 1}})

        assert got["spec"] == {"color": "red", "watts": 5}
        assert (refused.code, put.code) == (503, 503)
        assert refused.retry_after == "1"
        assert "spec.socket" in refused.json["message"]
        assert "newer release" in refused.json["message"]

        patch = {"metadata": {"labels": {"x": "y"}, "finalizers": ["example.io/hold"]}}
        assert (await old.patch("a", patch)).code == 200
        seen = await new.get("a")
        assert seen["spec"] == {"color": "red", "watts": 5, "socket": "E14", "maker": "acme"}
        assert seen["metadata"]["labels"] == {"x": "y"}
        assert (await old("DELETE", f"{LAMPS}/a")).code == 200
        assert (await old.patch("a", {"metadata": {"finalizers": None}})).code == 200
        assert (await new("GET", f"{LAMPS}/a")).code == 404


async def test_a_value_that_older_code_cannot_hold_is_left_to_the_newer(store: str) -> None:
    """An integer became a number: the older server asks to try another one, too."""
    async with (
        serving_alone(release({"size": (int, 0)}), storage=store) as old,
        serving_alone(release({"size": (float, 0.0)}), storage=store) as new,
    ):
        await new.create("a", size=2.5)
        await new.create("b", size=2.0)

        assert (await old.patch("a", {"spec": {"size": 1}})).code == 503
        assert (await old.patch("a", {"metadata": {"labels": {"x": "y"}}})).code == 200
        assert (await new.get("a"))["spec"] == {"size": 2.5}


async def test_a_group_that_is_installed_later_catalogues_its_shape_before_it_writes(
    store: str,
) -> None:
    second = {**FIRST, "socket": (str, "E27")}
    async with (
        serving_alone(release(FIRST), storage=store) as old,
        serving_alone(storage=store) as bare,
    ):
        await old.create("a", color="red")
        bare.app.groups.install(release(second))

        assert (await bare.get("a"))["spec"] == {"color": "red", "watts": 5, "socket": "E27"}
        assert len(await shapes(bare)) == 1
        await bare.create("b", socket="E14")
        assert [shape.generation for shape in await shapes(bare)] == [1, 2]
        assert (await old.get("b"))["spec"] == {"watts": 5}
        assert (await old.patch("b", {"spec": {"color": "blue"}})).code == 503


async def test_a_rollback_serves_and_a_declared_return_to_an_old_shape_writes(store: str) -> None:
    """A field that is renamed and renamed back has its old shape, and all its values."""

    def forth(scheme: Scheme, cls: type[Any]) -> None:
        scheme.add_upgrade(cls, renames={"spec.color": "spec.tint"})

    def back(scheme: Scheme, cls: type[Any]) -> None:
        scheme.add_upgrade(cls, renames={"spec.tint": "spec.color"})

    async with serving_alone(release(FIRST), storage=store) as api:
        await api.create("a", color="red")
    async with serving_alone(
        release({"tint": (str, ""), "watts": (int, 5)}, forth), storage=store
    ) as api:
        await api.create("b", tint="blue")
    async with serving_alone(release(FIRST), storage=store) as behind:
        assert (await behind.get("b"))["spec"] == {"watts": 5}
        assert (await behind.patch("b", {"spec": {"watts": 1}})).code == 503
        assert (await behind.patch("a", {"spec": {"watts": 1}})).code == 200
    async with serving_alone(release(FIRST, back), storage=store) as api:
        assert (await api.get("a"))["spec"] == {"color": "red", "watts": 1}
        assert (await api.get("b"))["spec"] == {"color": "blue", "watts": 5}
        assert (await api.patch("b", {"spec": {"watts": 2}})).code == 200


async def test_objects_of_a_shape_that_nobody_catalogued_are_served(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as api:
        await api.create("a", color="red")
        value = await api.stored("a")
        start = value.index(b'"$shape":"') + len(b'"$shape":"')
        foreign = value[:start] + b"0123456789ab" + value[start + 12 :]
        key = f"/registry/{GROUP}/lamps/default/b"
        await api.app.backend.create(key, foreign.replace(b'"name":"a"', b'"name":"b"'))

        assert (await api.get("b"))["spec"] == {"color": "red", "watts": 5}
        assert (await api.patch("b", {"spec": {"watts": 1}})).code == 200


async def shapes(api: Api) -> Any:
    catalogue = await read_catalogue(api.app.backend)
    (entries,) = [each for name, each in catalogue.entries.items() if name.group == GROUP]
    return entries


async def test_reads_of_the_past_have_the_look_of_today(store: str) -> None:
    """Exact revisions, continued lists and the cache show old objects through one view."""
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
        await old.create("b", color="green")
        listed = await old("GET", LAMPS)
        revision = listed.json["metadata"]["resourceVersion"]
        await old.patch("a", {"spec": {"color": "blue"}})
    async with serving_alone(release({**FIRST, "socket": (str, "E27")}), storage=store) as new:
        exact = {"resourceVersion": revision, "resourceVersionMatch": "Exact"}
        past = await new("GET", LAMPS, query=exact)
        first = await new("GET", LAMPS, query={**exact, "limit": "1"})
        token = first.json["metadata"]["continue"]
        rest = await new("GET", LAMPS, query={"continue": token, "limit": "1"})

        assert [item["spec"] for item in past.items] == [
            {"color": "red", "watts": 5, "socket": "E27"},
            {"color": "green", "watts": 5, "socket": "E27"},
        ]
        assert first.items + rest.items == past.items
        assert lamp("a")["metadata"]["name"] == past.items[0]["metadata"]["name"]


async def test_a_loss_is_accepted_by_the_name_that_a_rename_gives_a_field(store: str) -> None:
    """The path is that of the message: the field `f` of a part that is now called `base`."""
    first = {"foot": (part(f=(str, ""), g=(str, "")), ...)}
    second = {"base": (part(g=(str, "")), ...)}

    def rename(scheme: Scheme, cls: type[Any]) -> None:
        scheme.add_upgrade(cls, renames={"spec.foot": "spec.base"})

    async with serving_alone(release(first), storage=store) as api:
        await api.create("a", foot={"f": "x", "g": "y"})
    with pytest.raises(UnsafeStart, match=f"--accept-field-loss {NAME}/spec.base.f"):
        async with serving_alone(release(second, rename), storage=store):
            pass
    accept = (f"{NAME}/spec.base.f",)
    async with serving_alone(release(second, rename), storage=store, accept=accept) as api:
        assert (await api.get("a"))["spec"] == {"base": {"g": "y"}}
        assert (await api.patch("a", {"spec": {"base": {"g": "z"}}})).code == 200


def part(**fields: Any) -> type[Model]:
    return create_model("Part", __base__=Model, **fields)
