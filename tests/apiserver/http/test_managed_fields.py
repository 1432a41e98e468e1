"""managedFields over HTTP: forgetting all owners, and who owns a scale."""

from typing import Any

import pytest

from tests.apiserver.http.driver import Answer, Driver
from tests.apiserver.http.objects import BETA, GADGETS, JSON_PATCH, STRATEGIC, applied, gadget

LAMP = f"{GADGETS}/lamp"
MERGE = "merge-patch+json"
ANOTHER = {"metadata": {"name": "lamp"}, "spec": {"model": "b2"}}
PATH = "/metadata/managedFields"


def with_entries(entries: Any) -> Any:
    return {**ANOTHER, "metadata": {"name": "lamp", "managedFields": entries}}


async def owners(client: Driver) -> list[str]:
    entries = (await client.get(LAMP)).json["metadata"].get("managedFields", [])
    return sorted(_told(entry) for entry in entries)


def _told(entry: Any) -> str:
    subresource = f" {entry['subresource']}" if "subresource" in entry else ""
    shown = {"f:model", "f:replicas", "f:count"}
    fields = ",".join(name for name in entry["fieldsV1"].get("f:spec", ()) if name in shown)
    return f"{entry['manager']} {entry['operation']}{subresource} {entry['apiVersion']}: {fields}"


@pytest.fixture
async def lamp(client: Driver) -> None:
    await client.post(f"{GADGETS}?fieldManager=maker", gadget(replicas=2))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("", with_entries([])),
        ("", with_entries([{}])),
        (MERGE, {"metadata": {"managedFields": []}}),
        (MERGE, {"metadata": {"managedFields": [{}]}}),
        (STRATEGIC, {"metadata": {"managedFields": []}}),
        (STRATEGIC, {"metadata": {"managedFields": [{}]}}),
        (JSON_PATCH, [{"op": "replace", "path": PATH, "value": []}]),
        (JSON_PATCH, [{"op": "replace", "path": PATH, "value": [{}]}]),
        (JSON_PATCH, [{"op": "remove", "path": f"{PATH}/0"}]),
    ],
)
async def test_an_empty_list_and_one_of_an_empty_entry_forget_all_owners(
    client: Driver, lamp: None, kind: str, body: Any
) -> None:
    assert await owners(client) == ["maker Update gadgets.example.io/v1: f:model,f:replicas"]

    answer = await (client.patch(LAMP, body, kind) if kind else client.put(LAMP, body))

    assert answer.code == 200
    assert "managedFields" not in answer.json["metadata"]
    assert await owners(client) == []


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("", ANOTHER),
        ("", with_entries(None)),
        (MERGE, {"metadata": {"managedFields": None}}),
        (JSON_PATCH, [{"op": "remove", "path": PATH}]),
        (JSON_PATCH, [{"op": "replace", "path": PATH, "value": None}]),
    ],
)
async def test_leaving_the_owners_out_keeps_them(
    client: Driver, lamp: None, kind: str, body: Any
) -> None:
    answer = await (client.patch(LAMP, body, kind) if kind else client.put(LAMP, body))

    assert answer.code == 200
    assert "maker" in {told.split()[0] for told in await owners(client)}


async def test_owners_in_the_body_of_a_status_are_not_looked_at(client: Driver, lamp: None) -> None:
    await client.patch(f"{LAMP}/status", {"metadata": {"managedFields": []}})

    assert await owners(client) == ["maker Update gadgets.example.io/v1: f:model,f:replicas"]


async def test_an_object_can_be_created_with_an_empty_list_of_owners(client: Driver) -> None:
    body = {**gadget(), "metadata": {"name": "lamp", "managedFields": []}}

    answer = await client.post(f"{GADGETS}?fieldManager=maker", body)

    assert answer.code == 201
    assert await owners(client) == ["maker Update gadgets.example.io/v1: f:model,f:replicas"]


async def test_an_empty_map_has_an_owner_and_is_not_shared(client: Driver) -> None:
    """An object does not keep an empty map, so who applies one adds it: structured-merge-diff."""
    body = {**applied(model="a1"), "metadata": {"name": "lamp", "labels": {}}}

    first = await apply(client, LAMP, body, "fieldManager=m1")
    again = await apply(client, LAMP, body, "fieldManager=m1")
    second = await apply(client, LAMP, body, "fieldManager=m2")

    assert (first.code, again.json) == (201, first.json)
    assert second.json["message"] == (
        'Apply failed with 1 conflict: conflict with "m1": .metadata.labels'
    )


# The scale


def scale(replicas: Any, **metadata: Any) -> Any:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": metadata,
        "spec": {"replicas": replicas},
    }


async def apply(client: Driver, url: str, body: Any, query: str = "fieldManager=scaler") -> Answer:
    headers = {"content-type": "application/apply-patch+yaml"}
    return await client.send("PATCH", f"{url}?{query}", json=body, headers=headers)


async def test_a_scale_can_be_applied_and_its_owner_owns_the_replicas(
    client: Driver, lamp: None
) -> None:
    await client.patch(LAMP, {"metadata": {"managedFields": []}})
    before = (await client.get(LAMP)).json

    answer = await apply(client, f"{LAMP}/scale", scale(2))

    assert (answer.code, answer.json["kind"], answer.json["spec"]) == (
        200,
        "Scale",
        {"replicas": 2},
    )
    assert "managedFields" not in answer.json["metadata"]
    assert await owners(client) == [
        "before-first-apply Update scale gadgets.example.io/v1: f:replicas",
        "scaler Apply scale gadgets.example.io/v1: f:replicas",
    ]
    assert (await client.get(LAMP)).json["spec"] == before["spec"]


async def test_a_scale_that_another_owns_conflicts_until_it_is_forced(
    client: Driver, lamp: None
) -> None:
    url = f"{LAMP}/scale"

    refused = await apply(client, url, scale(7))
    forced = await apply(client, url, scale(7), "fieldManager=scaler&force=true")
    again = await apply(client, url, scale(8), "fieldManager=other")

    assert refused.code == 409
    assert refused.json["message"].startswith(
        'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1'
    )
    assert refused.json["details"]["causes"][0]["field"] == ".spec.replicas"
    assert (forced.code, forced.json["spec"]) == (200, {"replicas": 7})
    assert again.json["message"] == (
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale":'
        " .spec.replicas"
    )
    assert await owners(client) == [
        "maker Update gadgets.example.io/v1: f:model",
        "scaler Apply scale gadgets.example.io/v1: f:replicas",
    ]
    assert (await client.get(LAMP)).json["spec"]["replicas"] == 7


async def test_who_applies_the_object_conflicts_with_who_applied_its_scale(client: Driver) -> None:
    await apply(client, LAMP, applied(model="a1", replicas=2), "fieldManager=author")
    await apply(client, f"{LAMP}/scale", scale(5), "fieldManager=scaler&force=true")

    refused = await apply(client, LAMP, applied(model="a1", replicas=2), "fieldManager=author")
    yielded = await apply(client, LAMP, applied(model="a1"), "fieldManager=author")

    assert refused.json["message"] == (
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale":'
        " .spec.replicas"
    )
    assert (yielded.code, yielded.json["spec"]["replicas"]) == (200, 5)
    assert await owners(client) == [
        "author Apply gadgets.example.io/v1: f:model",
        "scaler Apply scale gadgets.example.io/v1: f:replicas",
    ]


async def test_owners_of_the_same_scale_share_it(client: Driver) -> None:
    await apply(client, LAMP, applied(model="a1", replicas=2), "fieldManager=author")

    answer = await apply(client, f"{LAMP}/scale", scale(2))
    again = await apply(client, f"{LAMP}/scale", scale(2))

    assert (answer.code, again.json["metadata"]) == (200, answer.json["metadata"])
    assert await owners(client) == [
        "author Apply gadgets.example.io/v1: f:model,f:replicas",
        "scaler Apply scale gadgets.example.io/v1: f:replicas",
    ]


async def test_the_field_is_found_in_the_version_of_the_url(client: Driver, lamp: None) -> None:
    query = "fieldManager=scaler&force=true"

    answer = await apply(client, f"{BETA}/lamp/scale", scale(3), query)

    assert answer.code == 200
    assert await owners(client) == [
        "maker Update gadgets.example.io/v1: f:model",
        "scaler Apply scale gadgets.example.io/v1beta1: f:count",
    ]


async def test_other_writes_of_a_scale_take_the_replicas(client: Driver, lamp: None) -> None:
    await client.patch(f"{LAMP}/scale?fieldManager=hand", {"spec": {"replicas": 4}})

    assert await owners(client) == [
        "hand Update scale gadgets.example.io/v1: f:replicas",
        "maker Update gadgets.example.io/v1: f:model",
    ]


@pytest.mark.parametrize(
    ("body", "query", "code", "message"),
    [
        (scale(1), "", 422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required'),
        ({"spec": {"replicas": 1}}, "fieldManager=m", 400, "invalid object type: /, Kind="),
        (applied(model="a"), "fieldManager=m", 400, "invalid object type: gadgets.example.io/v1"),
        (
            scale(1, managedFields=[]),
            "fieldManager=m",
            400,
            "metadata.managedFields must be nil",
        ),
        (
            {**scale(1), "size": 1},
            "fieldManager=m",
            400,
            "failed to create typed patch object (/; autoscaling/v1, Kind=Scale): .size: field not",
        ),
        (scale(-1), "fieldManager=m&force=true", 422, 'Scale.autoscaling "lamp" is invalid: spec.'),
        (scale(999), "fieldManager=m&force=true", 422, 'Gadget.gadgets.example.io "lamp" is inv'),
        (
            scale(1, resourceVersion="1"),
            "fieldManager=m&force=true",
            409,
            'Operation cannot be fulfilled on gadgets.gadgets.example.io "lamp": the object has',
        ),
    ],
)
async def test_a_scale_that_cannot_be_applied(
    client: Driver, lamp: None, body: Any, query: str, code: int, message: str
) -> None:
    answer = await apply(client, f"{LAMP}/scale", body, query)

    assert answer.code == code
    assert answer.json["message"].startswith(message)


async def test_a_scale_is_not_created_by_an_apply(client: Driver) -> None:
    answer = await apply(client, f"{LAMP}/scale", scale(1))

    assert answer.json["message"] == 'gadgets.gadgets.example.io "lamp" not found'


async def test_unknown_fields_of_a_scale_are_told(client: Driver, lamp: None) -> None:
    body = {**scale(3, name="lamp", namespace="default"), "size": 1}

    warned = await client.put(f"{LAMP}/scale", body)
    refused = await client.put(f"{LAMP}/scale?fieldValidation=Strict", body)
    patched = await client.patch(f"{LAMP}/scale", {"size": 1})

    told = ['299 - "unknown field \\"size\\""']
    assert (warned.code, warned.all("warning")) == (200, told)
    assert (refused.code, refused.json["message"]) == (
        400,
        'Scale in version "v1" cannot be handled as a Scale: strict decoding error:'
        ' unknown field "size"',
    )
    assert (patched.code, patched.all("warning")) == (200, told)


async def test_an_applied_value_that_no_other_version_can_have_is_refused(client: Driver) -> None:
    """Owners of another version are compared in that version, before values are validated."""
    beta = applied(model="a1") | {"apiVersion": "gadgets.example.io/v1beta1"}
    assert (await apply(client, f"{BETA}/lamp", beta, "fieldManager=m1")).code == 201
    body = applied(model="a1", timeoutSeconds=-(2**63))

    refused = await apply(client, LAMP, body, "fieldManager=m2")

    assert refused.code == 400
    assert "no conversion to version gadgets.example.io/v1beta1" in refused.json["message"]
