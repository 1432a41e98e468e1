"""ReviewedWrite: the objects of a write as documents, and the labels that select it."""

import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
import pytest_asyncio

from apimachinery.errors import APIError, InternalError, Invalid, NotFound
from apimachinery.meta.options import CreateOptions
from apimachinery.meta.types import LabelSelector, Object, ObjectMeta
from apimachinery.model.decoding import DecodeError
from apimachinery.schema import GroupKind, GroupVersionResource
from apis.admissionregistration.matching.admission_request import admission_request
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.matching.selectors import Selectors
from apis.core.install import CORE
from apis.core.v1 import Namespace
from apis.gadgets.install import GADGETS
from apis.gadgets.types import Gadget, GadgetSpec
from apiserver import Attributes, RequestContext, ServerParts, User
from apiserver.admission.chain import Operation
from apiserver.served_versions import ServedVersions
from tests.apis.controlled import ControlledServer, controlled_server

pytestmark = pytest.mark.asyncio(loop_scope="module")

V1 = GroupVersionResource("gadgets.example.io", "v1", "gadgets")
BETA = GroupVersionResource("gadgets.example.io", "v1beta1", "gadgets")
NAMESPACES = GroupVersionResource("", "v1", "namespaces")
ALICE = User("alice", uid="7", groups=("staff",), extra={"scopes": ("a", "b")})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[ControlledServer]:
    async with controlled_server(CORE, GADGETS) as running:
        labels = {"team": "blue"}
        namespace: Any = {"metadata": {"name": "team", "labels": labels}}
        await running.client.of(Namespace).create(namespace)
        yield running


@pytest.fixture(scope="module")
def parts(server: ControlledServer) -> ServerParts:
    groups = server.app.groups
    return cast(
        ServerParts,
        SimpleNamespace(find_store=groups.store, versions=ServedVersions(lambda: groups)),
    )


def gadget(name: str = "lamp", **labels: str) -> Gadget:
    meta = ObjectMeta(name=name, namespace="team", labels=labels)
    return Gadget(metadata=meta, spec=GadgetSpec(model="a1"))


def write(
    parts: ServerParts,
    new: Object | None,
    old: Object | None = None,
    *,
    resource: GroupVersionResource = V1,
    subresource: str = "",
    namespace: str = "team",
    operation: Operation = Operation.CREATE,
) -> ReviewedWrite:
    obj = new or old
    assert obj is not None
    context = RequestContext(
        ALICE, "create", resource, subresource, namespace=namespace, name=obj.metadata.name
    )
    kind = GroupKind(resource.group, type(obj).__kind__)
    options = CreateOptions(field_manager="me")
    return ReviewedWrite(Attributes(context, operation, kind, new, old, options), parts)


async def test_objects_are_shown_in_any_version(parts: ServerParts) -> None:
    review = write(parts, gadget())
    beta = parts.versions.find(BETA)
    assert beta is not None

    assert json.loads(await review.encoded(review.own))["spec"]["timeoutSeconds"] == 60
    assert json.loads(await review.encoded(beta))["apiVersion"] == "gadgets.example.io/v1beta1"
    assert (await review.content(beta))["spec"]["timeout"] == "1m0s"
    assert await review.encoded(review.own, old=True) == b"null"
    assert await review.content(review.own, old=True) is None


async def test_changed_documents_become_objects_with_defaults(parts: ServerParts) -> None:
    review = write(parts, gadget())
    beta = parts.versions.find(BETA)
    assert beta is not None
    document = await review.content(beta)
    changed = {**document, "spec": {"model": "b2"}}

    review.replace(await review.decode(json.dumps(changed).encode(), beta))

    new = review.attributes.object
    assert isinstance(new, Gadget)
    assert (new.spec.model, new.spec.replicas) == ("b2", 1)
    assert (await review.content(review.own))["spec"]["model"] == "b2"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"spec": {"model": []}}, DecodeError),
        ({"spec": {"model": "a", "replicas": 1000}}, Invalid),
        ({"kind": "Lamp"}, Exception),
    ],
)
async def test_documents_of_no_object_are_refused(
    parts: ServerParts, change: dict[str, Any], error: type[Exception]
) -> None:
    review = write(parts, gadget())
    document = {**(await review.content(review.own)), **change}

    with pytest.raises(error):
        await review.decode(json.dumps(document).encode(), review.own)


async def test_the_scale_of_an_object_is_a_document_of_its_own(parts: ServerParts) -> None:
    review = write(parts, gadget(), gadget(), subresource="scale", operation=Operation.UPDATE)
    scale = await review.content(review.own)
    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 1})

    more = {**scale, "spec": {"replicas": 3}}
    changed = await review.decode(json.dumps(more).encode(), review.own)

    assert isinstance(changed, Gadget)
    assert changed.spec.replicas == 3


async def test_versions_of_the_same_objects_are_equivalent(parts: ServerParts) -> None:
    found = parts.versions.equivalents(BETA)

    assert [version.resource for version in found] == [V1, BETA]
    assert len(parts.versions.equivalents(BETA, "scale")) == 2
    assert parts.versions.equivalents(BETA, "log") == ()
    assert parts.versions.find(V1, "log") is None


def selectors(namespace: dict[str, Any] | None = None, obj: Any = None) -> Selectors:
    return Selectors.compile(
        LabelSelector.model_validate(namespace or {}), LabelSelector.model_validate(obj or {})
    )


BLUE = {"matchLabels": {"team": "blue"}}
RED = {"matchLabels": {"team": "red"}}


async def test_namespaces_are_selected_by_their_labels(parts: ServerParts) -> None:
    assert await selectors(BLUE).match(write(parts, gadget()))
    assert not await selectors(RED).match(write(parts, gadget()))


async def test_a_namespace_is_selected_by_its_own_labels(parts: ServerParts) -> None:
    red = Namespace(metadata=ObjectMeta(name="new", labels={"team": "red"}))
    review = write(parts, red, resource=NAMESPACES, namespace="")

    assert await selectors(RED).match(review)
    assert not await selectors(BLUE).match(review)
    assert review.namespace == "new"
    assert not review.target.namespaced


async def test_a_deleted_namespace_is_selected_as_it_is_stored(parts: ServerParts) -> None:
    stale = Namespace(metadata=ObjectMeta(name="team"))
    deletion = write(
        parts, None, stale, resource=NAMESPACES, namespace="", operation=Operation.DELETE
    )

    assert await selectors(BLUE).match(deletion)


async def test_objects_without_namespace_have_any_namespace(parts: ServerParts) -> None:
    assert await selectors(RED).match(write(parts, gadget(), namespace=""))


async def test_objects_are_selected_before_and_after_the_change(parts: ServerParts) -> None:
    only_red = selectors(obj=RED)

    assert await only_red.match(write(parts, gadget(team="red"), gadget()))
    assert await only_red.match(write(parts, gadget(), gadget(team="red")))
    assert not await only_red.match(write(parts, gadget(team="blue"), gadget()))


async def test_a_missing_namespace_matters_only_for_selected_objects(parts: ServerParts) -> None:
    lost = write(parts, gadget(team="red"), namespace="nowhere")

    with pytest.raises(NotFound, match='namespaces "nowhere" not found'):
        await selectors(BLUE, RED).match(lost)
    assert not await selectors(BLUE, BLUE).match(lost)


async def test_stored_selectors_may_be_invalid(parts: ServerParts) -> None:
    broken = {"matchExpressions": [{"key": "team", "operator": "Near", "values": ["x"]}]}

    with pytest.raises(InternalError, match="not a valid label selector operator") as caught:
        await selectors(obj=broken).match(write(parts, gadget()))

    assert isinstance(caught.value, APIError)


async def test_the_request_as_a_document(parts: ServerParts) -> None:
    review = write(parts, gadget())
    beta = parts.versions.find(BETA)
    assert beta is not None
    group = "gadgets.example.io"

    assert admission_request(review, beta) == {
        "kind": {"group": group, "version": "v1beta1", "kind": "Gadget"},
        "resource": {"group": group, "version": "v1beta1", "resource": "gadgets"},
        "requestKind": {"group": group, "version": "v1", "kind": "Gadget"},
        "requestResource": {"group": group, "version": "v1", "resource": "gadgets"},
        "name": "lamp",
        "namespace": "team",
        "operation": "CREATE",
        "userInfo": {
            "username": "alice",
            "uid": "7",
            "groups": ["staff"],
            "extra": {"scopes": ["a", "b"]},
        },
        "dryRun": False,
        "options": {
            "kind": "CreateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "fieldManager": "me",
        },
    }
