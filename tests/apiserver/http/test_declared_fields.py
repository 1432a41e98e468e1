"""Writes that break the rules of fields are refused, in the words of the request's version."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from apimachinery.fieldpath import FieldErrors, Path, required
from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apis.core.install import CORE
from apiserver.app import App
from apiserver.group import STATUS, Group, Resource
from apiserver.registry.strategy import Strategy
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Answer, Driver

GROUP = "lamps.example.io"
ALPHA, BETA, V1 = (
    f"/apis/{GROUP}/{version}/namespaces/default/lamps" for version in ("v1alpha1", "v1beta1", "v1")
)
COLORS = ("red", "green")
PINK = 'Unsupported value: "pink": supported values: "green", "red"'
DIM = 'Unsupported value: "dim": supported values: "bright", "dark"'
FIXED = 'Invalid value: "b": field is immutable'


class LampStatus(Model):
    conditions: list[Condition] = field(default_factory=list, list_map_keys=("type",))


class Spec(Model):
    """The internal spec, which declares everything but the mood."""

    color: str = field("", enum=COLORS)
    model: str = field("", immutable=True)
    mood: str = field("", selectable=True)
    shape: str = field("round", enum=("round", "square"))


class Lamp(Object):
    spec: Spec = Spec()
    status: LampStatus = LampStatus()


class SpecV1(Model):
    """Declares the same, and the mood."""

    color: str = field("", enum=COLORS)
    model: str = field("", immutable=True)
    mood: str = field("", enum=("bright", "dark"))
    shape: str = field("round", enum=("round", "square"))


class LampV1(Object, kind="Lamp"):
    spec: SpecV1 = SpecV1()
    status: LampStatus = LampStatus()


class SpecBeta(Model):
    """Calls the color a hue, and declares its values, too."""

    hue: str = field("", enum=COLORS)
    model: str = ""
    mood: str = ""
    shape: str = "round"


class LampBeta(Object, kind="Lamp"):
    spec: SpecBeta = SpecBeta()
    status: LampStatus = LampStatus()


class SpecAlpha(Model):
    """Calls the color a tint, and declares nothing."""

    tint: str = ""
    model: str = ""
    mood: str = ""
    shape: str = "round"


class LampAlpha(Object, kind="Lamp"):
    spec: SpecAlpha = SpecAlpha()
    status: LampStatus = LampStatus()


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, INTERNAL), Lamp)
    scheme.add(GroupVersion(GROUP, "v1"), LampV1)
    scheme.add_same(LampV1, Lamp)
    scheme.add(GroupVersion(GROUP, "v1beta1"), LampBeta)
    scheme.add_similar(LampBeta, Lamp, renames={"spec.hue": "spec.color"})
    scheme.add(GroupVersion(GROUP, "v1alpha1"), LampAlpha)
    scheme.add_similar(LampAlpha, Lamp, renames={"spec.tint": "spec.color"})


class LampStrategy(Strategy[Lamp]):
    def validate(self, obj: Lamp) -> FieldErrors:
        if not obj.spec.shape:
            yield required(Path("spec", "shape"), "a lamp has a shape")


LAMPS = Group(
    GROUP,
    ("v1", "v1beta1", "v1alpha1"),
    (Resource("lamps", Lamp, LampStrategy(), subresources=(STATUS,)),),
    add_to_scheme,
)


@pytest.fixture
async def app() -> AsyncIterator[App]:
    made = make_app(CORE, LAMPS)
    await made.start()
    yield made
    await made.stop()


def lamp(name: str = "hall", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec}


def causes(answer: Answer) -> list[str]:
    assert answer.code == 422, answer.json
    return [f"{cause['field']}: {cause['message']}" for cause in answer.json["details"]["causes"]]


async def test_a_value_outside_the_enumeration_is_refused_in_every_version(client: Driver) -> None:
    for url, name in ((V1, "color"), (BETA, "hue"), (ALPHA, "tint")):
        answer = await client.post(url, lamp(**{name: "pink"}))

        assert causes(answer) == [f"spec.{name}: {PINK}"]
        assert answer.json["message"] == (f'Lamp.{GROUP} "hall" is invalid: spec.{name}: {PINK}')


async def test_rules_of_a_version_hold_for_its_writes(client: Driver) -> None:
    assert causes(await client.post(V1, lamp(mood="dim"))) == [f"spec.mood: {DIM}"]
    assert (await client.post(BETA, lamp(mood="dim"))).code == 201


async def test_an_error_of_the_strategy_comes_first_and_alone(client: Driver) -> None:
    answer = await client.post(V1, lamp(color="pink", shape=""))

    assert causes(answer) == [
        "spec.shape: Required value: a lamp has a shape",
        f"spec.color: {PINK}",
    ]


async def test_every_kind_of_update_is_validated(client: Driver) -> None:
    await client.post(V1, lamp(color="red", model="a"))
    apply = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Lamp", **lamp(hue="pink", model="b")}

    put = await client.put(f"{V1}/hall", lamp(color="pink", model="b"))
    patch = await client.patch(f"{V1}/hall", {"spec": {"color": "pink", "model": "b"}})
    applied = await client.patch(
        f"{BETA}/hall?fieldManager=me&force=true", apply, "apply-patch+yaml"
    )

    expected = {f"spec.color: {PINK}", f"spec.model: {FIXED}"}
    assert set(causes(put)) == set(causes(patch)) == expected
    assert causes(applied) == [f"spec.hue: {PINK}", f"spec.model: {FIXED}"]
    assert (await client.patch(f"{V1}/hall", {"spec": {"color": "green"}})).code == 200


async def test_an_old_value_stays_until_it_is_changed(client: Driver) -> None:
    await client.post(BETA, lamp(mood="dim"))

    labelled = await client.patch(f"{V1}/hall", {"metadata": {"labels": {"a": "b"}}})
    refused = await client.patch(f"{V1}/hall", {"spec": {"mood": "dimmer"}})

    assert labelled.code == 200
    assert causes(refused) == [f"spec.mood: {DIM.replace('dim', 'dimmer')}"]


async def test_a_selectable_field_can_be_selected_in_every_version(client: Driver) -> None:
    await client.post(BETA, lamp("a", mood="dim"))
    await client.post(BETA, lamp("b", mood="bright"))

    for url in (V1, BETA, ALPHA):
        listed = await client.get(f"{url}?fieldSelector=spec.mood%3Ddim")
        assert [item["metadata"]["name"] for item in listed.json["items"]] == ["a"]
    assert (await client.get(f"{V1}?fieldSelector=spec.shape%3Dround")).code == 400


async def test_a_write_of_the_status_is_validated_in_the_status(client: Driver) -> None:
    await client.post(V1, lamp(color="red"))
    condition = {
        "type": "Ready",
        "status": "Maybe",
        "reason": "Test",
        "message": "",
        "lastTransitionTime": "2030-01-01T12:00:00Z",
    }
    body = lamp(color="pink") | {"status": {"conditions": [condition]}}

    refused = await client.put(f"{V1}/hall/status", body)
    condition["status"] = "True"
    accepted = await client.put(f"{V1}/hall/status", body)

    assert causes(refused) == [
        'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False",'
        ' "True", "Unknown"'
    ]
    assert (accepted.code, accepted.json["spec"]["color"]) == (200, "red")
