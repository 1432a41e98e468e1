"""Answers that the suites of other projects look for, each as kube-apiserver gives it."""

from typing import Any

import orjson
import pytest

from tests.apis.kinds.kind_server import APPLY, KindServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(group: str, schema: dict[str, Any]) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"foos.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [version],
        },
    }


async def test_a_patch_of_the_status_of_a_namespace_keeps_its_metadata(kinds: KindServer) -> None:
    await kinds.driver.post("/api/v1/namespaces", {"metadata": {"name": "noted"}})

    change = {"metadata": {"annotations": {"a": "b"}}}
    patched = await kinds.driver.patch("/api/v1/namespaces/noted/status", change)

    assert patched.json["metadata"]["annotations"] == {"a": "b"}


async def test_the_creator_of_a_namespace_does_not_own_its_finalizers(kinds: KindServer) -> None:
    made = await kinds.driver.post("/api/v1/namespaces", {"metadata": {"name": "owned"}})

    assert made.json["spec"] == {"finalizers": ["kubernetes"]}
    assert [entry["fieldsV1"] for entry in made.json["metadata"]["managedFields"]] == [
        {"f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}}
    ]


async def test_a_condition_of_a_definition_may_be_incomplete(kinds: KindServer) -> None:
    await kinds.create(definition("incomplete.io", OPEN))

    change = {"status": {"conditions": [{"type": "Strange", "message": "x"}]}}
    patched = await kinds.driver.patch(f"{DEFINITIONS}/foos.incomplete.io/status", change)

    assert patched.code == 200
    unset = {"status": "", "lastTransitionTime": None}
    assert {**unset, "type": "Strange", "message": "x"} in patched.json["status"]["conditions"]


async def test_an_open_kind_is_a_plain_object_in_openapi_v2(kinds: KindServer) -> None:
    await kinds.create(definition("open.io", OPEN))

    published = (await kinds.driver.get("/openapi/v2")).json["definitions"]["io.open.v1.Foo"]

    assert published["type"] == "object"
    assert published.keys() == {"type", "x-kubernetes-group-version-kind"}


async def test_every_page_has_an_openapi_document(kinds: KindServer) -> None:
    paths = (await kinds.driver.get("/openapi/v3")).json["paths"]

    for path in ("api", "apis", "apis/apps", "version", "openid/v1/jwks"):
        document = (await kinds.driver.get(paths[path]["serverRelativeURL"])).json
        assert list(document["paths"]) == [f"/{path}/"]
    assert ".well-known/openid-configuration" in paths


async def test_descriptions_begin_with_the_words_that_clients_look_for(kinds: KindServer) -> None:
    document = (await kinds.driver.get("/openapi/v3/api/v1")).json
    fields = document["components"]["schemas"]["io.k8s.api.core.v1.ConfigMap"]["properties"]

    assert fields["apiVersion"]["description"].startswith("APIVersion defines")
    assert fields["kind"]["description"].startswith("Kind is a string value")
    assert fields["metadata"]["description"].startswith("Standard object's metadata")


async def test_reviews_have_metadata(kinds: KindServer) -> None:
    review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

    assert (await kinds.driver.post(path, review)).json["metadata"] == {}


async def test_two_managers_may_apply_the_same_empty_map(kinds: KindServer) -> None:
    await kinds.create(definition("shared.io", OPEN))
    path = "/apis/shared.io/v1/namespaces/default/foos/empty"
    foo = {"apiVersion": "shared.io/v1", "kind": "Foo", "metadata": {"name": "empty"}, "spec": {}}

    answers = [
        await kinds.driver.send(
            "PATCH", f"{path}?fieldManager={name}", body=orjson.dumps(foo), headers=APPLY
        )
        for name in ("one", "two")
    ]

    assert [answer.code for answer in answers] == [201, 200]


async def test_bytes_that_are_no_utf_8_are_replaced(kinds: KindServer) -> None:
    body = b'{"metadata":{"name":"latin"},"data":{"a":"\xe9"}}'

    made = await kinds.driver.send("POST", f"{CONFIG_MAPS}?dryRun=All", body=body)

    assert (made.code, made.json["data"]) == (201, {"a": "\ufffd"})


async def test_a_name_that_is_no_utf_8_is_invalid(kinds: KindServer) -> None:
    body = b'{"metadata":{"name":"u\xff"}}'

    refused = await kinds.driver.send("POST", CONFIG_MAPS, body=body)

    assert refused.code == 422
    assert refused.json["message"].startswith(
        'ConfigMap "u\ufffd" is invalid: metadata.name: Invalid value: "u\ufffd": a lowercase'
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"a":}', "invalid character '}' looking for beginning of value ({\"a\":})"),
        (b"{", "unexpected end of JSON input ({)"),
        (b"nope", "invalid character 'o' in literal null (expecting 'u') (6e6f7065)"),
    ],
)
async def test_broken_json_is_explained_as_by_go(
    kinds: KindServer, body: bytes, reason: str
) -> None:
    refused = await kinds.driver.send("POST", CONFIG_MAPS, body=body)

    assert refused.json["message"] == (
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get"
        f" version/kind; json parse error: {reason}"
    )


async def test_the_creator_of_a_service_does_not_own_its_allocated_addresses(
    kinds: KindServer,
) -> None:
    service = {"metadata": {"name": "unowned"}, "spec": {"ports": [{"port": 80}]}}

    made = (await kinds.driver.post("/api/v1/namespaces/default/services", service)).json

    (entry,) = made["metadata"]["managedFields"]
    assert made["spec"]["clusterIP"] and made["spec"]["ipFamilies"]
    assert entry["fieldsV1"]["f:spec"].keys() == {
        "f:internalTrafficPolicy",
        "f:ports",
        "f:sessionAffinity",
        "f:type",
    }


async def test_the_parameters_of_a_policy_are_owned_as_a_whole(kinds: KindServer) -> None:
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["deployments"],
    }
    policy = {
        "metadata": {"name": "whole"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "validations": [{"expression": "true"}],
        },
    }
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"

    made = (await kinds.driver.post(path, policy)).json

    (entry,) = made["metadata"]["managedFields"]
    assert entry["fieldsV1"]["f:spec"] == {
        "f:failurePolicy": {},
        "f:matchConstraints": {},
        "f:paramKind": {},
        "f:validations": {},
    }


async def test_the_generation_of_an_autoscaler_counts_changes_of_its_spec(
    kinds: KindServer,
) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = {
        "metadata": {"name": "counted"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": target},
    }
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"

    made = await kinds.driver.post(path, scaler)
    labelled = await kinds.driver.patch(f"{path}/counted", {"metadata": {"labels": {"a": "b"}}})
    changed = await kinds.driver.patch(f"{path}/counted", {"spec": {"maxReplicas": 4}})

    answers = (made, labelled, changed)
    assert [answer.json["metadata"]["generation"] for answer in answers] == [1, 1, 2]
