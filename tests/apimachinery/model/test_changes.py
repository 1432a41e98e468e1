"""The documents of what differs between two objects."""

from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apimachinery.apply import compare
from apimachinery.codec import dump_json
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.class_fields import shape_of
from apimachinery.model.document_diff import changed_parts, has_only_declared_fields, whole_document
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.wire_types import RawExtension
from apimachinery.testing import objects


class Part(Model):
    name: str
    size: Quantity = field(Quantity("1"))


class Spec(Model):
    title: str = field("")
    count: int | None = field(None)
    where: IntOrString | None = field(None)
    tags: list[str] = field(default_factory=list, list_type="set")
    parts: list[Part] = field(default_factory=list, list_map_keys=("name",))
    main: Part | None = field(None)
    inner: "Spec | None" = field(None)
    anything: RawExtension | None = field(None)


class Thing(Object):
    spec: Spec = field(default_factory=Spec)


NOTHING: dict[str, Any] = {}
SYSTEM = {"metadata": {"managed_fields": True}}


def thing(**spec: Any) -> Thing:
    return Thing(spec=Spec(**spec))


def test_only_what_differs_is_written() -> None:
    old = thing(title="a", count=1, tags=["t"], inner=Spec(title="same", count=2))
    new = thing(title="b", count=1, tags=["t"], inner=Spec(title="same", count=3))

    assert changed_parts(old, new, leave_out=SYSTEM) == (
        {"spec": {"title": "a", "inner": {"count": 2}}},
        {"spec": {"title": "b", "inner": {"count": 3}}},
    )


def test_objects_that_are_written_alike_have_the_same_parts() -> None:
    before, after = changed_parts(thing(title="a"), thing(title="a"), leave_out=SYSTEM)

    assert before == after == {"spec": {}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (thing(main=Part(name="x", size=Quantity("1Gi"))), "1073741824"),
        (thing(parts=[Part(name="x", size=Quantity("1Gi"))]), "1073741824"),
        (thing(anything={"a": 1}), True),
    ],
)
def test_what_python_calls_equal_may_be_written_differently(old: Thing, new: Any) -> None:
    other = old.deep_copy()
    if other.spec.main is not None:
        other.spec.main.size = Quantity(new)
    elif other.spec.parts:
        other.spec.parts[0].size = Quantity(new)
    else:
        other.spec.anything = {"a": new}
    assert old == other

    before, after = changed_parts(old, other, leave_out=NOTHING)

    assert orjson.dumps(before) != orjson.dumps(after)


def test_left_out_is_left_out() -> None:
    old, new = thing(title="a"), thing(title="b")
    old.metadata.name, new.metadata.name = "one", "two"
    leave_out = {"metadata": {"name": True, "managed_fields": True}, "spec": True}

    assert changed_parts(old, new, leave_out=leave_out) == ({}, {})
    assert whole_document(old, leave_out=leave_out) == {"metadata": {}}


def test_fields_nobody_declared_have_no_names() -> None:
    assert has_only_declared_fields(Thing)
    assert not has_only_declared_fields(Unstructured)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    old=objects(Thing),
    other=objects(Thing),
    kept=st.sets(st.sampled_from(sorted(Spec.model_fields))),
)
def test_parts_differ_as_the_whole_does(old: Thing, other: Thing, kept: set[str]) -> None:
    new = other.deep_copy()
    for name in kept:
        setattr(new.spec, name, getattr(old.deep_copy().spec, name))
    shape = shape_of(Thing)

    parts = compare(*changed_parts(old, new, leave_out=NOTHING), shape)

    assert parts == compare(orjson.loads(dump_json(old)), orjson.loads(dump_json(new)), shape)
