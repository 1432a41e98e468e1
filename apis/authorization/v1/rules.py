"""Rules reviews: enumerate the permissions of a user in a namespace."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field


class ResourceRule(Model):
    """Verbs that are allowed on resources; `*` means all."""

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
        doc="API groups of the resources; `*` means all.",
    )
    resources: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Resources that the rule applies to; `*` means all.",
    )
    resource_names: list[str] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Names of the objects that the rule applies to; empty means all.",
    )


class NonResourceRule(Model):
    """Verbs that are allowed on non-resource URLs; a path may end in `*`."""

    verbs: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="HTTP methods in lower case that are allowed; `*` means all.",
    )
    non_resource_urls: list[str] = field(
        default_factory=list,
        proto=2,
        wire="nonResourceURLs",
        list_type="atomic",
        doc="Paths that the rule applies to; a path may end in `*`.",
    )


class SelfSubjectRulesReviewSpec(Model):
    """The namespace to evaluate."""

    namespace: str = field("", proto=1, doc="Namespace to evaluate rules for.")


class SubjectRulesReviewStatus(Model):
    """Permissions of the user, possibly incomplete: for display, not for access decisions."""

    resource_rules: list[ResourceRule] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="What the user may do with resources.",
    )
    non_resource_rules: list[NonResourceRule] = field(
        default_factory=list,
        proto=2,
        omit_empty=False,
        list_type="atomic",
        doc="What the user may do at other paths.",
    )
    incomplete: bool = field(
        False, proto=3, omit_empty=False, doc="Whether the rules may be incomplete."
    )
    evaluation_error: str = field("", proto=4, doc="Error that made the rules incomplete, if any.")


class SelfSubjectRulesReview(Object):
    """SelfSubjectRulesReview lists the actions that the current user can perform in a namespace."""

    spec: SelfSubjectRulesReviewSpec = field(
        default_factory=SelfSubjectRulesReviewSpec,
        proto=2,
        required=True,
        doc="Request to evaluate.",
    )
    status: SubjectRulesReviewStatus = field(
        default_factory=SubjectRulesReviewStatus, proto=3, doc="Result, filled in by the server."
    )
