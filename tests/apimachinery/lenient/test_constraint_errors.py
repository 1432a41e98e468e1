"""The errors of stored documents by today's constraints."""

from typing import Literal

import orjson

from apimachinery.lenient.constraint_errors import stored_errors
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity


class Leaf(Model):
    name: str
    weight: Quantity
    color: Literal["green", "red"] = "green"


class Tree(Model):
    trunk: Leaf
    leaves: list[Leaf] = field(default_factory=list, max_length=2)
    by_name: dict[str, Leaf] = field(default_factory=dict)


LEAF = {"name": "a", "weight": "1", "color": "red"}


def errors_of(**tree: object) -> list[str]:
    """Return the errors of a document as it is encoded after it was read."""
    stored = decode_leniently(Tree, orjson.dumps(tree))
    return [str(error) for error in stored_errors(Tree, stored.model_dump_json().encode())]


def test_a_valid_document_has_none() -> None:
    assert errors_of(trunk=LEAF, leaves=[LEAF], byName={"a": LEAF}) == []


def test_constraints_are_checked_at_any_depth() -> None:
    assert errors_of(trunk=LEAF, leaves=[LEAF, {**LEAF, "color": "blue"}]) == [
        'leaves[1].color: Invalid value: "blue": leaves[1].color in body supported values:'
        " 'green' or 'red'"
    ]


def test_zero_values_of_required_fields_count_as_missing() -> None:
    assert errors_of(leaves=[LEAF, {"name": "b"}], byName={"c": {"weight": "1"}}) == [
        "trunk: Required value",
        "trunk.name: Required value",
        "trunk.weight: Required value",
        "leaves[1].weight: Required value",
        "byName.c.name: Required value",
    ]
