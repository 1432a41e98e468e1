"""What differs between two shapes, and which types read the values of which."""

from typing import Any, Literal

import pytest

from apimachinery.evolution.field_tree import TypeTree, field_tree
from apimachinery.evolution.tree_changes import TreeChanges, can_read, compare, reads_the_same
from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.wire_types import RawExtension
from tests.apimachinery.evolution.lamps import lamp, list_of, map_of, model

PART = model(size=(int, 0))


def changes(old: type[Object], new: type[Object]) -> TreeChanges:
    return compare(dict(field_tree(old).paths()), dict(field_tree(new).paths()))


def same(old: type[Object], new: type[Object]) -> bool:
    stored, today = dict(field_tree(old).paths()), dict(field_tree(new).paths())
    return reads_the_same(stored, today, compare(stored, today))


def test_only_the_topmost_path_of_a_change_is_listed() -> None:
    found = changes(lamp(a=(PART, ...)), lamp(b=(list_of(PART), [])))

    assert found == TreeChanges(added=("spec.b",), removed=("spec.a",), retyped=(), altered=())
    assert found.endangered == ("spec.a",)


def test_fields_of_elements_are_compared_by_their_paths() -> None:
    other = model(length=(int, 0))

    found = changes(lamp(parts=(map_of(PART), {})), lamp(parts=(map_of(other), {})))

    assert found.removed == ("spec.parts.size",)
    assert found.added == ("spec.parts.length",)


def test_an_object_that_becomes_a_list_is_retyped() -> None:
    found = changes(lamp(part=(PART, ...)), lamp(part=(list_of(PART), [])))

    assert found.retyped == ("spec.part",)


def test_numbers_of_types_do_not_matter() -> None:
    """A new type in front of others gives them other numbers."""
    found = changes(lamp(b=(PART, ...)), lamp(a=(model(x=(int, 0)) | None, None), b=(PART, ...)))

    assert found == TreeChanges(added=("spec.a",), removed=(), retyped=(), altered=())


@pytest.mark.parametrize(
    "today",
    [
        {"part": (Any, None)},
        {"part": (RawExtension | None, None)},
        {"part": (dict[str, Any], {})},
    ],
    ids=["any", "document", "map of any"],
)
def test_an_object_keeps_its_fields_where_the_type_is_open_today(today: dict[str, Any]) -> None:
    assert changes(lamp(part=(PART | None, None)), lamp(**today)).endangered == ()


def test_what_was_untyped_is_endangered_by_a_type() -> None:
    found = changes(lamp(part=(RawExtension | None, None)), lamp(part=(PART | None, None)))

    assert found.retyped == ("spec.part",)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({}, {"color": (str, "")}, True),
        ({}, {"color": (str | None, None)}, True),
        ({}, {"parts": (list_of(PART), [])}, True),
        ({}, {"color": (str, "red")}, False),
        ({}, {"color": (str, ...)}, False),
        ({}, {"part": (PART, field(default_factory=PART))}, False),
        ({"color": (str, "")}, {}, False),
        ({"color": (str, "")}, {"color": (str, "red")}, False),
        ({"watts": (int, 0)}, {"watts": (float, 0.0)}, False),
        ({"color": (str, "")}, {"color": (Literal["", "a"], field("", doc="A color."))}, True),
    ],
)
def test_a_shape_reads_the_same_if_only_omitted_fields_were_added(
    old: dict[str, Any], new: dict[str, Any], expected: bool
) -> None:
    assert same(lamp(**old), lamp(**new)) is expected


REF: TypeTree = {"ref": 1}


@pytest.mark.parametrize(
    ("today", "stored"),
    [
        ("any", "string"),
        ("any", {"list": "string"}),
        ("any", REF),
        ("number", "integer"),
        ("int-or-string", "string"),
        ("int-or-string", "integer|string"),
        ("integer|string", "int-or-string"),
        ("boolean|integer|string", "integer|string"),
        ("number|string", "integer"),
        ("micro-time", "time"),
        ("document", REF),
        ("document", {"map": "string"}),
        ({"map": "any"}, REF),
        ({"map": "any"}, "document"),
        ({"list": "number"}, {"list": "integer"}),
        ({"map": {"list": "any"}}, {"map": {"list": "string"}}),
        (REF, {"ref": 7}),
        ({"union": ["boolean", REF]}, {"ref": 3}),
        ({"union": ["boolean", REF]}, "boolean"),
        ({"union": ["boolean", "string", REF]}, {"union": ["boolean", {"ref": 4}]}),
    ],
)
def test_every_value_can_be_read(today: TypeTree, stored: TypeTree) -> None:
    assert can_read(today, stored)


@pytest.mark.parametrize(
    ("today", "stored"),
    [
        ("string", "any"),
        ("integer", "number"),
        ("integer", "integer|string"),
        ("string", "int-or-string"),
        ("time", "micro-time"),
        ("string", {"list": "string"}),
        ({"list": "string"}, "string"),
        ({"list": "string"}, {"map": "string"}),
        ({"list": "integer"}, {"list": "number"}),
        (REF, {"list": REF}),
        ({"list": REF}, REF),
        (REF, {"map": "any"}),
        ({"map": "string"}, REF),
        (REF, {"union": ["boolean", REF]}),
        ({"union": ["boolean", REF]}, "string"),
    ],
)
def test_some_values_cannot_be_read(today: TypeTree, stored: TypeTree) -> None:
    assert not can_read(today, stored)


def test_int_or_string_is_wider_than_both() -> None:
    old = lamp(port=(int, 1), host=(str, ""))
    new = lamp(port=(IntOrString, 1), host=(IntOrString, ""))

    assert changes(old, new) == TreeChanges((), (), (), altered=("spec.host", "spec.port"))
