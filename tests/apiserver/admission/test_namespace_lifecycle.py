"""Nothing is put into a namespace that is missing or on its way out."""

from dataclasses import dataclass, field

import pytest

from apimachinery.errors import Forbidden, NotFound
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.schema import GroupKind, GroupVersionResource
from apiserver.admission.chain import Attributes, Operation
from apiserver.admission.namespace_lifecycle import NAMESPACE, NamespaceLifecycle, NamespacePhase
from apiserver.auth.user import User
from apiserver.context import RequestContext
from apiserver.controlplane.stored_namespaces import StoredNamespaces
from tests.apiserver.registry.world import context, shelf, world
from tests.apiserver.storage.cache.cached import HandClock

PODS, POD = GroupVersionResource("", "v1", "pods"), GroupKind("", "Pod")
ACTIVE, TERMINATING = NamespacePhase.ACTIVE, NamespacePhase.TERMINATING


@dataclass
class Namespaces:
    """What the cache believes, and what is true."""

    cached: dict[str, NamespacePhase] = field(default_factory=dict)
    stored: dict[str, NamespacePhase] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, name: str, *, newest: bool) -> NamespacePhase | None:
        self.asked.append("store" if newest else "cache")
        return (self.stored if newest else self.cached).get(name)


def both(phase: NamespacePhase) -> Namespaces:
    return Namespaces({"ns": phase}, {"ns": phase})


def writing(
    operation: Operation = Operation.CREATE,
    *,
    resource: GroupVersionResource = PODS,
    kind: GroupKind = POD,
    namespace: str = "ns",
    name: str = "a",
) -> Attributes:
    request = RequestContext(
        user=User("alice"), verb="create", resource=resource, namespace=namespace, name=name
    )
    obj = Object(metadata=ObjectMeta(name=name, namespace=namespace))
    return Attributes(request, operation, kind, obj)


def on_namespace(operation: Operation, name: str) -> Attributes:
    resource = GroupVersionResource("", "v1", "namespaces")
    return writing(operation, resource=resource, kind=NAMESPACE, namespace=name, name=name)


async def test_a_namespace_that_is_active_takes_everything() -> None:
    namespaces = both(ACTIVE)

    await NamespaceLifecycle(namespaces)(writing())

    assert namespaces.asked == ["cache"]


async def test_a_namespace_that_is_missing_takes_nothing() -> None:
    namespaces = Namespaces()

    with pytest.raises(NotFound) as caught:
        await NamespaceLifecycle(namespaces)(writing())

    assert str(caught.value) == 'namespaces "ns" not found'
    assert caught.value.details is not None
    assert caught.value.details.kind == "namespaces"
    assert namespaces.asked == ["cache", "store"]


async def test_a_namespace_made_a_moment_ago_is_there() -> None:
    await NamespaceLifecycle(Namespaces(stored={"ns": ACTIVE}))(writing())


async def test_a_namespace_that_is_going_takes_nothing_new() -> None:
    with pytest.raises(Forbidden) as caught:
        await NamespaceLifecycle(both(TERMINATING))(writing())

    assert str(caught.value) == (
        'pods "a" is forbidden: unable to create new content in namespace ns because it is being'
        " terminated"
    )
    [cause] = caught.value.causes
    assert (cause.reason, cause.field) == ("NamespaceTerminating", "metadata.namespace")
    assert cause.message == "namespace ns is being terminated"


@pytest.mark.parametrize("operation", [Operation.UPDATE, Operation.CONNECT])
async def test_what_is_in_a_namespace_that_is_going_can_still_change(operation: Operation) -> None:
    await NamespaceLifecycle(both(TERMINATING))(writing(operation))


async def test_what_is_left_in_a_missing_namespace_can_be_deleted() -> None:
    namespaces = Namespaces()

    await NamespaceLifecycle(namespaces)(writing(Operation.DELETE))

    assert namespaces.asked == []


async def test_what_is_left_in_a_missing_namespace_cannot_change() -> None:
    with pytest.raises(NotFound):
        await NamespaceLifecycle(Namespaces())(writing(Operation.UPDATE))


async def test_objects_without_a_namespace_do_not_concern_it() -> None:
    await NamespaceLifecycle(Namespaces())(writing(namespace=""))


async def test_a_review_does_not_tell_which_namespaces_there_are() -> None:
    reviews = GroupVersionResource("authorization.k8s.io", "v1", "localsubjectaccessreviews")

    await NamespaceLifecycle(Namespaces())(writing(resource=reviews))


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_some_namespaces_stay(name: str) -> None:
    with pytest.raises(Forbidden) as caught:
        await NamespaceLifecycle(Namespaces())(on_namespace(Operation.DELETE, name))

    assert str(caught.value) == (
        f'namespaces "{name}" is forbidden: this namespace may not be deleted'
    )


@pytest.mark.parametrize("operation", [Operation.CREATE, Operation.UPDATE])
async def test_namespaces_themselves_can_be_written(operation: Operation) -> None:
    await NamespaceLifecycle(Namespaces())(on_namespace(operation, "default"))


async def test_a_namespace_deleted_a_moment_ago_is_asked_for_in_the_store() -> None:
    namespaces = Namespaces({"ns": ACTIVE}, {"ns": TERMINATING})
    clock = HandClock()
    lifecycle = NamespaceLifecycle(namespaces, clock=clock)

    await lifecycle(on_namespace(Operation.DELETE, "ns"))
    with pytest.raises(Forbidden):
        await lifecycle(writing())
    await clock.advance(31)
    await lifecycle(writing())

    assert namespaces.asked == ["store", "cache"]


async def test_namespaces_are_found_in_their_store() -> None:
    """Any cluster-scoped resource will do: only the metadata is looked at."""
    async with world() as here:
        lookup = StoredNamespaces(here.shelves)
        for name in ("ns", "old"):
            made = shelf(name, finalizers=["example.com/x"])
            made.metadata.annotations = {"deletionTimestamp": "only a name"}
            await here.shelves.create(made, context(namespace=""))
        await here.shelves.delete("old", None, context("delete", namespace="", name="old"))

        found = [await lookup(name, newest=True) for name in ("ns", "old", "none")]
        cached = [await lookup(name, newest=False) for name in ("ns", "old", "none")]

    assert found == cached == [ACTIVE, TERMINATING, None]
