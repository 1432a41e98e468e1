"""Access reviews: check whether a user may make one request."""

from apimachinery.meta.types import LabelSelectorRequirement, Object
from apimachinery.model.model import Model, field


class FieldSelectorRequirement(
    Model, definition="io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement"
):
    """A requirement of a field selector."""

    key: str = field("", proto=1, omit_empty=False, doc="The field.")
    operator: str = field(
        "", proto=2, omit_empty=False, doc="Operator: In, NotIn, Exists or DoesNotExist."
    )
    values: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Values that the operators In and NotIn compare with; empty for the others.",
    )


class FieldSelectorAttributes(Model):
    """Field selector of a request, either raw or parsed."""

    raw_selector: str = field("", proto=1, doc="Selector in the syntax of the query parameter.")
    requirements: list[FieldSelectorRequirement] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Parsed requirements of the selector.",
    )


class LabelSelectorAttributes(Model):
    """Label selector of a request, either raw or parsed."""

    raw_selector: str = field("", proto=1, doc="Selector in the syntax of the query parameter.")
    requirements: list[LabelSelectorRequirement] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Parsed requirements of the selector.",
    )


class ResourceAttributes(Model):
    """Attributes of a resource request."""

    namespace: str = field(
        "", proto=1, doc="Namespace of the action; empty means all namespaces or cluster-scoped."
    )
    verb: str = field("", proto=2, doc="Verb, such as get, list or create; `*` means all.")
    group: str = field("", proto=3, doc="API group of the resource; `*` means all.")
    version: str = field("", proto=4, doc="API version of the resource; `*` means all.")
    resource: str = field("", proto=5, doc="Resource type; `*` means all.")
    subresource: str = field("", proto=6, doc="Subresource, such as status.")
    name: str = field("", proto=7, doc="Name of the object; empty means all.")
    field_selector: FieldSelectorAttributes | None = field(
        None, proto=8, doc="Field selector that limits the request."
    )
    label_selector: LabelSelectorAttributes | None = field(
        None, proto=9, doc="Label selector that limits the request."
    )


class NonResourceAttributes(Model):
    """Attributes of a non-resource request."""

    path: str = field("", proto=1, doc="URL path of the request.")
    verb: str = field("", proto=2, doc="HTTP method in lower case.")


class SelfSubjectAccessReviewSpec(Model):
    """The request to check: exactly one of the two attributes must be set."""

    resource_attributes: ResourceAttributes | None = field(
        None, proto=1, doc="The request for a resource."
    )
    non_resource_attributes: NonResourceAttributes | None = field(
        None, proto=2, doc="The request for another path."
    )


class SubjectAccessReviewSpec(Model):
    """The user and request to check: exactly one of the two attributes must be set."""

    resource_attributes: ResourceAttributes | None = field(
        None, proto=1, doc="The request for a resource."
    )
    non_resource_attributes: NonResourceAttributes | None = field(
        None, proto=2, doc="The request for another path."
    )
    user: str = field("", proto=3, doc="Name of the user to check.")
    groups: list[str] = field(
        default_factory=list, proto=4, list_type="atomic", doc="Groups of the user to check."
    )
    extra: dict[str, list[str]] = field(
        default_factory=dict,
        proto=5,
        doc="Further attributes of the user, as the authenticator reports them.",
    )
    uid: str = field("", proto=6, doc="Uid of the user to check.")


class SubjectAccessReviewStatus(Model):
    """Result of an access review; neither allowed nor denied means no opinion."""

    allowed: bool = field(False, proto=1, omit_empty=False, doc="Whether the action is allowed.")
    reason: str = field("", proto=2, doc="Human-readable reason for the decision.")
    evaluation_error: str = field("", proto=3, doc="Errors that occurred during the evaluation.")
    denied: bool = field(False, proto=4, doc="Whether the action is explicitly denied.")


class SelfSubjectAccessReview(Object):
    """SelfSubjectAccessReview checks whether the current user can perform an action."""

    spec: SelfSubjectAccessReviewSpec = field(
        default_factory=SelfSubjectAccessReviewSpec,
        proto=2,
        required=True,
        doc="Request to evaluate.",
    )
    status: SubjectAccessReviewStatus = field(
        default_factory=SubjectAccessReviewStatus, proto=3, doc="Result, filled in by the server."
    )


class SubjectAccessReview(Object):
    """SubjectAccessReview checks whether a user or group can perform an action."""

    spec: SubjectAccessReviewSpec = field(
        default_factory=SubjectAccessReviewSpec, proto=2, required=True, doc="Request to evaluate."
    )
    status: SubjectAccessReviewStatus = field(
        default_factory=SubjectAccessReviewStatus, proto=3, doc="Result, filled in by the server."
    )


class LocalSubjectAccessReview(Object):
    """LocalSubjectAccessReview checks whether a user can perform an action in a namespace."""

    spec: SubjectAccessReviewSpec = field(
        default_factory=SubjectAccessReviewSpec, proto=2, required=True, doc="Request to evaluate."
    )
    status: SubjectAccessReviewStatus = field(
        default_factory=SubjectAccessReviewStatus, proto=3, doc="Result, filled in by the server."
    )
