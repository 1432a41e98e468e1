"""The types of rbac.authorization.k8s.io/v1, which are also the internal ones."""

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
    """Verbs that are allowed, on resources or on paths."""

    verbs: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="What is allowed; `*` is everything.",
    )
    api_groups: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc='The groups of the resources; `""` is the core group and `*` every group.',
    )
    resources: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="The resources, with subresources as in `gadgets/status`; `*` is every one.",
    )
    resource_names: list[str] = field(
        default_factory=list, proto=4, list_type="atomic", doc="Only these objects, if any."
    )
    non_resource_urls: list[str] = field(
        default_factory=list,
        proto=5,
        wire="nonResourceURLs",
        list_type="atomic",
        doc="Paths that are no resources; one may end in `*`. Only in cluster roles.",
    )


class Subject(Model, map_type="atomic"):
    """Somebody to whom a role is given."""

    kind: str = field("", proto=1, omit_empty=False, doc="User, Group or ServiceAccount.")
    api_group: str = field(
        "", proto=2, doc="The group of the kind; it follows from the kind if left out."
    )
    name: str = field("", proto=3, omit_empty=False, doc="What they are called.")
    namespace: str = field("", proto=4, doc="Where a service account is; others have none.")


class RoleRef(Model, map_type="atomic"):
    """The role that a binding gives."""

    api_group: str = field("", proto=1, doc="The group of the role.")
    kind: str = field("", proto=2, omit_empty=False, doc="Role or ClusterRole.")
    name: str = field("", proto=3, omit_empty=False, doc="The name of the role.")


class AggregationRule(Model):
    """Whose rules a cluster role collects."""

    cluster_role_selectors: list[LabelSelector] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Cluster roles that match any of these give it their rules.",
    )


class Role(Object):
    """A Role allows things in its namespace."""

    rules: list[PolicyRule] = field(
        default_factory=list, proto=2, list_type="atomic", doc="What it allows."
    )


class ClusterRole(Object):
    """A ClusterRole allows things everywhere, or in a namespace where a RoleBinding gives it."""

    rules: list[PolicyRule] = field(
        default_factory=list, proto=2, list_type="atomic", doc="What it allows."
    )
    aggregation_rule: AggregationRule | None = field(
        None, proto=3, doc="Whose rules it collects; its own are then written by the server."
    )


class RoleBinding(Object):
    """A RoleBinding gives a role to subjects, in its namespace."""

    subjects: list[Subject] = field(
        default_factory=list, proto=2, list_type="atomic", doc="Who gets it."
    )
    role_ref: RoleRef = field(
        default_factory=RoleRef,
        proto=3,
        doc="A Role of the namespace or a ClusterRole. It cannot be changed.",
    )


class ClusterRoleBinding(Object):
    """A ClusterRoleBinding gives a cluster role to subjects, everywhere."""

    subjects: list[Subject] = field(
        default_factory=list, proto=2, list_type="atomic", doc="Who gets it."
    )
    role_ref: RoleRef = field(
        default_factory=RoleRef, proto=3, doc="A ClusterRole. It cannot be changed."
    )
