"""FlowSchema: which requests belong to which priority level, and which of them form a flow."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32

ALL: Final = "*"
"""The wildcard for verbs, groups, resources, namespaces, paths and names."""
USER: Final = "User"
GROUP_KIND: Final = "Group"
SERVICE_ACCOUNT: Final = "ServiceAccount"
BY_USER: Final = "ByUser"
BY_NAMESPACE: Final = "ByNamespace"
DANGLING: Final = "Dangling"
"""Condition: the priority level that a schema references does not exist."""
EXEMPT: Final = "exempt"
"""The schema and the level of requests that are never limited."""
CATCH_ALL: Final = "catch-all"
"""The schema and the level of requests that no other schema matches."""


class UserSubject(Model):
    """A user, by name."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the user; `*` means every user.")


class GroupSubject(Model):
    """All members of a group of users."""

    name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the group; `*` means every group."
    )


class ServiceAccountSubject(Model):
    """A service account, or all service accounts of a namespace."""

    namespace: str = field(
        "", proto=1, omit_empty=False, doc="Namespace of the service account. Required."
    )
    name: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc="Name of the service account; `*` means all of the namespace. Required.",
    )


class Subject(Model):
    """Originator of requests; `kind` says which of the other fields is set."""

    kind: str = field(
        "", proto=1, omit_empty=False, doc="Kind of the subject: User, Group or ServiceAccount."
    )
    user: UserSubject | None = field(None, proto=2, doc="The user, if the kind is User.")
    group: GroupSubject | None = field(None, proto=3, doc="The group, if the kind is Group.")
    service_account: ServiceAccountSubject | None = field(
        None, proto=4, doc="The service account, if the kind is ServiceAccount."
    )


class ResourcePolicyRule(Model):
    """Matches requests for resources: verb, group, resource and scope must all match."""

    verbs: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="set",
        doc="Verbs that match; `*` alone means all. Required.",
    )
    api_groups: list[str] = field(
        default_factory=list,
        proto=2,
        omit_empty=False,
        list_type="set",
        doc='API groups that match; `""` is the core group, `*` alone means all. Required.',
    )
    resources: list[str] = field(
        default_factory=list,
        proto=3,
        omit_empty=False,
        list_type="set",
        doc=(
            "Resources that match, in plural and lower case, and subresources such as"
            " `gadgets/status`; `*` alone means all. Required."
        ),
    )
    cluster_scope: bool = field(
        False, proto=4, doc="Whether requests without a namespace match, too."
    )
    namespaces: list[str] = field(
        default_factory=list,
        proto=5,
        null_when_empty=True,
        list_type="set",
        required=False,
        doc=(
            "Namespaces that match; `*` alone means all. May be empty only if `clusterScope` is"
            " true."
        ),
    )


class NonResourcePolicyRule(Model):
    """Matches requests for paths that are not of a resource: verb and path must match."""

    verbs: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="set",
        doc="Verbs that match; `*` alone means all. Required.",
    )
    non_resource_urls: list[str] = field(
        default_factory=list,
        proto=6,
        wire="nonResourceURLs",
        omit_empty=False,
        list_type="set",
        doc="Paths that match, such as `/healthz` or `/healthz/*`; `*` means all. Required.",
    )


class PolicyRulesWithSubjects(Model):
    """Matches a request if one of the subjects sent it and one of the rules matches it."""

    subjects: list[Subject] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Users, groups and service accounts that the rules apply to. Required.",
    )
    resource_rules: list[ResourcePolicyRule] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Rules that match requests for resources.",
    )
    non_resource_rules: list[NonResourcePolicyRule] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Rules that match requests for other paths.",
    )


class PriorityLevelConfigurationReference(Model):
    """Reference to a priority level."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the priority level. Required.")


class FlowDistinguisherMethod(Model):
    """How the requests of a schema are divided into flows."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="ByUser makes each user a flow, ByNamespace each namespace. Required.",
    )


class FlowSchemaSpec(Model):
    """Specification of a FlowSchema."""

    priority_level_configuration: PriorityLevelConfigurationReference = field(
        default_factory=PriorityLevelConfigurationReference,
        proto=1,
        required=True,
        doc="Priority level of the matching requests; without it the schema is ignored. Required.",
    )
    matching_precedence: Int32 = field(
        0,
        proto=2,
        omit_empty=False,
        required=False,
        doc=(
            "Order among the schemas that match a request: the lowest number is chosen, and among"
            " equals the first name. From 1 to 10000, 1000 by default."
        ),
    )
    distinguisher_method: FlowDistinguisherMethod | None = field(
        None, proto=3, doc="Division of the requests into flows; without it all are one flow."
    )
    rules: list[PolicyRulesWithSubjects] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Rules of which one must match; without rules the schema matches no request.",
    )


class FlowSchemaCondition(Model):
    """Condition of a FlowSchema."""

    type: str = field("", proto=1, required=True, doc="Type of the condition. Required.")
    status: str = field("", proto=2, doc="Status of the condition: True, False or Unknown.")
    last_transition_time: Time | None = field(
        None, proto=3, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=4, doc="Reason of the last change, one word.")
    message: str = field("", proto=5, doc="Description of the last change.")


class FlowSchemaStatus(Model):
    """Status of a FlowSchema."""

    conditions: list[FlowSchemaCondition] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the schema.",
    )


class FlowSchema(Object):
    """FlowSchema assigns requests to a priority level and divides them into flows."""

    spec: FlowSchemaSpec = field(
        default_factory=FlowSchemaSpec, proto=2, required=True, doc="Specification of the schema."
    )
    status: FlowSchemaStatus = field(
        default_factory=FlowSchemaStatus, proto=3, doc="Status of the schema."
    )
