"""Defaulting functions, and where they are applied."""

from typing import Any

import pytest

from apimachinery.conversion.defaults import Defaulter
from apimachinery.model.model import Model, field


class Leaf(Model):
    color: str = ""
    size: int | None = None


class Tree(Model):
    leaf: Leaf | None = None
    leaves: list[Leaf] = field(default_factory=list)
    by_name: dict[str, Leaf] = field(default_factory=dict)
    by_row: dict[str, list[Leaf]] = field(default_factory=dict)
    children: list["Tree"] = field(default_factory=list)
    height: int | None = None


class Stone(Model):
    weight: int = 0


def green(leaf: Leaf) -> None:
    leaf.color = leaf.color or "green"


def one_leaf(tree: Tree) -> None:
    tree.leaf = tree.leaf or Leaf(color="red")


def test_a_type_is_defaulted_wherever_it_occurs() -> None:
    defaulter = Defaulter()
    defaulter.add(green)
    tree = Tree(
        leaf=Leaf(),
        leaves=[Leaf(), Leaf(color="red")],
        by_name={"a": Leaf()},
        by_row={"a": [Leaf()]},
        children=[Tree(leaves=[Leaf()])],
    )

    defaulter.apply(tree)

    assert tree.leaf == Leaf(color="green")
    assert [leaf.color for leaf in tree.leaves] == ["green", "red"]
    assert tree.by_name["a"].color == tree.by_row["a"][0].color == "green"
    assert tree.children[0].leaves[0].color == "green"
    assert tree.children[0].leaf is None


def test_an_object_is_defaulted_before_what_it_holds() -> None:
    defaulter = Defaulter()
    defaulter.add(green)
    defaulter.add(one_leaf)
    tree = Tree(children=[Tree()])

    defaulter.apply(tree)

    assert tree.leaf == Leaf(color="red")
    assert tree.children[0].leaf == Leaf(color="red")


def test_functions_added_later_count_too() -> None:
    defaulter = Defaulter()
    defaulter.add(one_leaf)
    defaulter.apply(Tree())

    defaulter.add(green)
    tree = Tree(leaves=[Leaf()])
    defaulter.apply(tree)

    assert tree.leaves[0].color == "green"


def test_types_without_defaults_are_left_alone() -> None:
    defaulter = Defaulter()
    defaulter.add(green)
    stone = Stone()

    defaulter.apply(stone)

    assert stone == Stone()


def brown(leaf: Leaf) -> None: ...


def test_a_type_has_one_defaulting_function() -> None:
    """Groups that share a type register the same function, each for itself."""
    defaulter = Defaulter()
    defaulter.add(green)
    defaulter.add(green)

    with pytest.raises(TypeError, match="Leaf already has a defaulting function"):
        defaulter.add(brown)


def silent(leaf: Any) -> None: ...


def unannotated(leaf):  # type: ignore[no-untyped-def]
    return None


def of_two(leaf: Leaf, tree: Tree) -> None: ...


@pytest.mark.parametrize("function", [silent, unannotated, of_two])
def test_a_function_must_say_what_it_is_for(function: Any) -> None:
    with pytest.raises(TypeError, match="with its class as annotation"):
        Defaulter().add(function)
