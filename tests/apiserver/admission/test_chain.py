"""Who is asked, in which order, and how they refuse."""

import pytest

from apimachinery.errors import Forbidden
from apimachinery.meta.options import CreateOptions
from apimachinery.meta.status import StatusCause
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.schema import GroupKind, GroupVersionResource
from apiserver.admission.chain import Attributes, Chain, Operation
from apiserver.auth.user import User
from apiserver.context import RequestContext


def attributes(
    obj: Object | None = None,
    *,
    operation: Operation = Operation.CREATE,
    old: Object | None = None,
    name: str = "",
    subresource: str = "",
) -> Attributes:
    context = RequestContext(
        user=User("alice"),
        verb="create",
        resource=GroupVersionResource("", "v1", "pods"),
        subresource=subresource,
        namespace="default",
        name=name,
        dry_run=True,
    )
    return Attributes(context, operation, GroupKind("", "Pod"), obj, old)


def pod(name: str = "", generate_name: str = "") -> Object:
    return Object(metadata=ObjectMeta(name=name, generate_name=generate_name))


async def test_each_sees_what_those_before_have_made() -> None:
    def label(request: Attributes) -> None:
        assert request.object is not None
        request.object.metadata.labels = {"x": "1"}

    async def annotate(request: Attributes) -> None:
        assert request.object is not None
        request.object.metadata.annotations = dict(request.object.metadata.labels)

    request = attributes(pod("a"))
    await Chain(mutating=[label, annotate]).mutate(request)

    assert request.object is not None
    assert request.object.metadata.annotations == {"x": "1"}


async def test_the_first_refusal_ends_it() -> None:
    asked: list[str] = []

    async def refuse(request: Attributes) -> None:
        asked.append("first")
        raise request.forbidden("no")

    def other(request: Attributes) -> None:
        asked.append("second")

    with pytest.raises(Forbidden):
        await Chain(validating=[refuse, other]).validate(attributes(pod("a")))

    assert asked == ["first"]


async def test_the_two_phases_are_apart() -> None:
    asked: list[str] = []
    chain = Chain(
        mutating=[lambda _: asked.append("mutating")],
        validating=[lambda _: asked.append("validating")],
    )

    await chain.mutate(attributes())
    after_mutating = list(asked)
    await chain.validate(attributes())

    assert after_mutating == ["mutating"]
    assert asked == ["mutating", "validating"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (attributes(pod("a")), 'pods "a" is forbidden: no'),
        (attributes(pod("a"), name="b"), 'pods "b" is forbidden: no'),
        (attributes(pod(generate_name="a-")), 'pods "a-" is forbidden: no'),
        (attributes(pod()), 'pods "Unknown" is forbidden: no'),
        (attributes(operation=Operation.DELETE, old=pod("a")), 'pods "a" is forbidden: no'),
        (attributes(operation=Operation.CONNECT), 'pods "Unknown" is forbidden: no'),
    ],
)
def test_a_refusal_names_the_object(request_: Attributes, message: str) -> None:
    error = request_.forbidden("no", causes=[StatusCause(reason="Why")])

    assert str(error) == message
    assert error.has_cause("Why")
    assert error.code == 403


def test_a_dry_run_may_be_said_in_the_options() -> None:
    request = attributes(pod("a"))
    request.context.dry_run = False

    assert not request.dry_run
    request.options = CreateOptions(dry_run=["All"])
    assert request.dry_run


def test_attributes_tell_of_the_request() -> None:
    request = attributes(pod("a"), subresource="status")
    request.warn("careful")

    assert str(request.resource) == "pods"
    assert (request.namespace, request.name, request.subresource) == ("default", "a", "status")
    assert request.user.name == "alice"
    assert request.dry_run
    assert request.context.warnings == ["careful"]
