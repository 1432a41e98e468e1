"""Rules, match conditions and match resources: which requests admission is called for."""

from typing import Final

from apimachinery.meta.types import LabelSelector
from apimachinery.model.model import Model, field

ALL: Final = "*"
"""The wildcard for operations, groups, versions, resources and scopes."""
CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"
CONNECT: Final = "CONNECT"

CLUSTER_SCOPE: Final = "Cluster"
NAMESPACED_SCOPE: Final = "Namespaced"

FAIL: Final = "Fail"
IGNORE: Final = "Ignore"
EXACT: Final = "Exact"
EQUIVALENT: Final = "Equivalent"


class RuleWithOperations(Model):
    """Operations and resources; a request matches if all fields match."""

    operations: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        known=("*", "CONNECT", "CREATE", "DELETE", "UPDATE"),
        publish_enum=True,
        doc=(
            "Operations that match: CREATE, UPDATE, DELETE, CONNECT, or `*` alone for all."
            " Required."
        ),
    )
    api_groups: list[str] = field(
        default_factory=list,
        proto=(2, 1),
        list_type="atomic",
        doc=(
            "API groups that match; the empty string is the core group, `*` alone means all."
            " Required."
        ),
    )
    api_versions: list[str] = field(
        default_factory=list,
        proto=(2, 2),
        list_type="atomic",
        doc="API versions that match; `*` alone means all. Required.",
    )
    resources: list[str] = field(
        default_factory=list,
        proto=(2, 3),
        list_type="atomic",
        doc=(
            "Resources that match, in plural: `pods`, `pods/log`, `pods/*` for all subresources"
            " of pods, `*/scale` for the subresource of every resource, `*` for all resources"
            " without subresources, `*/*` for everything. Required."
        ),
    )
    scope: str | None = field(
        None,
        proto=(2, 4),
        known=("*", "Cluster", "Namespaced"),
        publish_enum=True,
        doc="Scope of the resources: Cluster, Namespaced, or `*` for both, which is the default.",
    )


class NamedRuleWithOperations(Model, map_type="atomic"):
    """Operations, resources and names of objects; a request matches if all fields match."""

    resource_names: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Names of objects that match; all names match if it is empty.",
    )
    operations: list[str] = field(
        default_factory=list,
        proto=(2, 1),
        list_type="atomic",
        known=("*", "CONNECT", "CREATE", "DELETE", "UPDATE"),
        publish_enum=True,
        doc=(
            "Operations that match: CREATE, UPDATE, DELETE, CONNECT, or `*` alone for all."
            " Required."
        ),
    )
    api_groups: list[str] = field(
        default_factory=list,
        proto=(2, 2, 1),
        list_type="atomic",
        doc=(
            "API groups that match; the empty string is the core group, `*` alone means all."
            " Required."
        ),
    )
    api_versions: list[str] = field(
        default_factory=list,
        proto=(2, 2, 2),
        list_type="atomic",
        doc="API versions that match; `*` alone means all. Required.",
    )
    resources: list[str] = field(
        default_factory=list,
        proto=(2, 2, 3),
        list_type="atomic",
        doc=(
            "Resources that match, in plural: `pods`, `pods/log`, `pods/*` for all subresources"
            " of pods, `*/scale` for the subresource of every resource, `*` for all resources"
            " without subresources, `*/*` for everything. Required."
        ),
    )
    scope: str | None = field(
        None,
        proto=(2, 2, 4),
        known=("*", "Cluster", "Namespaced"),
        publish_enum=True,
        doc="Scope of the resources: Cluster, Namespaced, or `*` for both, which is the default.",
    )


class MatchResources(Model, map_type="atomic"):
    """Requests that a policy or binding applies to: those that match a resource rule and both
    selectors, and no exclusion.
    """

    namespace_selector: LabelSelector | None = field(
        None,
        proto=1,
        doc=(
            "Labels of the namespace of the object; for a Namespace, its own labels. Other"
            " cluster-scoped objects always match. Empty, the default, matches everything."
        ),
    )
    object_selector: LabelSelector | None = field(
        None,
        proto=2,
        doc=(
            "Labels of the object, which is compared before and after the change: one of the"
            " two must match. Users can choose labels, so it is a filter for opting in, not a"
            " guard. Empty, the default, matches everything."
        ),
    )
    resource_rules: list[NamedRuleWithOperations] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Rules of which a request must match at least one.",
    )
    exclude_resource_rules: list[NamedRuleWithOperations] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Rules that exclude requests; a request that matches one is not evaluated.",
    )
    match_policy: str | None = field(
        None,
        proto=7,
        known=("Equivalent", "Exact"),
        publish_enum=True,
        doc=(
            "Whether a rule matches only requests in the versions it names (Exact), or also"
            " equivalent requests in other groups and versions of the same objects (Equivalent,"
            " the default)."
        ),
    )


class MatchCondition(Model):
    """A CEL expression that must be true for a request to be processed."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "Name of the condition, unique in its list: letters, digits, `-`, `_` and `.`, with"
            " an optional DNS prefix and slash. Used in errors and logs. Required."
        ),
    )
    expression: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc=(
            "CEL expression with a boolean result over `object`, `oldObject`, `request`,"
            " `authorizer` and, if the policy has parameters, `params`. Required."
        ),
    )
