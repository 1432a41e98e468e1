"""SelfSubjectReview and TokenReview: identify the user of a request, or of a token."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field


class UserInfo(Model):
    """Attributes of an authenticated user."""

    username: str = field(
        "", proto=1, doc="Name that uniquely identifies the user among all active users."
    )
    uid: str = field("", proto=2, doc="Identifies the user across time, if a name is reused.")
    groups: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Names of the groups that the user is a member of.",
    )
    extra: dict[str, list[str]] = field(
        default_factory=dict, proto=4, doc="Additional information from the authenticator."
    )


class SelfSubjectReviewStatus(Model):
    """Result of a self review."""

    user_info: UserInfo = field(
        default_factory=UserInfo, proto=1, doc="User attributes of the user making this request."
    )


class SelfSubjectReview(Object):
    """SelfSubjectReview returns the user attributes of the user making the request."""

    status: SelfSubjectReviewStatus = field(
        default_factory=SelfSubjectReviewStatus, proto=2, doc="Result, filled in by the server."
    )


class TokenReviewSpec(Model):
    """Description of the token authentication request."""

    token: str = field("", proto=1, required=True, doc="The token.")
    audiences: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Audiences to review the token for, any of which suffices; defaults to the API server.",
    )


class TokenReviewStatus(Model):
    """Result of a token review."""

    authenticated: bool = field(
        False, proto=1, doc="Whether the token is associated with a known user."
    )
    user: UserInfo = field(default_factory=UserInfo, proto=2, doc="User associated with the token.")
    error: str = field("", proto=3, doc="Reason why the token could not be checked.")
    audiences: list[str] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Requested audiences that the token is valid for.",
    )


class TokenReview(Object):
    """TokenReview attempts to authenticate a token to a known user."""

    spec: TokenReviewSpec = field(
        default_factory=TokenReviewSpec, proto=2, required=True, doc="Request to evaluate."
    )
    status: TokenReviewStatus = field(
        default_factory=TokenReviewStatus, proto=3, doc="Result, filled in by the server."
    )
