"""Parts of documents can be read as objects of their class."""

import json
from typing import Any

import pytest

from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import Model, field
from apimachinery.model.partial_documents import fill_required_fields
from apimachinery.scalars.quantity import Quantity


class Leaf(Model):
    name: str
    weight: int
    color: str = "green"


class Tree(Model):
    trunk: Leaf
    leaves: list[Leaf] = field(default_factory=list)
    by_name: dict[str, Leaf] = field(default_factory=dict)
    tags: list[str]


class Weighed(Model):
    weight: Quantity


ZERO_LEAF = {"name": "", "weight": 0}


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ({}, {"trunk": ZERO_LEAF, "tags": []}),
        ({"trunk": None}, {"trunk": ZERO_LEAF, "tags": []}),
        (
            {"trunk": {"color": "red"}, "tags": ["a"]},
            {"trunk": {"color": "red", **ZERO_LEAF}, "tags": ["a"]},
        ),
        (
            {"leaves": [{"name": "a"}, None], "byName": {"b": {"weight": 2}}},
            {
                "leaves": [{"name": "a", "weight": 0}, None],
                "byName": {"b": {"weight": 2, "name": ""}},
                "trunk": ZERO_LEAF,
                "tags": [],
            },
        ),
    ],
)
def test_required_fields_get_their_zero_and_others_stay_missing(part: Any, whole: Any) -> None:
    before = json.dumps(part)

    assert fill_required_fields(part, Tree) == whole
    assert json.dumps(part) == before


def test_what_is_completed_can_be_decoded() -> None:
    tree = decode_json(Tree, json.dumps(fill_required_fields({"leaves": [{}]}, Tree))).object

    assert tree.leaves[0].color == "green"


def test_a_type_without_a_zero_stays_missing() -> None:
    assert fill_required_fields({}, Weighed) == {}
    with pytest.raises(DecodeError):
        decode_json(Weighed, b"{}")


@pytest.mark.parametrize("value", [None, [], "text", 5])
def test_what_is_not_an_object_is_left_alone(value: Any) -> None:
    assert fill_required_fields(value, Tree) == value
