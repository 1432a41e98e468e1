"""The group authentication.k8s.io, built for the authenticators that answer token reviews."""

from apis.authentication import GROUP, v1
from apis.authentication.register import add_to_scheme
from apis.authentication.reviews import TokenReviews, review_self
from apiserver import Group, Resource
from apiserver.auth.token_review import TokenReviewer


def authentication_group(reviewer: TokenReviewer | None = None) -> Group:
    """Return the group for a server; without *reviewer* it has no token reviews."""
    resources = [
        Resource(
            "selfsubjectreviews",
            v1.SelfSubjectReview,
            namespaced=False,
            verbs=("create",),
            answer=review_self,
        )
    ]
    if reviewer is not None:
        resources.append(
            Resource(
                "tokenreviews",
                v1.TokenReview,
                namespaced=False,
                verbs=("create",),
                answer=TokenReviews(reviewer),
            )
        )
    return Group(
        name=GROUP,
        versions=("v1", "v1beta1"),
        add_to_scheme=add_to_scheme,
        resources=tuple(resources),
    )
