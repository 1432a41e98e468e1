"""Derived conversions: what they share, what they refuse, and the round-trip check itself."""

from typing import Any

import pytest

from apimachinery.conversion.class_conversion import Difference, LostFields
from apimachinery.conversion.kept_fields import ConversionError
from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apimachinery.testing import assert_roundtrip
from apis.gadgets import v1beta1
from apis.gadgets.register import PARTS_ANNOTATION, add_to_scheme
from apis.gadgets.types import Gadget, GadgetSpec, Part

GROUP = "shapes.example.io"


class Leaf(Model):
    name: str = ""


class Spec(Model):
    size: int = 0
    leaf: Leaf = Leaf()
    leaves: list[Leaf] = field(default_factory=list)
    again: "Spec | None" = None


class Thing(Object):
    spec: Spec = Spec()


class SpecV1(Model):
    size: int = 0
    leaf: Leaf = Leaf()
    leaves: list[Leaf] = field(default_factory=list)
    again: "SpecV1 | None" = None


class ThingV1(Object, kind="Thing"):
    spec: SpecV1 = SpecV1()


def scheme_of(internal: type[Object], version: type[Object]) -> Scheme:
    scheme = Scheme()
    scheme.add(GroupVersion(GROUP, INTERNAL), internal)
    scheme.add(GroupVersion(GROUP, "v1"), version)
    return scheme


def kind(name: str, **fields: Any) -> type[Object]:
    """A kind of one nested type with these fields: (type, default)."""
    spec: Any = type(
        f"{name}Spec",
        (Model,),
        {
            "__annotations__": {key: made for key, (made, _) in fields.items()},
            **{key: default for key, (_, default) in fields.items() if default is not ...},
        },
    )
    return type(name, (Object,), {"__annotations__": {"spec": spec}, "spec": spec()})


def test_equal_shapes_need_no_code() -> None:
    scheme = scheme_of(Thing, ThingV1)
    scheme.add_same(ThingV1, Thing)
    thing = ThingV1(spec=SpecV1(size=1, again=SpecV1(size=2, leaves=[Leaf(name="a")])))

    made = scheme.convert(thing, Thing)

    assert made == Thing(spec=Spec(size=1, again=Spec(size=2, leaves=[Leaf(name="a")])))
    assert_roundtrip(scheme, examples=30)


def test_parts_of_the_same_class_are_shared() -> None:
    scheme = scheme_of(Thing, ThingV1)
    scheme.add_same(ThingV1, Thing)
    thing = ThingV1(spec=SpecV1(leaves=[Leaf(name="a")]))

    made = scheme.convert(thing, Thing)

    assert made.metadata is thing.metadata
    assert made.spec.leaves is thing.spec.leaves
    assert isinstance(made.spec, Spec)


def test_renames_and_order_do_not_matter_for_the_bytes() -> None:
    old = kind("Old", b=(int, 0), a=(int, 0))
    new = kind("New", c=(int, 0), b=(int, 0))
    scheme = scheme_of(new, old)
    scheme.add_similar(old, new, renames={"spec.a": "spec.c"})
    thing: Any = old()
    thing.spec.a, thing.spec.b = 1, 2

    made: Any = scheme.convert(thing, new)

    assert made.model_dump_json() == '{"metadata":{},"spec":{"c":1,"b":2}}'


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        ({"a": (int, 0)}, {}, ("spec.a of the source has no target",)),
        ({}, {"b": (int, 0)}, ("spec.b of the target has no source",)),
        ({"a": (int, 0)}, {"a": (str, "")}, ("spec.a is int in the source, str in the target",)),
        ({"a": (int | None, None)}, {"a": (int, 0)}, ("spec.a may be unset",)),
        (
            {"a": (list[int], [])},
            {"a": (int, 0)},
            ("spec.a is a list in the source and a scalar in the target",),
        ),
        (
            {"a": (list[int], [])},
            {"a": (list[str], [])},
            ("spec.a is int in the source, str in the target",),
        ),
        (
            {"a": (dict[str, int], {})},
            {"a": (dict[str, str], {})},
            ("spec.a is int in the source",),
        ),
        (
            {"a": (int, 0), "b": (int, 0)},
            {"c": (int, 0)},
            ("spec.c of the target", "spec.a of the source", "spec.b of the source"),
        ),
    ],
)
def test_every_field_that_would_be_lost_is_named(
    old: dict[str, Any], new: dict[str, Any], problems: tuple[str, ...]
) -> None:
    before, after = kind("Old", **old), kind("New", **new)

    with pytest.raises(LostFields) as refused:
        scheme_of(after, before).add_same(before, after)

    for problem in problems:
        assert problem in str(refused.value)


def test_a_declared_path_that_is_no_field_is_refused() -> None:
    with pytest.raises(LostFields, match=r"spec\.sise is declared but is a field of neither"):
        scheme_of(Thing, ThingV1).add_similar(ThingV1, Thing, dropped={"spec.sise"})


def test_a_rename_cannot_move_between_types() -> None:
    with pytest.raises(ConversionError, match="only the last name may differ"):
        Difference(renames={"spec.size": "size"})


def test_a_refused_pair_leaves_no_trace() -> None:
    old, new = kind("Old", a=(int, 0)), kind("New", b=(int, 0))
    scheme = scheme_of(new, old)
    with pytest.raises(LostFields):
        scheme.add_same(old, new)

    scheme.add_similar(old, new, renames={"spec.a": "spec.b"})

    scheme.check()


def test_kept_fields_survive_a_version_that_has_them_not() -> None:
    scheme = Scheme()
    add_to_scheme(scheme)
    gadget = Gadget(spec=GadgetSpec(model="a", parts=[Part(name="wheel")]))
    gadget.metadata.annotations["mine"] = "stays"

    old = scheme.convert(gadget, v1beta1.Gadget)
    back = scheme.convert(old, Gadget)

    assert old.metadata.annotations[PARTS_ANNOTATION] == '[{"name":"wheel","size":"1"}]'
    assert back == gadget
    assert gadget.metadata.annotations == {"mine": "stays"}


def test_a_kept_annotation_that_makes_no_sense_is_left_alone() -> None:
    scheme = Scheme()
    add_to_scheme(scheme)
    old = v1beta1.Gadget()
    old.metadata.annotations[PARTS_ANNOTATION] = "not json"

    made = scheme.convert(old, Gadget)

    assert made.spec.parts == []
    assert made.metadata.annotations == {PARTS_ANNOTATION: "not json"}


def test_fields_can_only_be_kept_on_objects() -> None:
    old, new = kind("Old", a=(int, 0)), kind("New")
    nested_old: Any = old.__pydantic_fields__["spec"].annotation
    nested_new: Any = new.__pydantic_fields__["spec"].annotation

    with pytest.raises(ConversionError, match="only objects have annotations"):
        Scheme().add_similar(nested_old, nested_new, kept={"a": "example.io/a"})


def test_registering_a_pair_twice_is_refused() -> None:
    scheme = scheme_of(Thing, ThingV1)
    scheme.add_same(ThingV1, Thing)

    with pytest.raises(ConversionError, match="registered already"):
        scheme.add_same(ThingV1, Thing)


def test_gadgets_survive_every_way() -> None:
    assert_roundtrip(add_to_scheme)


def test_the_round_trip_check_finds_a_field_that_functions_lose() -> None:
    scheme = scheme_of(Thing, ThingV1)

    def forth(spec: SpecV1) -> Spec:
        return Spec(size=spec.size, leaf=spec.leaf)

    def back(spec: Spec) -> SpecV1:
        return SpecV1(size=spec.size, leaf=spec.leaf)

    scheme.add_conversion(forth, back)
    scheme.add_same(ThingV1, Thing)

    with pytest.raises(AssertionError) as found:
        assert_roundtrip(scheme)

    message = str(found.value)
    assert "Thing: v1 -> internal -> v1 loses spec." in message
    assert "smallest object that shows it: ThingV1(" in message


def test_the_round_trip_check_finds_a_conversion_that_fails() -> None:
    scheme = scheme_of(Thing, ThingV1)

    def forth(spec: SpecV1) -> Spec:
        return Spec(size=1 // spec.size)

    def back(spec: Spec) -> SpecV1:
        return SpecV1(size=spec.size)

    scheme.add_conversion(forth, back)
    scheme.add_same(ThingV1, Thing)

    with pytest.raises(AssertionError, match=r"must not fail, .* did: .*zero"):
        assert_roundtrip(scheme)
