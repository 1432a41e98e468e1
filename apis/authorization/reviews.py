"""The answers to reviews: each is asked of the authorizer and given back with its status."""

from collections.abc import Iterable

from apimachinery.errors import BadRequest, Invalid
from apimachinery.fieldpath import FieldError
from apimachinery.meta.types import Object
from apimachinery.schema import GroupKind
from apis.authorization import GROUP
from apis.authorization.authorizer import (
    Asking,
    Attributes,
    Authorizer,
    Decision,
    NamedSubject,
)
from apis.authorization.v1 import (
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
    SelfSubjectRulesReview,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
    SubjectAccessReviewStatus,
    SubjectRulesReviewStatus,
)
from apis.authorization.validation import (
    validate_local_subject_access_review,
    validate_self_subject_access_review,
    validate_subject_access_review,
)


class Reviews:
    """The answers of one server, each a function (context, review) -> review."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def self_access(
        self, context: Asking, review: SelfSubjectAccessReview
    ) -> SelfSubjectAccessReview:
        _check(review, validate_self_subject_access_review(review))
        attributes = attributes_of(review.spec)
        review.status = _status(await self._authorizer.authorize(context.user, attributes))
        return review

    async def access(self, context: Asking, review: SubjectAccessReview) -> SubjectAccessReview:
        _check(review, validate_subject_access_review(review))
        review.status = await self._decide(review.spec)
        return review

    async def local_access(
        self, context: Asking, review: LocalSubjectAccessReview
    ) -> LocalSubjectAccessReview:
        _check(review, validate_local_subject_access_review(review))
        review.status = await self._decide(review.spec)
        return review

    async def self_rules(
        self, context: Asking, review: SelfSubjectRulesReview
    ) -> SelfSubjectRulesReview:
        if not review.spec.namespace:
            raise BadRequest("no namespace on request")
        found = await self._authorizer.rules(context.user, review.spec.namespace)
        review.status = SubjectRulesReviewStatus(
            resource_rules=list(found.resources),
            non_resource_rules=list(found.paths),
            incomplete=found.incomplete,
            evaluation_error=found.error,
        )
        return review

    async def _decide(self, spec: SubjectAccessReviewSpec) -> SubjectAccessReviewStatus:
        subject = subject_of(spec)
        return _status(await self._authorizer.authorize(subject, attributes_of(spec)))


def subject_of(spec: SubjectAccessReviewSpec) -> NamedSubject:
    # Keys of extra came as HTTP headers once, and case means nothing in those.
    extra = {key.lower(): tuple(values) for key, values in spec.extra.items()}
    return NamedSubject(spec.user, spec.uid, tuple(spec.groups), extra)


def attributes_of(spec: SelfSubjectAccessReviewSpec | SubjectAccessReviewSpec) -> Attributes:
    """What a valid review asks about."""
    asked = spec.resource_attributes
    if asked is not None:
        return Attributes(
            verb=asked.verb,
            group=asked.group,
            version=asked.version or "*",
            resource=asked.resource,
            subresource=asked.subresource,
            namespace=asked.namespace,
            name=asked.name,
        )
    other = spec.non_resource_attributes
    return Attributes(verb=other.verb, path=other.path) if other else Attributes(verb="")


def _status(decision: Decision) -> SubjectAccessReviewStatus:
    return SubjectAccessReviewStatus(
        allowed=decision.allowed,
        denied=not decision.allowed and decision.denied,
        reason=decision.reason,
    )


def _check(review: Object, errors: Iterable[FieldError]) -> None:
    found = list(errors)
    if found:
        raise Invalid.of(GroupKind(GROUP, review.__kind__), "", found)
