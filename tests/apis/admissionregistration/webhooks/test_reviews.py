"""Reviews: the documents that webhooks receive, for every kind of write."""

import asyncio
from typing import Any

import pytest

from tests.apis.admissionregistration.webhooks.world import (
    CONFIG_MAPS,
    EVERYTHING,
    GADGETS_BETA,
    GADGETS_V1,
    World,
    label_by_path,
)

pytestmark = pytest.mark.asyncio(loop_scope="package")

CONFIG_MAP_KIND = {"group": "", "version": "v1", "kind": "ConfigMap"}
CONFIG_MAP = {"group": "", "version": "v1", "resource": "configmaps"}
GADGET = {"metadata": {"name": "lamp"}, "spec": {"model": "a1"}}
GADGET_RULE = {**EVERYTHING, "apiGroups": ["gadgets.example.io"]}


def kind(version: str) -> dict[str, str]:
    return {"group": "gadgets.example.io", "version": version, "kind": "Gadget"}


async def test_a_creation_is_complete(world: World) -> None:
    await world.configure([world.webhook("m")], [world.webhook("v")])

    await world.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}})

    first, second = world.requests
    uid, obj = first.pop("uid"), first.pop("object")
    assert len(uid) == 36
    assert uid != second["uid"]
    assert first == {
        "kind": CONFIG_MAP_KIND,
        "resource": CONFIG_MAP,
        "requestKind": CONFIG_MAP_KIND,
        "requestResource": CONFIG_MAP,
        "name": "a",
        "namespace": "hooked",
        "operation": "CREATE",
        "userInfo": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    assert (obj["apiVersion"], obj["kind"], obj["data"]) == ("v1", "ConfigMap", {"x": "1"})
    # The owners of fields are known, and what the server adds is not there yet.
    assert obj["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {".": {}, "f:x": {}}}
    assert "uid" not in obj["metadata"]
    assert second["object"]["metadata"]["uid"]


async def test_the_call_names_its_timeout(world: World) -> None:
    await world.configure([world.webhook("m", timeoutSeconds=7)])

    await world.create("a")

    received = world.hook.received[0]
    assert (received.path, received.query) == ("/m", "timeout=7s")
    assert received.headers["User-Agent"] == "kube-apiserver-admission"


async def test_a_generated_name_is_known_when_the_object_is_complete(world: World) -> None:
    await world.configure([world.webhook("m")], [world.webhook("v")])

    created = await world.request("POST", CONFIG_MAPS, {"metadata": {"generateName": "a-"}})

    first, second = world.requests
    assert "name" not in first
    assert second["name"] == created.body["metadata"]["name"]


async def test_an_update_has_both_objects(world: World) -> None:
    await world.create("a", data={"x": "1"})
    await world.configure([world.webhook("m")], [world.webhook("v")])

    await world.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "2"}}, fieldManager="me")

    for request in world.requests:
        assert request["operation"] == "UPDATE"
        assert request["object"]["data"] == {"x": "2"}
        assert request["oldObject"]["data"] == {"x": "1"}
        assert request["options"] == {
            "kind": "UpdateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "fieldManager": "me",
        }


async def test_a_deletion_has_the_old_object(world: World) -> None:
    await world.create("a", data={"x": "1"})
    await world.configure([world.webhook("m")], [world.webhook("v")])

    await world.request("DELETE", f"{CONFIG_MAPS}/a", {"gracePeriodSeconds": 0})

    for request in world.requests:
        assert (request["operation"], request["object"]) == ("DELETE", None)
        assert request["oldObject"]["data"] == {"x": "1"}
        assert request["options"]["kind"] == "DeleteOptions"
        assert request["options"]["gracePeriodSeconds"] == 0


async def test_every_object_of_a_collection_is_reviewed(world: World) -> None:
    for name in ("a", "b", "c"):
        await world.create(name)
    await world.configure(validating=[world.webhook("v")])

    await world.request("DELETE", CONFIG_MAPS)

    names = {request["oldObject"]["metadata"]["name"] for request in world.requests}
    assert names == {"a", "b", "c"}
    # As in Kubernetes: the request names none of them.
    assert not any("name" in request for request in world.requests)


async def test_a_dry_run_is_marked(world: World) -> None:
    await world.configure([world.webhook("m", sideEffects="NoneOnDryRun")])

    body = {"metadata": {"name": "a"}}
    await world.request("POST", CONFIG_MAPS, body, dryRun="All")

    assert world.requests[0]["dryRun"] is True
    assert world.requests[0]["options"]["dryRun"] == ["All"]


async def test_the_status_is_a_subresource(world: World) -> None:
    await world.request("POST", GADGETS_V1, GADGET)
    await world.configure([world.webhook("m", rules=[{**EVERYTHING, "resources": ["*/status"]}])])

    await world.patch(f"{GADGETS_V1}/lamp", {"spec": {"replicas": 2}})
    # Once the cache has it, the second update is not tried on an older object first.
    await world.request("GET", f"{GADGETS_V1}/lamp")
    await world.patch(f"{GADGETS_V1}/lamp/status", {"status": {"readyReplicas": 2}})

    (request,) = world.requests
    assert (request["subResource"], request["requestSubResource"]) == ("status", "status")
    assert request["object"]["status"] == {"readyReplicas": 2}


async def test_a_scale_is_shown_as_a_scale(world: World) -> None:
    await world.request("POST", GADGETS_V1, GADGET)
    await world.configure([world.webhook("m", rules=[{**EVERYTHING, "resources": ["*/scale"]}])])

    await world.patch(f"{GADGETS_V1}/lamp/scale", {"spec": {"replicas": 3}})

    (request,) = world.requests
    scale = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert (request["kind"], request["requestKind"]) == (scale, scale)
    assert request["resource"]["resource"] == "gadgets"
    assert request["object"]["spec"] == {"replicas": 3}
    assert request["oldObject"]["spec"] == {"replicas": 1}


async def test_equivalent_requests_are_converted(world: World) -> None:
    rule = {**GADGET_RULE, "apiVersions": ["v1"]}
    world.hook.answer = label_by_path
    await world.configure([world.webhook("label/a", rules=[rule])])

    created = await world.request("POST", GADGETS_BETA, {**GADGET, "spec": {"model": "a1"}})

    (request,) = world.requests
    assert (request["kind"], request["requestKind"]) == (kind("v1"), kind("v1beta1"))
    assert request["requestResource"]["version"] == "v1beta1"
    assert request["object"]["spec"]["timeoutSeconds"] == 60
    # The change of the v1 object is a change of the v1beta1 object.
    assert created.body["apiVersion"] == "gadgets.example.io/v1beta1"
    assert created.body["metadata"]["labels"] == {"a": "yes"}


async def test_each_webhook_has_its_version(world: World) -> None:
    world.hook.answer = label_by_path
    versions = ("v1", "v1beta1", "v1")
    webhooks = [
        world.webhook(f"label/{name}", rules=[{**GADGET_RULE, "apiVersions": [version]}])
        for name, version in zip("abc", versions, strict=True)
    ]
    await world.configure(webhooks)

    created = await world.request("POST", GADGETS_BETA, GADGET)

    assert [request["kind"]["version"] for request in world.requests] == list(versions)
    assert created.body["metadata"]["labels"] == {"a": "yes", "b": "yes", "c": "yes"}


async def test_exact_rules_see_only_their_version(world: World) -> None:
    rule = {**GADGET_RULE, "apiVersions": ["v1"]}
    await world.configure([world.webhook("m", rules=[rule], matchPolicy="Exact")])

    await world.request("POST", GADGETS_BETA, GADGET)

    assert world.requests == []


async def test_namespaces_are_selected_by_their_own_labels(world: World) -> None:
    await world.configure([world.webhook("m", rules=[{**EVERYTHING, "resources": ["namespaces"]}])])
    path = "/api/v1/namespaces"

    for name, labels in (("seen", {"hooked": "yes"}), ("unseen", {})):
        await world.request("POST", path, {"metadata": {"name": name, "labels": labels}})
    await world.patch(f"{path}/unseen", {"metadata": {"labels": {"hooked": "yes"}}})

    creation, update = world.requests
    assert (creation["name"], creation["namespace"]) == ("seen", "seen")
    assert (update["name"], update["operation"]) == ("unseen", "UPDATE")


async def test_objects_elsewhere_are_not_reviewed(world: World) -> None:
    await world.configure([world.webhook("m")], [world.webhook("v")])

    body = {"metadata": {"name": "a"}}
    created = await world.request("POST", "/api/v1/namespaces/free/configmaps", body)

    assert created.code in (201, 409)
    assert world.requests == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
            {"metadata": {"name": "other"}, "webhooks": []},
        ),
        (
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}},
        ),
        ("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}),
    ],
)
async def test_some_resources_are_never_reviewed(world: World, path: str, body: Any) -> None:
    everywhere = world.webhook("x", namespaceSelector={})
    await world.configure([everywhere], [everywhere])

    created = await world.request("POST", path, body)

    assert created.code == 201
    assert world.requests == []
    await world.request("DELETE", f"{path}/other")


async def test_custom_resources_are_reviewed_and_changed(world: World) -> None:
    """Also in another version, with the defaults of the schema."""
    versions = [lamp_version(name, stored=name == "v1") for name in ("v1", "v1beta1")]
    definition = {
        "metadata": {"name": "lamps.x.io"},
        "spec": {
            "group": "x.io",
            "scope": "Namespaced",
            "names": {"plural": "lamps", "kind": "Lamp"},
            "versions": versions,
        },
    }
    await world.request(
        "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition
    )
    lamps = "/apis/x.io/v1beta1/namespaces/hooked/lamps"
    async with asyncio.timeout(10):
        while (await world.request("GET", lamps)).code != 200:
            await asyncio.sleep(0.01)
    world.hook.answer = label_by_path
    rule = {**EVERYTHING, "apiGroups": ["x.io"], "apiVersions": ["v1"]}
    await world.configure([world.webhook("label/a", rules=[rule])])

    lamp = {"apiVersion": "x.io/v1beta1", "kind": "Lamp", "metadata": {"name": "a"}, "spec": {}}
    created = await world.request("POST", lamps, lamp)
    scaled = await world.patch(f"{lamps}/a/scale", {"spec": {"replicas": 4}})

    assert (created.code, scaled.code) == (201, 200)
    creation, scale = world.requests
    assert creation["object"]["apiVersion"] == "x.io/v1"
    assert creation["requestKind"]["version"] == "v1beta1"
    assert scale["object"]["kind"] == "Scale"
    assert created.body["apiVersion"] == "x.io/v1beta1"
    assert created.body["metadata"]["labels"] == {"a": "yes"}
    assert created.body["spec"] == {"color": "red"}


def lamp_version(name: str, *, stored: bool) -> dict[str, Any]:
    color = {"type": "string", "default": "red"}
    spec = {"type": "object", "properties": {"color": color, "replicas": {"type": "integer"}}}
    return {
        "name": name,
        "served": True,
        "storage": stored,
        "subresources": {
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.n"}
        },
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    }
