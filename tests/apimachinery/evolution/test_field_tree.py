"""What is part of a shape and what is not."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Literal
from uuid import uuid4

import orjson
import pytest

from apimachinery.evolution.field_tree import FieldTree, field_tree
from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Bytes, RawExtension
from tests.apimachinery.evolution.lamps import lamp, list_of, map_of, model


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


class OneColor(StrEnum):
    BLUE = "blue"


class Node(Model):
    name: str = ""
    children: "list[Node]" = field(default_factory=list)
    by_name: "dict[str, Node]" = field(default_factory=dict)
    other: "Node | bool | None" = None


class Everything(Object):
    text: str
    number: int = 3
    ratio: float = 0.5
    data: Bytes = b""
    raw: RawExtension | None = None
    at: Time | None = None
    exactly: MicroTime | None = None
    wait: Duration = timedelta(seconds=2)
    pause: Duration = timedelta(0)
    size: Quantity = Quantity("1")
    port: IntOrString = 1
    choice: Literal["x", "y"] = "x"
    color: Color = Color.RED
    names: dict[str, list[int]] = field(default_factory=dict)
    anything: Any = None
    node: Node = Node(name="a")
    token: str = field(default_factory=lambda: str(uuid4()))
    host: str = field(default_factory=lambda: os.environ.get("PYTHONHASHSEED", ""))
    process: int = field(default_factory=os.getpid)


def fingerprint(**spec: Any) -> str:
    return field_tree(lamp(**spec)).fingerprint


BASE: dict[str, Any] = {"color": (str, ""), "watts": (int, 1), "parts": (list_of(model()), [])}

SAME: dict[str, dict[str, Any]] = {
    "documentation": {"color": (str, field("", doc="Its color."))},
    "constraints": {"watts": (int, field(1, ge=1, le=5)), "color": (str, field("", pattern="r+"))},
    "the order of fields": dict(reversed(BASE.items())),
    "names of classes": {"parts": (list_of(model("Piece")), [])},
    "a Literal instead of its type": {"color": (Literal["", "red"], "")},
    "an enum of the same type": {"color": (Color | Literal[""], "")},
    "markers": {"color": (str, field("", proto=7, deprecated="use watts"))},
}

OTHER: dict[str, dict[str, Any]] = {
    "another field": {"size": (str, "")},
    "another name": {"color": (str, field("", wire="tint"))},
    "another type": {"watts": (float, 1.0)},
    "another type of elements": {"parts": (list[str], [])},
    "a map instead of a list": {"parts": (map_of(model()), {})},
    "another default": {"watts": (int, 2)},
    "no default": {"watts": (int, ...)},
    "a default that is null": {"color": (str | None, None)},
    "another omission": {"color": (str, field("", omit_empty=False))},
    "a nested field": {"parts": (list_of(model(size=(int, 0))), [])},
    "undeclared fields are kept": {"parts": (list_of(model(extra="allow")), [])},
}


@pytest.mark.parametrize("change", SAME.values(), ids=list(SAME))
def test_the_shape_does_not_depend_on(change: dict[str, Any]) -> None:
    assert fingerprint(**{**BASE, **change}) == fingerprint(**BASE)


@pytest.mark.parametrize("change", OTHER.values(), ids=list(OTHER))
def test_the_shape_depends_on(change: dict[str, Any]) -> None:
    assert fingerprint(**{**BASE, **change}) != fingerprint(**BASE)


def test_narrowing_an_enumeration_keeps_the_shape() -> None:
    assert fingerprint(color=(Color, "blue")) == fingerprint(color=(OneColor, "blue"))
    assert fingerprint(color=(Literal["a", "b"], "a")) == fingerprint(color=(Literal["a"], "a"))


def test_metadata_is_no_part_of_the_shape() -> None:
    assert [path for path, _ in field_tree(lamp(color=(str, ""))).paths()] == ["spec", "spec.color"]


def test_a_tree_survives_json() -> None:
    tree = field_tree(Everything)

    read = FieldTree.from_json(orjson.loads(orjson.dumps(tree.to_json())))

    assert read == tree
    assert read.to_json() == tree.to_json()


def test_a_shape_is_the_same_in_every_process() -> None:
    code = (
        "from apimachinery.evolution.field_tree import field_tree;"
        "from tests.apimachinery.evolution.test_field_tree import Everything;"
        "print(field_tree(Everything).fingerprint)"
    )
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    other = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()

    assert other == field_tree(Everything).fingerprint


@pytest.mark.parametrize(
    "factory",
    [lambda: str(uuid4()), lambda: datetime.now(UTC).isoformat(), lambda: "host", "".lower],
)
def test_a_computed_default_has_no_value(factory: Any) -> None:
    """Otherwise every process would store another shape."""
    tree = field_tree(lamp(token=(str, field(default_factory=factory))))

    found = tree.find("spec.token")

    assert found is not None
    assert found.default is None
    assert found.computed
    assert not found.required
    assert FieldTree.from_json(tree.to_json()) == tree


@pytest.mark.parametrize(
    ("factory", "default"), [(list, []), (lambda: [1], [1]), (lambda: [2, 3], [2, 3])]
)
def test_a_factory_of_a_list_is_constant(factory: Any, default: Any) -> None:
    found = field_tree(lamp(sizes=(list[int], field(default_factory=factory)))).find("spec.sizes")

    assert found is not None
    assert found.default == default
    assert not found.computed


class Started(Model):
    at: str = field(default_factory=lambda: str(uuid4()))
    by: str = "cron"


def test_a_default_has_no_computed_values_inside() -> None:
    fields: dict[str, Any] = {
        "made": (Started, field(default_factory=Started)),
        "fixed": (Started, Started()),
        "list": (list[Started], field(default_factory=lambda: [Started(at="noon")])),
        "map": (dict[str, Started], {"a": Started()}),
    }

    tree = field_tree(lamp(**fields))

    found = {name: tree.find(f"spec.{name}") for name in fields}
    assert {name: entry and entry.default for name, entry in found.items()} == {
        "made": {"by": "cron"},
        "fixed": {"by": "cron"},
        "list": [{"by": "cron"}],
        "map": {"a": {"by": "cron"}},
    }


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("number", 3),
        ("ratio", 0.5),
        ("data", ""),
        ("wait", "2s"),
        ("pause", "0s"),
        ("size", "1"),
        ("port", 1),
        ("choice", "x"),
        ("color", "red"),
        ("names", {}),
        ("node", {"name": "a"}),
        ("raw", None),
        ("text", None),
    ],
)
def test_defaults_are_recorded_as_they_would_be_stored(name: str, default: Any) -> None:
    found = field_tree(Everything).find(name)

    assert found is not None
    assert found.default == default


def test_a_recursive_type_is_entered_once_per_branch() -> None:
    paths = [path for path, _ in field_tree(lamp(node=(Node, Node()))).paths()]

    assert paths == [
        "spec",
        "spec.node",
        "spec.node.byName",
        "spec.node.children",
        "spec.node.name",
        "spec.node.other",
    ]


def test_the_fields_of_a_model_in_a_union_are_part_of_the_shape() -> None:
    first, second = model(size=(int, 0)), model(size=(str, ""))

    assert fingerprint(part=(first | bool, True)) != fingerprint(part=(second | bool, True))
    assert fingerprint(part=(first | bool, True)) == fingerprint(part=(bool | first, True))
    assert field_tree(lamp(part=(first | bool | None, None))).find("spec.part.size") is not None


def test_types_are_described_in_words() -> None:
    tree = field_tree(Everything)
    described = {path: tree.describe(entry.type) for path, entry in tree.paths()}

    assert described["names"] == "map of list of integer"
    assert described["node"] == "object"
    assert described["node.other"] == "boolean or object"
    assert described["exactly"] == "micro-time"


@pytest.mark.parametrize(
    ("path", "declared"),
    [
        ("spec.parts[0].size", "spec.parts.size"),
        ("spec.slots.left.size", "spec.slots.size"),
        ("spec.slots.a.b.c.size", "spec.slots.size"),
        ("spec.slots.size.size", "spec.slots.size"),
        ("spec.slots.left", "spec.slots"),
        ("spec.grid.a[3].size", "spec.grid.size"),
        ("spec.node.children[0].byName.x.name", "spec.node.children.byName.name"),
        ("spec.undeclared.left", "spec.undeclared.left"),
        ("metadata.labels", "metadata.labels"),
        ("", ""),
    ],
)
def test_the_declared_path_of_a_value_has_no_indexes_and_keys(path: str, declared: str) -> None:
    part = model(size=(int, 0))
    tree = field_tree(
        lamp(
            parts=(list_of(part), []),
            slots=(map_of(part), {}),
            grid=(map_of(list_of(part)), {}),
            node=(Node, Node()),
        )
    )

    assert tree.declared(path) == declared
