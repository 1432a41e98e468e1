"""Access reviews: whether a user may make one request."""

from apimachinery.meta.types import LabelSelectorRequirement, Object
from apimachinery.model.model import Model, field


class FieldSelectorRequirement(Model):
    """One condition on a field of an object."""

    key: str = field("", proto=1, omit_empty=False, doc="The field.")
    operator: str = field("", proto=2, omit_empty=False, doc="In, NotIn, Exists or DoesNotExist.")
    values: list[str] = field(default_factory=list, proto=3, list_type="atomic")


class FieldSelectorAttributes(Model):
    """The field selector of a list, as it was written or taken apart."""

    raw_selector: str = field("", proto=1, doc="As a query writes it.")
    requirements: list[FieldSelectorRequirement] = field(
        default_factory=list, proto=2, list_type="atomic", doc="Taken apart."
    )


class LabelSelectorAttributes(Model):
    """The label selector of a list, as it was written or taken apart."""

    raw_selector: str = field("", proto=1, doc="As a query writes it.")
    requirements: list[LabelSelectorRequirement] = field(
        default_factory=list, proto=2, list_type="atomic", doc="Taken apart."
    )


class ResourceAttributes(Model):
    """Something that can be done to a resource."""

    namespace: str = field("", proto=1, doc="Where; everywhere if empty.")
    verb: str = field("", proto=2, doc="What, such as get or list; `*` is everything.")
    group: str = field("", proto=3, doc="The API group; `*` is every one.")
    version: str = field("", proto=4, doc="The API version; `*` is every one.")
    resource: str = field("", proto=5, doc="The resource; `*` is every one.")
    subresource: str = field("", proto=6, doc="A part of it, such as status.")
    name: str = field("", proto=7, doc="Of one object; of all if empty.")
    field_selector: FieldSelectorAttributes | None = field(
        None, proto=8, doc="Only objects with such fields."
    )
    label_selector: LabelSelectorAttributes | None = field(
        None, proto=9, doc="Only objects with such labels."
    )


class NonResourceAttributes(Model):
    """Something that can be done to a path which is no resource."""

    path: str = field("", proto=1, doc="The path of the URL.")
    verb: str = field("", proto=2, doc="The method in lower case.")


class SelfSubjectAccessReviewSpec(Model):
    """What the one who asks wants to do: one of the two."""

    resource_attributes: ResourceAttributes | None = field(None, proto=1)
    non_resource_attributes: NonResourceAttributes | None = field(None, proto=2)


class SubjectAccessReviewSpec(Model):
    """Who wants to do what: one of the two."""

    resource_attributes: ResourceAttributes | None = field(None, proto=1)
    non_resource_attributes: NonResourceAttributes | None = field(None, proto=2)
    user: str = field("", proto=3, doc="The name of the user.")
    groups: list[str] = field(default_factory=list, proto=4, list_type="atomic")
    extra: dict[str, list[str]] = field(default_factory=dict, proto=5)
    uid: str = field("", proto=6)


class SubjectAccessReviewStatus(Model):
    """The answer. Neither allowed nor denied means that nobody allowed it."""

    allowed: bool = field(False, proto=1, omit_empty=False, doc="Whether they may.")
    reason: str = field("", proto=2, doc="Why, for people.")
    evaluation_error: str = field("", proto=3, doc="What went wrong while it was decided.")
    denied: bool = field(False, proto=4, doc="Whether it was forbidden for good.")


class SelfSubjectAccessReview(Object):
    """A SelfSubjectAccessReview asks whether the one who asks may do something."""

    spec: SelfSubjectAccessReviewSpec = field(
        default_factory=SelfSubjectAccessReviewSpec, proto=2, doc="The question."
    )
    status: SubjectAccessReviewStatus = field(
        default_factory=SubjectAccessReviewStatus, proto=3, doc="The answer."
    )


class SubjectAccessReview(Object):
    """A SubjectAccessReview asks whether somebody may do something."""

    spec: SubjectAccessReviewSpec = field(
        default_factory=SubjectAccessReviewSpec, proto=2, doc="The question."
    )
    status: SubjectAccessReviewStatus = field(
        default_factory=SubjectAccessReviewStatus, proto=3, doc="The answer."
    )


class LocalSubjectAccessReview(Object):
    """A LocalSubjectAccessReview asks whether somebody may do something in one namespace."""

    spec: SubjectAccessReviewSpec = field(
        default_factory=SubjectAccessReviewSpec, proto=2, doc="The question."
    )
    status: SubjectAccessReviewStatus = field(
        default_factory=SubjectAccessReviewStatus, proto=3, doc="The answer."
    )
