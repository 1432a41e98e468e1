"""Definitions: the rules of schemas that the wire does not show one by one, and their names."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.fieldpath import Path
from apimachinery.protobuf import ProtobufCodec
from apimachinery.structural.structural_rules import validate_structural
from apis.apiextensions.accepted_names import settle_names
from apis.apiextensions.conditions import find, is_true
from apis.apiextensions.controllers.definition_names import DefinitionNamesController
from apis.apiextensions.v1 import (
    CustomResourceDefinition,
    CustomResourceDefinitionVersion,
    CustomResourceValidation,
    JSONSchemaProps,
)
from apis.apiextensions.validation.rules import validate_rules
from apis.apiextensions.validation.schema import validate_schema
from tests.apis.controlled import ControlledServer, controlled_server
from tests.apis.validating import decoded, messages

NOW = datetime(2024, 1, 1, tzinfo=UTC)
S = Path("s")


def crd(plural: str, **names: Any) -> CustomResourceDefinition:
    kind = plural.removesuffix("s").capitalize()
    document = {
        "metadata": {"name": f"{plural}.example.io"},
        "spec": {
            "group": "example.io",
            "scope": "Cluster",
            "names": {"plural": plural, "kind": kind, **names},
            "versions": [],
        },
    }
    return decoded(CustomResourceDefinition, document)


# Structural schemas


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object"}, []),
        ({"type": "string"}, ['s.type: Invalid value: "string": must be object at the root']),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            ["s.additionalProperties: Forbidden: must not be used at the root"],
        ),
        (
            {
                "type": "object",
                "properties": {
                    "metadata": {
                        "type": "object",
                        "properties": {"name": {"type": "string", "maxLength": 9}},
                    }
                },
            },
            [],
        ),
        (
            {
                "type": "object",
                "properties": {
                    "metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}
                },
            },
            [
                "s.properties[metadata]: Forbidden: must not specify anything other than name and"
                " generateName, but metadata is implicitly specified"
            ],
        ),
        (
            {"type": "object", "properties": {"kind": {"type": "integer"}}},
            ['s.properties[kind].type: Invalid value: "integer": must be string'],
        ),
        (
            {
                "type": "object",
                "properties": {
                    "a": {
                        "x-kubernetes-int-or-string": True,
                        "anyOf": [{"type": "integer"}, {"type": "string"}],
                    }
                },
            },
            [],
        ),
        (
            {"type": "object", "anyOf": [{"properties": {"a": {"minimum": 1}}}]},
            ["s.properties[a]: Required value: because it is defined in s.anyOf[0].properties[a]"],
        ),
        (
            {"type": "object", "not": {"description": "x", "nullable": True}},
            [
                "s.not.description: Forbidden: must be empty to be structural",
                "s.not.nullable: Forbidden: must be false to be structural",
            ],
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string", "x-kubernetes-embedded-resource": True}},
            },
            [
                's.properties[a].type: Invalid value: "string": must be object if'
                " x-kubernetes-embedded-resource is true",
                "s.properties[a].properties: Required value: must not be empty if"
                " x-kubernetes-embedded-resource is true without"
                " x-kubernetes-preserve-unknown-fields",
            ],
        ),
    ],
)
def test_what_makes_a_schema_structural(schema: dict[str, Any], expected: list[str]) -> None:
    assert sorted(messages(validate_structural(schema, S))) == sorted(expected)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            {"type": "object", "properties": {}, "additionalProperties": False},
            [],
        ),
        (
            {
                "type": "object",
                "properties": {"b": {"type": "string"}},
                "additionalProperties": False,
            },
            [
                ".additionalProperties: Forbidden: additionalProperties and properties are mutual"
                " exclusive"
            ],
        ),
        (
            {"type": "null"},
            [
                ".type: Forbidden: type cannot be set to null, use nullable as an alternative",
                '.type: Unsupported value: "null": supported values: "array", "boolean", "integer",'
                ' "number", "object", "string"',
            ],
        ),
        (
            {"type": "string", "x-kubernetes-map-type": "atomic"},
            [
                '.type: Invalid value: "string": must be object if x-kubernetes-map-type is'
                " specified"
            ],
        ),
        (
            {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"},
            [
                ".items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a"
                " list with x-kubernetes-list-type=set"
            ],
        ),
        (
            {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "bag"},
            [
                '.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic",'
                ' "set", "map"'
            ],
        ),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
            [
                ".x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or"
                " undefined"
            ],
        ),
        (
            {"type": "object", "default": {"x": 1}, "properties": {"b": {"type": "string"}}},
            ['.default: Invalid value: {"x":1}: must not have unknown fields'],
        ),
    ],
)
def test_what_else_is_wrong_with_a_schema(part: dict[str, Any], expected: list[str]) -> None:
    document = {"type": "object", "properties": {"a": part}}
    schema = JSONSchemaProps.model_validate_json(json.dumps(document))

    found = messages(validate_schema(schema, S, has_status=False))

    assert found == [f"s.properties[a]{text}" for text in expected]


# Rules in CEL


ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays,"
    " maps, and strings are declared)"
)


def ruled(rule: str, schema: dict[str, Any], count: int = 1) -> dict[str, Any]:
    return {**schema, "x-kubernetes-validations": [{"rule": rule}] * count}


@pytest.mark.parametrize(
    ("rule", "limits", "factor"),
    [
        ("self.all(x, self.exists_one(y, x == y))", {}, "more than 100x"),
        ("self.all(x, self.exists_one(y, x == y))", {"maxItems": 10}, "3.1x"),
        ("self.all(x, x.contains('abc'))", {"maxItems": 40}, "1.258308x"),
        ("self.all(x, x.contains('abc'))", {"maxItems": 10}, ""),
    ],
)
def test_a_rule_that_could_take_too_long_is_refused(
    rule: str, limits: dict[str, int], factor: str
) -> None:
    schema = {"type": "array", "items": {"type": "string"}, **limits}

    found = messages(validate_rules(ruled(rule, schema), S))

    path = "s.x-kubernetes-validations[0].rule"
    text = f"estimated rule cost exceeds budget by factor of {factor} {ADVICE}"
    assert found[:1] == ([f"{path}: Forbidden: {text}"] if factor else [])


def test_a_rule_counts_as_often_as_its_values_may_occur() -> None:
    item = ruled("self.contains('abc')", {"type": "string"})

    unlimited, *_ = messages(validate_rules({"type": "array", "items": item}, S))
    limited = messages(validate_rules({"type": "array", "items": item, "maxItems": 10}, S))

    assert "s.items.x-kubernetes-validations[0].rule: Forbidden: estimated" in unlimited
    assert limited == []


def test_rules_that_take_too_long_together_are_refused() -> None:
    schema = ruled("self.all(x, x > 0)", {"type": "array", "items": {"type": "integer"}}, 20)

    *rules, total = messages(validate_rules(schema, S))

    contributed = "contributed to estimated rule cost total exceeding cost limit for entire"
    assert [rule.split(": ", 1)[1] for rule in rules] == [
        f"Forbidden: {contributed} OpenAPIv3 schema"
    ] * 4
    assert total == (
        "s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3"
        f" schema exceeds budget by factor of 1.6x {ADVICE}"
    )


def test_costs_and_number_of_rules_that_are_stored_already() -> None:
    expensive = ruled(
        "self.all(x, self.all(y, x == y))", {"type": "array", "items": {"type": "string"}}
    )
    many = ruled("true", {"type": "string"}, 2_001)

    assert messages(validate_rules(expensive, S, check_costs=False)) == []
    assert messages(validate_rules(many, S)) == [
        "s: Forbidden: must not have more than 2000 x-kubernetes-validations"
    ]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            {"rule": " "},
            "rule: Required value: rule is not specified",
        ),
        (
            {"rule": "true", "message": "a\nb"},
            'message: Invalid value: "a\\nb": must not contain line breaks',
        ),
        (
            {"rule": "true", "fieldPath": ".b"},
            'fieldPath: Invalid value: ".b": must be a valid path',
        ),
        (
            {"rule": "true", "messageExpression": "1"},
            'messageExpression: Invalid value: {"Rule":"true","Message":"","MessageExpression":"1",'
            '"Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate'
            " to a string",
        ),
        (
            {"rule": "true", "optionalOldSelf": True},
            "optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule",
        ),
    ],
)
def test_what_is_wrong_with_a_rule(rule: dict[str, Any], expected: str) -> None:
    document = {"type": "object", "properties": {"a": {"type": "string"}}}
    rules = {"x-kubernetes-validations": [rule]}
    schema = JSONSchemaProps.model_validate_json(json.dumps({**document, **rules}))

    found = messages(validate_schema(schema, S, has_status=False))

    assert found == [f"s.x-kubernetes-validations[0].{expected}"]


def test_items_without_identity_have_no_past() -> None:
    rules = [{"rule": "self == oldSelf"}]
    item = {"type": "string", "maxLength": 10, "x-kubernetes-validations": rules}
    schema = {"type": "array", "items": item, "maxItems": 10}

    (found,) = messages(validate_rules(schema, S))

    assert found.endswith("cannot be used on the uncorrelatable portion of the schema within s")


# Names


def test_names_are_accepted_one_by_one() -> None:
    first = crd("widgets", shortNames=["w", "x"])
    settle_names(first, [first], NOW)
    second = crd("wheels", kind="Widget", shortNames=["w", "x", "y"])

    settle_names(second, [first, second], NOW)
    again = settle_names(second, [first, second], NOW)

    accepted, condition = second.status.accepted_names, find(second, "NamesAccepted")
    assert (accepted.plural, accepted.kind, accepted.short_names) == ("wheels", "", [])
    assert condition is not None
    # The last conflict that is found is the one that is told.
    assert (condition.reason, condition.message) == (
        "ListKindConflict",
        '"WidgetList" is already in use',
    )
    assert not is_true(second, "Established")
    assert not again


def test_once_established_always_established() -> None:
    one, other = crd("widgets"), crd("wheels")
    settle_names(one, [one, other], NOW)
    settle_names(other, [one, other], NOW)
    other.spec.names.short_names = ["widget"]

    settle_names(other, [one, other], NOW)

    assert is_true(other, "Established")
    assert not is_true(other, "NamesAccepted")


def test_approval_is_a_condition_in_the_groups_of_kubernetes() -> None:
    definition = crd("widgets")
    definition.spec.group = "apps.k8s.io"
    definition.metadata.annotations = {"api-approved.kubernetes.io": "https://example.io/yes"}

    settle_names(definition, [], NOW)

    condition = find(definition, "KubernetesAPIApprovalPolicyConformant")
    assert condition is not None
    assert (condition.status, condition.message) == ("True", "approved in https://example.io/yes")


# Names, on a server


@pytest.fixture
async def server() -> AsyncIterator[ControlledServer]:
    async with controlled_server() as controlled:
        yield controlled


def stored(plural: str, **names: Any) -> CustomResourceDefinition:
    definition = crd(plural, **names)
    schema = JSONSchemaProps(type="object")
    validation = CustomResourceValidation(open_apiv3_schema=schema)
    definition.spec.versions = [
        CustomResourceDefinitionVersion(name="v1", served=True, storage=True, schema_=validation)
    ]
    return definition


async def having_kind(server: ControlledServer, kind: str) -> list[str]:
    definitions = (await server.client.of(CustomResourceDefinition).list().all()).items
    return [
        definition.metadata.name
        for definition in definitions
        if definition.status.accepted_names.kind == kind
    ]


async def test_of_two_that_come_together_one_gets_the_name(server: ControlledServer) -> None:
    definitions = server.client.of(CustomResourceDefinition)
    async with server.running(DefinitionNamesController(server.controllers_client)):
        for plural in ("wheels", "coins"):
            await definitions.create(stored(plural, kind="Round"))
        for plural in ("wheels", "coins"):
            await definitions.wait(
                f"{plural}.example.io",
                lambda definition: find(definition, "NamesAccepted") is not None,
                timeout=10,
            )

    assert len(await having_kind(server, "Round")) == 1


async def test_of_two_that_wait_for_a_name_one_gets_it(server: ControlledServer) -> None:
    controller = DefinitionNamesController(server.controllers_client)
    for plural in ("wheels", "coins"):
        await server.client.of(CustomResourceDefinition).create(stored(plural, kind="Round"))

    assert await controller.sync("balls.example.io")  # which had the name, and is gone

    assert await having_kind(server, "Round") == ["coins.example.io"]


async def test_a_conflict_is_looked_at_again(server: ControlledServer) -> None:
    await server.client.of(CustomResourceDefinition).create(stored("wheels"))
    server.faults.update(CustomResourceDefinition, "status").conflict()
    controller = DefinitionNamesController(server.controllers_client)

    assert not await controller.sync("wheels.example.io")
    assert await controller.sync("wheels.example.io")

    assert await having_kind(server, "Wheel") == ["wheels.example.io"]


# Protobuf


def test_schemas_survive_protobuf() -> None:
    document = crd("widgets")
    schema = {
        "type": "object",
        "properties": {
            "open": {"type": "object", "additionalProperties": True},
            "map": {"type": "object", "additionalProperties": {"type": "string", "default": ""}},
            "list": {"type": "array", "items": {"type": "number", "minimum": 0.5}},
            "one": {"type": "string", "enum": ["a", 1, None], "default": {"b": [1]}},
        },
    }
    version = {"name": "v1", "schema": {"openAPIV3Schema": schema}}
    made = decoded(
        CustomResourceDefinition,
        {"spec": {**document.spec.model_dump(mode="json", by_alias=True), "versions": [version]}},
    )
    codec = ProtobufCodec()

    assert codec.decode(CustomResourceDefinition, codec.encode_raw(made)) == made
