"""Reviews of users and tokens: identify the user of a request, or of a token."""

from apimachinery.errors import BadRequest
from apis.authentication.v1 import (
    SelfSubjectReview,
    SelfSubjectReviewStatus,
    TokenReview,
    TokenReviewStatus,
    UserInfo,
)
from apiserver import RequestContext, User
from apiserver.auth.token_review import TokenReviewer


async def review_self(context: RequestContext, review: SelfSubjectReview) -> SelfSubjectReview:
    """Answer a SelfSubjectReview with the authenticated user."""
    review.status = SelfSubjectReviewStatus(user_info=user_info(context.user))
    return review


class TokenReviews:
    """Answers a TokenReview with the user of a token and the audiences it is valid for."""

    def __init__(self, reviewer: TokenReviewer) -> None:
        self._reviewer = reviewer

    async def __call__(self, context: RequestContext, review: TokenReview) -> TokenReview:
        if not review.spec.token:
            raise BadRequest("token is required for TokenReview in authentication")
        reviewed = await self._reviewer.review(review.spec.token, review.spec.audiences)
        if reviewed.user is None:
            review.status = TokenReviewStatus(error=reviewed.error)
        else:
            review.status = TokenReviewStatus(
                authenticated=True,
                user=user_info(reviewed.user),
                audiences=list(reviewed.audiences),
            )
        return review


def user_info(user: User) -> UserInfo:
    return UserInfo(
        username=user.name,
        uid=user.uid,
        groups=list(user.groups),
        extra={key: list(values) for key, values in user.extra.items()},
    )
