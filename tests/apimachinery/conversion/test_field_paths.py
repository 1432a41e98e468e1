"""Paths of fields as a version calls them."""

import pytest

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apis.gadgets import v1, v1beta1
from apis.gadgets.register import add_to_scheme

GROUP = "lamps.example.io"


class Socket(Model):
    """The same class in both versions."""

    max_watts: int = 0


class Bulb(Model):
    max_watts: int = 0
    socket: Socket = Socket()
    children: list["Bulb"] = field(default_factory=list)


class Cord(Model):
    length: int = 0


class Spec(Model):
    light_level: int = 0
    bulbs: list[Bulb] = field(default_factory=list)
    by_room: dict[str, Bulb] = field(default_factory=dict)
    main: Bulb | None = None
    cord: Cord = Cord()
    hidden: int = 0
    swap: int = 0
    text: str = ""


class Lamp(Object):
    spec: Spec = Spec()


class OldBulb(Model):
    power: int = 0
    socket: Socket = Socket()
    children: list["OldBulb"] = field(default_factory=list)


class OldCord(Model):
    centimetres: int = 0


class OldSpec(Model):
    brightness: int = 0
    lights: list[OldBulb] = field(default_factory=list)
    per_room: dict[str, OldBulb] = field(default_factory=dict)
    main: OldBulb | None = None
    cord: OldCord = OldCord()
    text: int = 0
    swap: str = ""


class OldLamp(Object, kind="Lamp"):
    spec: OldSpec = OldSpec()


class Plug(Object):
    cords: list[Cord] = field(default_factory=list)


class OldPlug(Object, kind="Plug"):
    cords: list[OldCord] = field(default_factory=list)


def cord_to_internal(cord: OldCord) -> Cord:
    return Cord(length=cord.centimetres)


def cord_from_internal(cord: Cord) -> OldCord:
    return OldCord(centimetres=cord.length)


@pytest.fixture(scope="module")
def lamps() -> Scheme:
    scheme = Scheme()
    scheme.add(GroupVersion(GROUP, INTERNAL), Lamp)
    scheme.add(GroupVersion(GROUP, "v1"), OldLamp)
    scheme.add_conversion(cord_to_internal, cord_from_internal)
    scheme.add_similar(OldBulb, Bulb, renames={"power": "max_watts"})
    scheme.add_similar(
        OldLamp,
        Lamp,
        renames={
            "spec.brightness": "spec.light_level",
            "spec.lights": "spec.bulbs",
            "spec.per_room": "spec.by_room",
            "spec.swap": "spec.text",
            "spec.text": "spec.swap",
        },
        kept={"spec.hidden": "lamps.example.io/hidden"},
    )
    return scheme


@pytest.mark.parametrize(
    ("internal", "versioned"),
    [
        ("spec", "spec"),
        ("spec.lightLevel", "spec.brightness"),
        ("spec.bulbs", "spec.lights"),
        ("spec.bulbs[0]", "spec.lights[0]"),
        ("spec.bulbs[0].maxWatts", "spec.lights[0].power"),
        ("spec.bulbs[10].socket.maxWatts", "spec.lights[10].socket.maxWatts"),
        ("spec.bulbs[0].children[1].maxWatts", "spec.lights[0].children[1].power"),
        ("spec.byRoom[kitchen].maxWatts", "spec.perRoom[kitchen].power"),
        ("spec.byRoom[a.b/c[0]].maxWatts", "spec.perRoom[a.b/c[0]].power"),
        ("spec.main.maxWatts", "spec.main.power"),
        ("spec.swap", "spec.text"),
        ("spec.text", "spec.swap"),
        ("metadata.labels[app.io/a.b]", "metadata.labels[app.io/a.b]"),
        # The version has no such field, or a function renames it without saying so.
        ("spec.hidden", "spec.hidden"),
        ("spec.cord.length", "spec.cord.length"),
        # Paths that are no fields of the class.
        ("spec.bulbs.maxWatts", "spec.lights.maxWatts"),
        ("spec.lightLevel.more", "spec.brightness.more"),
        ("spec.other[0].maxWatts", "spec.other[0].maxWatts"),
        ("spec.light_level", "spec.light_level"),
        ("", ""),
        ("<nil>", "<nil>"),
    ],
)
def test_a_path_has_the_names_of_the_version(lamps: Scheme, internal: str, versioned: str) -> None:
    assert lamps.field_path(OldLamp, internal) == versioned


def test_the_internal_class_has_its_own_names(lamps: Scheme) -> None:
    assert lamps.field_path(Lamp, "spec.bulbs[0].maxWatts") == "spec.bulbs[0].maxWatts"


def test_renames_give_names_to_what_a_function_converts() -> None:
    scheme = Scheme()
    scheme.add(GroupVersion(GROUP, INTERNAL), Plug)
    scheme.add(GroupVersion(GROUP, "v1"), OldPlug)
    scheme.add_conversion(cord_to_internal, cord_from_internal)
    scheme.add_similar(OldPlug, Plug, renames={"cords.centimetres": "cords.length"})

    assert scheme.field_path(OldPlug, "cords[2].length") == "cords[2].centimetres"


def test_gadgets() -> None:
    scheme = Scheme()
    add_to_scheme(scheme)

    assert scheme.field_path(v1beta1.Gadget, "spec.replicas") == "spec.count"
    assert scheme.field_path(v1beta1.Gadget, "spec.parts[0].name") == "spec.parts[0].name"
    assert scheme.field_path(v1.Gadget, "spec.replicas") == "spec.replicas"
