"""Types of apiextensions.k8s.io/v1, which are also the internal types."""

from apis.apiextensions.v1.definition import (
    CustomResourceColumnDefinition,
    CustomResourceConversion,
    CustomResourceDefinition,
    CustomResourceDefinitionCondition,
    CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec,
    CustomResourceDefinitionStatus,
    CustomResourceDefinitionVersion,
    CustomResourceSubresources,
    CustomResourceSubresourceScale,
    CustomResourceSubresourceStatus,
    CustomResourceValidation,
    SelectableField,
    ServiceReference,
    WebhookClientConfig,
    WebhookConversion,
)
from apis.apiextensions.v1.schema import (
    ExternalDocumentation,
    JSONSchemaProps,
    ValidationRule,
)

__all__ = [
    "CustomResourceColumnDefinition",
    "CustomResourceConversion",
    "CustomResourceDefinition",
    "CustomResourceDefinitionCondition",
    "CustomResourceDefinitionNames",
    "CustomResourceDefinitionSpec",
    "CustomResourceDefinitionStatus",
    "CustomResourceDefinitionVersion",
    "CustomResourceSubresourceScale",
    "CustomResourceSubresourceStatus",
    "CustomResourceSubresources",
    "CustomResourceValidation",
    "ExternalDocumentation",
    "JSONSchemaProps",
    "SelectableField",
    "ServiceReference",
    "ValidationRule",
    "WebhookClientConfig",
    "WebhookConversion",
]
