"""Objects from before the catalogue of shapes, at the first start that has one."""

from pathlib import Path
from typing import Any

import pytest

from apimachinery.model.model import Model
from apimachinery.scheme import Scheme
from apiserver.evolution.catalogue import read_catalogue
from apiserver.evolution.start import UnsafeStart
from apiserver.storage.backends import open_backend
from tests.apiserver.evolution.releases import GROUP, LAMPS, NAME, Upgrade, release, serving_alone
from tests.apiserver.evolution.test_changed_types import forget_shapes

FIRST = {"color": (str, ""), "watts": (int, 0)}


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.sqlite"


async def fill(store: str, fields: Any, **spec: Any) -> None:
    """Store an object that names no shape, in a store without a catalogue."""
    async with serving_alone(release(fields), storage=store) as api:
        await api.create("a", **spec)
        await forget_shapes(api)


@pytest.mark.parametrize(
    "value",
    [
        b"\xff\xfe",
        b"",
        b"[]",
        b'{"metadata":{"name":"x"}}',
        b'{"kind":"Old","apiVersion":"%s/__internal","metadata":{"name":"x"}}' % GROUP.encode(),
        b'{"kind":"Lamp","apiVersion":"a/b/c","metadata":{"name":"x"}}',
        b'{"kind":["Lamp"],"apiVersion":5,"metadata":5}',
    ],
)
async def test_what_could_never_be_read_does_not_refuse_the_start(store: str, value: bytes) -> None:
    backend = await open_backend(store)
    await backend.create(f"/registry/{GROUP}/lamps/default/x", value)
    await backend.close()
    async with serving_alone(release(FIRST), storage=store) as api:
        await api.create("b", color="red")
        assert (await api.get("b"))["spec"] == {"color": "red"}


async def test_a_version_that_the_scheme_does_not_have_is_reported(store: str) -> None:
    backend = await open_backend(store)
    value = b'{"kind":"Lamp","apiVersion":"%s/v1beta1","metadata":{"name":"x"}}' % GROUP.encode()
    await backend.create(f"/registry/{GROUP}/lamps/default/x", value)
    await backend.close()
    with pytest.raises(UnsafeStart, match=f"default/x: they are stored as Lamp of {GROUP}/v1beta1"):
        async with serving_alone(release(FIRST), storage=store):
            pass


def renaming(scheme: Scheme, cls: type[Any]) -> None:
    scheme.add_upgrade(cls, renames={"spec.color": "spec.tint"})
    scheme.add_upgrade(cls, renames={"spec.tint": "spec.hue"})


def dropping(scheme: Scheme, cls: type[Any]) -> None:
    scheme.add_upgrade(cls, dropped=["spec.color"])


def rewriting(scheme: Scheme, cls: type[Any]) -> None:
    def shout(document: Any) -> None:
        document["spec"]["hue"] = document["spec"].pop("color", "").upper()

    scheme.add_upgrade(cls, function=shout, reads=["spec.color"], writes=["spec.hue"])


@pytest.mark.parametrize(
    ("upgrade", "spec"),
    [(renaming, {"hue": "red"}), (dropping, {}), (rewriting, {"hue": "RED"})],
)
async def test_declared_steps_apply(store: str, upgrade: Upgrade, spec: Any) -> None:
    await fill(store, FIRST, color="red")
    fields = {"hue": (str, ""), "watts": (int, 0)}
    with pytest.raises(UnsafeStart, match=r"the field spec\.color is gone, and 1 stored object"):
        async with serving_alone(release(fields), storage=store):
            pass
    for _ in range(2):
        async with serving_alone(release(fields, upgrade), storage=store) as api:
            assert (await api.get("a"))["spec"] == spec
            entries = (await read_catalogue(api.app.backend)).entries
            (shapes,) = [each for name, each in entries.items() if name.group == GROUP]
            assert [shape.generation for shape in shapes] == [0, 1]
    async with serving_alone(release(fields, upgrade), storage=store) as api:
        assert (await api.patch("a", {"spec": {"watts": 1}})).code == 200
        assert (await api.get("a"))["spec"] == {**spec, "watts": 1}
        assert b"color" not in (await api.stored("a")).partition(b'"spec"')[2]


async def test_a_field_of_an_object_that_is_gone_is_renamed(store: str) -> None:
    class Light(Model):
        tint: str = ""
        size: str = ""

    def moving(scheme: Scheme, cls: type[Any]) -> None:
        scheme.add_upgrade(cls, renames={"spec.light.tint": "spec.tint"})

    await fill(store, {"light": (Light, Light())}, light={"tint": "red"})
    async with serving_alone(release({"tint": (str, "")}, moving), storage=store) as api:
        assert (await api.get("a"))["spec"] == {"tint": "red"}


async def test_what_the_steps_do_not_cover_is_still_refused(store: str) -> None:
    await fill(store, {**FIRST, "socket": (str, "")}, color="red", socket="E27")
    with pytest.raises(UnsafeStart) as refused:
        async with serving_alone(release({"hue": (str, "")}, renaming), storage=store):
            pass
    assert "spec.socket is gone" in str(refused.value)
    assert "spec.color" not in str(refused.value)


async def test_an_accepted_field_is_gone_from_answers_and_may_be_lost(store: str) -> None:
    await fill(store, FIRST, color="red")
    accept = (f"{NAME}/spec.color",)
    fields = {"watts": (int, 0)}
    async with serving_alone(release(fields), storage=store, accept=accept) as api:
        assert (await api.get("a"))["spec"] == {}
        assert [item["spec"] for item in (await api("GET", LAMPS)).items] == [{}]
    async with serving_alone(release(fields), storage=store) as api:
        assert (await api.get("a"))["spec"] == {}
        assert (await api.patch("a", {"spec": {"watts": 1}})).code == 200


async def test_values_of_another_type_refuse_the_start(store: str) -> None:
    await fill(store, FIRST, watts=3)
    with pytest.raises(UnsafeStart, match=r"spec\.watts that cannot be read .*start once with"):
        async with serving_alone(release({**FIRST, "watts": (str, "")}), storage=store):
            pass

    def text(value: int) -> str:
        return f"{value}W"

    def retyping(scheme: Scheme, cls: type[Any]) -> None:
        scheme.add_upgrade(cls, retyped={"spec.watts": text})

    async with serving_alone(release(FIRST), storage=store):
        pass
    changed = release({**FIRST, "watts": (str, "")}, retyping)
    async with serving_alone(changed, storage=store) as api:
        assert (await api.get("a"))["spec"] == {"watts": "3W"}
