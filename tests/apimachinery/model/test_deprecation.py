"""Deprecated fields: where a document sets them, and the words of the warning."""

from typing import Any

import pytest

from apimachinery.model.deprecated_fields import deprecated_uses, has_deprecated, warning
from apimachinery.model.model import Model, field


class Leaf(Model):
    hue: str = field("", deprecated="use color")
    color: str = ""


class Tree(Model):
    age: int | None = field(None, deprecated="since v1; use planted")
    leaf: Leaf = field(default_factory=Leaf)
    old_leaf: Leaf | None = field(None, deprecated="in v2, gone in v3")
    leaves: list[Leaf] = field(default_factory=list)
    by_name: dict[str, Leaf] = field(default_factory=dict)
    children: list["Tree"] = field(default_factory=list)


class Stone(Model):
    weight: int = 0


@pytest.mark.parametrize(
    ("document", "warnings"),
    [
        ({}, []),
        ({"age": 5}, ["age: deprecated since v1; use planted"]),
        ({"age": 0, "oldLeaf": {}, "leaf": {"hue": ""}}, []),
        ({"age": None, "leaf": None, "leaves": None}, []),
        ({"leaf": {"hue": "red", "color": "red"}}, ["leaf.hue: deprecated; use color"]),
        (
            {"oldLeaf": {"hue": "red"}},
            ["oldLeaf: deprecated in v2, gone in v3", "oldLeaf.hue: deprecated; use color"],
        ),
        (
            {"leaves": [{}, {"hue": "red"}], "byName": {"a": {"hue": "red"}}},
            ["leaves[1].hue: deprecated; use color", "byName[a].hue: deprecated; use color"],
        ),
        (
            {"children": [{"children": [{"age": 1}]}]},
            ["children[0].children[0].age: deprecated since v1; use planted"],
        ),
        ({"leaf": "nonsense", "leaves": {"hue": "x"}, "byName": []}, []),
        ("nonsense", []),
    ],
)
def test_what_is_set_is_warned_of_by_its_path(document: Any, warnings: list[str]) -> None:
    assert [text for _, text in deprecated_uses(document, Tree).values()] == warnings


def test_a_class_knows_whether_it_has_any() -> None:
    assert has_deprecated(Tree)
    assert not has_deprecated(Stone)
    assert deprecated_uses({"weight": 5}, Stone) == {}


def test_the_words_are_those_of_kubernetes() -> None:
    said = warning("spec.nodeSelector[beta.kubernetes.io/os]", 'since v1.14; use "x" instead')

    assert said == (
        'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "x" instead'
    )
