"""Rules reviews: everything that a user may do in a namespace."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field


class ResourceRule(Model):
    """Verbs that are allowed on resources; `*` is every one."""

    verbs: list[str] = field(default_factory=list, proto=1, omit_empty=False, list_type="atomic")
    api_groups: list[str] = field(default_factory=list, proto=2, list_type="atomic")
    resources: list[str] = field(default_factory=list, proto=3, list_type="atomic")
    resource_names: list[str] = field(
        default_factory=list, proto=4, list_type="atomic", doc="Only these objects, if any."
    )


class NonResourceRule(Model):
    """Verbs that are allowed on paths; a path may end in `*`."""

    verbs: list[str] = field(default_factory=list, proto=1, omit_empty=False, list_type="atomic")
    non_resource_urls: list[str] = field(
        default_factory=list, proto=2, wire="nonResourceURLs", list_type="atomic"
    )


class SelfSubjectRulesReviewSpec(Model):
    """Where."""

    namespace: str = field("", proto=1, doc="The namespace to look at.")


class SubjectRulesReviewStatus(Model):
    """The answer. It may not be the whole truth, and is for showing, not for deciding."""

    resource_rules: list[ResourceRule] = field(
        default_factory=list, proto=1, omit_empty=False, list_type="atomic"
    )
    non_resource_rules: list[NonResourceRule] = field(
        default_factory=list, proto=2, omit_empty=False, list_type="atomic"
    )
    incomplete: bool = field(
        False, proto=3, omit_empty=False, doc="Whether there may be more than is listed."
    )
    evaluation_error: str = field("", proto=4, doc="Why it is incomplete, if something failed.")


class SelfSubjectRulesReview(Object):
    """A SelfSubjectRulesReview asks for everything the one who asks may do in a namespace."""

    spec: SelfSubjectRulesReviewSpec = field(
        default_factory=SelfSubjectRulesReviewSpec, proto=2, doc="The question."
    )
    status: SubjectRulesReviewStatus = field(
        default_factory=SubjectRulesReviewStatus, proto=3, doc="The answer."
    )
