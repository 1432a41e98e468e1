"""JSONSchemaProps: the schema in a definition; `apimachinery.structural` implements it."""

from typing import Annotated, Any

from pydantic import PlainSerializer

from apimachinery.model.model import Model, field, let_threads_run


def _without_fraction(value: float) -> float:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


Number = Annotated[
    float, PlainSerializer(_without_fraction, return_type=int | float, when_used="json-unless-none")
]
"""A numeric bound; integral values are encoded without a fraction."""


class ExternalDocumentation(Model):
    """Reference to external documentation."""

    description: str = field("", proto=1)
    url: str = field("", proto=2)


class ValidationRule(Model):
    """A validation rule written in CEL."""

    rule: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="CEL expression that must be true; `self` is the validated value.",
    )
    message: str = field("", proto=2, doc="Message of the error if the rule is violated.")
    message_expression: str = field(
        "", proto=3, doc="CEL expression that returns the message; takes precedence over `message`."
    )
    reason: str | None = field(
        None, proto=4, doc="Machine-readable reason of the error if the rule is violated."
    )
    field_path: str = field(
        "", proto=5, doc="Path of the field that the error names, relative to the value."
    )
    optional_old_self: bool | None = field(
        None,
        proto=6,
        doc="Whether `oldSelf` is an optional, so that the rule also applies on creation.",
    )


class JSONSchemaProps(Model):
    """A JSON schema, restricted to OpenAPI v3, with Kubernetes' extensions."""

    model_post_init = let_threads_run

    id: str = field("", proto=1)
    schema_: str = field("", wire="$schema", proto=2)
    ref: str | None = field(None, wire="$ref", proto=3)
    description: str = field("", proto=4)
    type: str = field("", proto=5)
    format: str = field("", proto=6)
    title: str = field("", proto=7)
    default: Any = field(None, proto=8, doc="Default value of an omitted field.")
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
