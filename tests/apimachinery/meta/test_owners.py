"""Owner references and who may own whom."""

import pytest

from apimachinery.meta.owner_references import (
    AlreadyOwned,
    InvalidOwner,
    controller_of,
    has_owner,
    is_controlled_by,
    owner_reference,
    remove_owner,
    set_controller,
    set_owner,
)
from apimachinery.meta.types import Object, ObjectMeta, OwnerReference
from apimachinery.schema import GroupVersionKind

GADGET = GroupVersionKind("example.io", "v1", "Gadget")


def named(name: str, *, uid: str = "", namespace: str = "ns") -> Object:
    return Object(metadata=ObjectMeta(name=name, namespace=namespace, uid=uid or f"uid-{name}"))


def test_a_reference_names_its_owner_fully() -> None:
    reference = owner_reference(named("g"), GADGET, controller=True, block=False)

    assert reference.model_dump(mode="json") == {
        "apiVersion": "example.io/v1",
        "kind": "Gadget",
        "name": "g",
        "uid": "uid-g",
        "controller": True,
        "blockOwnerDeletion": False,
    }


def test_a_reference_to_the_core_group_has_only_a_version() -> None:
    reference = owner_reference(named("n"), GroupVersionKind("", "v1", "Node"))

    assert reference == OwnerReference(api_version="v1", kind="Node", name="n", uid="uid-n")


def test_a_controller_blocks_its_removal_and_is_found() -> None:
    owner, child = named("g"), named("c")

    set_controller(owner, child, GADGET)

    assert controller_of(child) == owner_reference(owner, GADGET, controller=True, block=True)
    assert is_controlled_by(child, owner)
    assert has_owner(child, owner)


def test_an_owner_need_not_be_the_controller() -> None:
    owner, child = named("g"), named("c")

    set_owner(owner, child, GADGET)

    assert controller_of(child) is None
    assert not is_controlled_by(child, owner)
    assert has_owner(child, owner)


def test_a_namesake_with_another_uid_is_not_the_controller() -> None:
    child = named("c")
    set_controller(named("g"), child, GADGET)

    assert not is_controlled_by(child, named("g", uid="other"))
    assert not has_owner(child, named("g", uid="other"))


def test_there_is_one_controller() -> None:
    child = named("c")
    set_controller(named("g"), child, GADGET)

    with pytest.raises(AlreadyOwned) as caught:
        set_controller(named("h"), child, GADGET)

    assert str(caught.value) == "Object ns/c is already owned by another Gadget controller g"
    assert caught.value.owner.uid == "uid-g"
    assert [found.name for found in child.metadata.owner_references] == ["g"]


def test_setting_the_same_controller_again_changes_nothing() -> None:
    owner, child = named("g"), named("c")
    set_controller(owner, child, GADGET)
    before = child.deep_copy()

    set_controller(owner, child, GADGET)

    assert child == before


def test_a_new_version_or_a_new_uid_takes_the_place_of_the_old_reference() -> None:
    child = named("c")
    set_owner(named("z"), child, GADGET)
    set_controller(named("g"), child, GADGET)

    set_controller(named("g", uid="new"), child, GroupVersionKind("example.io", "v2", "Gadget"))

    references = child.metadata.owner_references
    assert [(found.name, found.uid) for found in references] == [("z", "uid-z"), ("g", "new")]
    assert references[1].api_version == "example.io/v2"


def test_an_owner_can_become_the_controller() -> None:
    owner, child = named("g"), named("c")
    set_owner(owner, child, GADGET)

    set_controller(owner, child, GADGET)

    assert len(child.metadata.owner_references) == 1
    assert is_controlled_by(child, owner)


def test_a_malformed_reference_is_nobody() -> None:
    owner, child = named("g"), named("c")
    malformed = OwnerReference(api_version="a/b/c", kind="Gadget", name="g", uid="x")
    child.metadata.owner_references.append(malformed)

    set_owner(owner, child, GADGET)

    assert len(child.metadata.owner_references) == 2


def test_an_owner_in_a_namespace_cannot_own_what_is_in_none() -> None:
    child = named("c", namespace="")

    with pytest.raises(InvalidOwner) as caught:
        set_controller(named("g"), child, GADGET)

    assert str(caught.value) == (
        "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace ns"
    )
    assert not child.metadata.owner_references


def test_an_owner_cannot_reach_into_another_namespace() -> None:
    with pytest.raises(InvalidOwner) as caught:
        set_owner(named("g"), named("c", namespace="other"), GADGET)

    assert str(caught.value) == (
        "cross-namespace owner references are disallowed, owner's namespace ns, "
        "obj's namespace other"
    )


@pytest.mark.parametrize("namespace", ["", "ns"])
def test_an_owner_in_no_namespace_can_own_anything(namespace: str) -> None:
    owner, child = named("g", namespace=""), named("c", namespace=namespace)

    set_controller(owner, child, GADGET)

    assert is_controlled_by(child, owner)


def test_an_owner_can_be_removed() -> None:
    owner, other, child = named("g"), named("h"), named("c")
    set_controller(owner, child, GADGET)
    set_owner(other, child, GADGET)

    assert remove_owner(child, owner)
    assert not remove_owner(child, owner)

    assert not has_owner(child, owner)
    assert has_owner(child, other)
