"""Objects of equal structure have equal field sets."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apimachinery.apply import FieldSet, compare
from apimachinery.meta.types import Object, ObjectMeta, OwnerReference
from apimachinery.model.class_fields import shape_of
from apimachinery.model.document_diff import empty_document, whole_document
from apimachinery.model.document_structure import UntypedValues, structure_of
from apimachinery.model.model import Model, field
from apimachinery.testing import objects
from apis.core import v1
from apis.core.v1.config_map import ConfigMap

KINDS: list[type[Object]] = [v1.Service, v1.Namespace, ConfigMap]


class Part(Model):
    name: str = ""
    port: int = field(0, omit_empty=False)
    note: str | None = None


class Switch(Model, map_type="atomic"):
    on: bool = False


class Whole(Model):
    count: int = field(0, omit_empty=False)
    limit: int | None = None
    names: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list, list_type="set")
    lines: list[str] = field(default_factory=list, list_type="atomic")
    parts: list[Part] = field(default_factory=list, list_map_keys=("name",))
    groups: dict[str, Part] = field(default_factory=dict)
    part: Part | None = None
    switch: Switch = field(default_factory=Switch)
    anything: Any = None


def fields(obj: Model) -> FieldSet:
    empty = empty_document(type(obj))
    found = compare(empty, whole_document(obj, leave_out={}), shape_of(type(obj)))
    return found.added | found.modified


SAME = [
    (Whole(count=1, limit=2), Whole(count=7, limit=9)),
    (Whole(names={"a": "x"}), Whole(names={"a": ""})),
    (Whole(lines=["a"]), Whole(lines=["b", "c"])),
    (
        Whole(parts=[Part(name="a", port=1, note="x")]),
        Whole(parts=[Part(name="a", port=2, note="y")]),
    ),
    (Whole(switch=Switch(on=True)), Whole(switch=Switch(on=True), count=0)),
]
DIFFERENT = [
    (Whole(count=0), Whole(count=1)),
    (Whole(limit=None), Whole(limit=0)),
    (Whole(names={"a": "x"}), Whole(names={"b": "x"})),
    (Whole(tags=["a"]), Whole(tags=["b"])),
    (Whole(lines=[]), Whole(lines=["a"])),
    (Whole(parts=[Part(name="a")]), Whole(parts=[Part(name="b")])),
    (Whole(parts=[Part(name="a")]), Whole(parts=[Part(name="a", note="")])),
    (Whole(groups={"a": Part()}), Whole(groups={"a": Part(note="x")})),
    (Whole(part=None), Whole(part=Part())),
    (Whole(switch=Switch()), Whole(switch=Switch(on=True))),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_other_values_have_the_same_structure(one: Whole, other: Whole) -> None:
    assert structure_of(one) == structure_of(other)
    assert fields(one) == fields(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_fields_have_another_structure(one: Whole, other: Whole) -> None:
    assert fields(one) != fields(other)
    assert structure_of(one) != structure_of(other)


def test_an_untyped_value_has_no_structure() -> None:
    with pytest.raises(UntypedValues):
        structure_of(Whole(anything={"a": 1}))


def test_every_list_of_owners_has_its_own_structure() -> None:
    """They are keyed by uid, which is a part of the field set."""
    one, other = (
        ConfigMap(metadata=ObjectMeta(owner_references=[OwnerReference(uid=uid)])) for uid in "ab"
    )

    assert structure_of(one) != structure_of(other)


@pytest.mark.parametrize("cls", KINDS, ids=lambda cls: cls.__name__)
def test_objects_of_equal_structure_have_equal_field_sets(cls: type[Object]) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(obj=objects(cls), name=st.sampled_from(("", "a")))
    def compare_with_other_values(obj: Object, name: str) -> None:
        other = obj.deep_copy()
        other.metadata.name = name
        other.metadata.labels = dict.fromkeys(obj.metadata.labels, "other")

        alike = structure_of(other) == structure_of(obj)

        assert alike == (bool(name) == bool(obj.metadata.name))
        assert not alike or fields(other) == fields(obj)

    compare_with_other_values()
