"""JSONSchemaProps: the schema in a definition; `apimachinery.structural` implements it."""

from typing import Annotated, Any

from pydantic import PlainSerializer

from apimachinery.model.model import Model, field


def _whole(value: float) -> float:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


Number = Annotated[
    float, PlainSerializer(_whole, return_type=int | float, when_used="json-unless-none")
]
"""A bound, written without the fraction of a whole one."""


class ExternalDocumentation(Model):
    """Where more is said about something."""

    description: str = field("", proto=1)
    url: str = field("", proto=2)


class ValidationRule(Model):
    """A condition in CEL that values must meet."""

    rule: str = field(
        "", proto=1, omit_empty=False, doc="The expression; `self` is the value it is about."
    )
    message: str = field("", proto=2, doc="What is said when the rule is broken.")
    message_expression: str = field("", proto=3, doc="An expression that makes the message.")
    reason: str | None = field(None, proto=4, doc="How a broken rule is classed.")
    field_path: str = field("", proto=5, doc="The field that is blamed, below the value.")
    optional_old_self: bool | None = field(
        None, proto=6, doc="The rule is asked on creation too; `oldSelf` is then an optional."
    )


class JSONSchemaProps(Model):
    """A JSON schema, as far as OpenAPI v3 has it, with Kubernetes' markers."""

    id: str = field("", proto=1)
    schema_: str = field("", wire="$schema", proto=2)
    ref: str | None = field(None, wire="$ref", proto=3)
    description: str = field("", proto=4)
    type: str = field("", proto=5)
    format: str = field("", proto=6)
    title: str = field("", proto=7)
    default: Any = field(None, proto=8, doc="What the value is when it is left out.")
    maximum: Number | None = field(None, proto=9)
    exclusive_maximum: bool = field(False, proto=10)
    minimum: Number | None = field(None, proto=11)
    exclusive_minimum: bool = field(False, proto=12)
    max_length: int | None = field(None, proto=13)
    min_length: int | None = field(None, proto=14)
    pattern: str = field("", proto=15)
    max_items: int | None = field(None, proto=16)
    min_items: int | None = field(None, proto=17)
    unique_items: bool = field(False, proto=18)
    multiple_of: Number | None = field(None, proto=19)
    enum: list[Any] = field(default_factory=list, proto=20, list_type="atomic")
    max_properties: int | None = field(None, proto=21)
    min_properties: int | None = field(None, proto=22)
    required: list[str] = field(default_factory=list, proto=23, list_type="atomic")
    # JSON Schema also allows a list of schemas or a boolean here; definitions may not use these,
    # except for `additionalProperties: true`.
    items: "JSONSchemaProps | None" = field(None, proto=(24, 1))
    all_of: "list[JSONSchemaProps]" = field(default_factory=list, proto=25, list_type="atomic")
    one_of: "list[JSONSchemaProps]" = field(default_factory=list, proto=26, list_type="atomic")
    any_of: "list[JSONSchemaProps]" = field(default_factory=list, proto=27, list_type="atomic")
    not_: "JSONSchemaProps | None" = field(None, proto=28)
    properties: "dict[str, JSONSchemaProps]" = field(default_factory=dict, proto=29)
    additional_properties: "JSONSchemaProps | bool | None" = field(None, proto=30)
    pattern_properties: "dict[str, JSONSchemaProps]" = field(default_factory=dict, proto=31)
    dependencies: dict[str, Any] = field(default_factory=dict, proto=32)
    additional_items: "JSONSchemaProps | bool | None" = field(None, proto=33)
    definitions: "dict[str, JSONSchemaProps]" = field(default_factory=dict, proto=34)
    external_docs: ExternalDocumentation | None = field(None, proto=35)
    example: Any = field(None, proto=36)
    nullable: bool = field(False, proto=37)
    preserve_unknown_fields: bool | None = field(
        None, wire="x-kubernetes-preserve-unknown-fields", proto=38
    )
    embedded_resource: bool = field(False, wire="x-kubernetes-embedded-resource", proto=39)
    int_or_string: bool = field(False, wire="x-kubernetes-int-or-string", proto=40)
    list_map_keys: list[str] = field(
        default_factory=list, wire="x-kubernetes-list-map-keys", proto=41, list_type="atomic"
    )
    list_type: str | None = field(None, wire="x-kubernetes-list-type", proto=42)
    map_type: str | None = field(None, wire="x-kubernetes-map-type", proto=43)
    validations: list[ValidationRule] = field(
        default_factory=list,
        wire="x-kubernetes-validations",
        proto=44,
        list_map_keys=("rule",),
        patch_strategy="merge",
        patch_merge_key="rule",
    )
