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

    description: str = field("", proto=1, doc="What the documentation is about.")
    url: str = field("", proto=2, doc="Where the documentation is.")


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

    id: str = field("", proto=1, doc="Not supported; must be empty.")
    schema_: str = field(
        "", wire="$schema", proto=2, doc="The dialect of the schema; not evaluated."
    )
    ref: str | None = field(None, wire="$ref", proto=3, doc="Not supported; must be unset.")
    description: str = field(
        "", proto=4, doc="What the value means, for people; shown by `kubectl explain`."
    )
    type: str = field(
        "", proto=5, doc="The type of the value: object, array, string, integer, number or boolean."
    )
    format: str = field(
        "",
        proto=6,
        doc="A format of strings and numbers, such as date-time, int64 or byte. Unknown formats"
        " are ignored.",
    )
    title: str = field("", proto=7, doc="A short name of the value, for people.")
    default: Any = field(None, proto=8, doc="Default value of an omitted field.")
    maximum: Number | None = field(None, proto=9, doc="The largest value of a number.")
    exclusive_maximum: bool = field(
        False, proto=10, doc="Whether a number must be less than `maximum`, and not equal to it."
    )
    minimum: Number | None = field(None, proto=11, doc="The smallest value of a number.")
    exclusive_minimum: bool = field(
        False, proto=12, doc="Whether a number must be greater than `minimum`, and not equal to it."
    )
    max_length: int | None = field(None, proto=13, doc="The most characters of a string.")
    min_length: int | None = field(None, proto=14, doc="The fewest characters of a string.")
    pattern: str = field(
        "", proto=15, doc="A regular expression that a string must match somewhere."
    )
    max_items: int | None = field(None, proto=16, doc="The most items of an array.")
    min_items: int | None = field(None, proto=17, doc="The fewest items of an array.")
    unique_items: bool = field(
        False, proto=18, doc="Must not be true; use x-kubernetes-list-type instead."
    )
    multiple_of: Number | None = field(
        None, proto=19, doc="A number must be a multiple of this one."
    )
    enum: list[Any] = field(
        default_factory=list, proto=20, list_type="atomic", doc="The allowed values."
    )
    max_properties: int | None = field(None, proto=21, doc="The most fields of an object.")
    min_properties: int | None = field(None, proto=22, doc="The fewest fields of an object.")
    required: list[str] = field(
        default_factory=list,
        proto=23,
        list_type="atomic",
        doc="The names of the fields that an object must have.",
    )
    # JSON Schema also allows a list of schemas or a boolean here; definitions may not use these,
    # except for `additionalProperties: true`.
    items: "JSONSchemaProps | None" = field(
        None, proto=(24, 1), doc="The schema of the items of an array."
    )
    all_of: "list[JSONSchemaProps]" = field(
        default_factory=list,
        proto=25,
        list_type="atomic",
        doc="Schemas that must all accept the value.",
    )
    one_of: "list[JSONSchemaProps]" = field(
        default_factory=list,
        proto=26,
        list_type="atomic",
        doc="Schemas of which exactly one must accept the value.",
    )
    any_of: "list[JSONSchemaProps]" = field(
        default_factory=list,
        proto=27,
        list_type="atomic",
        doc="Schemas of which at least one must accept the value.",
    )
    not_: "JSONSchemaProps | None" = field(
        None, proto=28, doc="A schema that must not accept the value."
    )
    properties: "dict[str, JSONSchemaProps]" = field(
        default_factory=dict, proto=29, doc="The schemas of the fields of an object, by name."
    )
    additional_properties: "JSONSchemaProps | bool | None" = field(
        None,
        proto=30,
        doc="The schema of the values of a map, or true for values of any type. Excludes"
        " `properties`.",
    )
    pattern_properties: "dict[str, JSONSchemaProps]" = field(
        default_factory=dict, proto=31, doc="Not supported; must be empty."
    )
    dependencies: dict[str, Any] = field(
        default_factory=dict, proto=32, doc="Not supported; must be empty."
    )
    additional_items: "JSONSchemaProps | bool | None" = field(
        None, proto=33, doc="Not supported; must be unset."
    )
    definitions: "dict[str, JSONSchemaProps]" = field(
        default_factory=dict, proto=34, doc="Not supported; must be empty."
    )
    external_docs: ExternalDocumentation | None = field(
        None, proto=35, doc="Where more documentation is."
    )
    example: Any = field(None, proto=36, doc="An example of the value, for people.")
    nullable: bool = field(False, proto=37, doc="Whether the value may be null.")
    preserve_unknown_fields: bool | None = field(
        None,
        wire="x-kubernetes-preserve-unknown-fields",
        proto=38,
        doc="Whether fields that the schema does not have are kept in an object; they are"
        " pruned otherwise.",
    )
    embedded_resource: bool = field(
        False,
        wire="x-kubernetes-embedded-resource",
        proto=39,
        doc="Whether the value is a whole object with kind, apiVersion and metadata.",
    )
    int_or_string: bool = field(
        False,
        wire="x-kubernetes-int-or-string",
        proto=40,
        doc="Whether the value is an integer or a string.",
    )
    list_map_keys: list[str] = field(
        default_factory=list,
        wire="x-kubernetes-list-map-keys",
        proto=41,
        list_type="atomic",
        doc="The names of the fields that identify an item of a list of type map.",
    )
    list_type: str | None = field(
        None,
        wire="x-kubernetes-list-type",
        proto=42,
        doc="How apply merges a list: atomic (as a whole), set (by its values) or map (by its"
        " keys).",
    )
    map_type: str | None = field(
        None,
        wire="x-kubernetes-map-type",
        proto=43,
        doc="How apply merges an object: granular (field by field) or atomic (as a whole).",
    )
    validations: list[ValidationRule] = field(
        default_factory=list,
        wire="x-kubernetes-validations",
        proto=44,
        list_map_keys=("rule",),
        patch_strategy="merge",
        patch_merge_key="rule",
        doc="Rules in CEL that the value must meet.",
    )
