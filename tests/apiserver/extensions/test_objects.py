"""Custom resources over HTTP: the same as any other, and where they differ."""

from typing import Any

import pytest

from apimachinery.meta.types import PartialObjectMetadata, PartialObjectMetadataList
from apiserver.app import App
from apiserver.http.response import protobuf_codec
from tests.apiserver.extensions.definitions import (
    DEFINITIONS,
    SCALE,
    WIDGETS,
    Defined,
    having,
    schema,
    version,
    widget,
)
from tests.apiserver.http.driver import Answer, Driver

LAMP = f"{WIDGETS}/lamp"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata{};v=v1;g=meta.k8s.io"


def causes(answer: Answer) -> list[str]:
    assert answer.code == 422, answer.json
    return [f"{c['field']}: {c['message']}" for c in answer.json["details"]["causes"]]


# Documents


async def test_an_object_can_be_created_as_soon_as_its_kind_is_established(
    client: Driver, defined: Defined
) -> None:
    await defined()

    answer = await client.post(WIDGETS, widget(spec={"color": "red"}))

    assert answer.code == 201
    assert answer.json["spec"] == {"color": "red"}
    assert answer.json["metadata"]["generation"] == 1
    assert (await client.get(LAMP)).json == answer.json


async def test_items_of_a_list_say_what_they_are(client: Driver, defined: Defined) -> None:
    await defined(names={"listKind": "Widgetry"})
    made = (await client.post(WIDGETS, widget())).json

    listed = (await client.get("/apis/example.io/v1/widgets")).json

    assert (listed["kind"], listed["apiVersion"]) == ("Widgetry", "example.io/v1")
    assert listed["items"] == [made]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            {"metadata": {"name": "x"}},
            400,
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing"
            ' in \'{"metadata":{"name":"x"}}\' ({"metadata":{"name":"x"}})',
        ),
        (
            {**widget(), "apiVersion": "v1"},
            400,
            "the API version in the data (v1) does not match the expected API version"
            " (example.io/v1)",
        ),
        (
            {**widget(), "kind": "Wheel"},
            422,
            'Wheel.example.io "lamp" is invalid: kind: Invalid value: "Wheel": must be Widget',
        ),
        (
            {**widget(), "metadata": {"name": "x", "labels": {"a": 1}}},
            400,
            'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number'
            " into Go struct field ObjectMeta.labels of type string",
        ),
    ],
)
async def test_a_body_must_say_what_it_is(
    client: Driver, defined: Defined, body: Any, code: int, message: str
) -> None:
    await defined()

    answer = await client.post(WIDGETS, body)

    assert (answer.code, answer.json["message"]) == (code, message)


async def test_yaml_is_read_and_protobuf_is_not(client: Driver, defined: Defined) -> None:
    await defined()
    body = b"apiVersion: example.io/v1\nkind: Widget\nmetadata: {name: lamp}\nspec: {replicas: 2}\n"
    protobuf = "application/vnd.kubernetes.protobuf"

    made = await client.send(
        "POST", WIDGETS, body=body, headers={"content-type": "application/yaml"}
    )
    sent = await client.send("POST", WIDGETS, body=b"k8s\0", headers={"content-type": protobuf})
    asked = await client.get(LAMP, accept=protobuf)

    assert made.json["spec"] == {"replicas": 2}
    assert (sent.code, asked.code) == (415, 406)


async def test_a_document_that_nests_too_deep_is_refused(client: Driver, defined: Defined) -> None:
    await defined(having({"type": "object", "x-kubernetes-preserve-unknown-fields": True}))
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    body = (
        b'{"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"x"},"spec":%b}' % deep
    )

    answer = await client.send("POST", WIDGETS, body=body)

    assert answer.code == 400


# Schemas


async def test_unknown_fields_are_dropped_and_told(client: Driver, defined: Defined) -> None:
    await defined()
    body = widget(spec={"color": "red", "odd": 1}, other={}, metadata={"strange": 1})

    strict = await client.post(f"{WIDGETS}?fieldValidation=Strict", body)
    warned = await client.post(WIDGETS, body)

    fields = [f'unknown field "{path}"' for path in ("metadata.strange", "other", "spec.odd")]
    assert strict.code == 400
    assert strict.json["message"].endswith("strict decoding error: " + ", ".join(fields))
    assert [text.replace("\\", "") for text in warned.all("warning")] == [
        f'299 - "{field}"' for field in fields
    ]
    assert warned.json["spec"] == {"color": "red"}
    assert "other" not in warned.json


async def test_values_are_held_to_the_schema(client: Driver, defined: Defined) -> None:
    bounded = schema(
        n={"type": "integer", "minimum": 1},
        mode={"type": "string", "enum": ["fast", "slow"]},
        tags={
            "type": "array",
            "items": {"type": "string"},
            "maxItems": 2,
            "x-kubernetes-list-type": "set",
        },
    )
    bounded["required"] = ["spec"]
    await defined(having(bounded))

    wrong = await client.post(
        WIDGETS, widget(spec={"n": 0, "mode": "x", "color": 1, "tags": ["a", "a"]})
    )
    empty = await client.post(WIDGETS, widget())

    assert causes(wrong) == [
        'spec.color: Invalid value: "integer": spec.color in body must be of type string:'
        ' "integer"',
        'spec.mode: Unsupported value: "x": supported values: "fast", "slow"',
        "spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1",
        'spec.tags[1]: Duplicate value: "a"',
    ]
    assert causes(empty) == ["spec: Required value"]


async def test_defaults_are_filled_in_where_an_object_is_sent_and_where_it_is_read(
    client: Driver, defined: Defined
) -> None:
    await defined()
    await client.post(WIDGETS, widget("old", spec={}))

    await defined.change(
        "widgets.example.io", having(schema(size={"type": "integer", "default": 3}))
    )
    new = (await client.post(WIDGETS, widget("new", spec={}))).json
    old = (await client.get(f"{WIDGETS}/old")).json
    listed = (await client.get(WIDGETS)).json["items"]

    assert new["spec"] == old["spec"] == {"size": 3}
    assert listed == [new, old]


async def test_a_stricter_schema_does_not_hold_up_changes_of_other_fields(
    client: Driver, defined: Defined
) -> None:
    await defined()
    await client.post(WIDGETS, widget(spec={"color": "pink", "replicas": 1}))
    await defined.change(
        "widgets.example.io", having(schema(color={"type": "string", "enum": ["red"]}))
    )

    elsewhere = await client.patch(LAMP, {"spec": {"replicas": 2}})
    there = await client.patch(LAMP, {"spec": {"color": "blue"}})

    assert elsewhere.code == 200
    assert causes(there) == ['spec.color: Unsupported value: "blue": supported values: "red"']


async def test_a_stricter_definition_ratchets_everything_but_transitions(
    client: Driver, defined: Defined
) -> None:
    await defined(having(schema(n={"type": "integer"}), subresources={"status": {}}))
    made = await client.post(WIDGETS, widget(spec={"n": 5, "replicas": -1}))
    strict = schema(n={"type": "integer"}, name={"type": "string"})
    strict["properties"]["spec"]["required"] = ["name"]
    strict["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "self.n < 3"}]
    strict["properties"]["spec"]["properties"]["color"]["x-kubernetes-validations"] = [
        {"rule": "self != oldSelf"}
    ]
    subresources = {"status": {}, "scale": SCALE}
    await defined.change("widgets.example.io", having(strict, subresources=subresources))

    labelled = await client.patch(LAMP, {"metadata": {"labels": {"a": "b"}}})
    status = await client.patch(f"{LAMP}/status", {"status": {"replicas": 1}})
    changed = await client.patch(LAMP, {"spec": {"n": 4, "name": "x"}})
    scaled = await client.patch(LAMP, {"spec": {"replicas": -2, "n": 1, "name": "x"}})
    valid = await client.patch(LAMP, {"spec": {"n": 1, "name": "x", "color": "red"}})
    transition = await client.patch(LAMP, {"metadata": {"labels": {"a": "c"}}})

    assert [made.code, labelled.code, status.code, valid.code] == [201, 200, 200, 200]
    assert causes(changed) == ["spec: Invalid value: failed rule: self.n < 3"]
    assert causes(scaled) == ["spec.replicas: Invalid value: -2: should be a non-negative integer"]
    assert causes(transition) == ["spec.color: Invalid value: failed rule: self != oldSelf"]


async def test_rules_in_cel_are_asked(client: Driver, defined: Defined) -> None:
    ruled = schema(
        n={
            "type": "integer",
            "x-kubernetes-validations": [{"rule": "self < 10", "message": "n too big"}],
        },
        fixed={"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
    )
    await defined(having(ruled))

    big = await client.post(WIDGETS, widget(spec={"n": 11}))
    wrong = await client.post(WIDGETS, widget(spec={"n": "x"}))
    made = await client.post(WIDGETS, widget(spec={"n": 9, "fixed": "a"}))
    changed = await client.patch(LAMP, {"spec": {"fixed": "b"}})

    assert causes(big) == ["spec.n: Invalid value: n too big"]
    assert causes(wrong)[1].startswith("<nil>: Invalid value: null: some validation rules were")
    assert made.code == 201
    assert causes(changed) == ["spec.fixed: Invalid value: failed rule: self == oldSelf"]


# Writes


async def test_a_put_must_say_what_it_replaces(client: Driver, defined: Defined) -> None:
    await defined()
    made = (await client.post(WIDGETS, widget(spec={"replicas": 1}))).json

    blind = await client.put(LAMP, widget(spec={"replicas": 2}))
    seen = await client.put(LAMP, {**made, "spec": {"replicas": 2}})

    assert causes(blind) == [
        "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    ]
    assert seen.json["metadata"]["generation"] == 2


async def test_there_is_no_strategic_merge(client: Driver, defined: Defined) -> None:
    await defined()
    await client.post(WIDGETS, widget())

    answer = await client.patch(LAMP, {}, "strategic-merge-patch+json")

    assert answer.code == 415
    assert answer.json["message"].endswith(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


async def test_server_side_apply_merges_by_the_keys_of_the_schema(
    client: Driver, defined: Defined
) -> None:
    ports = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
        },
    }
    await defined(having(schema(ports=ports)))

    async def apply(manager: str, *names: str) -> Answer:
        body = widget(spec={"ports": [{"name": name, "port": 1} for name in names]})
        return await client.patch(f"{LAMP}?fieldManager={manager}", body, "apply-patch+yaml")

    await apply("one", "a", "b")
    both = await apply("two", "c")
    less = await apply("one", "a")

    assert [port["name"] for port in both.json["spec"]["ports"]] == ["a", "b", "c"]
    assert [port["name"] for port in less.json["spec"]["ports"]] == ["a", "c"]
    assert {entry["manager"] for entry in less.json["metadata"]["managedFields"]} == {"one", "two"}


async def test_status_has_a_door_of_its_own(client: Driver, defined: Defined) -> None:
    await defined(version(subresources={"status": {}}))
    await client.post(WIDGETS, widget(spec={"replicas": 1}, status={"replicas": 9}))

    ordinary = await client.patch(LAMP, {"status": {"replicas": 8}})
    through = await client.patch(
        f"{LAMP}/status",
        {"status": {"replicas": 7}, "spec": {"replicas": 5}, "metadata": {"labels": {"a": "b"}}},
    )

    assert "status" not in ordinary.json
    assert through.json["status"] == {"replicas": 7}
    assert through.json["spec"] == {"replicas": 1}
    assert "labels" not in through.json["metadata"]
    assert through.json["metadata"]["generation"] == 1


async def test_scale(client: Driver, defined: Defined) -> None:
    await defined(version(subresources={"status": {}, "scale": SCALE}))
    await client.post(WIDGETS, widget(spec={"replicas": 1}))
    await client.post(WIDGETS, widget("none"))

    scale = (await client.get(f"{LAMP}/scale")).json
    scaled = await client.put(f"{LAMP}/scale", {**scale, "spec": {"replicas": 4}})
    patched = await client.patch(f"{WIDGETS}/none/scale", {"spec": {"replicas": 2}})
    negative = await client.patch(f"{LAMP}/scale", {"spec": {"replicas": -1}})
    await client.post(WIDGETS, widget("bare"))
    missing = await client.get(f"{WIDGETS}/bare/scale")

    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 1},
        {"replicas": 0},
    )
    assert scaled.json["spec"] == {"replicas": 4}
    assert (await client.get(f"{WIDGETS}/none")).json["spec"] == {"replicas": 2}
    assert patched.code == 200
    assert negative.code == 422
    assert missing.code == 500
    assert missing.json["message"] == (
        'Internal error occurred: the spec replicas field ".spec.replicas" does not exist'
    )


async def test_a_scale_can_be_applied(client: Driver, defined: Defined) -> None:
    await defined(version(subresources={"status": {}, "scale": SCALE}))
    await client.post(WIDGETS, widget(spec={"replicas": 1}))
    wanted = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 3}}
    url = f"{LAMP}/scale?fieldManager=scaler"

    refused = await client.patch(url, wanted, "apply-patch+yaml")
    forced = await client.patch(f"{url}&force=true", wanted, "apply-patch+yaml")

    assert (refused.code, refused.json["details"]["causes"][0]["field"]) == (409, ".spec.replicas")
    assert (forced.code, forced.json["spec"]) == (200, {"replicas": 3})
    found = (await client.get(LAMP)).json
    assert found["spec"]["replicas"] == 3
    owners = {
        entry["manager"]: entry["fieldsV1"]["f:spec"]
        for entry in found["metadata"]["managedFields"]
    }
    assert owners["scaler"] == {"f:replicas": {}}
    assert "f:replicas" not in owners["unknown"]


async def test_namespaces_take_custom_resources_with_them(client: Driver, defined: Defined) -> None:
    await defined()
    await client.post("/api/v1/namespaces", {"metadata": {"name": "short"}})
    widgets = WIDGETS.replace("default", "short")
    await client.post(widgets, widget())

    async with client.stream(f"{widgets}?watch=1") as stream:
        await stream.event()
        await client.delete("/api/v1/namespaces/short")
        gone = await stream.event()

    assert (gone["type"], gone["object"]["metadata"]["name"]) == ("DELETED", "lamp")


# Reads


async def test_tables_have_the_columns_of_the_definition(client: Driver, defined: Defined) -> None:
    columns = [
        {"name": "Color", "type": "string", "jsonPath": ".spec.color", "description": "Its color."},
        {"name": "Count", "type": "integer", "jsonPath": ".spec.replicas", "priority": 1},
        {"name": "Owner", "type": "string", "jsonPath": r".metadata.labels.example\.io/owner"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    await defined(version(additionalPrinterColumns=columns))
    labels = {"example.io/owner": "me"}
    await client.post(WIDGETS, widget(spec={"color": "red"}, metadata={"labels": labels}))

    table = (await client.get(WIDGETS, accept=TABLE)).json

    assert [
        (column["name"], column["type"], column["priority"])
        for column in table["columnDefinitions"]
    ] == [
        ("Name", "string", 0),
        ("Color", "string", 0),
        ("Count", "integer", 1),
        ("Owner", "string", 0),
        ("Age", "date", 0),
    ]
    assert table["columnDefinitions"][1]["description"] == "Its color."
    (row,) = table["rows"]
    assert row["cells"][:4] == ["lamp", "red", None, "me"]
    assert row["cells"][4].endswith("s")
    assert row["object"]["kind"] == "PartialObjectMetadata"


async def test_without_columns_there_are_name_and_age(client: Driver, defined: Defined) -> None:
    await defined()

    table = (await client.get(WIDGETS, accept=TABLE)).json

    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Age"]


async def test_fields_can_be_selected_by_if_the_definition_says_so(
    client: Driver, defined: Defined
) -> None:
    await defined(version(selectableFields=[{"jsonPath": ".spec.color"}]))
    for color in ("red", "blue"):
        await client.post(WIDGETS, widget(color, spec={"color": color}))

    found = await client.get(f"{WIDGETS}?fieldSelector=spec.color=red")
    unknown = await client.get(f"{WIDGETS}?fieldSelector=spec.size=1")
    document = (await client.get("/openapi/v3/apis/example.io/v1")).json

    assert [item["metadata"]["name"] for item in found.json["items"]] == ["red"]
    assert (unknown.code, unknown.json["message"]) == (400, "field label not supported: spec.size")
    published = document["components"]["schemas"]["io.example.v1.Widget"]
    assert published["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.color"}]


async def test_a_watch_sees_objects_in_its_version(client: Driver, defined: Defined) -> None:
    await defined(version(), version("v1beta1", storage=False))

    async with client.stream("/apis/example.io/v1beta1/widgets?watch=1") as stream:
        await client.post(WIDGETS, widget(spec={"color": "red"}))
        event = await stream.event()

    assert event["object"]["apiVersion"] == "example.io/v1beta1"
    assert event["object"]["spec"] == {"color": "red"}


# Versions


async def test_versions_are_views_that_drop_what_they_do_not_know(
    client: Driver, defined: Defined
) -> None:
    old = having(schema(size={"type": "integer"}), name="v1alpha1", storage=False)
    await defined(version(), old, version("v2", storage=False, served=False))
    alpha = WIDGETS.replace("v1", "v1alpha1")

    made = await client.post(alpha, widget(api="v1alpha1", spec={"color": "red", "size": 1}))
    group = (await client.get("/apis/example.io")).json

    assert made.json["spec"] == {"color": "red"}
    assert (await client.get(LAMP)).json["spec"] == {"color": "red"}
    assert [found["version"] for found in group["versions"]] == ["v1", "v1alpha1"]
    assert (await client.get(WIDGETS.replace("v1", "v2"))).code == 404


async def test_deprecated_versions_warn(client: Driver, defined: Defined) -> None:
    await defined(
        version(),
        version("v1beta1", storage=False, deprecated=True),
        version("v1beta2", storage=False, deprecated=True, deprecationWarning="go away"),
    )

    first = await client.get(WIDGETS.replace("v1", "v1beta1"))
    second = await client.get(WIDGETS.replace("v1", "v1beta2"))

    assert first.all("warning") == [
        '299 - "example.io/v1beta1 Widget is deprecated; use example.io/v1 Widget"'
    ]
    assert second.all("warning") == ['299 - "go away"']


async def test_several_definitions_share_a_group(client: Driver, defined: Defined) -> None:
    await defined()
    await defined(version("v1beta1"), plural="wheels", scope="Cluster")

    wheel = {"apiVersion": "example.io/v1beta1", "kind": "Wheel", "metadata": {"name": "w"}}
    made = await client.post("/apis/example.io/v1beta1/wheels", wheel)
    first = (await client.get("/apis/example.io/v1")).json["resources"]
    second = (await client.get("/apis/example.io/v1beta1")).json["resources"]

    assert made.code == 201
    assert [found["name"] for found in first] == ["widgets"]
    assert [(found["name"], found["namespaced"]) for found in second] == [("wheels", False)]
    assert (await client.get("/apis/example.io/v1/wheels")).code == 404
    assert (await client.get("/apis/example.io/v1beta1/namespaces/default/wheels")).code == 404


# Being served


async def test_paths_that_lead_nowhere_are_answered_as_kubernetes_does(
    client: Driver, defined: Defined
) -> None:
    await defined(scope="Cluster")
    await client.post("/apis/example.io/v1/widgets", widget())

    nowhere = [
        await client.get(path)
        for path in (WIDGETS, "/apis/example.io/v1/wheels", "/apis/example.io/v3/widgets")
    ]
    part = await client.get("/apis/example.io/v1/widgets/lamp/status")

    assert [(found.code, found.body) for found in nowhere] == [(404, b"404 page not found\n")] * 3
    assert (part.code, part.json["message"]) == (404, 'widgets.example.io "lamp" not found')


async def test_a_definition_that_serves_no_version_can_be_deleted(
    client: Driver, defined: Defined
) -> None:
    await defined()
    await client.post(WIDGETS, widget())
    await defined.change("widgets.example.io", version(served=False))

    group = await client.get("/apis/example.io")
    listed = (await client.get("/apis")).json["groups"]
    await client.delete(f"{DEFINITIONS}/widgets.example.io")
    await defined.until_gone("widgets.example.io")
    await defined()

    assert group.code == 404
    assert "example.io" not in [found["name"] for found in listed]
    assert (await client.get(WIDGETS)).json["items"] == []


async def test_a_namespace_is_emptied_of_objects_without_a_served_version(
    client: Driver, defined: Defined, app: App
) -> None:
    namespaces = "/api/v1/namespaces"
    await client.post(namespaces, {"metadata": {"name": "shop"}})
    await defined()
    assert (await client.post(WIDGETS.replace("default", "shop"), widget())).code == 201
    assert (await client.post(WIDGETS, widget())).code == 201
    await defined.change("widgets.example.io", version(served=False))

    url = f"{namespaces}?watch=1&fieldSelector=metadata.name=shop"
    async with client.stream(url) as stream:
        await client.delete(f"{namespaces}/shop")
        while (await stream.event())["type"] != "DELETED":
            pass

    stored = (await app.groups.backend.range("/registry/example.io/")).records
    assert [record.key for record in stored] == ["/registry/example.io/widgets/default/lamp"]


async def test_discovery_lists_verbs_as_kubernetes_does(client: Driver, defined: Defined) -> None:
    await defined(version(subresources={"status": {}, "scale": SCALE}))

    widgets, status, scale = (await client.get("/apis/example.io/v1")).json["resources"]

    assert widgets["verbs"] == [
        *("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
    ]
    assert widgets["storageVersionHash"]
    assert (scale["name"], scale["group"], scale["kind"]) == (
        "widgets/scale",
        "autoscaling",
        "Scale",
    )
    assert (status["name"], status["verbs"]) == ("widgets/status", ["get", "patch", "update"])


async def test_openapi_has_the_schema_and_changes_with_it(client: Driver, defined: Defined) -> None:
    await defined()

    async def url() -> str:
        index = (await client.get("/openapi/v3")).json["paths"]
        return str(index["apis/example.io/v1"]["serverRelativeURL"])

    before = await url()
    document = (await client.get(before)).json
    await defined.change("widgets.example.io", having(schema(size={"type": "integer"})))
    everything = (await client.get("/openapi/v2")).json["definitions"]

    published = document["components"]["schemas"]["io.example.v1.Widget"]
    assert set(published["properties"]) == {"apiVersion", "kind", "metadata", "spec", "status"}
    assert published["x-kubernetes-group-version-kind"] == [
        {"group": "example.io", "kind": "Widget", "version": "v1"}
    ]
    assert before != await url()
    assert "size" in everything["io.example.v1.Widget"]["properties"]["spec"]["properties"]


async def test_a_change_of_the_schema_ends_watches_and_one_of_the_status_does_not(
    client: Driver, defined: Defined
) -> None:
    await defined()

    async with client.stream(f"{WIDGETS}?watch=1") as stream:
        await client.patch(
            f"{DEFINITIONS}/widgets.example.io/status", {"status": {"observedGeneration": 1}}
        )
        await client.post(WIDGETS, widget())
        seen = await stream.event()
        await defined.change("widgets.example.io", having(schema(size={"type": "integer"})))
        ended = await stream.event()

    assert seen["type"] == "ADDED"
    assert ended is None


async def seen(client: Driver, since: str, number: int) -> list[tuple[str, str]]:
    """The next events after a version, as a client sees them that resumes a watch."""
    async with client.stream(f"{WIDGETS}?watch=1&resourceVersion={since}") as stream:
        events = [await stream.event() for _ in range(number)]
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


async def test_watches_resume_after_changes_of_the_schema(client: Driver, defined: Defined) -> None:
    """Also from a version from before several of them, while other objects are written."""
    await defined()
    since = (await client.post(WIDGETS, widget("first"))).json["metadata"]["resourceVersion"]
    await client.post(WIDGETS, widget("second"))
    for number in range(3):
        await client.post("/api/v1/namespaces", {"metadata": {"name": f"n{number}"}})
        changed = having(schema(**{f"size{number}": {"type": "integer"}}))
        await client.patch(f"{DEFINITIONS}/widgets.example.io", {"spec": {"versions": [changed]}})
        await client.post(WIDGETS, widget(f"w{number}"))
    await client.get("/apis")  # with the newest definitions

    events = await seen(client, since, 4)

    assert events == [("ADDED", "second"), ("ADDED", "w0"), ("ADDED", "w1"), ("ADDED", "w2")]


async def test_watches_resume_after_a_change_of_the_storage_version(
    client: Driver, defined: Defined
) -> None:
    await defined(version("v1"), version("v2", storage=False))
    since = (await client.post(WIDGETS, widget("first"))).json["metadata"]["resourceVersion"]
    await client.post(WIDGETS, widget("second"))

    await defined.change("widgets.example.io", version("v1", storage=False), version("v2"))
    await client.post(WIDGETS, widget("third"))
    await client.delete(f"{WIDGETS}/second")
    events = await seen(client, since, 3)

    assert events == [("ADDED", "second"), ("ADDED", "third"), ("DELETED", "second")]


async def test_groups_have_an_order_that_does_not_depend_on_time(
    client: Driver, defined: Defined
) -> None:
    for group in ("z.io", "a.io", "m.io"):
        await defined(group=group)

    listed = (await client.get("/apis")).json["groups"]

    assert [found["name"] for found in listed][-3:] == ["a.io", "m.io", "z.io"]


async def test_the_group_goes_with_its_last_definition(
    client: Driver, defined: Defined, app: App
) -> None:
    await defined()

    await client.delete(f"{DEFINITIONS}/widgets.example.io")
    await defined.until_gone("widgets.example.io")

    assert (await client.get("/apis/example.io")).code == 404
    assert "example.io" not in [found.group.name for found in app.groups]


async def test_a_watch_can_be_of_rows_and_of_metadata(client: Driver, defined: Defined) -> None:
    await defined()
    await client.post(WIDGETS, widget(spec={"color": "red"}))
    partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    url = f"{WIDGETS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
    url += "&resourceVersionMatch=NotOlderThan"

    async with client.stream(url, headers={"accept": TABLE}) as stream:
        row, end = await stream.events(2)
    async with client.stream(url, headers={"accept": partial}) as stream:
        metadata = await stream.event()
    async with client.stream(url) as stream:
        _, bookmark = await stream.events(2)

    assert row["object"]["rows"][0]["cells"][0] == "lamp"
    assert end["type"] == "BOOKMARK"
    assert metadata["object"]["kind"] == "PartialObjectMetadata"
    assert metadata["object"]["metadata"]["name"] == "lamp"
    assert (bookmark["type"], bookmark["object"]["kind"]) == ("BOOKMARK", "Widget")


async def test_metadata_of_custom_resources_comes_as_protobuf_too(
    client: Driver, defined: Defined
) -> None:
    """As clients ask for it that follow the metadata of everything."""
    await defined()
    made = await client.post(WIDGETS, widget())

    one = await client.get(LAMP, accept=METADATA.format(""))
    several = await client.get(WIDGETS, accept=METADATA.format("List"))

    accept = {"accept": METADATA.format("")}
    async with client.stream(f"{WIDGETS}?watch=1", headers=accept) as stream:
        frame = await stream.write()

    codec = protobuf_codec()
    assert frame is not None and one.body in frame
    found = codec.decode(PartialObjectMetadata, codec.read_envelope(one.body).raw)
    listed = codec.decode(PartialObjectMetadataList, codec.read_envelope(several.body).raw)
    uid = made.json["metadata"]["uid"]
    assert [found.metadata.uid, *(each.metadata.uid for each in listed.items)] == [uid, uid]
