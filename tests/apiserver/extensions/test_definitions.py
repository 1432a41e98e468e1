"""CustomResourceDefinitions over HTTP: what becomes of one, and what is wrong with others."""

from typing import Any

import orjson
import pytest

from apimachinery.schema import GroupVersion
from apimachinery.serialization.media_types import PROTOBUF
from apis.apiextensions.v1 import CustomResourceDefinition, JSONSchemaProps
from apiserver.app import App
from apiserver.extensions.definition import parse_definition
from tests.apiserver.extensions.definitions import (
    DEFINITIONS,
    WIDGETS,
    Defined,
    definition,
    having,
    schema,
    version,
    widget,
)
from tests.apiserver.http.driver import Driver

WIDGET = f"{DEFINITIONS}/widgets.example.io"


async def test_a_definition_starts_without_conditions_and_with_its_storage_version(
    client: Driver,
) -> None:
    made = (await client.post(DEFINITIONS, definition())).json

    assert made["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }
    assert made["spec"]["names"] == {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
    }
    assert made["spec"]["conversion"] == {"strategy": "None"}
    assert made["metadata"]["generation"] == 1


async def test_its_names_are_accepted_and_then_it_is_established(defined: Defined) -> None:
    found = await defined()

    assert [
        {key: condition[key] for key in ("type", "status", "reason", "message")}
        for condition in found["status"]["conditions"]
    ] == [
        {
            "type": "NamesAccepted",
            "status": "True",
            "reason": "NoConflicts",
            "message": "no conflicts found",
        },
        {
            "type": "Established",
            "status": "True",
            "reason": "InitialNamesAccepted",
            "message": "the initial names have been accepted",
        },
    ]
    assert found["status"]["acceptedNames"] == found["spec"]["names"]


async def test_names_that_are_taken_are_not_accepted_until_they_are_free(
    client: Driver, defined: Defined
) -> None:
    await defined(names={"shortNames": ["wd"]})
    rival = definition(plural="wheels", names={"kind": "Wheel", "shortNames": ["wd"]})
    await client.post(DEFINITIONS, rival)
    name = "wheels.example.io"
    url = f"{DEFINITIONS}?watch=1&fieldSelector=metadata.name={name}"

    async with client.stream(url) as stream:
        while not (found := (await stream.event())["object"])["status"]["conditions"]:
            pass
    await client.delete(WIDGET)
    accepted = await defined.until(name, "Established")

    conflict, established = found["status"]["conditions"]
    assert (conflict["reason"], conflict["message"]) == (
        "ShortNamesConflict",
        '"wd" is already in use',
    )
    assert (established["status"], established["reason"]) == ("False", "NotAccepted")
    assert accepted["status"]["acceptedNames"]["shortNames"] == ["wd"]


async def test_a_change_of_the_spec_raises_the_generation_and_of_the_status_does_not(
    client: Driver, defined: Defined
) -> None:
    before = await defined()

    await client.patch(f"{WIDGET}/status", {"status": {"storedVersions": ["v1"]}})
    same = (await client.get(WIDGET)).json
    changed = await defined.change("widgets.example.io", version(deprecated=True))

    assert before["metadata"]["generation"] == same["metadata"]["generation"] == 1
    assert changed["metadata"]["generation"] == 2


async def test_a_put_must_say_what_it_replaces(client: Driver, defined: Defined) -> None:
    found = await defined()
    del found["metadata"]["resourceVersion"]

    answer = await client.put(WIDGET, found)

    assert answer.code == 422
    assert "must be specified for an update" in answer.json["message"]


async def test_tables_of_definitions(client: Driver, defined: Defined) -> None:
    await defined()

    table = (
        await client.get(DEFINITIONS, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    ).json

    shown = [c["name"] for c in table["columnDefinitions"] if not c["priority"]]
    assert shown == ["Name", "Scope", "Versions", "Created At"]
    assert table["rows"][0]["cells"][0] == "widgets.example.io"


def spec(**fields: Any) -> dict[str, Any]:
    """A definition with something else in its spec."""
    made = definition()
    made["spec"] |= fields
    return made


def with_schema(open_schema: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return definition(having(open_schema, **fields))


def with_spec(**properties: Any) -> dict[str, Any]:
    return with_schema(schema(**properties))


SPEC = "spec.validation.openAPIV3Schema.properties[spec]"
NAME = (
    'metadata.name: Invalid value: "widgets.example.io": must be spec.names.plural+"."+spec.group'
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (spec(group="other.io"), [NAME]),
        (
            spec(group="io"),
            [NAME, 'spec.group: Invalid value: "io": should be a domain with at least one dot'],
        ),
        (spec(scope=""), ["spec.scope: Required value"]),
        (
            spec(scope="Galaxy"),
            ['spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'],
        ),
        (
            spec(names={"plural": "widgets", "kind": "Widget", "listKind": "Widget"}),
            ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
        ),
        (
            definition(version(schema={})),
            ["spec.versions[0].schema.openAPIV3Schema: Required value"],
        ),
        (
            definition(version(deprecationWarning="no")),
            [
                'spec.versions[0].deprecationWarning: Invalid value: "no": can only be set for'
                " deprecated versions"
            ],
        ),
        (
            spec(preserveUnknownFields=True),
            [
                "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set"
                " x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
            ],
        ),
        (
            definition(version(selectableFields=[{"jsonPath": "spec.color"}])),
            [
                'spec.selectableFields[0].jsonPath: Invalid value: "spec.color": is an invalid'
                " path: expected [ or . but got: spec"
            ],
        ),
        (
            definition(version(selectableFields=[{"jsonPath": ".spec['color']"}])),
            [
                "spec.selectableFields[0].jsonPath: Invalid value: \".spec['color']\": is an"
                " invalid path: array notation is not allowed"
            ],
        ),
        (
            definition(version(storage=False)),
            [
                "spec.versions: Invalid value: "
                '[{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,'
                '"DeprecationWarning":null,"Schema":null,"Subresources":null,'
                '"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one'
                " version marked as storage version",
                "status.storedVersions: Invalid value: null: must have at least one stored version",
            ],
        ),
        (
            spec(conversion={"strategy": "Webhook"}),
            [
                "spec.conversion.webhookClientConfig: Required value: required when strategy is"
                " set to Webhook",
                "spec.conversion.conversionReviewVersions: Required value",
            ],
        ),
        (
            with_schema({}),
            ["spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root"],
        ),
        (
            with_spec(a={}),
            [
                f"{SPEC}.properties[a].type: Required value: must not be empty for specified object"
                " fields"
            ],
        ),
        (
            with_spec(a={"type": "array"}),
            [f"{SPEC}.properties[a].items: Required value: must be specified"],
        ),
        (
            with_spec(a={"type": "strng"}),
            [
                f'{SPEC}.properties[a].type: Unsupported value: "strng": supported values: "array",'
                ' "boolean", "integer", "number", "object", "string"'
            ],
        ),
        (
            with_spec(a={"type": "string", "$ref": "#/x"}),
            [f"{SPEC}.properties[a].$ref: Forbidden: $ref is not supported"],
        ),
        (
            with_spec(a={"type": "integer", "default": "x"}),
            [
                f'{SPEC}.properties[a].default: Invalid value: "string":  in body must be of type'
                ' integer: "string"'
            ],
        ),
        (
            with_spec(a={"type": "string", "pattern": "["}),
            [
                f'{SPEC}.properties[a].pattern: Invalid value: "[": must be a valid regular'
                " expression, but isn't: error parsing regexp: missing closing ]: `[`"
            ],
        ),
        (
            with_spec(a={"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
            [
                f"{SPEC}.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true"
                " since the runtime complexity becomes quadratic"
            ],
        ),
        (
            with_spec(
                a={
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "properties": {"k": {"type": "string"}}},
                }
            ),
            [
                f"{SPEC}.properties[a].items.properties[k].default: Required value: this property"
                " is in x-kubernetes-list-map-keys, so it must have a default or be a required"
                " property"
            ],
        ),
        (
            with_schema(schema(), subresources={"scale": {"specReplicasPath": "spec.replicas"}}),
            [
                'spec.subresources.scale.specReplicasPath: Invalid value: "spec.replicas": must be'
                " a simple json path starting with .",
                "spec.subresources.scale.statusReplicasPath: Required value",
            ],
        ),
        (
            with_schema(
                schema(), additionalPrinterColumns=[{"name": "a", "type": "text", "jsonPath": ".a"}]
            ),
            [
                'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of'
                " boolean,date,integer,number,string"
            ],
        ),
        (
            with_schema(schema(), selectableFields=[{"jsonPath": ".spec.none"}]),
            [
                'spec.selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid'
                " path: does not refer to a valid field"
            ],
        ),
        (
            with_schema({**schema(), "x-kubernetes-validations": [{"rule": "1"}]}),
            [
                "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value:"
                ' {"Rule":"1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"",'
                '"OptionalOldSelf":null}: cel expression must evaluate to a bool'
            ],
        ),
    ],
)
async def test_what_is_wrong_is_named(client: Driver, body: Any, expected: list[str]) -> None:
    answer = await client.post(DEFINITIONS, body)

    assert answer.code == 422, answer.json
    causes = answer.json["details"]["causes"]
    assert [f"{cause['field']}: {cause['message']}" for cause in causes] == expected


async def test_there_is_one_storage_version(client: Driver) -> None:
    answer = await client.post(DEFINITIONS, definition(version(), version("v2")))

    assert [(c["field"], c["message"]) for c in answer.json["details"]["causes"]] == [
        (
            "spec.versions",
            'Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,'
            '"DeprecationWarning":null,"Schema":null,"Subresources":null,'
            '"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,'
            '"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,'
            '"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]:'
            " must have exactly one version marked as storage version",
        ),
        (
            "status.storedVersions",
            'Invalid value: ["v1"]: must have the storage version v2',
        ),
    ]


async def test_the_groups_of_kubernetes_are_protected(client: Driver) -> None:
    body = definition(group="apps.k8s.io")

    refused = await client.post(DEFINITIONS, body)
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    taken = await client.post(DEFINITIONS, body)

    assert refused.json["message"].endswith(
        'protected groups must have approval annotation "api-approved.kubernetes.io", see'
        " https://github.com/kubernetes/enhancements/pull/1111"
    )
    assert taken.code == 201


async def test_what_is_established_keeps_its_kind_and_scope(
    client: Driver, defined: Defined
) -> None:
    await defined()

    answer = await client.patch(
        WIDGET, {"spec": {"scope": "Cluster", "names": {"kind": "Thing", "listKind": "Things"}}}
    )

    assert {cause["field"] for cause in answer.json["details"]["causes"]} == {
        "spec.scope",
        "spec.names.kind",
    }


async def test_a_version_stays_as_long_as_objects_may_be_stored_in_it(
    client: Driver, defined: Defined
) -> None:
    await defined()
    versions = {"spec": {"versions": [version("v2")]}}

    refused = await client.patch(WIDGET, versions)
    both = await defined.change("widgets.example.io", version("v2"), version("v1", storage=False))
    await client.patch(f"{WIDGET}/status", {"status": {"storedVersions": ["v2"]}})
    taken = await client.patch(WIDGET, versions)

    assert (
        "missing from spec.versions; v1 was previously a storage version"
        in (refused.json["message"])
    )
    assert both["status"]["storedVersions"] == ["v1", "v2"]
    assert taken.code == 200


async def test_a_definition_goes_after_its_last_object(client: Driver, defined: Defined) -> None:
    await defined()
    await client.post(WIDGETS, widget(metadata={"finalizers": ["example.io/hold"]}))
    await client.post(WIDGETS, widget("other"))

    deleted = await client.delete(WIDGET)
    terminating = await defined.until("widgets.example.io", "Terminating")
    created = await client.post(WIDGETS, widget("late"))
    async with client.stream(f"{WIDGETS}?watch=1&fieldSelector=metadata.name=lamp") as stream:
        while "deletionTimestamp" not in (await stream.event())["object"]["metadata"]:
            pass
    held = await client.get(f"{WIDGETS}/lamp")
    await client.patch(f"{WIDGETS}/lamp", {"metadata": {"finalizers": None}})
    await defined.until_gone("widgets.example.io")

    assert deleted.json["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert terminating["metadata"]["deletionTimestamp"]
    assert created.code == 403
    assert created.json["message"] == (
        'widgets.example.io "late" is forbidden: '
        "create not allowed while custom resource definition is terminating"
    )
    assert held.code == 200
    assert (await client.get(WIDGETS)).code == 404
    # A definition of the same name begins with nothing.
    await defined()
    assert (await client.get(WIDGETS)).json["items"] == []


@pytest.mark.parametrize("plural", ["leases", "robots"])
async def test_a_definition_in_a_group_of_the_server_leaves_its_objects_alone(
    client: Driver, defined: Defined, plural: str
) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    await client.post(leases, {"metadata": {"name": "mine"}})
    body = definition(plural=plural, group="coordination.k8s.io")
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    name = body["metadata"]["name"]
    await client.post(DEFINITIONS, body)
    await defined.until(name, "Established")

    async with client.stream(f"{DEFINITIONS}?watch=1&fieldSelector=metadata.name={name}") as stream:
        await client.delete(f"{DEFINITIONS}/{name}")
        while (await stream.event())["type"] != "DELETED":
            pass

    assert (await client.get(f"{leases}/mine")).code == 200


async def test_unknown_fields_of_a_schema_are_told_unless_kubernetes_cannot_see_them(
    client: Driver,
) -> None:
    """Types that decode themselves in Kubernetes, such as that of `items`, are never strict."""
    odd = {"type": "string", "odd": 1}
    unseen = with_spec(
        map={"type": "object", "additionalProperties": odd}, many={"type": "array", "items": odd}
    )

    taken = await client.post(f"{DEFINITIONS}?fieldValidation=Strict&dryRun=All", unseen)
    answer = await client.post(f"{DEFINITIONS}?fieldValidation=Strict", with_spec(a=odd))

    assert (taken.code, taken.header("warning")) == (201, None)

    assert answer.code == 400
    assert answer.json["message"].endswith(
        'strict decoding error: unknown field "spec.versions[0].schema.openAPIV3Schema.properties'
        '.spec.properties.a.odd"'
    )


async def test_definitions_are_read_and_written_as_protobuf(client: Driver, app: App) -> None:
    """Go's typed clients send them so, and what they define never is."""
    codec, v1 = app.groups.codec, GroupVersion("apiextensions.k8s.io", "v1")
    entries = {"type": "object", "additionalProperties": {"type": "string"}}
    document = orjson.dumps(with_spec(map=entries, many={"type": "array", "items": entries}))
    sent = codec.encode(codec.decode(document).object, v1, media_type=PROTOBUF)

    made = await client.send("POST", DEFINITIONS, body=sent, headers={"content-type": PROTOBUF})
    read = await client.get(WIDGET, accept=PROTOBUF)

    assert made.code == 201
    kind = v1.with_kind("CustomResourceDefinition")
    found = codec.decode(read.body, expected=kind, media_type=PROTOBUF).object
    assert isinstance(found, CustomResourceDefinition)
    properties = made_schema(found).properties["spec"].properties
    assert properties["map"].additional_properties == JSONSchemaProps(type="string")
    assert properties["many"].items == properties["map"]


def made_schema(found: CustomResourceDefinition) -> JSONSchemaProps:
    validation = found.spec.versions[0].schema_
    assert validation is not None
    assert validation.open_apiv3_schema is not None
    return validation.open_apiv3_schema


@pytest.mark.parametrize("plural", ["leases", "widgets"])
async def test_the_end_of_a_definition_in_a_built_in_group_touches_nothing_of_the_group(
    client: Driver, defined: Defined, plural: str
) -> None:
    """Nothing of the group is its own, neither what has its name nor what nobody serves."""
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    await client.post(leases, {"metadata": {"name": "precious"}})
    body = definition(plural=plural, group="coordination.k8s.io")
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": "https://example.io"}
    assert (await client.post(DEFINITIONS, body)).code == 201
    await defined.until(body["metadata"]["name"], "Established")

    deleted = await client.delete(f"{DEFINITIONS}/{body['metadata']['name']}")
    since = deleted.json["metadata"]["resourceVersion"]
    await defined.until_gone(body["metadata"]["name"], since=since)

    assert (await client.get(f"{leases}/precious")).code == 200


async def test_a_definition_on_its_way_out_does_not_take_the_objects_of_another_with_it(
    client: Driver, defined: Defined
) -> None:
    """Not even if its status calls it by the name of the other."""
    await defined()
    await defined(plural="gears")
    gears = WIDGETS.replace("widgets", "gears")
    await client.post(WIDGETS, widget(metadata={"finalizers": ["example.io/held"]}))
    made = await client.post(gears, {**widget("cog"), "kind": "Gear"})
    await client.delete(WIDGET)
    names = {"plural": "gears", "kind": "Gear"}

    changed = await client.patch(f"{WIDGET}/status", {"status": {"acceptedNames": names}})
    await client.patch(f"{WIDGETS}/lamp", {"metadata": {"finalizers": None}})
    since = changed.json["metadata"]["resourceVersion"]
    await defined.until_gone("widgets.example.io", since=since)

    assert (await client.get(f"{gears}/cog")).json == made.json


def test_what_is_served_does_not_depend_on_the_names_that_a_status_says() -> None:
    status = {"acceptedNames": {"plural": "", "kind": ""}}

    found = parse_definition({**definition(), "status": status})

    assert (found.plural, found.kind, found.list_kind) == ("widgets", "Widget", "WidgetList")


def column(name: str, path: str) -> dict[str, str]:
    return {"name": name, "type": "string", "jsonPath": path}


async def test_columns_from_an_unknown_path_on_are_left_out(
    client: Driver, defined: Defined
) -> None:
    """As in Kubernetes, which accepts any path that begins with a dot."""
    columns = [column("One", ".spec['color','size']"), column("Two", ".a["), column("Three", ".b")]
    await defined(version(additionalPrinterColumns=columns))

    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    table = (await client.get("/apis/example.io/v1/widgets", accept=accept)).json

    assert [each["name"] for each in table["columnDefinitions"]] == ["Name", "One"]


async def test_new_parts_of_a_schema_without_effect_are_warned_of(
    client: Driver, defined: Defined
) -> None:
    sets = {
        "type": "array",
        "x-kubernetes-list-type": "set",
        "items": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"type": "string"}},
    }
    strange = schema(
        code={"type": "string", "format": "swift-bic"},
        count={"type": "integer", "format": "int64"},
        name={"type": "string", "format": "k8s-short-name"},
        sets=sets,
    )
    body = definition(version(schema={"openAPIV3Schema": strange}))

    created = await client.post(DEFINITIONS, body)
    changed = await client.patch(
        f"{DEFINITIONS}/widgets.example.io", {"metadata": {"labels": {"a": "b"}}}
    )

    assert [text.partition(" - ")[2] for text in created.all("warning")] == [
        '"unrecognized format \\"swift-bic\\""',
        '"x-kubernetes-list-type: set for items of type \\"array\\" is not supported by'
        ' server-side apply or CEL validation rules"',
    ]
    assert (changed.code, changed.all("warning")) == (200, [])
