"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "CustomResourceConversion.strategy": "v1.ConversionStrategyType",
    "CustomResourceDefinitionCondition.status": "v1.ConditionStatus",
    "CustomResourceDefinitionCondition.type": "v1.CustomResourceDefinitionConditionType",
    "CustomResourceDefinitionSpec.scope": "v1.ResourceScope",
    "JSONSchemaProps.$schema": "v1.JSONSchemaURL",
    "JSONSchemaProps.additionalItems": "v1.JSONSchemaPropsOrBool",
    "JSONSchemaProps.additionalProperties": "v1.JSONSchemaPropsOrBool",
    "JSONSchemaProps.default": "v1.JSON",
    "JSONSchemaProps.definitions": "v1.JSONSchemaDefinitions",
    "JSONSchemaProps.dependencies": "v1.JSONSchemaDependencies",
    "JSONSchemaProps.enum": "[]v1.JSON",
    "JSONSchemaProps.example": "v1.JSON",
    "JSONSchemaProps.items": "v1.JSONSchemaPropsOrArray",
    "JSONSchemaProps.x-kubernetes-validations": "v1.ValidationRules",
    "ValidationRule.reason": "v1.FieldValueErrorReason",
}
