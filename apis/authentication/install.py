"""What only a server needs. A token review needs to know tokens, so the group is made for them."""

from apis.authentication import GROUP, v1
from apis.authentication.authenticator import Tokens
from apis.authentication.register import add_to_scheme
from apis.authentication.reviews import TokenReviews, review_self
from apiserver.group import Group, Resource


def authentication_group(tokens: Tokens | None = None) -> Group:
    """The group as a server installs it; without *tokens* there is no token review."""
    resources = [
        Resource(
            "selfsubjectreviews",
            v1.SelfSubjectReview,
            namespaced=False,
            verbs=("create",),
            answer=review_self,
        )
    ]
    if tokens is not None:
        resources.append(
            Resource(
                "tokenreviews",
                v1.TokenReview,
                namespaced=False,
                verbs=("create",),
                answer=TokenReviews(tokens),
            )
        )
    return Group(
        name=GROUP,
        versions=("v1", "v1beta1"),
        add_to_scheme=add_to_scheme,
        resources=tuple(resources),
    )
