"""PUT, PATCH, DELETE and subresources, beyond what every resource does alike."""

from typing import Any

import pytest

from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import (
    CONFIG_MAPS,
    GADGETS,
    JSON_PATCH,
    STRATEGIC,
    applied,
    gadget,
)

LAMP = f"{GADGETS}/lamp"


@pytest.fixture
async def lamp(client: Driver) -> Any:
    return (await client.post(GADGETS, gadget(parts=[{"name": "p1"}]))).json


# Where an object is


async def test_the_namespace_of_the_url_counts(client: Driver) -> None:
    body = {"metadata": {"name": "x", "namespace": "other"}}

    answer = await client.post(CONFIG_MAPS, body)

    assert answer.code == 400
    assert answer.json["message"] == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )


async def test_the_name_of_the_url_counts(client: Driver, lamp: Any) -> None:
    answer = await client.put(LAMP, {**lamp, "metadata": {**lamp["metadata"], "name": "other"}})

    assert answer.code == 400
    assert answer.json["message"] == (
        "the name of the object (other) does not match the name on the URL (lamp)"
    )


async def test_another_uid_is_another_object(client: Driver, lamp: Any) -> None:
    answer = await client.put(LAMP, {**lamp, "metadata": {"name": "lamp", "uid": "other"}})

    assert answer.code == 409
    assert "UID in precondition: other" in answer.json["message"]


@pytest.mark.parametrize(
    "body", [b"kind: ConfigMap\nmetadata: {name: a}\n", b'{"metadata":{"name":"a"}}']
)
async def test_yaml_bodies(client: Driver, body: bytes) -> None:
    headers = {"content-type": "application/yaml"}

    assert (await client.send("POST", CONFIG_MAPS, body=body, headers=headers)).code == 201


# Patches


async def test_json_patch(client: Driver, lamp: Any) -> None:
    answer = await client.patch(
        LAMP, [{"op": "replace", "path": "/spec/replicas", "value": 4}], JSON_PATCH
    )

    assert (answer.code, answer.json["spec"]["replicas"]) == (200, 4)
    assert answer.json["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("patch", "kind", "code", "message"),
    [
        (
            [{"op": "test", "path": "/spec/replicas", "value": 4}],
            JSON_PATCH,
            422,
            "the server rejected our request due to an error in our request",
        ),
        ({"not": "a list"}, JSON_PATCH, 400, "error decoding patch: json: cannot"),
        ([{"op": "add", "path": "/a", "value": 1}] * 10_001, JSON_PATCH, 413, "Request entity"),
        (5, "merge-patch+json", 400, "error decoding patch: json: cannot"),
        (
            {"spec": {"model": 5}},
            "merge-patch+json",
            422,
            ' "" is invalid: patch: Invalid value: ',
        ),
        ({"spec": {"replicas": -1}}, "merge-patch+json", 422, "Gadget.gadgets.example.io"),
        ({"metadata": {"resourceVersion": "1"}}, "merge-patch+json", 409, "Operation cannot"),
        ({"metadata": {"name": "other"}}, "merge-patch+json", 400, "the name of the object"),
        ({"kind": "Toy"}, "merge-patch+json", 422, ' "" is invalid: patch: Invalid value: '),
        ({}, "unknown+json", 415, "the body of the request was in an unknown format"),
    ],
)
async def test_patches_that_do_not_fit(
    client: Driver, lamp: Any, patch: Any, kind: str, code: int, message: str
) -> None:
    answer = await client.patch(LAMP, patch, kind)

    assert answer.code == code
    assert answer.json["message"].startswith(message)


COPIES = [{"op": "copy", "from": "/data/a", "path": f"/data/{name}"} for name in "bcd"]
MANY = {"op": "add", "path": "/data/a", "value": [0] * 60_000}


@pytest.mark.parametrize(
    ("patch", "kind", "limit"),
    [
        ({"data": {"b": "x" * 2_900_000}}, "merge-patch+json", "3145728"),
        ({"data": {"b": "x" * 2_900_000}}, STRATEGIC, "3145728"),
        (COPIES, JSON_PATCH, "3145728"),
        ([MANY, *COPIES], JSON_PATCH, "150000 values"),
        ([{**MANY, "value": [0] * 200_000}], JSON_PATCH, "150000 values"),
    ],
    ids=["merge", "strategic", "copies", "values of the result", "values of the patch"],
)
async def test_a_patch_with_a_result_that_is_too_large(
    client: Driver, patch: Any, kind: str, limit: str
) -> None:
    await client.post(CONFIG_MAPS, {"metadata": {"name": "big"}, "data": {"a": "x" * 1_000_000}})

    answer = await client.patch(f"{CONFIG_MAPS}/big", patch, kind)

    assert (answer.code, answer.json["reason"]) == (413, "RequestEntityTooLarge")
    assert answer.json["message"] == f"Request entity too large: limit is {limit}"


async def test_a_body_that_is_no_json_is_no_patch(client: Driver, lamp: Any) -> None:
    headers = {"content-type": "application/merge-patch+json"}

    answer = await client.send("PATCH", LAMP, body=b"{", headers=headers)

    assert (answer.code, answer.json["message"]) == (400, "invalid JSON patch")


async def test_strategic_merge_knows_the_elements_of_lists(client: Driver, lamp: Any) -> None:
    answer = await client.patch(LAMP, {"spec": {"parts": [{"name": "p2"}]}}, STRATEGIC)

    assert sorted(part["name"] for part in answer.json["spec"]["parts"]) == ["p1", "p2"]


async def test_strict_patches_refuse_unknown_fields(client: Driver, lamp: Any) -> None:
    strict = await client.patch(f"{LAMP}?fieldValidation=Strict", {"spec": {"shape": 1}})
    lenient = await client.patch(LAMP, {"spec": {"shape": 1}})

    assert strict.code == 422
    assert 'unknown field \\"spec.shape\\"' in strict.body.decode().replace('\\\\"', '\\"')
    assert lenient.code == 200
    assert lenient.all("warning") == ['299 - "unknown field \\"spec.shape\\""']


async def test_a_patch_of_the_older_version_speaks_its_words(client: Driver, lamp: Any) -> None:
    answer = await client.patch(LAMP.replace("v1", "v1beta1"), {"spec": {"count": 9}})

    assert answer.json["spec"]["count"] == 9
    assert (await client.get(LAMP)).json["spec"]["replicas"] == 9


async def test_force_is_for_apply_only(client: Driver, lamp: Any) -> None:
    answer = await client.patch(f"{LAMP}?force=true", {})

    assert answer.code == 422
    assert "may not be specified for non-apply patch" in answer.json["message"]


# Server-side apply


async def apply(client: Driver, document: Any, query: str = "fieldManager=m1") -> Any:
    headers = {"content-type": "application/apply-patch+yaml"}
    return await client.send("PATCH", f"{LAMP}?{query}", json=document, headers=headers)


async def test_apply_conflicts_name_the_field_and_its_owner(client: Driver) -> None:
    await apply(client, applied(model="a1"))

    answer = await apply(client, applied(model="b2"), "fieldManager=m2")

    assert answer.code == 409
    assert answer.json["message"] == (
        'Apply failed with 1 conflict: conflict with "m1": .spec.model'
    )
    assert answer.json["details"]["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "m1"',
            "field": ".spec.model",
        }
    ]


async def test_force_takes_ownership(client: Driver) -> None:
    await apply(client, applied(model="a1"))

    answer = await apply(client, applied(model="b2"), "fieldManager=m2&force=true")

    owners = [entry["manager"] for entry in answer.json["metadata"]["managedFields"]]
    assert (answer.code, answer.json["spec"]["model"], owners) == (200, "b2", ["m2"])


async def test_what_is_no_longer_applied_is_removed(client: Driver) -> None:
    await apply(client, applied(model="a1", parts=[{"name": "p1"}, {"name": "p2"}]))

    answer = await apply(client, applied(model="a1", parts=[{"name": "p2"}]))

    assert [part["name"] for part in answer.json["spec"]["parts"]] == ["p2"]


@pytest.mark.parametrize(
    ("document", "query", "code", "message"),
    [
        ({}, "fieldManager=m", 400, "invalid object type: /, Kind="),
        (applied(model="x"), "", 422, "PatchOptions.meta.k8s.io"),
        (
            applied(model="x", shape="round"),
            "fieldManager=m",
            400,
            "failed to create typed patch object (/lamp; gadgets.example.io/v1, Kind=Gadget):"
            " .spec.shape: field not declared in schema",
        ),
        (
            {**applied(model="x"), "metadata": {"name": "lamp", "managedFields": []}},
            "fieldManager=m",
            400,
            "metadata.managedFields must be nil",
        ),
        ([1], "fieldManager=m", 400, "error decoding patch: error unmarshaling JSON"),
    ],
)
async def test_applies_that_are_wrong(
    client: Driver, document: Any, query: str, code: int, message: str
) -> None:
    answer = await apply(client, document, query)

    assert answer.code == code
    assert answer.json["message"].startswith(message)


async def test_other_writes_are_tracked_under_the_program_that_made_them(client: Driver) -> None:
    await client.post(GADGETS, gadget(), user_agent="gadgetctl/v1.0 (linux)")

    (entry,) = (await client.get(LAMP)).json["metadata"]["managedFields"]

    assert (entry["manager"], entry["operation"]) == ("gadgetctl", "Update")
    assert entry["fieldsV1"]["f:spec"]["f:model"] == {}


# Subresources


async def test_the_status_has_a_door_of_its_own(client: Driver, lamp: Any) -> None:
    through_main = await client.patch(LAMP, {"status": {"readyReplicas": 3}})
    through_status = await client.patch(
        f"{LAMP}/status",
        {
            "status": {"readyReplicas": 3},
            "spec": {"model": "no"},
            "metadata": {"labels": {"a": "b"}},
        },
    )

    assert "readyReplicas" not in through_main.json["status"]
    assert through_status.json["status"]["readyReplicas"] == 3
    assert through_status.json["spec"]["model"] == "a1"
    assert "labels" not in through_status.json["metadata"]
    assert (await client.get(f"{LAMP}/status")).json == through_status.json


async def test_scale_shows_and_changes_the_number(client: Driver, lamp: Any) -> None:
    shown = await client.get(f"{LAMP}/scale")
    patched = await client.patch(f"{LAMP}/scale", {"spec": {"replicas": 7}})
    put = await client.put(f"{LAMP}/scale", {**patched.json, "spec": {"replicas": 8}})

    assert (shown.json["kind"], shown.json["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert shown.json["spec"] == {"replicas": 1}
    assert shown.json["status"] == {"replicas": 0}
    assert patched.json["spec"] == {"replicas": 7}
    assert put.json["spec"] == {"replicas": 8}
    assert (await client.get(LAMP)).json["spec"]["replicas"] == 8


async def test_scale_refuses_what_is_out_of_date_or_out_of_bounds(
    client: Driver, lamp: Any
) -> None:
    scale = (await client.get(f"{LAMP}/scale")).json
    await client.patch(LAMP, {"spec": {"replicas": 2}})

    late = await client.put(f"{LAMP}/scale", scale)
    negative = await client.patch(f"{LAMP}/scale", {"spec": {"replicas": -1}})

    assert late.code == 409
    assert negative.code == 422
    assert negative.json["message"] == (
        'Scale.autoscaling "lamp" is invalid: spec.replicas: Invalid value: -1: must be greater'
        " than or equal to 0"
    )


async def test_a_subresource_of_a_group_stores_what_it_makes(client: Driver) -> None:
    """Finalizers of a namespace are changed through its finalize subresource only."""
    namespace = (await client.post("/api/v1/namespaces", {"metadata": {"name": "ns"}})).json
    await client.delete("/api/v1/namespaces/ns")

    answer = await client.put(
        "/api/v1/namespaces/ns/finalize", {"metadata": {"name": "ns"}, "spec": {"finalizers": []}}
    )

    assert namespace["spec"]["finalizers"] == ["kubernetes"]
    assert answer.code == 200
    assert (await client.get("/api/v1/namespaces/ns")).code == 404


# Deletion


@pytest.mark.parametrize(
    ("query", "body", "code"),
    [
        ("", {"orphanDependents": False, "propagationPolicy": "Orphan"}, 422),
        ("", {"propagationPolicy": "Sometimes"}, 422),
        ("?propagationPolicy=Sometimes", None, 422),
        ("?propagationPolicy=Sometimes", {}, 200),
        ("?gracePeriodSeconds=x", None, 400),
        ("", {"preconditions": {"uid": "other"}}, 409),
        ("", {"kind": "Gadget"}, 400),
        ("", {"apiVersion": "v1", "kind": "DeleteOptions"}, 200),
        ("?dryRun=All", None, 200),
        ("?dryRun=Some", None, 422),
    ],
)
async def test_options_of_a_deletion(
    client: Driver, lamp: Any, query: str, body: Any, code: int
) -> None:
    """They come in the body or in the query, and a body leaves nothing to the query."""
    assert (await client.delete(LAMP + query, body)).code == code


async def test_an_object_that_stays_for_now_is_accepted(client: Driver) -> None:
    body = gadget()
    body["metadata"]["finalizers"] = ["example.io/x"]
    await client.post(GADGETS, body)

    answer = await client.delete(LAMP, {"orphanDependents": False})

    assert (answer.code, answer.json["kind"]) == (202, "Gadget")
