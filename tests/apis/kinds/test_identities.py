"""Writes whose document has another name, namespace or uid than the object of the URL."""

from typing import Any

import orjson
import pytest

from tests.apis.kinds.kind_server import APPLY, KindServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

DEFAULT = "/api/v1/namespaces/default"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
ANOTHER_NAMESPACE = (
    400,
    "the namespace of the provided object does not match the namespace sent on the request",
)
SPEC: dict[str, Any] = {"containers": [{"name": "c", "image": "i"}]}


async def created(kinds: KindServer, part: str = "") -> str:
    """Create the objects of these tests; return the path of a part of the pod."""
    await kinds.driver.post(f"{DEFAULT}/pods", {"metadata": {"name": "same"}, "spec": SPEC})
    template = {"metadata": {"labels": {"a": "b"}}, "spec": SPEC}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    await kinds.driver.post(DEPLOYMENTS, {"metadata": {"name": "same"}, "spec": spec})
    await kinds.driver.post(f"{DEFAULT}/serviceaccounts", {"metadata": {"name": "same"}})
    return f"{DEFAULT}/pods/same{part}"


POSTED = ("pods/same/eviction", "pods/same/binding", "serviceaccounts/same/token")
PARTS = pytest.mark.parametrize("part", ["", "/status", "/resize", "/ephemeralcontainers"])


@PARTS
async def test_a_namespace_is_compared_before_the_name(kinds: KindServer, part: str) -> None:
    path = await created(kinds, part)
    document = {"metadata": {"name": "other", "namespace": "other"}, "spec": SPEC}

    put = await kinds.driver.put(path, document)
    patched = await kinds.driver.patch(path, {"metadata": document["metadata"]})

    assert (put.code, put.json["message"]) == ANOTHER_NAMESPACE
    assert (patched.code, patched.json["message"]) == ANOTHER_NAMESPACE


@PARTS
async def test_a_put_names_the_object_of_the_url(kinds: KindServer, part: str) -> None:
    path = await created(kinds, part)

    unnamed = await kinds.driver.put(path, {"metadata": {}, "spec": SPEC})
    other = await kinds.driver.put(path, {"metadata": {"name": "other"}, "spec": SPEC})

    assert (unnamed.code, unnamed.json["message"]) == (
        400,
        "the name of the object (same based on URL) was undeterminable: name must be provided",
    )
    assert (other.code, other.json["message"]) == (
        400,
        "the name of the object (other) does not match the name on the URL (same)",
    )


@PARTS
async def test_the_uid_in_a_put_is_a_precondition(kinds: KindServer, part: str) -> None:
    path = await created(kinds, part)

    answer = await kinds.driver.put(path, {"metadata": {"name": "same", "uid": "x"}, "spec": SPEC})

    assert answer.code == 409
    assert "UID in precondition: x, UID in object meta: " in answer.json["message"]


async def test_a_resize_needs_no_namespace(kinds: KindServer) -> None:
    path = await created(kinds, "/resize")

    answer = await kinds.driver.put(path, {"metadata": {"name": "same"}, "spec": {}})

    fields = [cause["field"] for cause in answer.json["details"]["causes"]]
    assert answer.code == 422
    assert not any(field.startswith("metadata") for field in fields)


async def test_a_patch_of_a_resize_cannot_change_the_uid(kinds: KindServer) -> None:
    path = await created(kinds, "/resize")

    answer = await kinds.driver.patch(path, {"metadata": {"uid": "x"}})

    assert (answer.code, answer.json["message"]) == (
        422,
        'Pod "same" is invalid: metadata.uid: Invalid value: "x": field is immutable',
    )


async def test_an_approval_names_its_request(kinds: KindServer) -> None:
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests/any/approval"

    answer = await kinds.driver.put(path, {"metadata": {}, "spec": {"signerName": "a/b"}})

    assert (answer.code, answer.json["message"]) == (
        400,
        "the name of the object (any based on URL) was undeterminable: name must be provided",
    )


async def test_patches_of_a_scale_are_about_its_object(kinds: KindServer) -> None:
    await created(kinds)
    path = f"{DEPLOYMENTS}/same/scale"
    kind = {"apiVersion": "autoscaling/v1", "kind": "Scale"}
    applied = orjson.dumps({**kind, "metadata": {"name": "other"}})

    name = await kinds.driver.send("PATCH", f"{path}?fieldManager=m", body=applied, headers=APPLY)
    namespace = await kinds.driver.patch(path, {"metadata": {"namespace": "other"}})
    uid = await kinds.driver.patch(path, {"metadata": {"uid": "x"}})

    assert (name.code, name.json["message"]) == (
        400,
        "the name of the object (other) does not match the name on the URL (same)",
    )
    assert (namespace.code, namespace.json["message"]) == ANOTHER_NAMESPACE
    assert uid.json["message"].startswith(
        'Operation cannot be fulfilled on deployments/scale.apps "same": Precondition failed: UID'
    )


@pytest.mark.parametrize("part", POSTED)
async def test_a_posted_action_is_in_the_namespace_of_the_url(kinds: KindServer, part: str) -> None:
    await created(kinds)

    answer = await kinds.driver.post(f"{DEFAULT}/{part}", {"metadata": {"namespace": "other"}})

    assert (answer.code, answer.json["message"]) == ANOTHER_NAMESPACE
