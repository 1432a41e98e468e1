"""The answers to reviews."""

from apimachinery.errors import BadRequest
from apis.authentication.authenticator import Asking, Tokens, User
from apis.authentication.v1 import (
    SelfSubjectReview,
    SelfSubjectReviewStatus,
    TokenReview,
    TokenReviewStatus,
    UserInfo,
)


async def review_self(context: Asking, review: SelfSubjectReview) -> SelfSubjectReview:
    """Say who is asking."""
    review.status = SelfSubjectReviewStatus(user_info=user_info(context.user))
    return review


class TokenReviews:
    """Says whose a token is, and whom it is meant for."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def __call__(self, context: Asking, review: TokenReview) -> TokenReview:
        if not review.spec.token:
            raise BadRequest("token is required for TokenReview in authentication")
        found = await self._tokens.review(review.spec.token, review.spec.audiences)
        if found.user is None:
            review.status = TokenReviewStatus(error=found.error)
        else:
            review.status = TokenReviewStatus(
                authenticated=True, user=user_info(found.user), audiences=list(found.audiences)
            )
        return review


def user_info(user: User) -> UserInfo:
    return UserInfo(
        username=user.name,
        uid=user.uid,
        groups=list(user.groups),
        extra={key: list(values) for key, values in user.extra.items()},
    )
