"""Conversion functions of nested types together with declared differences inside those types."""

from typing import Any

import pytest

from apimachinery.conversion.class_conversion import LostFields
from apimachinery.conversion.kept_fields import ConversionError
from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apimachinery.testing import assert_roundtrip

GROUP = "boats.example.io"
KEY = "boats.example.io/kept"


class Hull(Model):
    colour: str = ""


class Spec(Model):
    afloat: bool = False
    sails: list[str] = field(default_factory=list)
    hull: Hull = Hull()
    rigs: list[Hull] = field(default_factory=list)


class Boat(Object):
    spec: Spec = Spec()


class SpecV1(Model):
    ashore: bool = True
    hull: Hull = Hull()
    rigs: list[Hull] = field(default_factory=list)
    flag: bool = False
    note: str = ""


class BoatV1(Object, kind="Boat"):
    spec: SpecV1 = SpecV1()


def spec_to_internal(spec: SpecV1) -> Spec:
    return Spec(afloat=not spec.ashore, hull=spec.hull, rigs=spec.rigs)


def spec_from_internal(spec: Spec) -> SpecV1:
    return SpecV1(ashore=not spec.afloat, hull=spec.hull, rigs=spec.rigs)


def boats() -> Scheme:
    scheme = Scheme()
    scheme.add(GroupVersion(GROUP, INTERNAL), Boat)
    scheme.add(GroupVersion(GROUP, "v1"), BoatV1)
    scheme.add_conversion(spec_to_internal, spec_from_internal)
    return scheme


def declared(**difference: Any) -> Scheme:
    scheme = boats()
    scheme.add_similar(BoatV1, Boat, **difference)
    return scheme


def test_a_field_is_kept_around_the_function() -> None:
    scheme = declared(kept={"spec.sails": KEY})
    boat = Boat(spec=Spec(afloat=True, sails=["main", "jib"], hull=Hull(colour="red")))

    old = scheme.convert(boat.deep_copy(), BoatV1)
    back = scheme.convert(old.deep_copy(), Boat)

    assert old.spec == SpecV1(ashore=False, hull=Hull(colour="red"))
    assert old.metadata.annotations == {KEY: '["main","jib"]'}
    assert back == boat


def test_a_field_of_the_version_is_kept_too() -> None:
    scheme = declared(kept={"spec.flag": KEY})
    old = BoatV1(spec=SpecV1(ashore=False, flag=True))

    boat = scheme.convert(old.deep_copy(), Boat)

    assert boat.metadata.annotations == {KEY: "true"}
    assert scheme.convert(boat, BoatV1) == old


def test_without_its_annotation_a_field_has_the_value_of_the_function() -> None:
    scheme = declared(kept={"spec.sails": KEY})

    assert scheme.convert(BoatV1(spec=SpecV1(ashore=False)), Boat).spec == Spec(afloat=True)


def test_nothing_is_lost_in_a_round_trip() -> None:
    scheme = declared(
        kept={"spec.sails": KEY, "spec.flag": KEY + "-flag"},
        renames={"spec.ashore": "spec.afloat"},
        dropped={"spec.note"},
    )

    assert_roundtrip(scheme, examples=30)


def test_the_round_trip_check_finds_what_is_not_kept() -> None:
    scheme = declared(dropped={"spec.note", "spec.flag"})

    with pytest.raises(AssertionError, match=r"internal -> v1 -> internal loses spec\.sails"):
        assert_roundtrip(scheme, examples=30)


@pytest.mark.parametrize(
    ("difference", "problem"),
    [
        (
            {"renames": {"spec.beached": "spec.afloat"}},
            r"spec\.beached is renamed but SpecV1 lacks",
        ),
        ({"renames": {"spec.flag": "spec.flags"}}, r"spec\.flags is renamed but Spec lacks it"),
        ({"dropped": {"spec.sales"}}, r"spec\.sales is declared but is a field of neither"),
        ({"dropped": {"spec.rigs.color"}}, r"spec\.rigs\.color is declared but is a field of"),
        ({"kept": {"spec.sales": KEY}}, r"spec\.sales is declared but is a field of neither"),
    ],
)
def test_a_declared_path_that_is_no_field_is_refused(difference: Any, problem: str) -> None:
    with pytest.raises(LostFields, match=problem):
        declared(**difference)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("spec.rigs.colour", r"spec\.rigs\.colour is inside a list or map, .* keep the whole list"),
        ("spec.hull", r"spec\.hull is kept, but both classes have it"),
    ],
)
def test_a_field_that_cannot_be_kept_is_refused(path: str, problem: str) -> None:
    scheme = boats()

    with pytest.raises(ConversionError, match=problem):
        scheme.add_similar(BoatV1, Boat, kept={path: KEY})

    scheme.add_similar(BoatV1, Boat, kept={"spec.sails": KEY})
    scheme.check()


class Branch(Model):
    long: int = 0
    branches: list["Branch"] = field(default_factory=list)


class Tree(Object):
    root: Branch = Branch()


class BranchV1(Model):
    length: int = 0
    branches: list["BranchV1"] = field(default_factory=list)


class TreeV1(Object, kind="Tree"):
    root: BranchV1 = BranchV1()


def test_a_recursive_type_can_have_a_rename() -> None:
    scheme = Scheme()
    scheme.add(GroupVersion(GROUP, INTERNAL), Tree)
    scheme.add(GroupVersion(GROUP, "v1"), TreeV1)
    scheme.add_similar(BranchV1, Branch, renames={"length": "long"})
    scheme.add_same(TreeV1, Tree)
    tree = TreeV1(root=BranchV1(branches=[BranchV1(branches=[BranchV1(length=3)])]))

    made = scheme.convert(tree, Tree)

    assert made.root.branches[0].branches[0].long == 3
    assert scheme.field_path(TreeV1, "root.branches[0].branches[0].long") == (
        "root.branches[0].branches[0].length"
    )
    assert_roundtrip(scheme, examples=20)
