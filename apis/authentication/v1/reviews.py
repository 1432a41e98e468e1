"""SelfSubjectReview and TokenReview: who the caller is, and whose a token is."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field


class UserInfo(Model):
    """A user as the server knows them."""

    username: str = field("", proto=1, doc="The name, unique among all users.")
    uid: str = field("", proto=2, doc="Tells apart users who had the same name one after another.")
    groups: list[str] = field(
        default_factory=list, proto=3, list_type="atomic", doc="The groups they are in."
    )
    extra: dict[str, list[str]] = field(
        default_factory=dict, proto=4, doc="What else is known of them."
    )


class SelfSubjectReviewStatus(Model):
    """The answer."""

    user_info: UserInfo = field(default_factory=UserInfo, proto=1, doc="Who is asking.")


class SelfSubjectReview(Object):
    """A SelfSubjectReview asks who the server takes the one who asks for."""

    status: SelfSubjectReviewStatus = field(
        default_factory=SelfSubjectReviewStatus, proto=2, doc="The answer."
    )


class TokenReviewSpec(Model):
    """Whose token it is asked for."""

    token: str = field("", proto=1, doc="The token.")
    audiences: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Whom it must be meant for, one of these; the server itself if empty.",
    )


class TokenReviewStatus(Model):
    """The answer."""

    authenticated: bool = field(False, proto=1, doc="Whether it is anybody's.")
    user: UserInfo = field(default_factory=UserInfo, proto=2, doc="Whose it is.")
    error: str = field("", proto=3, doc="Why that could not be said.")
    audiences: list[str] = field(
        default_factory=list, proto=4, list_type="atomic", doc="Which of them it is meant for."
    )


class TokenReview(Object):
    """A TokenReview asks whose token this is."""

    spec: TokenReviewSpec = field(default_factory=TokenReviewSpec, proto=2, doc="The question.")
    status: TokenReviewStatus = field(default_factory=TokenReviewStatus, proto=3, doc="The answer.")
