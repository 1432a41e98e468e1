"""JSONSchemaProps: the schema in a definition; `apimachinery.structural` implements it."""

from typing import Annotated, Any, Final

from pydantic import (
    PlainSerializer,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from apimachinery.model.class_fields import type_info
from apimachinery.model.fail_fast import without_nulls
from apimachinery.model.model import Model, field, let_threads_run
from apimachinery.scalars.wire_types import OBJECT_OR_LIST, OWN_DECODER, OpaqueType

_PACKAGE: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_OR_BOOL: Final = OpaqueType(
    f"{_PACKAGE}.JSONSchemaPropsOrBool", "A schema, or whether any value is allowed."
)
_OR_ARRAY: Final = OpaqueType(f"{_PACKAGE}.JSONSchemaPropsOrArray", "A schema, or a list of them.")
_OR_STRINGS: Final = OpaqueType(
    f"{_PACKAGE}.JSONSchemaPropsOrStringArray", "A schema, or a list of names of fields."
)
_JSON = Annotated[Any, OpaqueType(f"{_PACKAGE}.JSON", "Any JSON value.")]


def _without_fraction(value: float) -> float:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


Number = Annotated[
    float, PlainSerializer(_without_fraction, return_type=int | float, when_used="json-unless-none")
]
"""A numeric bound; integral values are encoded without a fraction."""


def _decode_items(value: Any, decode: ValidatorFunctionWrapHandler) -> "JSONSchemaProps | None":
    """Decode a schema, or the array of schemas that JSON Schema allows in its place.

    As in Kubernetes, values of other types count as absent.
    """
    if isinstance(value, list):
        return JSONSchemaPropsArray.decode(value) if value else None
    if isinstance(value, dict | JSONSchemaProps):
        decoded: JSONSchemaProps = decode(value)
        return decoded
    return None


def _decode_dependencies(value: Any, decode: ValidatorFunctionWrapHandler) -> dict[str, Any]:
    """Decode schemas and lists of names by property; values of other types have no content."""
    dependencies: dict[str, Any] = decode(value)
    return {name: _decode_dependency(part) for name, part in dependencies.items()}


def _decode_dependency(value: Any) -> Any:
    if isinstance(value, list):
        return TypeAdapter(list[str]).validate_python(value, strict=True)
    if isinstance(value, dict):
        TypeAdapter(JSONSchemaProps).validate_python(
            without_nulls(value, type_info(JSONSchemaProps))
        )
        return value
    return None


Items = Annotated[
    "JSONSchemaProps | None",
    WrapValidator(_decode_items),
    OBJECT_OR_LIST,
    OWN_DECODER,
    _OR_ARRAY,
]
SchemaOrBool = Annotated["JSONSchemaProps | bool | None", OWN_DECODER, _OR_BOOL]
Dependencies = Annotated[
    dict[str, Annotated[Any, _OR_STRINGS]], WrapValidator(_decode_dependencies)
]


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
        None,
        proto=4,
        known=(
            "FieldValueDuplicate",
            "FieldValueForbidden",
            "FieldValueInvalid",
            "FieldValueRequired",
        ),
        publish_enum=True,
        doc="Machine-readable reason of the error if the rule is violated.",
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
    default: _JSON = field(None, proto=8, doc="Default value of an omitted field.")
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
    enum: list[_JSON] = field(
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
    items: Items = field(None, proto=24, doc="The schema of the items of an array.")
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
    additional_properties: SchemaOrBool = field(
        None,
        proto=30,
        doc="The schema of the values of a map, or true for values of any type. Excludes"
        " `properties`.",
    )
    pattern_properties: "dict[str, JSONSchemaProps]" = field(
        default_factory=dict, proto=31, doc="Not supported; must be empty."
    )
    dependencies: Dependencies = field(
        default_factory=dict, proto=32, doc="Not supported; must be empty."
    )
    additional_items: SchemaOrBool = field(None, proto=33, doc="Not supported; must be unset.")
    definitions: "dict[str, JSONSchemaProps]" = field(
        default_factory=dict, proto=34, doc="Not supported; must be empty."
    )
    external_docs: ExternalDocumentation | None = field(
        None, proto=35, doc="Where more documentation is."
    )
    example: _JSON = field(None, proto=36, doc="An example of the value, for people.")
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


class JSONSchemaPropsArray(JSONSchemaProps):
    """An array of schemas in the place of one: decoded, so that validation can refuse it."""

    schemas: list[JSONSchemaProps] = field(
        default_factory=list, list_type="atomic", doc="The schemas of the array."
    )

    @classmethod
    def decode(cls, schemas: list[Any]) -> "JSONSchemaPropsArray":
        content = without_nulls(schemas, type_info(list[JSONSchemaProps]))
        return cls(schemas=TypeAdapter(list[JSONSchemaProps]).validate_python(content))
