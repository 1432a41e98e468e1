"""Samples: always the same objects, with every field set or only those that must be."""

from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal

import pytest

from apimachinery.codec import dump_json
from apimachinery.meta.types import Object
from apimachinery.model.class_fields import fields_of
from apimachinery.model.decoding import decode_json
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Bytes, Int32, RawExtension
from apimachinery.testing.sample_objects import complete_object, minimal_object


class Color(StrEnum):
    RED = "red"


class Node(Model):
    name: str = ""
    below: "list[Node]" = field(default_factory=list)
    must: "list[Node]"


class Sample(Object):
    name: str
    text: str = field("", min_length=9)
    small: Int32 = field(10, ge=10, lt=20)
    few: int = field(0, le=2)
    ratio: float = 0.0
    on: bool = False
    data: Bytes = b""
    raw: RawExtension | None = None
    at: Time | None = None
    exactly: MicroTime | None = None
    wait: Duration = timedelta(seconds=2)
    size: Quantity = Quantity("1")
    port: IntOrString = 1
    choice: Literal["x", "y"] = "y"
    mixed: str | int = 1
    color: Color | None = None
    known: str = field("", enum=("first", "second"))
    many: list[str] = field(default_factory=list, min_length=2)
    grid: dict[str, list[int]] = field(default_factory=dict)
    either: Node | bool = True
    anything: Any = None


def test_a_complete_object_has_a_value_in_every_field_and_obeys_the_constraints() -> None:
    sample = complete_object(Sample)

    defaults = [
        entry.name
        for entry in fields_of(Sample)
        if not entry.required and getattr(sample, entry.name) == entry.default
    ]
    assert defaults == ["kind", "api_version", "small"]
    assert (sample.small, sample.few, sample.known) == (10, 2, "first")
    assert decode_json(Sample, dump_json(sample)).object == sample
    assert complete_object(Sample) == sample


def test_a_recursive_type_ends() -> None:
    sample = complete_object(Node)

    assert sample == Node(
        name="name",
        below=[Node(name="name", below=[], must=[])],
        must=[Node(name="name", below=[], must=[])],
    )


def test_a_minimal_object_has_defaults_and_required_fields() -> None:
    assert minimal_object(Sample) == Sample(name="name")


def test_a_type_without_a_sample_is_named() -> None:
    class Odd(Model):
        number: complex

    with pytest.raises(TypeError, match="no sample of <class 'complex'>, the type of number"):
        complete_object(Odd)
