"""Which changes pass, and which names they become."""

from collections.abc import Iterable
from typing import Any

import pytest

from apimachinery.meta.types import Object, ObjectMeta, OwnerReference
from apimachinery.schema import GroupKind, GroupVersion
from client.controller import predicates
from client.controller.changes import (
    Change,
    CreatedObject,
    ExternalObject,
    RemovedObject,
    UpdatedObject,
)
from client.controller.enqueue_handlers import ForObject, Mapped
from client.controller.owners import OwnerMap
from client.controller.reconciler import NamespacedName
from client.testing.fake_clock import FakeClock
from client.workqueue.priority_queue import LOW_PRIORITY, PriorityQueue

GADGET = GroupVersion("gadgets.example.io", "v1").with_kind("Gadget")


def obj(name: str = "a", version: str = "1", **metadata: Any) -> Object:
    given: dict[str, Any] = {"namespace": "default", **metadata}
    return Object(metadata=ObjectMeta(name=name, resource_version=version, **given))


def update(**change: Any) -> UpdatedObject[Object]:
    return UpdatedObject(obj(), obj(version="2", **change))


OTHERS: list[Change[Object]] = [
    CreatedObject(obj()),
    RemovedObject("default/a", obj()),
    ExternalObject(obj()),
]


@pytest.mark.parametrize(
    ("predicate", "change"),
    [
        (predicates.generation_changed, {"generation": 2}),
        (predicates.labels_changed, {"labels": {"a": "b"}}),
        (predicates.annotations_changed, {"annotations": {"a": "b"}}),
    ],
)
def test_updates_pass_only_when_the_predicates_part_has_changed(
    predicate: predicates.Predicate[Object], change: dict[str, object]
) -> None:
    assert predicate(update(**change))
    assert not predicate(update(finalizers=["x/y"]))
    assert all(predicate(other) for other in OTHERS)


def test_an_update_that_is_only_told_again_has_no_new_resource_version() -> None:
    assert not predicates.resource_version_changed(UpdatedObject(obj(), obj()))
    assert predicates.resource_version_changed(update())
    assert all(predicates.resource_version_changed(other) for other in OTHERS)


def test_a_selector_looks_at_the_new_state() -> None:
    predicate = predicates.matching({"app": "a"})

    assert predicate(update(labels={"app": "a"}))
    assert not predicate(UpdatedObject(obj(labels={"app": "a"}), obj(version="2")))
    assert predicate(RemovedObject("default/a", None, state_unknown=True))


def test_predicates_combine() -> None:
    yes, no = (lambda _: True), (lambda _: False)
    change = CreatedObject(obj())

    assert predicates.all_of(yes, yes)(change)
    assert not predicates.all_of(yes, no)(change)
    assert predicates.any_of(no, yes)(change)
    assert not predicates.any_of(no, no)(change)
    assert predicates.none_of(no, no)(change)
    assert not predicates.none_of(no, yes)(change)


# Handlers


@pytest.fixture
def queue(clock: FakeClock) -> PriorityQueue[NamespacedName]:
    return PriorityQueue(clock=clock)


async def drained(queue: PriorityQueue[NamespacedName]) -> list[tuple[str, int]]:
    found = []
    while len(queue):
        name, priority = await queue.get_with_priority()
        queue.done(name)
        found.append((str(name), priority))
    return found


async def test_what_was_there_and_what_is_only_told_again_can_wait(
    queue: PriorityQueue[NamespacedName],
) -> None:
    handler = ForObject[Object]()
    await handler.handle(CreatedObject(obj("listed"), is_in_initial_list=True), queue)
    await handler.handle(UpdatedObject(obj("same"), obj("same")), queue)
    await handler.handle(UpdatedObject(obj("changed"), obj("changed", "2")), queue)
    await handler.handle(CreatedObject(obj("new")), queue)
    await handler.handle(ExternalObject(obj("outside")), queue)

    assert await drained(queue) == [
        ("default/changed", 0),
        ("default/new", 0),
        ("default/outside", 0),
        ("default/listed", LOW_PRIORITY),
        ("default/same", LOW_PRIORITY),
    ]


async def test_a_deletion_whose_object_is_unknown_is_still_known_by_its_key(
    queue: PriorityQueue[NamespacedName],
) -> None:
    await ForObject[Object]().handle(RemovedObject("default/a", None, state_unknown=True), queue)

    assert await drained(queue) == [("default/a", 0)]


def by_label(changed: Object) -> Iterable[NamespacedName]:
    yield NamespacedName("default", changed.metadata.labels["for"])


async def test_a_map_is_asked_for_both_states_of_an_update(
    queue: PriorityQueue[NamespacedName],
) -> None:
    before, after = obj(labels={"for": "x"}), obj(version="2", labels={"for": "y"})
    await Mapped(by_label).handle(UpdatedObject(before, after), queue)

    assert await drained(queue) == [("default/x", 0), ("default/y", 0)]


async def test_a_map_uses_the_last_known_state_of_what_is_deleted(
    queue: PriorityQueue[NamespacedName],
) -> None:
    await Mapped(by_label).handle(RemovedObject("default/a", obj(labels={"for": "x"}), True), queue)
    await Mapped(by_label).handle(RemovedObject("default/b", None, True), queue)

    assert await drained(queue) == [("default/x", 0)]


async def test_a_map_may_be_asynchronous(queue: PriorityQueue[NamespacedName]) -> None:
    async def looked_up(changed: Object) -> list[NamespacedName]:
        return [NamespacedName("", changed.metadata.name)]

    await Mapped(looked_up).handle(CreatedObject(obj()), queue)

    assert await drained(queue) == [("a", 0)]


# Owners


def owned_by(*references: OwnerReference) -> Object:
    return obj("child", owner_references=[*references])


def reference(
    name: str = "a", *, version: str = "v1", controller: bool | None = None, group: str = ""
) -> OwnerReference:
    return OwnerReference(
        api_version=f"{group or GADGET.group}/{version}",
        kind="Gadget",
        name=name,
        uid=f"uid-{name}",
        controller=controller,
    )


def test_owners_are_found_by_group_and_kind_in_any_version() -> None:
    child = owned_by(
        reference("a", controller=True),
        reference("b", version="v1beta1"),
        reference("c", group="other.example.io"),
        OwnerReference(api_version="a/b/c", kind="Gadget", name="d", uid="d"),
    )
    kind = GroupKind(GADGET.group, "Gadget")

    assert [*OwnerMap(kind)(child)] == [NamespacedName("default", "a")]
    every = OwnerMap(kind, only_controller=False)
    assert [name.name for name in every(child)] == ["a", "b"]
    assert [*OwnerMap(kind, namespaced=False)(child)] == [NamespacedName("", "a")]
