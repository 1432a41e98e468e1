"""Who am I, and whose token is this?"""

from collections.abc import Sequence

import pytest

from apimachinery.errors import BadRequest
from apimachinery.schema import GroupVersionResource
from apis.authentication import v1
from apis.authentication.install import authentication_group
from apiserver import RequestContext, User
from apiserver.auth.token_review import ReviewedToken, TokenReviewer

ALICE = User("alice", "7", ("admins",), {"scopes": ("a", "b")})
CONTEXT = RequestContext(
    ALICE, "create", GroupVersionResource("authentication.k8s.io", "v1", "reviews")
)
INFO = v1.UserInfo(username="alice", uid="7", groups=["admins"], extra={"scopes": ["a", "b"]})


class OneToken(TokenReviewer):
    async def review(self, token: str, audiences: Sequence[str]) -> ReviewedToken:
        if token == "secret" and not audiences:
            return ReviewedToken(ALICE, ("api",))
        return ReviewedToken(error="why not")


async def review_token(token: str, *audiences: str) -> v1.TokenReview:
    (reviews,) = (
        r for r in authentication_group(OneToken([])).resources if r.name == "tokenreviews"
    )
    asked = v1.TokenReview(spec=v1.TokenReviewSpec(token=token, audiences=list(audiences)))
    assert reviews.answer is not None
    answer = await reviews.answer(CONTEXT, asked)
    assert isinstance(answer, v1.TokenReview)
    return answer


async def test_who_am_i() -> None:
    (reviews,) = authentication_group().resources
    assert reviews.answer is not None

    answer = await reviews.answer(CONTEXT, v1.SelfSubjectReview())

    assert isinstance(answer, v1.SelfSubjectReview)
    assert answer.status.user_info == INFO


async def test_a_known_token() -> None:
    answer = await review_token("secret")

    assert answer.status == v1.TokenReviewStatus(authenticated=True, user=INFO, audiences=["api"])


async def test_an_unknown_token() -> None:
    assert (await review_token("other")).status == v1.TokenReviewStatus(error="why not")


async def test_a_token_for_somebody_else() -> None:
    assert not (await review_token("secret", "vault")).status.authenticated


async def test_a_token_is_needed() -> None:
    with pytest.raises(BadRequest, match="token is required for TokenReview in authentication"):
        await review_token("")
