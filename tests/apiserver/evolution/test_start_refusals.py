"""Starts that would lose or break stored objects, and what is said about them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import create_model

from apimachinery.meta.types import Object
from apimachinery.model.model import Model
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apiserver import Group, Resource
from apiserver.evolution.start import UnsafeStart
from tests.apiserver.evolution.releases import (
    GROUP,
    LAMPS,
    NAME,
    Upgrade,
    lamp_class,
    release,
    serving_alone,
)

FIRST = {"color": (str, ""), "watts": (int, 0)}
SECOND = {"tint": (str, ""), "watts": (int, 0)}


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.sqlite"


async def refusal(group: Group, store: str, *accept: str) -> str:
    """Return why a release does not start."""
    with pytest.raises(UnsafeStart) as refused:
        async with serving_alone(group, storage=store, accept=accept):
            pass
    return str(refused.value)


async def fill(group: Group, store: str, **spec: Any) -> None:
    async with serving_alone(group, storage=store) as api:
        await api.create("a", **spec)


def renaming(scheme: Scheme, cls: type[Any]) -> None:
    scheme.add_upgrade(cls, renames={"spec.color": "spec.tint"})


async def test_a_step_that_is_deleted_too_early_is_noticed(store: str) -> None:
    """Its shape is that of the release before, which has proven that nothing is lost."""
    await fill(release(FIRST), store, color="red")
    async with serving_alone(release(SECOND, renaming), storage=store) as api:
        assert (await api.get("a"))["spec"] == {"tint": "red"}
    assert "the field spec.color is gone" in await refusal(release(SECOND), store)

    async with serving_alone(release(SECOND, renaming), storage=store) as api:
        assert (await api.patch("a", {"spec": {"watts": 1}})).code == 200
    async with serving_alone(release(SECOND), storage=store) as api:
        assert (await api.get("a"))["spec"] == {"tint": "red", "watts": 1}


def retyping(function: Any) -> Upgrade:
    return lambda scheme, cls: scheme.add_upgrade(cls, retyped={"spec.watts": function})


def rewriting(function: Any) -> Upgrade:
    return lambda scheme, cls: scheme.add_upgrade(
        cls, function=function, reads=["spec.watts"], writes=["spec.power"]
    )


def failing(value: Any) -> Any:
    raise ValueError("boom")


def forgetting(document: Any) -> None:
    document["spec"] = {"energy": document["spec"]["watts"]}


def mistyping(document: Any) -> None:
    document["spec"] = {"power": document["spec"]["watts"]}


@pytest.mark.parametrize(
    ("fields", "upgrade", "words"),
    [
        ({"watts": (str, "")}, retyping(failing), "upgrading it failed: ValueError('boom')"),
        ({"watts": (str, "")}, retyping(lambda value: value), "spec.watts that cannot be read"),
        ({"power": (str, "")}, rewriting(failing), "upgrading it failed: ValueError('boom')"),
        ({"power": (str, "")}, rewriting(forgetting), "the field spec.energy is gone"),
        ({"power": (str, "")}, rewriting(mistyping), "spec.power that cannot be read"),
    ],
)
async def test_functions_are_tried_with_the_stored_objects(
    store: str, fields: Any, upgrade: Upgrade, words: str
) -> None:
    await fill(release({"watts": (int, 0)}), store, watts=3)
    assert words in await refusal(release(fields, upgrade), store)
    async with serving_alone(release({"watts": (int, 0)}), storage=store) as api:
        assert (await api.get("a"))["spec"] == {"watts": 3}


def open_release(upgrade: Upgrade | None = None, **fields: Any) -> Group:
    """Return a release whose spec keeps undeclared fields."""

    class Spec(Model, extra="allow"):
        color: str = ""

    spec = create_model("Spec", __base__=Spec, **fields)
    lamp = create_model("Lamp", __base__=Object, spec=(spec, ...))
    lamp.__kind__ = "Lamp"

    def add_to_scheme(scheme: Scheme) -> None:
        scheme.add(GroupVersion(GROUP, "v1"), lamp, internal=True)
        if upgrade is not None:
            upgrade(scheme, lamp)

    return Group(GROUP, ("v1",), (Resource("lamps", lamp),), add_to_scheme)


async def test_undeclared_values_of_an_open_type_are_looked_at(store: str) -> None:
    await fill(open_release(), store, color="red", size="big")
    closed = {"color": (str, "")}
    assert "the field spec.size is gone" in await refusal(release(closed), store)
    mistyped = await refusal(open_release(size=(int, 0)), store)
    assert "spec.size that cannot be read" in mistyped
    assert "writes=('spec.size',)" in mistyped

    def dropping(scheme: Scheme, cls: type[Any]) -> None:
        scheme.add_upgrade(cls, dropped=["spec.size"])

    async with serving_alone(release(closed, dropping), storage=store) as api:
        assert (await api.get("a"))["spec"] == {"color": "red"}
        assert (await api.patch("a", {"spec": {"color": "blue"}})).code == 200


def versions_release(
    versions: Sequence[str], storage: str, *, kind: str = "Lamp", **resource: Any
) -> Group:
    """Return a release with several versions of the same fields."""
    internal, *classes = (lamp_class({"color": (str, "")}) for _ in ("", *versions))
    for cls in (internal, *classes):
        cls.__kind__ = kind

    def add_to_scheme(scheme: Scheme) -> None:
        scheme.add(GroupVersion(GROUP, INTERNAL), internal)
        for version, cls in zip(versions, classes, strict=True):
            scheme.add(GroupVersion(GROUP, version), cls)
            scheme.add_same(cls, internal)

    lamps = Resource("lamps", internal, storage_version=storage, **resource)
    return Group(GROUP, tuple(versions), (lamps,), add_to_scheme)


@pytest.mark.parametrize("second", ["v2", ""])
async def test_a_version_is_not_removed_while_objects_are_stored_in_it(
    store: str, second: str
) -> None:
    """All versions have the same fields, and the release before has proven that it reads them."""
    await fill(versions_release(["v1"], "v1"), store, color="red")
    both = versions_release(["v1", "v2"], second)
    async with serving_alone(both, storage=store) as api:
        assert (await api.get("a"))["spec"] == {"color": "red"}

    message = await refusal(versions_release(["v2"], second), store)
    assert f"Lamp of {GROUP}/v1, which the scheme does not have" in message
    assert "apiserver storage migrate" in message

    async with serving_alone(versions_release(["v1", "v2"], second), storage=store) as api:
        assert (await api.patch("a", {"spec": {"color": "blue"}})).code == 200
    async with serving_alone(versions_release(["v2"], second), storage=store) as api:
        answer = await api("GET", LAMPS.replace("/v1/", "/v2/"))
        assert [item["spec"] for item in answer.items] == [{"color": "blue"}]
        entries = (await api.app.backend.range(f"/shapes/{GROUP}/lamps/")).records
        assert any(b'"extinct":["Lamp/v1/' in entry.value for entry in entries)


async def test_a_version_that_is_gone_is_not_one_of_newer_code(store: str) -> None:
    await fill(versions_release(["v1"], ""), store, color="red")
    async with serving_alone(versions_release(["v1", "v2"], "v2"), storage=store) as api:
        await api.create("b", color="blue")
    assert f"stored as Lamp of {GROUP}/v2" in await refusal(versions_release(["v1"], ""), store)


async def test_a_kind_is_not_renamed_while_objects_have_the_old_name(store: str) -> None:
    await fill(versions_release(["v1"], ""), store, color="red")
    message = await refusal(versions_release(["v1"], "", kind="Light"), store)
    assert f"stored as Lamp of {GROUP}/__internal" in message
    async with serving_alone(versions_release(["v1"], ""), storage=store) as api:
        assert (await api("DELETE", f"{LAMPS}/a")).code == 200
    async with serving_alone(versions_release(["v1"], "", kind="Light"), storage=store) as api:
        assert (await api("GET", LAMPS)).json["kind"] == "LightList"


async def test_a_resource_does_not_change_its_scope_while_it_has_objects(store: str) -> None:
    await fill(versions_release(["v1"], ""), store, color="red")
    message = await refusal(versions_release(["v1"], "", namespaced=False), store)
    assert "the resource is cluster-scoped now, and 1 stored object would be found no more" in (
        message
    )
    async with serving_alone(versions_release(["v1"], ""), storage=store) as api:
        assert (await api("DELETE", f"{LAMPS}/a")).code == 200
    for _ in range(2):  # and the second start has nothing to look at
        async with serving_alone(
            versions_release(["v1"], "", namespaced=False), storage=store
        ) as api:
            assert (await api("GET", f"/apis/{GROUP}/v1/lamps")).items == []


async def test_advice_for_values_in_a_map_that_became_an_object_works(store: str) -> None:
    class Sizes(Model):
        left: int = 0

    await fill(release({"sizes": (dict[str, int], {})}), store, sizes={"left": 1, "right": 2})
    fields = {"sizes": (Sizes, Sizes()), "watts": (int, 0)}
    assert "the field spec.sizes.right is gone" in await refusal(release(fields), store)

    def dropping(scheme: Scheme, cls: type[Any]) -> None:
        scheme.add_upgrade(cls, dropped=["spec.sizes.right"])

    accept = (f"{NAME}/spec.sizes.right",)
    async with serving_alone(release(fields), storage=store, accept=accept) as api:
        assert (await api.get("a"))["spec"] == {"sizes": {"left": 1}}
    async with serving_alone(release(fields, dropping), storage=store) as api:
        assert (await api.patch("a", {"spec": {"watts": 1}})).code == 200
