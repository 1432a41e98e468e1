"""Equality as the API means it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given

from apimachinery.meta.types import ObjectMeta, OwnerReference
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.model import Model, field
from apimachinery.model.semantic_equality import differences, equal
from apimachinery.testing import objects
from apis.gadgets import v1


class Loose(Model):
    items: list[str] | None = None
    table: dict[str, list[str]] = field(default_factory=dict)
    count: int | None = None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Loose(), Loose(items=[])),
        (Loose(items=None), Loose(items=[], table={})),
        (Loose(table={"a": []}), Loose(table={})),
        (None, []),
        ({}, None),
        ({"a": None}, {}),
        ([[], None], [None, {}]),
    ],
)
def test_empty_and_absent_are_the_same(left: Any, right: Any) -> None:
    assert equal(left, right)
    assert equal(right, left)


@pytest.mark.parametrize(
    ("left", "right", "path"),
    [
        (Loose(count=0), Loose(), "count"),
        (Loose(items=["a"]), Loose(), "items"),
        (Loose(items=["a", "b"]), Loose(items=["a", "c"]), "items[1]"),
        (Loose(table={"k": ["a"]}), Loose(table={"k": ["b"]}), "table[k][0]"),
        (ObjectMeta(generate_name="a"), ObjectMeta(), "generateName"),
        (1, True, ""),
        (1, 1.0, ""),
        ("", None, ""),
        (Loose(), ObjectMeta(), ""),
    ],
)
def test_differences_are_told_with_their_path(left: Any, right: Any, path: str) -> None:
    assert [found for found, _, _ in differences(left, right)] == [path]
    assert not equal(left, right)


def test_every_difference_is_told() -> None:
    born = datetime(2024, 1, 1, tzinfo=UTC)
    left = ObjectMeta(name="a", labels={"x": "1"}, creation_timestamp=born)
    right = ObjectMeta(name="b", labels={"y": "1"})

    found = [path for path, _, _ in differences(left, right)]

    assert found == ["name", "creationTimestamp", "labels[x]", "labels[y]"]


def test_nested_models_are_compared_by_the_names_of_the_wire() -> None:
    owner = OwnerReference(api_version="v1", kind="K", name="n", uid="u")
    left = ObjectMeta(owner_references=[owner])
    right = left.deep_copy()
    right.owner_references[0].api_version = "v2"

    assert list(differences(left, right)) == [("ownerReferences[0].apiVersion", "v1", "v2")]


def test_the_content_of_unstructured_objects_counts() -> None:
    left, right = Unstructured(), Unstructured()
    left["spec"] = {"a": [1]}
    right["spec"] = {"a": [2]}

    assert [path for path, _, _ in differences(left, right)] == ["[spec][a][0]"]


@given(objects(v1.Gadget))
def test_an_object_equals_its_copy(gadget: v1.Gadget) -> None:
    assert equal(gadget, gadget.deep_copy())
