"""Webhook configurations: HTTP services that are asked before an object is written."""

from typing import Final

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Bytes, Int32
from apis.admissionregistration.v1.rules import MatchCondition, RuleWithOperations

NO_SIDE_EFFECTS: Final = "None"
NONE_ON_DRY_RUN: Final = "NoneOnDryRun"
NEVER: Final = "Never"
IF_NEEDED: Final = "IfNeeded"


class ServiceReference(Model):
    """Reference to a Service in the cluster."""

    namespace: str = field("", proto=1, omit_empty=False, doc="Namespace of the service. Required.")
    name: str = field("", proto=2, omit_empty=False, doc="Name of the service. Required.")
    path: str | None = field(None, proto=3, doc="URL path of requests to the service.")
    port: Int32 | None = field(None, proto=4, doc="Port of the service, 443 by default.")


class WebhookClientConfig(Model):
    """Connection to a webhook; exactly one of `url` and `service` is set."""

    url: str | None = field(
        None,
        proto=3,
        doc="URL of the webhook, `https://host:port/path`, without user, query and fragment.",
    )
    service: ServiceReference | None = field(
        None, proto=1, doc="Service in the cluster that serves the webhook."
    )
    ca_bundle: Bytes = field(
        b"",
        proto=2,
        doc=(
            "CA certificates, as PEM, by which the server certificate of the webhook is"
            " verified; without it the system's certificates are used."
        ),
    )


class ValidatingWebhook(Model):
    """A webhook that accepts or rejects requests."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "Name of the webhook, a domain name of at least three parts such as"
            " `images.example.com`, unique in its configuration. Required."
        ),
    )
    client_config: WebhookClientConfig = field(
        default_factory=WebhookClientConfig,
        proto=2,
        required=True,
        doc="Connection to the webhook. Required.",
    )
    rules: list[RuleWithOperations] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc=(
            "Operations and resources for which the webhook is called; one of the rules must match."
        ),
    )
    failure_policy: str | None = field(
        None,
        proto=4,
        known=("Fail", "Ignore"),
        publish_enum=True,
        doc=(
            "What happens if the webhook cannot be called: Fail rejects the request, Ignore"
            " admits it. Defaults to Fail."
        ),
    )
    match_policy: str | None = field(
        None,
        proto=9,
        known=("Equivalent", "Exact"),
        publish_enum=True,
        doc=(
            "Whether a rule matches only requests in the versions it names (Exact), or also"
            " equivalent requests in other versions (Equivalent, the default)."
        ),
    )
    namespace_selector: LabelSelector | None = field(
        None,
        proto=5,
        doc=(
            "Labels of the namespaces for whose objects the webhook is called. Cluster-scoped"
            " objects other than Namespaces always match. Empty, the default, matches"
            " everything."
        ),
    )
    object_selector: LabelSelector | None = field(
        None,
        proto=10,
        doc=(
            "Labels of the objects for which the webhook is called, before or after the change."
            " Empty, the default, matches everything."
        ),
    )
    side_effects: str | None = field(
        None,
        proto=6,
        known=("None", "NoneOnDryRun", "Some", "Unknown"),
        publish_enum=True,
        required=True,
        doc=(
            "Whether the webhook has effects beside its answer: None, or NoneOnDryRun if it has"
            " none for dry runs. Required."
        ),
    )
    timeout_seconds: Int32 | None = field(
        None, proto=7, doc="Seconds after which a call fails, from 1 to 30; 10 by default."
    )
    admission_review_versions: list[str] = field(
        default_factory=list,
        proto=8,
        omit_empty=False,
        list_type="atomic",
        doc="Versions of AdmissionReview that the webhook understands, preferred first. Required.",
    )
    match_conditions: list[MatchCondition] = field(
        default_factory=list,
        proto=11,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="CEL expressions that must all be true for the webhook to be called, at most 64.",
    )


class ValidatingWebhookConfiguration(Object):
    """ValidatingWebhookConfiguration describes webhooks that accept or reject requests without
    changing objects.
    """

    webhooks: list[ValidatingWebhook] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Webhooks and the requests for which they are called.",
    )


class MutatingWebhook(Model):
    """A webhook that may change objects, and accepts or rejects requests."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "Name of the webhook, a domain name of at least three parts such as"
            " `images.example.com`, unique in its configuration. Required."
        ),
    )
    client_config: WebhookClientConfig = field(
        default_factory=WebhookClientConfig,
        proto=2,
        required=True,
        doc="Connection to the webhook. Required.",
    )
    rules: list[RuleWithOperations] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc=(
            "Operations and resources for which the webhook is called; one of the rules must match."
        ),
    )
    failure_policy: str | None = field(
        None,
        proto=4,
        known=("Fail", "Ignore"),
        publish_enum=True,
        doc=(
            "What happens if the webhook cannot be called: Fail rejects the request, Ignore"
            " admits it. Defaults to Fail."
        ),
    )
    match_policy: str | None = field(
        None,
        proto=9,
        known=("Equivalent", "Exact"),
        publish_enum=True,
        doc=(
            "Whether a rule matches only requests in the versions it names (Exact), or also"
            " equivalent requests in other versions (Equivalent, the default)."
        ),
    )
    namespace_selector: LabelSelector | None = field(
        None,
        proto=5,
        doc=(
            "Labels of the namespaces for whose objects the webhook is called. Cluster-scoped"
            " objects other than Namespaces always match. Empty, the default, matches"
            " everything."
        ),
    )
    object_selector: LabelSelector | None = field(
        None,
        proto=11,
        doc=(
            "Labels of the objects for which the webhook is called, before or after the change."
            " Empty, the default, matches everything."
        ),
    )
    side_effects: str | None = field(
        None,
        proto=6,
        known=("None", "NoneOnDryRun", "Some", "Unknown"),
        publish_enum=True,
        required=True,
        doc=(
            "Whether the webhook has effects beside its answer: None, or NoneOnDryRun if it has"
            " none for dry runs. Required."
        ),
    )
    timeout_seconds: Int32 | None = field(
        None, proto=7, doc="Seconds after which a call fails, from 1 to 30; 10 by default."
    )
    admission_review_versions: list[str] = field(
        default_factory=list,
        proto=8,
        omit_empty=False,
        list_type="atomic",
        doc="Versions of AdmissionReview that the webhook understands, preferred first. Required.",
    )
    reinvocation_policy: str | None = field(
        None,
        proto=10,
        known=("IfNeeded", "Never"),
        publish_enum=True,
        doc=(
            "Whether the webhook is called again if a later webhook changes the object: Never,"
            " the default, or IfNeeded."
        ),
    )
    match_conditions: list[MatchCondition] = field(
        default_factory=list,
        proto=12,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="CEL expressions that must all be true for the webhook to be called, at most 64.",
    )


class MutatingWebhookConfiguration(Object):
    """MutatingWebhookConfiguration describes webhooks that may change objects before they are
    written.
    """

    webhooks: list[MutatingWebhook] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Webhooks and the requests for which they are called.",
    )
