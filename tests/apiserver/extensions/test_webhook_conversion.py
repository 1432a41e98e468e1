"""Custom resources whose versions a webhook converts, over HTTP with a real webhook."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
import pytest

from apimachinery.errors import InternalError
from apimachinery.schema import GroupVersionResource
from apiserver.app import App
from apiserver.served_versions import ServedVersions
from apiserver.workload import Workload
from tests.apiserver.extensions.conversion_hook import (
    V1,
    V2,
    Document,
    conversion,
    convert,
    reviews,
    versions,
    widget,
)
from tests.apiserver.extensions.definitions import DEFINITIONS, SCALE, Defined
from tests.apiserver.http.driver import Answer, Driver
from tests.webhook_server import Received, WebhookServer, webhook_server

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
UNREADABLE = (
    "Internal error occurred: StorageError: corrupt object, Code: 7, Key:"
    " /example.io/widgets/default/lamp, ResourceVersion: 0, AdditionalErrorMsg: object not"
    " decodable revision={}: "
)
RENAMED = "Kind=Widget returned invalid object: must have the same name: lamp != z"


@pytest.fixture
async def hook() -> AsyncIterator[WebhookServer]:
    async with webhook_server(convert) as server:
        yield server


@pytest.fixture
async def served(hook: WebhookServer, defined: Defined) -> WebhookServer:
    await defined(*versions(subresources={"status": {}}), conversion=conversion(hook))
    return hook


def rename(received: Received) -> bytes:
    """Answer with another object than the one that was sent."""

    def edit(answer: Document) -> None:
        for obj in answer["response"]["convertedObjects"]:
            obj["metadata"] = {**obj["metadata"], "name": "z"}

    return convert(received, edit)


def relabel(**labels: str) -> Callable[[Received], bytes]:
    """Answer with these labels, and other metadata that must be ignored."""

    def edit(answer: Document) -> None:
        for obj in answer["response"]["convertedObjects"]:
            obj["metadata"] |= {"labels": labels, "finalizers": ["x/y"], "generation": 99}

    return lambda received: convert(received, edit)


def status(answer: Answer) -> tuple[int, str, str]:
    return answer.code, answer.json.get("reason", ""), answer.json["message"]


async def create(client: Driver, name: str = "lamp", **more: Any) -> Document:
    answer = await client.post(V1, widget(name, **more))
    assert answer.code == 201, answer.json
    created: Document = answer.json
    return created


# Reads


async def test_an_object_is_read_in_every_version(served: WebhookServer, client: Driver) -> None:
    created = await create(client)

    beta = (await client.get(f"{V2}/lamp")).json

    assert beta["apiVersion"] == "example.io/v2"
    assert beta["spec"] == {"colour": "red"}
    assert beta["metadata"] == created["metadata"]
    assert (await client.get(f"{V1}/lamp")).json == created
    (request,) = reviews(served)
    assert request["desiredAPIVersion"] == "example.io/v2"
    (sent,) = request["objects"]
    assert sent["spec"] == {"color": "red"}
    assert "resourceVersion" not in sent["metadata"]


async def test_a_revision_is_converted_once_for_all_forms(
    served: WebhookServer, client: Driver
) -> None:
    await create(client)

    answers = [await client.get(f"{V2}/lamp") for _ in range(2)]
    table = await client.get(f"{V2}/lamp", accept=TABLE)
    partial = await client.get(f"{V2}/lamp", accept=PARTIAL)
    listed = await client.get(V2)
    tables = await client.get(f"{V2}?includeObject=Object", accept=TABLE)

    assert answers[0].json == answers[1].json == listed.json["items"][0]
    assert table.json["rows"][0]["cells"][0] == "lamp"
    assert partial.json["metadata"] == answers[0].json["metadata"]
    assert tables.json["rows"][0]["object"]["spec"] == {"colour": "red"}
    assert len(served.received) == 1


async def test_requests_at_the_same_time_share_a_call(
    served: WebhookServer, client: Driver
) -> None:
    await create(client)

    answers = await asyncio.gather(*(client.get(f"{V2}/lamp") for _ in range(5)))

    assert [answer.code for answer in answers] == [200] * 5
    assert len(served.received) == 1


async def test_a_list_is_converted_by_one_call(
    hook: WebhookServer, client: Driver, defined: Defined
) -> None:
    await defined(*versions())
    for name in ("door", "lamp", "wall"):
        await create(client, name)
    url = f"{DEFINITIONS}/widgets.example.io"
    await client.patch(url, {"spec": {"conversion": conversion(hook)}})
    assert (await client.get("/apis")).code == 200

    listed = (await client.get(V2)).json

    assert [item["spec"] for item in listed["items"]] == [{"colour": "red"}] * 3
    assert {item["apiVersion"] for item in listed["items"]} == {"example.io/v2"}
    assert [len(request["objects"]) for request in reviews(hook)] == [3]


async def test_watchers_receive_converted_objects(served: WebhookServer, client: Driver) -> None:
    await create(client)
    await create(client, "door")

    async with client.stream(f"{V2}?watch=1") as one, client.stream(f"{V2}?watch=1") as other:
        for stream in (one, other):
            first = await stream.events(2)
            assert [each["object"]["spec"] for each in first] == [{"colour": "red"}] * 2
        assert sum(len(request["objects"]) for request in reviews(served)) == 2
        await client.patch(f"{V1}/lamp", {"spec": {"color": "blue"}})
        for stream in (one, other):
            assert (await stream.event())["object"]["spec"] == {"colour": "blue"}
        await client.delete(f"{V1}/lamp")
        for stream in (one, other):
            event = await stream.event()
            assert (event["type"], event["object"]["spec"]) == ("DELETED", {"colour": "blue"})


async def test_only_labels_and_annotations_may_change(
    served: WebhookServer, client: Driver
) -> None:
    created = await create(client, labels={"a": "b"})
    served.answer = relabel(new="label")

    metadata = (await client.get(f"{V2}/lamp")).json["metadata"]

    assert metadata == {**created["metadata"], "labels": {"new": "label"}}


async def test_what_the_schema_of_a_version_does_not_know_is_dropped(
    served: WebhookServer, client: Driver
) -> None:
    def add(answer: Document) -> None:
        answer["response"]["convertedObjects"][0]["spec"]["unknown"] = 1

    await create(client)
    served.answer = lambda received: convert(received, add)

    assert (await client.get(f"{V2}/lamp")).json["spec"] == {"colour": "red"}


# Selectors


async def test_labels_are_selected_as_they_are_in_the_version_of_the_request(
    served: WebhookServer, client: Driver
) -> None:
    await create(client, labels={"old": "label"})
    served.answer = relabel(new="label")

    def names(answer: Answer) -> list[str]:
        return [item["metadata"]["name"] for item in answer.json["items"]]

    assert names(await client.get(f"{V1}?labelSelector=old=label")) == ["lamp"]
    assert names(await client.get(f"{V1}?labelSelector=new=label")) == []
    assert names(await client.get(f"{V2}?labelSelector=new=label")) == ["lamp"]
    assert names(await client.get(f"{V2}?labelSelector=old=label")) == []


async def test_fields_are_selected_by_the_paths_of_a_version(
    hook: WebhookServer, client: Driver, defined: Defined
) -> None:
    one, two = versions()
    one["selectableFields"] = [{"jsonPath": ".spec.color"}]
    two["selectableFields"] = [{"jsonPath": ".spec.colour"}]
    await defined(one, two, conversion=conversion(hook))
    for name, color in (("door", "red"), ("lamp", "blue"), ("roof", "red"), ("wall", "red")):
        await client.post(V1, widget(name, color))
    query = "fieldSelector=spec.colour=red"

    page = (await client.get(f"{V2}?{query}&limit=2")).json
    rest = (await client.get(f"{V2}?{query}&continue={page['metadata']['continue']}")).json

    names = [item["metadata"]["name"] for item in (*page["items"], *rest["items"])]
    assert names == ["door", "roof", "wall"]
    async with client.stream(f"{V2}?watch=1&{query}") as stream:
        assert len(await stream.events(3)) == 3
        await client.patch(f"{V1}/lamp", {"spec": {"color": "red"}})
        assert (await stream.event())["type"] == "ADDED"
        await client.patch(f"{V1}/lamp", {"spec": {"replicas": 1}})
        assert (await stream.event())["type"] == "MODIFIED"
        await client.patch(f"{V1}/lamp", {"spec": {"color": "green"}})
        gone = await stream.event()
        assert (gone["type"], gone["object"]["spec"]["colour"]) == ("DELETED", "red")
        await client.patch(f"{V1}/lamp", {"spec": {"color": "blue"}})
        await client.delete(f"{V1}/door")
        last = await stream.event()
        assert (last["type"], last["object"]["metadata"]["name"]) == ("DELETED", "door")


# Writes


async def test_objects_are_stored_in_the_storage_version(
    served: WebhookServer, client: Driver
) -> None:
    created = await client.post(V2, widget(api="v2"))

    assert (created.code, created.json["spec"]) == (201, {"colour": "red"})
    assert [request["desiredAPIVersion"] for request in reviews(served)] == [
        "example.io/v1",
        "example.io/v2",
    ]
    served.received.clear()
    assert (await client.get(f"{V1}/lamp")).json["spec"] == {"color": "red"}
    assert not served.received


async def test_every_write_is_possible_in_every_version(
    served: WebhookServer, client: Driver
) -> None:
    await create(client)

    patched = await client.patch(f"{V2}/lamp", {"spec": {"colour": "blue"}})
    replaced = await client.put(
        f"{V2}/lamp", {**patched.json, "spec": {"colour": "green", "replicas": 2}}
    )
    reported = await client.patch(f"{V2}/lamp/status", {"status": {"replicas": 2}})

    assert (patched.code, replaced.code, reported.code) == (200, 200, 200)
    assert reported.json["spec"] == {"colour": "green", "replicas": 2}
    stored = (await client.get(f"{V1}/lamp")).json
    assert (stored["spec"], stored["status"]) == (
        {"color": "green", "replicas": 2},
        {"replicas": 2},
    )
    assert stored["metadata"]["generation"] == 3
    removed = await client.delete(f"{V2}/lamp")
    assert (removed.code, removed.json["status"]) == (200, "Success")


async def test_a_write_that_changes_nothing_stores_nothing(
    served: WebhookServer, client: Driver
) -> None:
    created = await create(client)

    patched = await client.patch(f"{V2}/lamp", {"spec": {"colour": "red"}})

    assert patched.json["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]


async def test_a_dry_run_converts_and_stores_nothing(served: WebhookServer, client: Driver) -> None:
    answer = await client.post(f"{V2}?dryRun=All", widget(api="v2"))

    assert (answer.code, answer.json["spec"]) == (201, {"colour": "red"})
    assert (await client.get(f"{V1}/lamp")).code == 404


async def test_a_collection_is_deleted_in_every_version(
    served: WebhookServer, client: Driver
) -> None:
    await create(client)
    await create(client, "door", color="blue")

    deleted = await client.delete(V2)

    assert [item["spec"] for item in deleted.json["items"]] == [
        {"colour": "blue"},
        {"colour": "red"},
    ]
    assert (await client.get(V1)).json["items"] == []


async def test_the_scale_is_the_same_in_every_version(
    hook: WebhookServer, client: Driver, defined: Defined
) -> None:
    await defined(*versions(subresources={"scale": SCALE}), conversion=conversion(hook))
    await client.post(V1, {**widget(), "spec": {"color": "red", "replicas": 1}})

    scaled = await client.patch(f"{V2}/lamp/scale", {"spec": {"replicas": 3}})
    applied = await client.patch(
        f"{V2}/lamp/scale?fieldManager=me&force=true",
        {
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {"name": "lamp"},
            "spec": {"replicas": 4},
        },
        "apply-patch+yaml",
    )

    assert (scaled.json["spec"], applied.json["spec"]) == ({"replicas": 3}, {"replicas": 4})
    assert (await client.get(f"{V1}/lamp")).json["spec"] == {"color": "red", "replicas": 4}
    assert (await client.get(f"{V2}/lamp/scale")).json["spec"] == {"replicas": 4}


# Owners of fields


async def apply(client: Driver, url: str, body: Document, manager: str, **query: str) -> Answer:
    options = "&".join(f"{name}={value}" for name, value in query.items())
    return await client.patch(
        f"{url}/{body['metadata']['name']}?fieldManager={manager}&{options}",
        body,
        "apply-patch+yaml",
    )


def owners(obj: Document) -> dict[str, tuple[str, list[str]]]:
    """The fields in the spec that each manager owns, with the version they are named in."""
    return {
        entry["manager"]: (
            entry["apiVersion"].rpartition("/")[2],
            sorted(name for name in entry["fieldsV1"].get("f:spec", {}) if name != "."),
        )
        for entry in obj["metadata"].get("managedFields", ())
    }


async def test_managers_of_several_versions_conflict(served: WebhookServer, client: Driver) -> None:
    await apply(client, V1, widget(), "one")

    refused = await apply(client, V2, widget(color="blue", api="v2"), "two")
    forced = await apply(client, V2, widget(color="blue", api="v2"), "two", force="true")

    assert refused.code == 409
    assert [cause["field"] for cause in refused.json["details"]["causes"]] == [".spec.color"]
    assert forced.json["spec"] == {"colour": "blue"}
    assert owners(forced.json) == {"two": ("v2", ["f:colour"])}


async def test_an_update_in_one_version_takes_over_fields_of_another(
    served: WebhookServer, client: Driver
) -> None:
    await apply(client, V1, {**widget(), "spec": {"color": "red", "replicas": 1}}, "one")

    updated = await client.patch(f"{V2}/lamp?fieldManager=two", {"spec": {"colour": "blue"}})

    assert owners(updated.json) == {
        "one": ("v1", ["f:replicas"]),
        "two": ("v2", ["f:colour"]),
    }


async def test_fields_that_are_not_applied_any_more_are_removed_in_every_version(
    served: WebhookServer, client: Driver
) -> None:
    await apply(client, V1, {**widget(), "spec": {"color": "red", "replicas": 1}}, "one")

    applied = await apply(client, V2, widget(api="v2"), "one")

    assert applied.json["spec"] == {"colour": "red"}
    assert owners(applied.json) == {"one": ("v2", ["f:colour"])}


async def test_owners_stay_as_they_are_while_the_webhook_fails(
    served: WebhookServer, client: Driver
) -> None:
    """A write in the storage version passes, because nothing but the owners needs conversion."""
    applied = await apply(client, V2, widget(api="v2"), "one")
    served.answer = rename

    updated = await client.patch(f"{V1}/lamp?fieldManager=two", {"spec": {"color": "blue"}})
    refused = await apply(client, V1, widget(color="green"), "three", force="true")

    assert updated.code == 200
    assert owners(updated.json) == owners(applied.json)
    message = f"conversion webhook for example.io/v1, {RENAMED}"
    assert status(refused) == (500, "", message)


# Failures


async def test_a_failing_webhook_fails_what_needs_conversion_only(
    served: WebhookServer, client: Driver
) -> None:
    created = await create(client)
    served.answer = rename
    read = UNREADABLE.format(created["metadata"]["resourceVersion"])
    reason = f"conversion webhook for example.io/v1, {RENAMED}"

    for answer in (await client.get(f"{V2}/lamp"), await client.delete(f"{V2}/lamp")):
        assert status(answer) == (500, "InternalError", read + reason)
        assert answer.json["details"]["causes"] == [
            {"message": read.removeprefix("Internal error occurred: ") + reason}
        ]
    corrupt = read.removeprefix("Internal error occurred: ").replace(
        "Key: /example.io", "Key: /registry/example.io"
    )
    failed = "failed to read one or more widgets.example.io from the storage: "
    for answer in (await client.get(V2), await client.delete(V2)):
        assert status(answer) == (500, "StorageReadError", failed + corrupt + reason)
    assert status(await client.post(V2, widget("lamp2", api="v2")))[2].endswith(
        "must have the same name: lamp2 != z"
    )
    assert (await client.get(f"{V1}/lamp2")).code == 404
    async with client.stream(f"{V2}?watch=1") as stream:
        event = await stream.event()
        assert (event["type"], event["object"]["reason"]) == ("ERROR", "StorageReadError")
    assert (await client.get(f"{V1}/lamp")).json == created
    assert (await client.patch(f"{V1}/lamp", {"spec": {"color": "blue"}})).code == 200
    served.answer = convert
    assert (await client.get(f"{V2}/lamp")).json["spec"] == {"colour": "blue"}


async def test_a_webhook_that_cannot_be_reached_is_named(client: Driver, defined: Defined) -> None:
    async with webhook_server(convert) as hook:
        unreachable = conversion(hook)
    await defined(*versions(), conversion=unreachable)
    await create(client)

    code, _, message = status(await client.get(f"{V2}/lamp"))

    assert code == 500
    url = unreachable["webhook"]["clientConfig"]["url"]
    assert (
        f'conversion webhook for example.io/v1, Kind=Widget failed: Post "{url}": dial' in message
    )
    assert message.endswith("connect: connection refused")


async def test_the_first_known_version_of_reviews_is_sent(
    hook: WebhookServer, client: Driver, defined: Defined
) -> None:
    await defined(*versions(), conversion=conversion(hook, "v9", "v1beta1", "v1"))
    await create(client)

    assert (await client.get(f"{V2}/lamp")).code == 200
    assert hook.received[0].review["apiVersion"] == "apiextensions.k8s.io/v1beta1"


async def test_calls_are_counted_under_the_names_of_kubernetes(
    served: WebhookServer, client: Driver
) -> None:
    await create(client)
    await client.get(f"{V2}/lamp")
    await create(client, "door")
    served.answer = rename
    await client.get(f"{V2}/door")

    metrics = (await client.get("/metrics")).body.decode()

    for line in (
        'apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="widgets.example.io",'
        'from_version="v1",succeeded="true",to_version="v2"} 1.0',
        'apiserver_conversion_webhook_request_total{failure_type="",result="success"} 1.0',
        "apiserver_conversion_webhook_request_total{failure_type="
        '"conversion_webhook_invalid_converted_object_failure",result="failure"} 1.0',
        'apiserver_conversion_webhook_duration_seconds_count{failure_type="",result="success"} 1.0',
    ):
        assert line in metrics


async def test_large_objects_are_converted(served: WebhookServer, client: Driver) -> None:
    long = "x" * 100_000
    await create(client, color=long)

    assert (await client.get(f"{V2}/lamp")).json["spec"] == {"colour": long}
    assert orjson.loads(served.received[0].body)["request"]["objects"][0]["spec"]["color"] == long


async def test_definitions_can_begin_and_cease_to_have_a_webhook(
    hook: WebhookServer, client: Driver, defined: Defined
) -> None:
    await defined(*versions())
    await create(client)
    assert (await client.get(f"{V2}/lamp")).json["spec"] == {}

    url = f"{DEFINITIONS}/widgets.example.io"
    await client.patch(url, {"spec": {"conversion": conversion(hook)}})
    assert (await client.get("/apis")).code == 200
    assert (await client.get(f"{V2}/lamp")).json["spec"] == {"colour": "red"}

    changed = await client.patch(url, {"spec": {"conversion": None}})
    assert changed.json["spec"]["conversion"] == {"strategy": "None"}
    assert (await client.get("/apis")).code == 200
    assert (await client.get(f"{V2}/lamp")).json["spec"] == {}


async def test_a_definition_can_be_deleted_while_its_webhook_fails(
    served: WebhookServer, client: Driver, defined: Defined
) -> None:
    await create(client)
    served.answer = rename

    deleted = await client.delete(f"{DEFINITIONS}/widgets.example.io")

    assert deleted.code == 200
    since = deleted.json["metadata"]["resourceVersion"]
    await defined.until_gone("widgets.example.io", since=since)


# Admission


async def test_admission_sees_and_changes_an_object_in_any_version(
    served: WebhookServer, client: Driver, app: App
) -> None:
    await create(client)
    versions = ServedVersions(lambda: app.groups)
    one, two = (GroupVersionResource("example.io", version, "widgets") for version in ("v1", "v2"))
    endpoints = app.groups.version("example.io", "v1") or {}
    obj = await endpoints["widgets"].stored.read("lamp", namespace="default")

    shown = await versions.convert(obj, two, Workload())
    document = orjson.loads(versions.encode(shown, two))
    document["spec"]["colour"] = "blue"
    changed = versions.decode(orjson.dumps(document), two, current=obj)
    back = await versions.convert(changed, one, Workload())

    assert document["apiVersion"] == "example.io/v2"
    assert type(back) is type(obj)
    assert orjson.loads(versions.encode(back, one))["spec"] == {"color": "blue"}
    assert await versions.convert(obj, one, Workload()) is obj
    served.answer = rename
    with pytest.raises(InternalError, match="Internal error occurred: conversion webhook for"):
        await versions.convert(obj, two, Workload())
