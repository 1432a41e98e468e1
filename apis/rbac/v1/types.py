"""Types of rbac.authorization.k8s.io/v1, which are also the internal types."""

from typing import Final

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import Model, field

ALL: Final = "*"
"""The wildcard for verbs, groups, resources and paths."""
USER: Final = "User"
GROUP_KIND: Final = "Group"
SERVICE_ACCOUNT: Final = "ServiceAccount"
ROLE: Final = "Role"
CLUSTER_ROLE: Final = "ClusterRole"


class PolicyRule(Model):
    """A policy rule: verbs that are allowed on resources or on non-resource URLs."""

    verbs: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Verbs that are allowed; `*` means all.",
    )
    api_groups: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc='API groups of the resources; `""` is the core group, `*` means all.',
    )
    resources: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Resources and subresources, such as `gadgets/status`; `*` means all.",
    )
    resource_names: list[str] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Names of the objects that the rule applies to; empty means all.",
    )
    non_resource_urls: list[str] = field(
        default_factory=list,
        proto=5,
        wire="nonResourceURLs",
        list_type="atomic",
        doc="Non-resource URL paths, which may end in `*`. Only in ClusterRoles.",
    )


class Subject(Model, map_type="atomic"):
    """A user, group or service account that a role is granted to."""

    kind: str = field(
        "", proto=1, omit_empty=False, doc="Kind of the subject: User, Group or ServiceAccount."
    )
    api_group: str = field(
        "", proto=2, doc="API group of the subject; the default depends on the kind."
    )
    name: str = field("", proto=3, omit_empty=False, doc="Name of the subject.")
    namespace: str = field(
        "", proto=4, doc="Namespace of a service account; not set for users and groups."
    )


class RoleRef(Model, map_type="atomic"):
    """Reference to the role that a binding grants."""

    api_group: str = field(
        "", proto=1, published_default="", doc="API group of the referenced role."
    )
    kind: str = field(
        "", proto=2, omit_empty=False, doc="Kind of the referenced role: Role or ClusterRole."
    )
    name: str = field("", proto=3, omit_empty=False, doc="Name of the referenced role.")


class AggregationRule(Model):
    """Selectors of the ClusterRoles whose rules are combined into this one."""

    cluster_role_selectors: list[LabelSelector] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Selectors of the ClusterRoles to aggregate; matching any of them suffices.",
    )


class Role(Object):
    """Role is a set of permissions in a namespace."""

    rules: list[PolicyRule] = field(
        default_factory=list, proto=2, list_type="atomic", doc="Policy rules of the role."
    )


class ClusterRole(Object):
    """ClusterRole is a set of permissions, granted cluster-wide or in one namespace."""

    rules: list[PolicyRule] = field(
        default_factory=list, proto=2, list_type="atomic", doc="Policy rules of the role."
    )
    aggregation_rule: AggregationRule | None = field(
        None,
        proto=3,
        doc="Aggregation of other roles' rules; the server then maintains the rules of this role.",
    )


class RoleBinding(Object):
    """RoleBinding grants a role to subjects in its namespace."""

    subjects: list[Subject] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Users, groups and service accounts that the role is granted to.",
    )
    role_ref: RoleRef = field(
        default_factory=RoleRef,
        proto=3,
        required=True,
        doc="Role of the same namespace, or ClusterRole, that is granted. Immutable.",
    )


class ClusterRoleBinding(Object):
    """ClusterRoleBinding grants a ClusterRole to subjects in all namespaces."""

    subjects: list[Subject] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Users, groups and service accounts that the role is granted to.",
    )
    role_ref: RoleRef = field(
        default_factory=RoleRef,
        proto=3,
        required=True,
        doc="ClusterRole that is granted. Immutable.",
    )
