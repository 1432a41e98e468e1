"""Access reviews: put the question to the server's authorizer, and answer in the status."""

from collections.abc import Iterable
from typing import Final

from apimachinery.errors import BadRequest, Invalid
from apimachinery.fieldpath import FieldError
from apimachinery.schema import GroupKind
from apis.authorization import GROUP
from apis.authorization.v1 import (
    LocalSubjectAccessReview,
    NonResourceRule,
    ResourceRule,
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
from apiserver import Authorizer, Decision, RequestContext, RequestInfo, Rules, User

VALUES_PER_RULE: Final = 8


class AccessReviews:
    """Handlers of the four reviews; each fills in the status and returns the review."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def self_access(
        self, context: RequestContext, review: SelfSubjectAccessReview
    ) -> SelfSubjectAccessReview:
        _check(validate_self_subject_access_review(review))
        request = reviewed_request(review.spec)
        review.status = _status(await self._authorizer.authorize(context.user, request))
        return review

    async def access(
        self, context: RequestContext, review: SubjectAccessReview
    ) -> SubjectAccessReview:
        _check(validate_subject_access_review(review))
        review.status = await self._decide(review.spec)
        return review

    async def local_access(
        self, context: RequestContext, review: LocalSubjectAccessReview
    ) -> LocalSubjectAccessReview:
        _check(validate_local_subject_access_review(review))
        review.status = await self._decide(review.spec)
        return review

    async def self_rules(
        self, context: RequestContext, review: SelfSubjectRulesReview
    ) -> SelfSubjectRulesReview:
        if not review.spec.namespace:
            raise BadRequest("no namespace on request")
        rules = await self._authorizer.rules(context.user, review.spec.namespace)
        context.workload.add_values(VALUES_PER_RULE * len(rules.granted))
        review.status = await context.workload.run(_rules_status, rules)
        return review

    async def _decide(self, spec: SubjectAccessReviewSpec) -> SubjectAccessReviewStatus:
        user, request = reviewed_user(spec), reviewed_request(spec)
        return _status(await self._authorizer.authorize(user, request))


def _rules_status(rules: Rules) -> SubjectRulesReviewStatus:
    return SubjectRulesReviewStatus(
        resource_rules=[
            ResourceRule(
                verbs=list(rule.verbs),
                api_groups=list(rule.groups),
                resources=list(rule.resources),
                resource_names=list(rule.names),
            )
            for rule in rules.granted
            if rule.resources
        ],
        non_resource_rules=[
            NonResourceRule(verbs=list(rule.verbs), non_resource_urls=list(rule.paths))
            for rule in rules.granted
            if rule.paths
        ],
        evaluation_error=rules.error,
    )


def reviewed_user(spec: SubjectAccessReviewSpec) -> User:
    """Return the user that a review is about."""
    # Authenticators take extra keys from HTTP headers, whose names are case-insensitive.
    extra = {key.lower(): tuple(values) for key, values in spec.extra.items()}
    return User(spec.user, spec.uid, tuple(spec.groups), extra)


def reviewed_request(spec: SelfSubjectAccessReviewSpec | SubjectAccessReviewSpec) -> RequestInfo:
    """Return the request that a valid review is about."""
    attributes = spec.resource_attributes
    if attributes is not None:
        return RequestInfo(
            path="",
            verb=attributes.verb,
            is_resource=True,
            group=attributes.group,
            version=attributes.version or "*",
            resource=attributes.resource,
            subresource=attributes.subresource,
            namespace=attributes.namespace,
            name=attributes.name,
        )
    url = spec.non_resource_attributes
    # An empty path counts as a resource request that names no resource.
    return RequestInfo(
        path=url.path if url else "",
        verb=url.verb if url else "",
        is_resource=not (url and url.path),
    )


def _status(decision: Decision) -> SubjectAccessReviewStatus:
    return SubjectAccessReviewStatus(
        allowed=decision.allowed,
        denied=not decision.allowed and decision.denied,
        reason=decision.reason,
    )


def _check(errors: Iterable[FieldError]) -> None:
    if invalid_fields := list(errors):
        # Kubernetes names the kind in the decoded review, which no longer has one.
        raise Invalid.of(GroupKind(GROUP, ""), "", invalid_fields)
