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

    open_apiv3_schema: JSONSchemaProps | None = field(
        None, wire="openAPIV3Schema", proto=1, doc="The schema of the whole object."
    )


class CustomResourceSubresourceStatus(Model):
    """Enables the status subresource."""


class CustomResourceSubresourceScale(Model):
    """JSON paths of the fields that the scale subresource maps."""

    spec_replicas_path: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="The JSON path of the desired number of replicas, below .spec.",
    )
    status_replicas_path: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc="The JSON path of the observed number of replicas, below .status.",
    )
    label_selector_path: str | None = field(
        None,
        proto=3,
        doc="The JSON path of the label selector as a string, below .status or .spec;"
        " autoscalers need it.",
    )


class CustomResourceSubresources(Model):
    """Subresources of a version."""

    status: CustomResourceSubresourceStatus | None = field(
        None,
        proto=1,
        doc="Serves the status apart from the rest: writes of the object ignore it, and writes"
        " of it ignore the rest.",
    )
    scale: CustomResourceSubresourceScale | None = field(
        None, proto=2, doc="Serves the number of replicas in the form of a Scale."
    )


class CustomResourceColumnDefinition(Model):
    """A column of `kubectl get`."""

    name: str = field("", proto=1, omit_empty=False, doc="The heading of the column.")
    type: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=COLUMN_TYPES,
        doc="The type of the values: a date is shown as an age.",
    )
    format: str = field("", proto=3, doc="The format of the values, such as name or byte.")
    description: str = field("", proto=4, doc="What the column shows.")
    priority: Int32 = field(
        0, proto=5, doc="Importance of the column; above 0 it is shown only by `-o wide`."
    )
    json_path: str = field(
        "", proto=6, omit_empty=False, doc="JSON path of the value in the object."
    )


class SelectableField(Model):
    """A field that can be used in field selectors."""

    json_path: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="The JSON path of the field, which is a string, an integer or a boolean.",
    )


class CustomResourceDefinitionVersion(Model):
    """A version of a custom resource."""

    name: str = field(
        "", proto=1, omit_empty=False, doc="The name of the version, such as v1beta1."
    )
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
    schema_: CustomResourceValidation | None = field(
        None, wire="schema", proto=4, doc="The schema of the version."
    )
    subresources: CustomResourceSubresources | None = field(
        None, proto=5, doc="The subresources of the version."
    )
    additional_printer_columns: list[CustomResourceColumnDefinition] = field(
        default_factory=list,
        proto=6,
        list_type="atomic",
        doc="The columns of `kubectl get` beside the name; the age, unless any are given.",
    )
    selectable_fields: list[SelectableField] = field(
        default_factory=list,
        proto=9,
        list_type="atomic",
        doc="Fields that field selectors can select by, beside the name and the namespace.",
    )


class CustomResourceDefinitionNames(Model):
    """Names of a resource and its kind."""

    plural: str = field(
        "", proto=1, omit_empty=False, doc="The name of the resource in paths, in lower case."
    )
    singular: str = field(
        "", proto=2, doc="The name of one object; defaults to the kind in lower case."
    )
    short_names: list[str] = field(
        default_factory=list, proto=3, list_type="atomic", doc="Abbreviations that clients accept."
    )
    kind: str = field("", proto=4, omit_empty=False, doc="The kind of the objects, in CamelCase.")
    list_kind: str = field("", proto=5, doc="The kind of lists; defaults to the kind with List.")
    categories: list[str] = field(
        default_factory=list,
        proto=6,
        list_type="atomic",
        doc="Groups of resources that it belongs to, such as all.",
    )


class ServiceReference(Model):
    """Reference to a Service in the cluster."""

    namespace: str = field("", proto=1, omit_empty=False, doc="The namespace of the Service.")
    name: str = field("", proto=2, omit_empty=False, doc="The name of the Service.")
    path: str | None = field(None, proto=3, doc="The path of the webhook.")
    port: Int32 | None = field(None, proto=4, doc="The port of the Service; defaults to 443.")


class WebhookClientConfig(Model):
    """Connection to a webhook."""

    url: str | None = field(None, proto=3, doc="The URL of the webhook. Excludes `service`.")
    service: ServiceReference | None = field(
        None, proto=1, doc="The Service of the webhook. Excludes `url`."
    )
    ca_bundle: Bytes = field(
        b"",
        proto=2,
        doc="PEM certificates of the authorities that may have signed the certificate of the"
        " webhook.",
    )


class WebhookConversion(Model):
    """Webhook that converts objects between versions."""

    client_config: WebhookClientConfig | None = field(None, proto=2, doc="How to call the webhook.")
    conversion_review_versions: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        omit_empty=False,
        doc="The versions of ConversionReview that the webhook understands, in the order of"
        " preference.",
    )


class CustomResourceConversion(Model):
    """Conversion of objects between versions."""

    strategy: str = field(
        "",
        proto=1,
        omit_empty=False,
        enum=(NO_CONVERSION, WEBHOOK),
        publish_enum=False,
        doc="How objects are converted: None changes only the apiVersion, Webhook calls a webhook.",
    )
    webhook: WebhookConversion | None = field(
        None, proto=2, doc="The webhook of the strategy Webhook."
    )


class CustomResourceDefinitionSpec(Model):
    """Desired state of a CustomResourceDefinition."""

    group: str = field("", proto=1, omit_empty=False, doc="The API group of the resource.")
    names: CustomResourceDefinitionNames = field(
        default_factory=CustomResourceDefinitionNames,
        proto=3,
        required=True,
        doc="The names of the resource and its kind.",
    )
    scope: str = field(
        "",
        proto=4,
        omit_empty=False,
        enum=(CLUSTER, NAMESPACED),
        publish_enum=False,
        doc="Whether the objects are in namespaces.",
    )
    versions: list[CustomResourceDefinitionVersion] = field(
        default_factory=list,
        proto=7,
        list_type="atomic",
        omit_empty=False,
        doc="The versions of the resource. Discovery lists them by their names, stable ones first.",
    )
    conversion: CustomResourceConversion | None = field(
        None, proto=9, doc="How objects are converted between the versions."
    )
    preserve_unknown_fields: bool = field(
        False,
        proto=10,
        doc="Must be false; a schema has x-kubernetes-preserve-unknown-fields instead.",
    )


class CustomResourceDefinitionCondition(Model):
    """A condition of a CustomResourceDefinition."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="The aspect that the condition is about, such as Established or NamesAccepted.",
    )
    status: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("True", "False", "Unknown"),
        doc="Whether it holds.",
    )
    last_transition_time: Time | None = field(
        None, proto=3, omit_empty=False, required=False, doc="When the status last changed."
    )
    reason: str = field(
        "", proto=4, doc="The reason of the last transition, one word in CamelCase for programs."
    )
    message: str = field("", proto=5, doc="Details of the last transition, for people.")
    observed_generation: int = field(
        0, proto=6, doc="The generation that the condition was determined from."
    )


class CustomResourceDefinitionStatus(Model):
    """Observed state of a CustomResourceDefinition."""

    conditions: list[CustomResourceDefinitionCondition] | None = field(
        None,
        proto=1,
        list_map_keys=("type",),
        omit_empty=False,
        required=False,
        doc="The conditions of the definition.",
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
        required=False,
        doc="Versions in which objects were ever stored, unless they were migrated.",
    )
    observed_generation: int = field(0, proto=4, doc="The generation that was last acted on.")


class CustomResourceDefinition(Object):
    """CustomResourceDefinition represents a resource that should be served by the API server."""

    spec: CustomResourceDefinitionSpec = field(
        default_factory=CustomResourceDefinitionSpec,
        proto=2,
        required=True,
        doc="The resource to serve.",
    )
    status: CustomResourceDefinitionStatus = field(
        default_factory=CustomResourceDefinitionStatus,
        proto=3,
        doc="What the server has made of it.",
    )
