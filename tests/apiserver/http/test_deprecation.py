"""Deprecated versions and fields: who uses one is warned, in every kind of write."""

from typing import Any

import pytest

from apimachinery.codec import Codec
from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apimachinery.serialization.media_types import PROTOBUF
from apis.core.install import CORE
from apiserver.group import Group, Resource
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Answer, Driver
from tests.apiserver.http.objects import BETA, GADGETS, JSON_PATCH, STRATEGIC

LAMP = f"{BETA}/lamp"
VERSION = (
    '299 - "gadgets.example.io/v1beta1 Gadget is deprecated; use gadgets.example.io/v1 Gadget"'
)
COLOR = '299 - "spec.color: deprecated since v1; it has no effect"'


def lamp(**spec: Any) -> Any:
    return {"metadata": {"name": "lamp"}, "spec": {"model": "a1", **spec}}


def told(answer: Answer) -> tuple[int, list[str]]:
    return answer.code, answer.all("warning")


async def apply(client: Driver, body: Any, query: str = "") -> Answer:
    headers = {"content-type": "application/apply-patch+yaml"}
    kind = {"apiVersion": "gadgets.example.io/v1beta1", "kind": "Gadget"}
    url = f"{LAMP}?fieldManager=m{query}"
    return await client.send("PATCH", url, json={**kind, **body}, headers=headers)


async def test_who_sets_a_deprecated_field_is_warned_once(client: Driver) -> None:
    assert told(await client.post(BETA, lamp(color="red"))) == (201, [VERSION, COLOR])
    assert told(await client.put(LAMP, lamp(color="red"))) == (200, [VERSION, COLOR])
    assert told(await client.put(LAMP, lamp())) == (200, [VERSION])
    assert told(await client.put(LAMP, lamp(color=""))) == (200, [VERSION])


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ({"spec": {"color": "red"}}, "merge-patch+json"),
        ({"spec": {"color": "red"}}, STRATEGIC),
        ([{"op": "add", "path": "/spec/color", "value": "red"}], JSON_PATCH),
    ],
)
async def test_a_patch_that_sets_one_is_warned_of(client: Driver, patch: Any, kind: str) -> None:
    await client.post(BETA, lamp())

    assert told(await client.patch(LAMP, patch, kind)) == (200, [VERSION, COLOR])


async def test_an_apply_that_sets_one_is_warned_of(client: Driver) -> None:
    assert told(await apply(client, lamp(color="red"))) == (201, [VERSION, COLOR])
    assert told(await apply(client, lamp(color="red"))) == (200, [VERSION, COLOR])
    assert told(await apply(client, lamp())) == (200, [VERSION])


@pytest.mark.parametrize("validation", ["Strict", "Warn", "Ignore"])
async def test_it_is_no_matter_of_field_validation(client: Driver, validation: str) -> None:
    answer = await client.post(f"{BETA}?fieldValidation={validation}", lamp(color="red"))

    assert told(answer) == (201, [VERSION, COLOR])


async def test_writes_that_do_not_set_it_are_not_warned_of(client: Driver) -> None:
    await client.post(BETA, lamp(color="red"))

    labelled = await client.patch(LAMP, {"metadata": {"labels": {"a": "b"}}})
    status = await client.put(f"{LAMP}/status", lamp(color="red"))

    assert told(labelled) == (200, [VERSION])
    assert told(status) == (200, [VERSION])
    assert (await client.get(f"{GADGETS}/lamp")).all("warning") == []


async def test_yaml_is_warned_of_too(client: Driver) -> None:
    body = b"metadata: {name: lamp}\nspec: {model: a1, color: red}"
    headers = {"content-type": "application/yaml"}

    assert told(await client.send("POST", BETA, body=body, headers=headers)) == (
        201,
        [VERSION, COLOR],
    )


class BellSpec(Model):
    pitch: str = field("", proto=1, deprecated="use spec.tone")
    tone: str = field("", proto=2)


class Bell(Object):
    spec: BellSpec = field(default_factory=BellSpec, proto=2)


def add_bells(scheme: Scheme) -> None:
    scheme.add(GroupVersion("bells.example.io", "v1"), Bell, internal=True)


async def test_protobuf_is_warned_of_too() -> None:
    bells = Group("bells.example.io", ("v1",), (Resource("bells", Bell),), add_bells)
    scheme = Scheme()
    add_bells(scheme)
    bell = Bell(spec=BellSpec(pitch="high"))
    bell.metadata.name = "one"
    version = GroupVersion("bells.example.io", "v1")
    body = Codec(scheme).encode(bell, version, media_type=PROTOBUF)
    app = make_app(CORE, bells)
    await app.start()

    client = Driver(app, authorization="Bearer root")
    url, headers = "/apis/bells.example.io/v1/namespaces/default/bells", {"content-type": PROTOBUF}
    answer = await client.send("POST", url, body=body, headers=headers)

    assert told(answer) == (201, ['299 - "spec.pitch: deprecated; use spec.tone"'])
    await app.stop()


async def test_openapi_marks_versions_and_fields(client: Driver) -> None:
    old = (await client.get("/openapi/v3/apis/gadgets.example.io/v1beta1")).json
    new = (await client.get("/openapi/v3/apis/gadgets.example.io/v1")).json
    everything = (await client.get("/openapi/v2")).json

    path = "/apis/gadgets.example.io/{}/namespaces/{{namespace}}/gadgets/{{name}}"
    name = "io.example.gadgets.{}.GadgetSpec"
    color = {
        "type": "string",
        "description": "Color of the gadget.\n\nDeprecated: since v1; it has no effect",
    }
    v3 = old["components"]["schemas"][name.format("v1beta1")]["properties"]["color"]
    assert {**color, "deprecated": True}.items() <= v3.items()
    assert everything["definitions"][name.format("v1beta1")]["properties"]["color"] == color
    assert old["paths"][path.format("v1beta1")]["put"]["deprecated"] is True
    assert "deprecated" not in new["paths"][path.format("v1")]["put"]
    assert everything["paths"][path.format("v1beta1")]["put"]["deprecated"] is True


async def test_discovery_puts_the_version_to_use_first(client: Driver) -> None:
    """It has no other place for it: neither the old nor the aggregated form has a mark."""
    group = (await client.get("/apis/gadgets.example.io")).json

    assert [version["version"] for version in group["versions"]] == ["v1", "v1beta1"]
    assert group["preferredVersion"]["version"] == "v1"
