"""A group of two versions over HTTP: how it is stored, selected, shown, and named in errors."""

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import orjson
import pytest

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apis.core.install import CORE
from apis.gadgets.install import GADGETS
from apis.gadgets.types import Gadget
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.group import STATUS, Group, Resource
from apiserver.registry.strategy import Strategy
from apiserver.storage.interface import Backend, Record
from apiserver.storage.sqlite.backend import open_sqlite
from apiserver.views.table import Column
from tests.apiserver.http.conftest import USERS, make_app
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import BETA, gadget
from tests.apiserver.http.objects import GADGETS as STABLE
from tests.roles import standard_authorizer

GROUP = "lamps.example.io"
OLD, NEW = (f"/apis/{GROUP}/{version}/namespaces/default" for version in ("v1beta1", "v1"))
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


class Bulb(Model):
    max_watts: int = 0


class LampSpec(Model):
    color: str = ""
    bulbs: list[Bulb] = field(default_factory=list)
    by_room: dict[str, Bulb] = field(default_factory=dict)


class Lamp(Object):
    spec: LampSpec = LampSpec()


class OldBulb(Model):
    power: int = 0


class OldLampSpec(Model):
    color: str = ""
    lights: list[OldBulb] = field(default_factory=list)
    rooms: dict[str, OldBulb] = field(default_factory=dict)


class OldLamp(Object, kind="Lamp"):
    spec: OldLampSpec = OldLampSpec()


class Shade(Object):
    color: str = ""


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, INTERNAL), Lamp, Shade)
    scheme.add(GroupVersion(GROUP, "v1"), Lamp, Shade)
    scheme.add(GroupVersion(GROUP, "v1beta1"), OldLamp, Shade)
    scheme.add_similar(OldBulb, Bulb, renames={"power": "max_watts"})
    scheme.add_similar(
        OldLamp, Lamp, renames={"spec.lights": "spec.bulbs", "spec.rooms": "spec.by_room"}
    )
    # The old version calls the color of a shade a hue.
    scheme.add_field_labels(GroupVersion(GROUP, "v1beta1").with_kind("Shade"), hue)


def hue(label: str, value: str) -> tuple[str, str]:
    if label != "hue":
        raise ValueError(f"field label not supported: {label}")
    return "color", value


class LampStrategy(Strategy[Lamp]):
    def validate(self, obj: Lamp) -> FieldErrors:
        for position, bulb in enumerate(obj.spec.bulbs):
            yield from _bright(bulb, Path("spec", "bulbs").index(position))
        for room, bulb in obj.spec.by_room.items():
            yield from _bright(bulb, Path("spec", "byRoom").key(room))


def _bright(bulb: Bulb, path: Path) -> FieldErrors:
    if bulb.max_watts < 0:
        yield invalid(path.child("maxWatts"), bulb.max_watts, "must not be negative")


LAMPS = Group(
    GROUP,
    ("v1", "v1beta1"),
    (
        Resource(
            "lamps",
            Lamp,
            LampStrategy(),
            storage_version="v1beta1",
            fields={"spec.color": "spec.color"},
            columns=(
                Column("Color", lambda lamp: lamp.spec.color),
                Column("Watts", lambda lamp: lamp.spec.bulbs[0].max_watts, type="integer"),
                Column("Huge", lambda lamp: 2**70),
            ),
        ),
        Resource("shades", Shade, fields={"color": "color"}),
    ),
    add_to_scheme,
)


class EvenReplicas(Strategy[Gadget]):
    def validate(self, obj: Gadget) -> FieldErrors:
        if obj.spec.replicas % 2:
            yield invalid(Path("spec", "replicas"), obj.spec.replicas, "must be even")

    def validate_status_update(self, new: Gadget, old: Gadget) -> FieldErrors:
        if new.status.ready_replicas > new.spec.replicas:
            yield invalid(Path("spec", "replicas"), new.spec.replicas, "must cover the status")


EVEN = replace(
    GADGETS,
    resources=(Resource("gadgets", Gadget, EvenReplicas(), subresources=(STATUS,)),),
)


@pytest.fixture
async def backend() -> Backend:
    return await open_sqlite("sqlite://:memory:")


@pytest.fixture
async def app(backend: Backend) -> AsyncIterator[App]:
    async def opened() -> Backend:
        return backend

    made = App(
        (CORE, LAMPS, EVEN),
        opened,
        authentication=Authentication([TokenAuthenticator(USERS)]),
        authorizer=standard_authorizer(),
    )
    await made.start()
    yield made
    await made.stop()


def lamp(name: str, color: str = "", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"color": color, **spec}}


# Storage version


async def test_a_resource_is_stored_in_its_own_version(client: Driver, backend: Backend) -> None:
    await client.post(f"{NEW}/lamps", lamp("a", "red", bulbs=[{"maxWatts": 5}]))
    await client.post(f"{OLD}/lamps", lamp("b", "red", lights=[{"power": 6}]))
    await client.patch(f"{NEW}/lamps/b", {"spec": {"color": "blue"}})

    stored = [await backend.get(f"/registry/{GROUP}/lamps/default/{name}") for name in "ab"]

    assert [_document(record)["apiVersion"] for record in stored] == [f"{GROUP}/v1beta1"] * 2
    assert [_document(record)["spec"] for record in stored] == [
        {"color": "red", "lights": [{"power": 5}]},
        {"color": "blue", "lights": [{"power": 6}]},
    ]
    for url, spec in (
        (NEW, {"color": "red", "bulbs": [{"maxWatts": 5}]}),
        (OLD, {"color": "red", "lights": [{"power": 5}]}),
    ):
        read = (await client.get(f"{url}/lamps/a")).json
        listed = (await client.get(f"{url}/lamps")).json["items"]
        async with client.stream(f"{url}/lamps?watch=1") as stream:
            watched = (await stream.event())["object"]
        assert read["spec"] == listed[0]["spec"] == watched["spec"] == spec


async def test_other_resources_of_the_group_are_stored_as_before(
    client: Driver, backend: Backend
) -> None:
    await client.post(f"{NEW}/shades", {"metadata": {"name": "a"}, "color": "red"})

    stored = await backend.get(f"/registry/{GROUP}/shades/default/a")

    assert _document(stored)["apiVersion"] == f"{GROUP}/{INTERNAL}"


async def test_discovery_hashes_the_storage_version_of_the_resource(client: Driver) -> None:
    async def hashes(driver: Driver) -> dict[str, str]:
        listed = (await driver.get(f"/apis/{GROUP}/v1")).json["resources"]
        return {entry["name"]: entry["storageVersionHash"] for entry in listed}

    plain = replace(LAMPS, resources=tuple(_without_version(r) for r in LAMPS.resources))
    other = make_app(CORE, plain)
    await other.start()
    before = await hashes(Driver(other, authorization="Bearer root"))
    await other.stop()

    after = await hashes(client)

    assert after["lamps"] != before["lamps"]
    assert after["shades"] == before["shades"]


def _without_version(resource: Resource) -> Resource:
    return replace(resource, storage_version="")


def _document(record: Record | None) -> Any:
    assert record is not None
    return orjson.loads(record.value)


# Field selectors


async def test_fields_of_a_resource_are_selectable_in_every_version(client: Driver) -> None:
    await client.post(f"{NEW}/lamps", lamp("a", "red"))
    await client.post(f"{NEW}/lamps", lamp("b", "blue"))

    for url in (NEW, OLD):
        chosen = (await client.get(f"{url}/lamps?fieldSelector=spec.color%3Dblue")).json
        assert [item["metadata"]["name"] for item in chosen["items"]] == ["b"]
        wrong = await client.get(f"{url}/lamps?fieldSelector=spec.size%3D1")
        assert (wrong.code, wrong.json["message"]) == (
            400,
            '"spec.size" is not a known field selector: only "metadata.name",'
            ' "metadata.namespace", "spec.color"',
        )


async def test_labels_in_the_scheme_replace_those_of_the_resource(client: Driver) -> None:
    await client.post(f"{NEW}/shades", {"metadata": {"name": "a"}, "color": "red"})
    await client.post(f"{NEW}/shades", {"metadata": {"name": "b"}, "color": "blue"})

    new = (await client.get(f"{NEW}/shades?fieldSelector=color%3Dred")).json["items"]
    old = (await client.get(f"{OLD}/shades?fieldSelector=hue%3Dred")).json["items"]
    wrong = await client.get(f"{OLD}/shades?fieldSelector=color%3Dred")

    assert [item["metadata"]["name"] for item in new] == ["a"]
    assert [item["metadata"]["name"] for item in old] == ["a"]
    assert (wrong.code, wrong.json["message"]) == (400, "field label not supported: color")


# Errors


async def test_errors_name_fields_as_the_version_of_the_request_does(client: Driver) -> None:
    new = lamp("a", bulbs=[{}, {"maxWatts": -1}], byRoom={"a.b": {"maxWatts": -2}})
    old = lamp("a", lights=[{}, {"power": -1}], rooms={"a.b": {"power": -2}})

    refused = {
        "v1": (await client.post(f"{NEW}/lamps", new)).json,
        "v1beta1": (await client.post(f"{OLD}/lamps", old)).json,
    }

    causes = {
        version: [cause["field"] for cause in status["details"]["causes"]]
        for version, status in refused.items()
    }
    assert causes == {
        "v1": ["spec.bulbs[1].maxWatts", "spec.byRoom[a.b].maxWatts"],
        "v1beta1": ["spec.lights[1].power", "spec.rooms[a.b].power"],
    }
    assert refused["v1beta1"]["message"] == (
        'Lamp.lamps.example.io "a" is invalid: '
        "[spec.lights[1].power: Invalid value: -1: must not be negative, "
        "spec.rooms[a.b].power: Invalid value: -2: must not be negative]"
    )


async def test_every_write_of_a_gadget_names_its_count(client: Driver) -> None:
    await client.post(BETA, gadget(count=2))
    apply = gadget(count=3) | {"apiVersion": "gadgets.example.io/v1beta1", "kind": "Gadget"}
    apply_type = {"content-type": "application/apply-patch+yaml"}

    answers = [
        await client.post(BETA, gadget("other", count=3)),
        await client.put(f"{BETA}/lamp", gadget(count=3)),
        await client.patch(f"{BETA}/lamp", {"spec": {"count": 3}}),
        await client.send(
            "PATCH", f"{BETA}/lamp?fieldManager=me&force=1", json=apply, headers=apply_type
        ),
        await client.patch(f"{BETA}/lamp/status", {"status": {"readyReplicas": 9}}),
    ]
    stable = await client.patch(f"{STABLE}/lamp", {"spec": {"replicas": 3}})

    assert [answer.code for answer in answers] == [422] * 5
    assert {answer.json["details"]["causes"][0]["field"] for answer in answers} == {"spec.count"}
    assert all(" is invalid: spec.count: Invalid" in a.json["message"] for a in answers)
    assert stable.json["details"]["causes"][0]["field"] == "spec.replicas"


# Columns


async def test_a_column_that_raises_is_unknown(
    client: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    await client.post(f"{NEW}/lamps", lamp("a", "red", bulbs=[{"maxWatts": 5}]))
    await client.post(f"{NEW}/lamps", lamp("b", "blue"))
    await client.post(f"{NEW}/lamps", lamp("c", "green"))

    with caplog.at_level(logging.WARNING):
        table = await client.get(f"{NEW}/lamps", accept=TABLE)
        again = await client.get(f"{OLD}/lamps/b", accept=TABLE)

    assert table.code == again.code == 200
    unknown = "<unknown>"
    cells = [row["cells"] for row in table.json["rows"] + again.json["rows"]]
    assert [row[:4] for row in cells] == [
        ["a", "red", 5, unknown],
        ["b", "blue", unknown, unknown],
        ["c", "green", unknown, unknown],
        ["b", "blue", unknown, unknown],
    ]
    assert [record.message for record in caplog.records] == [
        "column 'Huge' failed for Lamp default/a; its next failures are not logged",
        "column 'Watts' failed for Lamp default/b; its next failures are not logged",
    ]
