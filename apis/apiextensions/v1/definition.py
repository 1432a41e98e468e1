"""CustomResourceDefinition: an object that defines a resource."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Bytes, Int32
from apis.apiextensions.v1.schema import JSONSchemaProps

CLUSTER: Final = "Cluster"
NAMESPACED: Final = "Namespaced"
NO_CONVERSION: Final = "None"
WEBHOOK: Final = "Webhook"

COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")

FINALIZER: Final = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that keeps a terminating definition until its objects are deleted."""


class CustomResourceValidation(Model):
    """The schema by which objects of a version are validated and pruned."""

    open_apiv3_schema: JSONSchemaProps | None = field(None, wire="openAPIV3Schema", proto=1)


class CustomResourceSubresourceStatus(Model):
    """Enables the status subresource."""


class CustomResourceSubresourceScale(Model):
    """JSON paths of the fields that the scale subresource maps."""

    spec_replicas_path: str = field("", proto=1, omit_empty=False)
    status_replicas_path: str = field("", proto=2, omit_empty=False)
    label_selector_path: str | None = field(None, proto=3)


class CustomResourceSubresources(Model):
    """Subresources of a version."""

    status: CustomResourceSubresourceStatus | None = field(None, proto=1)
    scale: CustomResourceSubresourceScale | None = field(None, proto=2)


class CustomResourceColumnDefinition(Model):
    """A column of `kubectl get`."""

    name: str = field("", proto=1, omit_empty=False)
    type: str = field("", proto=2, omit_empty=False, known=COLUMN_TYPES)
    format: str = field("", proto=3)
    description: str = field("", proto=4)
    priority: Int32 = field(
        0, proto=5, doc="Importance of the column; above 0 it is shown only by `-o wide`."
    )
    json_path: str = field(
        "", proto=6, omit_empty=False, doc="JSON path of the value in the object."
    )


class SelectableField(Model):
    """A field that can be used in field selectors."""

    json_path: str = field("", proto=1, omit_empty=False)


class CustomResourceDefinitionVersion(Model):
    """A version of a custom resource."""

    name: str = field("", proto=1, omit_empty=False)
    served: bool = field(False, proto=2, omit_empty=False, doc="Whether this version is served.")
    storage: bool = field(
        False,
        proto=3,
        omit_empty=False,
        doc="Whether objects are stored in this version; true for exactly one version.",
    )
    deprecated: bool = field(
        False, proto=7, doc="Whether this version is deprecated; responses then carry a warning."
    )
    deprecation_warning: str | None = field(
        None, proto=8, doc="Text of the deprecation warning, instead of the default."
    )
    schema_: CustomResourceValidation | None = field(None, wire="schema", proto=4)
    subresources: CustomResourceSubresources | None = field(None, proto=5)
    additional_printer_columns: list[CustomResourceColumnDefinition] = field(
        default_factory=list, proto=6, list_type="atomic"
    )
    selectable_fields: list[SelectableField] = field(
        default_factory=list, proto=9, list_type="atomic"
    )


class CustomResourceDefinitionNames(Model):
    """Names of a resource and its kind."""

    plural: str = field("", proto=1, omit_empty=False)
    singular: str = field("", proto=2)
    short_names: list[str] = field(default_factory=list, proto=3, list_type="atomic")
    kind: str = field("", proto=4, omit_empty=False)
    list_kind: str = field("", proto=5)
    categories: list[str] = field(default_factory=list, proto=6, list_type="atomic")


class ServiceReference(Model):
    """Reference to a Service in the cluster."""

    namespace: str = field(proto=1)
    name: str = field(proto=2)
    path: str | None = field(None, proto=3)
    port: Int32 | None = field(None, proto=4)


class WebhookClientConfig(Model):
    """Connection to a webhook."""

    url: str | None = field(None, proto=3)
    service: ServiceReference | None = field(None, proto=1)
    ca_bundle: Bytes = field(b"", proto=2)


class WebhookConversion(Model):
    """Webhook that converts objects between versions."""

    client_config: WebhookClientConfig | None = field(None, proto=2)
    conversion_review_versions: list[str] = field(
        default_factory=list, proto=3, list_type="atomic", omit_empty=False
    )


class CustomResourceConversion(Model):
    """Conversion of objects between versions."""

    strategy: str = field("", proto=1, omit_empty=False, enum=(NO_CONVERSION, WEBHOOK))
    webhook: WebhookConversion | None = field(None, proto=2)


class CustomResourceDefinitionSpec(Model):
    """Desired state of a CustomResourceDefinition."""

    group: str = field("", proto=1, omit_empty=False)
    names: CustomResourceDefinitionNames = field(
        default_factory=CustomResourceDefinitionNames, proto=3
    )
    scope: str = field("", proto=4, omit_empty=False, enum=(CLUSTER, NAMESPACED))
    versions: list[CustomResourceDefinitionVersion] = field(
        default_factory=list, proto=7, list_type="atomic", omit_empty=False
    )
    conversion: CustomResourceConversion | None = field(None, proto=9)
    preserve_unknown_fields: bool = field(False, proto=10)


class CustomResourceDefinitionCondition(Model):
    """A condition of a CustomResourceDefinition."""

    type: str = field(proto=1)
    status: str = field(proto=2, known=("True", "False", "Unknown"))
    last_transition_time: Time | None = field(None, proto=3)
    reason: str = field("", proto=4)
    message: str = field("", proto=5)
    observed_generation: int = field(0, proto=6)


class CustomResourceDefinitionStatus(Model):
    """Observed state of a CustomResourceDefinition."""

    conditions: list[CustomResourceDefinitionCondition] | None = field(
        None, proto=1, list_map_keys=("type",), omit_empty=False
    )
    accepted_names: CustomResourceDefinitionNames = field(
        default_factory=CustomResourceDefinitionNames,
        proto=2,
        doc="Names under which the resource is served; they may differ from spec.names.",
    )
    stored_versions: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        omit_empty=False,
        doc="Versions in which objects were ever stored, unless they were migrated.",
    )
    observed_generation: int = field(0, proto=4)


class CustomResourceDefinition(Object):
    """CustomResourceDefinition represents a resource that should be served by the API server."""

    spec: CustomResourceDefinitionSpec = field(
        default_factory=CustomResourceDefinitionSpec, proto=2
    )
    status: CustomResourceDefinitionStatus = field(
        default_factory=CustomResourceDefinitionStatus, proto=3
    )
