"""Namespaces: names, the label of the name, finalizers, phases."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.errors import Invalid
from apimachinery.meta.types import ObjectMeta
from apis.core.strategy import NamespaceFinalizeStrategy, NamespaceStrategy, finalize
from apis.core.v1 import Namespace, NamespaceSpec, NamespaceStatus
from tests.apis.validating import decoded, messages

STRATEGY = NamespaceStrategy()


def namespace(name: str = "shop", *, finalizers: tuple[str, ...] = (), **meta: Any) -> Namespace:
    return Namespace(
        metadata=ObjectMeta(name=name, **meta), spec=NamespaceSpec(finalizers=list(finalizers))
    )


def test_names_are_dns_labels() -> None:
    assert STRATEGY.name_errors("shop") == []
    assert STRATEGY.name_errors("1shop") == []
    assert STRATEGY.name_errors("shop-", prefix=True) == []
    assert STRATEGY.name_errors("shop.eu") == ["must not contain dots"]


def test_a_document_is_active_and_labelled_with_its_name() -> None:
    found = decoded(Namespace, {"metadata": {"name": "shop"}})

    assert found.metadata.labels == {"kubernetes.io/metadata.name": "shop"}
    assert found.status.phase == "Active"


def test_the_label_of_the_name_cannot_be_another() -> None:
    labels = {"kubernetes.io/metadata.name": "other"}

    found = decoded(Namespace, {"metadata": {"name": "shop", "labels": labels}})

    assert found.metadata.labels == {"kubernetes.io/metadata.name": "shop"}


def test_a_generated_name_gets_its_label_when_the_object_is_prepared() -> None:
    made = namespace("shop-x2v9k", generate_name="shop-")

    STRATEGY.prepare_for_create(made)

    assert made.metadata.labels == {"kubernetes.io/metadata.name": "shop-x2v9k"}


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ((), ["kubernetes"]),
        (("kubernetes",), ["kubernetes"]),
        (("example.io/mine",), ["example.io/mine", "kubernetes"]),
    ],
)
def test_a_new_namespace_is_held_by_the_controller(
    given: tuple[str, ...], stored: list[str]
) -> None:
    made = namespace(finalizers=given)
    made.status = NamespaceStatus(phase="Terminating")

    STRATEGY.prepare_for_create(made)

    assert made.spec.finalizers == stored
    assert made.status.phase == "Active"


def test_an_update_does_not_change_finalizers() -> None:
    new, old = namespace(finalizers=()), namespace(finalizers=("kubernetes",))

    STRATEGY.prepare_for_update(new, old)

    assert new.spec.finalizers == ["kubernetes"]


def test_deletion_shows_in_the_phase() -> None:
    going = namespace()

    STRATEGY.prepare_for_deletion(going)

    assert going.status.phase == "Terminating"


def test_it_may_go_when_nobody_holds_it() -> None:
    assert not STRATEGY.may_be_removed(namespace(finalizers=("kubernetes",)))
    assert STRATEGY.may_be_removed(namespace())


def test_it_has_no_generation() -> None:
    assert STRATEGY.desired_state(namespace()) is None


def test_finalizers_are_standard_or_qualified() -> None:
    wrong = namespace(finalizers=("kubernetes", "mine", "example.io/mine"))

    assert messages(STRATEGY.validate(wrong)) == [
        'spec.finalizers: Invalid value: "mine": '
        "name is neither a standard finalizer name nor is it fully qualified"
    ]


@pytest.mark.parametrize(
    ("phase", "deleted", "expected"),
    [
        ("Active", False, []),
        ("Terminating", True, []),
        (
            "Terminating",
            False,
            [
                'status.Phase: Invalid value: "Terminating": '
                "may only be 'Active' if `deletionTimestamp` is empty"
            ],
        ),
        (
            "Active",
            True,
            [
                'status.Phase: Invalid value: "Active": '
                "may only be 'Terminating' if `deletionTimestamp` is not empty"
            ],
        ),
    ],
)
def test_the_phase_must_fit_the_deletion(phase: str, deleted: bool, expected: list[str]) -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC) if deleted else None
    new = namespace(deletion_timestamp=at)
    new.status.phase = phase

    assert messages(STRATEGY.validate_status_update(new, new)) == expected


async def test_finalize_changes_finalizers_and_leaves_the_status() -> None:
    current = namespace(finalizers=("kubernetes",))
    current.status.phase = "Terminating"
    body = namespace()

    made = await finalize(None, current, body)

    assert made.spec.finalizers == []
    assert made.status.phase == "Terminating"


async def test_finalize_checks_names() -> None:
    with pytest.raises(Invalid) as refused:
        await finalize(None, namespace(), namespace(finalizers=("mine",)))

    assert str(refused.value) == (
        'Namespace "shop" is invalid: spec.finalizers[0]: Invalid value: "mine": '
        "name is neither a standard finalizer name nor is it fully qualified"
    )


def test_the_strategy_of_finalize_lets_finalizers_change() -> None:
    new, old = namespace(), namespace(finalizers=("kubernetes",))

    NamespaceFinalizeStrategy().prepare_for_update(new, old)

    assert new.spec.finalizers == []
