"""What stored objects look like after their type has changed."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.schema import INTERNAL, GroupResource, GroupVersion
from apimachinery.scheme import Scheme
from apiserver import Group, Resource
from apiserver.evolution.start import UnsafeStart
from tests.apiserver.evolution.releases import GROUP, LAMPS, NAME, Api, lamp, release, serving_alone


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.sqlite"


FIRST = {"color": (str, ""), "watts": (int, 0)}


async def test_a_default_that_is_added_is_in_every_answer(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
    async with serving_alone(release({**FIRST, "socket": (str, "E27")}), storage=store) as new:
        listed = (await new("GET", LAMPS)).items
        got = await new.get("a")
        (watched,) = await new.watch(1)
        table = await new("GET", LAMPS, accept="application/json;as=Table;v=v1;g=meta.k8s.io")

    assert got["spec"] == {"color": "red", "socket": "E27"}
    assert [item["spec"] for item in listed] == [got["spec"]]
    assert watched["object"]["spec"] == got["spec"]
    assert table.json["rows"][0]["cells"][0] == "a"


async def test_an_omitted_value_keeps_the_meaning_it_had(store: str) -> None:
    """A 0 is omitted while the default is 0; it must not become 5 when the default does."""
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
        assert b"watts" not in await old.stored("a")
    async with serving_alone(release({**FIRST, "watts": (int, 5)}), storage=store) as new:
        assert (await new.get("a"))["spec"]["watts"] == 0
        assert (await new.create("b"))["spec"]["watts"] == 5


async def test_objects_of_the_same_shape_are_served_as_they_are_stored(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
        before = await old.stored("a")
    narrowed = {"color": (Literal["", "blue"], ""), "watts": (int, field(0, le=100, doc="W"))}
    async with serving_alone(release(narrowed), storage=store) as new:
        assert _is_verbatim(new, before)
        assert (await new.get("a"))["spec"] == {"color": "red"}


async def test_an_added_field_that_is_omitted_while_empty_needs_no_upgrade(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
    async with serving_alone(release({**FIRST, "socket": (str, "")}), storage=store) as new:
        assert _is_verbatim(new, await new.stored("a"))
        assert (await new.get("a"))["spec"] == {"color": "red"}


async def test_a_removed_field_with_values_refuses_the_start(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
        await old.create("b", color="blue")
        await old.create("c")
    with pytest.raises(UnsafeStart) as refused:
        async with serving_alone(release({"watts": (int, 0)}), storage=store):
            pass

    message = str(refused.value)
    assert f"{NAME}: the field spec.color is gone, and 2 stored objects have a value" in message
    assert "default/a" in message
    assert "scheme.add_upgrade(Lamp" in message
    assert f"--accept-field-loss {NAME}/spec.color" in message


async def test_a_removed_field_without_values_is_no_loss(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("c", watts=3)
    async with serving_alone(release({"watts": (int, 0)}), storage=store) as new:
        assert (await new.get("c"))["spec"] == {"watts": 3}


async def test_a_loss_is_accepted_by_a_flag_and_stored_by_the_next_write(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
    accept = (f"{NAME}/spec.color",)
    async with serving_alone(release({"watts": (int, 0)}), storage=store, accept=accept) as new:
        assert (await new.get("a"))["spec"] == {}
        assert b"red" in await new.stored("a")
        assert (await new.patch("a", {"spec": {"watts": 7}})).code == 200
        assert b"red" not in await new.stored("a")


def renaming(scheme: Scheme, cls: type[Any]) -> None:
    scheme.add_upgrade(cls, renames={"spec.color": "spec.tint"})


async def test_a_renamed_field_keeps_its_values_and_owners(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        answer = await old(
            "PATCH",
            f"{LAMPS}/a",
            lamp("a", color="red"),
            content_type="application/apply-patch+yaml",
            query={"fieldManager": "me"},
        )
        assert answer.code == 201
    renamed = {"tint": (str, ""), "watts": (int, 0)}
    async with serving_alone(release(renamed, renaming), storage=store) as new:
        got = await new.get("a")
        assert got["spec"] == {"tint": "red"}
        assert got["metadata"]["managedFields"][0]["fieldsV1"] == {"f:spec": {"f:tint": {}}}
        # The owner gives the field up by applying without it.
        answer = await new(
            "PATCH",
            f"{LAMPS}/a",
            lamp("a", watts=1),
            content_type="application/apply-patch+yaml",
            query={"fieldManager": "me"},
        )
        assert answer.code == 200
        assert answer.json["spec"] == {"watts": 1}


async def test_a_chain_of_upgrades_reaches_today_from_every_release(store: str) -> None:
    second = {"tint": (str, ""), "watts": (int, 0)}
    third = {"light": (create_light(), field(default_factory=create_light())), "watts": (str, "")}

    def watts(value: int) -> str:
        return f"{value}W"

    def upgrade(scheme: Scheme, cls: type[Any]) -> None:
        renaming(scheme, cls)
        scheme.add_upgrade(
            cls, renames={"spec.tint": "spec.light.tint"}, retyped={"spec.watts": watts}
        )

    async with serving_alone(release(FIRST), storage=store) as api:
        await api.create("a", color="red", watts=5)
    async with serving_alone(release(second, renaming), storage=store) as api:
        await api.create("b", tint="blue", watts=6)
    async with serving_alone(release(third, upgrade), storage=store) as api:
        assert (await api.get("a"))["spec"] == {"light": {"tint": "red"}, "watts": "5W"}
        assert (await api.get("b"))["spec"] == {"light": {"tint": "blue"}, "watts": "6W"}
        await api.create("c", light={"tint": "green"}, watts="7W")
        assert [item["spec"]["watts"] for item in (await api("GET", LAMPS)).items] == [
            "5W",
            "6W",
            "7W",
        ]


async def test_a_function_rewrites_documents(store: str) -> None:
    def split(document: dict[str, Any]) -> None:
        spec = document["spec"]
        spec["hue"], _, spec["tone"] = spec.pop("color").partition(" ")

    def upgrade(scheme: Scheme, cls: type[Any]) -> None:
        scheme.add_upgrade(
            cls, function=split, reads=["spec.color"], writes=["spec.hue", "spec.tone"]
        )

    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red dark")
        await old.create("b")
    changed = {"hue": (str, ""), "tone": (str, ""), "watts": (int, 0)}
    async with serving_alone(release(changed, upgrade), storage=store) as new:
        assert (await new.get("a"))["spec"] == {"hue": "red", "tone": "dark"}
        assert (await new.get("b"))["spec"] == {}


async def test_a_retyped_field_refuses_the_start(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", watts=5)
    with pytest.raises(UnsafeStart, match=r"1 stored object .*spec\.watts"):
        async with serving_alone(
            release({**FIRST, "watts": (Duration, timedelta())}), storage=store
        ):
            pass


async def test_a_narrowed_type_and_a_new_required_field_hinder_nobody(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
    narrowed = {
        "color": (Literal["", "blue"], ""),
        "watts": (int, field(0, le=10)),
        "maker": (str, ...),
    }
    async with serving_alone(release(narrowed), storage=store) as new:
        assert (await new.get("a"))["spec"] == {"color": "red", "maker": ""}
        assert (await new.patch("a", {"metadata": {"labels": {"x": "y"}}})).code == 200
        assert (await new("DELETE", f"{LAMPS}/a")).code == 200
        assert (await new("POST", LAMPS, lamp("b", color="red", maker="x"))).code == 422


async def test_a_no_op_update_rewrites_an_object_in_todays_shape(store: str) -> None:
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
        before = await old.stored("a")
    async with serving_alone(release({**FIRST, "socket": (str, "E27")}), storage=store) as new:
        got = await new.get("a")
        assert (await new("PUT", f"{LAMPS}/a", got)).code == 200
        after = await new.stored("a")
        assert after != before
        assert b'"socket":"E27"' in after


def create_light() -> type[Model]:
    class Light(Model):
        tint: str = ""

    return Light


def _is_verbatim(api: Api, value: bytes) -> bool:
    view = api.app.groups.store(GroupResource(GROUP, "lamps")).view
    return view._verbatim_content(value) is not None


async def test_a_hand_written_conversion_converts_old_values(store: str) -> None:
    """Its functions construct objects, which pydantic would validate."""
    async with serving_alone(converted_release(), storage=store) as old:
        answer = await old("POST", LAMPS, lamp("a", seconds=5))
        assert answer.code == 201
    async with serving_alone(converted_release(least=10), storage=store) as new:
        assert (await new.get("a"))["spec"] == {"seconds": 5}
        assert len((await new("GET", LAMPS)).items) == 1
        assert (await new.patch("a", {"metadata": {"labels": {"x": "y"}}})).code == 200
        assert (await new.patch("a", {"spec": {"seconds": 6}})).code == 422
        assert (await new.patch("a", {"spec": {"seconds": 20}})).code == 200
        assert (await new("POST", LAMPS, lamp("b", seconds=5))).code == 422


def converted_release(*, least: int = 0) -> Group:
    class InternalSpec(Model):
        wait: timedelta = field(timedelta(seconds=least), ge=timedelta(seconds=least))

    class Internal(Object, kind="Lamp"):
        spec: InternalSpec

    class Spec(Model):
        seconds: int = field(least, ge=least)

    class Lamp(Object):
        spec: Spec

    def to_internal(spec: Spec) -> InternalSpec:
        return InternalSpec(wait=timedelta(seconds=spec.seconds))

    def from_internal(spec: InternalSpec) -> Spec:
        return Spec(seconds=int(spec.wait.total_seconds()))

    def add_to_scheme(scheme: Scheme) -> None:
        scheme.add(GroupVersion(GROUP, INTERNAL), Internal)
        scheme.add(GroupVersion(GROUP, "v1"), Lamp)
        to_internal.__annotations__ = {"spec": Spec, "return": InternalSpec}
        from_internal.__annotations__ = {"spec": InternalSpec, "return": Spec}
        scheme.add_conversion(to_internal, from_internal)
        scheme.add_same(Lamp, Internal)

    return Group(GROUP, ("v1",), (Resource("lamps", Internal),), add_to_scheme)


async def test_objects_from_before_the_catalogue_lose_nothing_either(store: str) -> None:
    """They name no shape, so their values are compared with the class itself."""
    async with serving_alone(release(FIRST), storage=store) as old:
        await old.create("a", color="red")
        await forget_shapes(old)
    with pytest.raises(UnsafeStart, match=r"the field spec\.color is gone, and 1 stored object"):
        async with serving_alone(release({"watts": (int, 0)}), storage=store):
            pass
    async with serving_alone(release(FIRST), storage=store) as new:
        assert (await new.get("a"))["spec"] == {"color": "red"}
        assert _is_verbatim(new, await new.stored("a"))


async def forget_shapes(api: Api) -> None:
    """Make the store look as if it had been written before there were shapes."""
    backend = api.app.backend
    for record in (await backend.range("/shapes/")).records:
        await backend.delete(record.key, revision=record.revision)
    for record in (await backend.range("/registry/")).records:
        value = re.sub(rb'"\$shape":"\w+",', b"", record.value)
        await backend.update(record.key, value, revision=record.revision)
