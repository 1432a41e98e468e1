"""Which class is which kind, and what the registry refuses."""

import pytest

from apimachinery.conversion.class_conversion import UnknownConversion
from apimachinery.conversion.kept_fields import ConversionError
from apimachinery.meta.status import Status
from apimachinery.meta.types import Condition, Object, ObjectList
from apimachinery.model.model import Model
from apimachinery.schema import INTERNAL, GroupVersion, GroupVersionKind
from apimachinery.scheme import NotRegistered, RegistrationError, Scheme
from apis.gadgets import GROUP, types, v1, v1beta1
from apis.gadgets.register import add_to_scheme

V1 = GroupVersion(GROUP, "v1")
V1BETA1 = GroupVersion(GROUP, "v1beta1")


@pytest.fixture
def scheme() -> Scheme:
    made = Scheme("test")
    add_to_scheme(made)
    return made


def gadget(**spec: object) -> v1.Gadget:
    return v1.Gadget(spec=v1.GadgetSpec(model="a1", **spec))  # type: ignore[arg-type]


def test_a_class_knows_its_kinds(scheme: Scheme) -> None:
    assert scheme.kinds_of(gadget()) == (V1.with_kind("Gadget"),)
    assert scheme.kind_of(types.Gadget).version == INTERNAL


def test_every_kind_has_its_list(scheme: Scheme) -> None:
    assert scheme.class_of(V1.with_kind("GadgetList")) is ObjectList[v1.Gadget]


def test_a_class_can_be_several_kinds() -> None:
    scheme = Scheme()
    scheme.add(V1, v1.Gadget, internal=True)
    scheme.add(V1, v1.Gadget, kind="Gizmo")

    assert [kind.kind for kind in scheme.kinds_of(v1.Gadget)] == ["Gadget", "Gadget", "Gizmo"]
    assert scheme.kind_of(v1.Gadget) == V1.with_kind("Gadget")


def test_a_class_of_a_version_may_be_internal_as_well(scheme: Scheme) -> None:
    scheme.add(GroupVersion("", "v1"), Status, internal=True)

    assert scheme.is_internal(types.Gadget)
    assert scheme.is_internal(Status)
    assert not scheme.is_internal(v1.Gadget)


def test_new_makes_an_empty_object(scheme: Scheme) -> None:
    assert isinstance(scheme.new(V1.with_kind("Gadget")), v1.Gadget)


def test_recognizes_only_registered_kinds(scheme: Scheme) -> None:
    assert scheme.recognizes(V1.with_kind("Gadget"))
    assert not scheme.recognizes(V1.with_kind("Gizmo"))


def test_errors_say_what_was_asked_and_what_is_registered(scheme: Scheme) -> None:
    with pytest.raises(NotRegistered) as unknown_kind:
        scheme.class_of(V1.with_kind("Gizmo"))
    with pytest.raises(NotRegistered) as unknown_version:
        scheme.class_of(GroupVersionKind(GROUP, "v7", "Gadget"))
    with pytest.raises(NotRegistered) as unknown_class:
        scheme.kinds_of(Status)

    assert str(unknown_kind.value) == (
        'no kind "Gizmo" is registered for version "gadgets.example.io/v1" in scheme "test";'
        " registered kinds: Gadget, GadgetList"
    )
    assert str(unknown_version.value).endswith(
        "; registered versions: gadgets.example.io/v1, gadgets.example.io/v1beta1"
    )
    assert "apimachinery.meta.status.Status" in str(unknown_class.value)


def test_registering_twice_is_refused(scheme: Scheme) -> None:
    with pytest.raises(RegistrationError, match="registered already as Gadget"):
        scheme.add(V1, v1.Gadget)


def test_two_classes_for_one_kind_are_refused(scheme: Scheme) -> None:
    with pytest.raises(RegistrationError, match=r"v1\.types\.Gadget and cannot also be"):
        scheme.add(V1, types.Gadget)


def test_a_kind_needs_a_version() -> None:
    with pytest.raises(RegistrationError, match="no version"):
        Scheme().add(GroupVersion(GROUP, ""), types.Gadget)


def test_one_name_is_for_one_class() -> None:
    with pytest.raises(RegistrationError, match="exactly one class"):
        Scheme().add(V1, v1.Gadget, types.Gadget, kind="Gadget")


def test_versions_are_views_of_one_object(scheme: Scheme) -> None:
    old = scheme.convert_to_version(gadget(replicas=3, timeout_seconds=90), V1BETA1)

    assert isinstance(old, v1beta1.Gadget)
    assert (old.spec.count, old.spec.timeout.total_seconds()) == (3, 90)
    assert (old.kind, old.api_version) == ("Gadget", "gadgets.example.io/v1beta1")


def test_internal_objects_have_no_kind_and_version(scheme: Scheme) -> None:
    wire = gadget()
    wire.kind, wire.api_version = "Gadget", str(V1)

    internal = scheme.to_internal(wire)

    assert isinstance(internal, types.Gadget)
    assert (internal.kind, internal.api_version) == ("", "")
    assert wire.kind == "Gadget"


def test_converting_to_the_same_version_gives_a_new_object(scheme: Scheme) -> None:
    one = gadget()

    other = scheme.convert_to_version(one, V1)

    assert other is not one
    assert (other.kind, one.kind) == ("Gadget", "")


def test_lists_are_converted_item_by_item(scheme: Scheme) -> None:
    listed = ObjectList[v1.Gadget](items=[gadget(replicas=1), gadget(replicas=2)])
    listed.metadata.resource_version = "7"

    internal = scheme.to_internal(listed)

    assert isinstance(internal, ObjectList)
    assert [item.spec.replicas for item in internal.items] == [1, 2]
    assert internal.metadata.resource_version == "7"


def test_unknown_conversions_name_both_sides(scheme: Scheme) -> None:
    with pytest.raises(UnknownConversion) as refused:
        scheme.convert(gadget(), Condition)

    assert "v1.types.Gadget of gadgets.example.io/v1, Kind=Gadget" in str(refused.value)
    assert str(refused.value).endswith("unknown conversion")


def test_a_version_without_a_way_to_the_hub_is_found_by_check() -> None:
    scheme = Scheme()
    scheme.add(GroupVersion(GROUP, INTERNAL), types.Gadget)
    scheme.add(V1, v1.Gadget)

    with pytest.raises(UnknownConversion):
        scheme.check()


def test_a_missing_direction_is_refused() -> None:
    class A(Model):
        x: int = 0

    class B(Model):
        x: int = 0

    def a_to_b(a: A) -> B:
        return B(x=a.x)

    a_to_b.__annotations__ = {"a": A, "return": B}
    with pytest.raises(ConversionError, match=r"A -> .*B has no reverse conversion"):
        Scheme().add_conversion(a_to_b)


def test_functions_must_say_what_they_convert() -> None:
    def untyped(a, b):  # type: ignore[no-untyped-def]  # what is being refused
        return a

    with pytest.raises(ConversionError, match="takes one object and returns another"):
        Scheme().add_conversion(untyped)  # type: ignore[arg-type]


def test_field_labels_of_a_kind_are_those_it_declares(scheme: Scheme) -> None:
    kind = V1.with_kind("Gadget")

    assert scheme.convert_field_label(kind, "metadata.name", "a") == ("metadata.name", "a")
    with pytest.raises(ValueError, match="known field selector") as refused:
        scheme.convert_field_label(kind, "spec.x", "a")
    assert str(refused.value) == (
        '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )

    scheme.add_field_labels(kind, ("spec.model",))
    assert scheme.convert_field_label(kind, "spec.model", "a") == ("spec.model", "a")
    with pytest.raises(RegistrationError):
        scheme.add_field_labels(kind, ("spec.other",))


def test_field_labels_can_be_translated(scheme: Scheme) -> None:
    kind = V1BETA1.with_kind("Gadget")
    scheme.add_field_labels(kind, lambda label, value: (f"spec.{label}", value.lower()))

    assert scheme.convert_field_label(kind, "model", "A") == ("spec.model", "a")


def test_schemes_are_strangers_to_each_other(scheme: Scheme) -> None:
    other = Scheme("other")

    assert not other.recognizes(V1.with_kind("Gadget"))
    other.add(V1, v1beta1.Gadget)
    assert scheme.class_of(V1.with_kind("Gadget")) is v1.Gadget


def test_defaults_are_set_wherever_the_type_occurs() -> None:
    class Leaf(Model):
        size: int = 0

    class Tree(Object):
        leaf: Leaf = Leaf()
        leaves: list[Leaf] = []  # noqa: RUF012  # pydantic copies it
        named: dict[str, Leaf] = {}  # noqa: RUF012
        maybe: Leaf | None = None

    def grow(leaf: Leaf) -> None:
        leaf.size = leaf.size or 7

    def shrink(leaf: Leaf) -> None:
        leaf.size = 1

    def name(tree: Tree) -> None:
        tree.leaves = tree.leaves or [Leaf()]

    grow.__annotations__ = shrink.__annotations__ = {"leaf": Leaf, "return": None}
    name.__annotations__ = {"tree": Tree, "return": None}
    scheme = Scheme()
    scheme.add(V1, Tree, internal=True)
    scheme.add_defaults(grow, name)
    tree = Tree(named={"a": Leaf(), "b": Leaf(size=1)})

    scheme.default(tree)

    assert tree.leaf.size == 7
    assert [leaf.size for leaf in tree.leaves] == [7]
    assert {key: leaf.size for key, leaf in tree.named.items()} == {"a": 7, "b": 1}
    assert tree.maybe is None
    with pytest.raises(TypeError, match="already"):
        scheme.add_defaults(shrink)
    with pytest.raises(TypeError, match="takes one object"):
        scheme.add_defaults(lambda one: None)
